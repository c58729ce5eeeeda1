package fuzzspec

import (
	"fmt"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Every mapping refuses keys that it does not know, and names the nearest.
func TestKeysThatDoNotBelong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/seed.txt", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	contracttest.Keys{
		Of: doctree.Object(format()), Unknown: diag.Error, Names: []string{"env_overrides"}, Contract: &Contract{disk: Disk{}}, Path: dir + "/spec.json",
		Base: fmt.Sprintf(`{"schema_version": "llmfuzz.fuzzspec.v1", "campaign_id": "keys", "target": {"agent_id": "a", "work_root_base": %q, "command": ["/bin/cat"]},
			"seed": {"path": %q}, "mutations": {"cases": 3}, "execution": {}, "outputs": {"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"}}`, dir, dir+"/seed.txt"),
	}.Run(t)
}
