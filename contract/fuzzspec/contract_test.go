package fuzzspec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/system/command"
)

// program fails in different ways by its input: an exit code with a message
// that varies, a signal, and broken output. It is a shell script so that it
// runs everywhere.
const program = `set -f
read -r line < "$1" || :
case $line in
  *[!0-9\ ]*) echo "bad byte in line: $$" >&2; exit 3 ;;
esac
for n in $line; do
  case $n in
    7) kill -ABRT $$ ;;
    0) echo '{"broken": ' > "$2/result.json"; exit 0 ;;
  esac
done
echo '{"ok": true}' > "$2/result.json"
`

func place(t *testing.T, dir, name, text string) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestContract(t *testing.T) {
	dir := t.TempDir()
	script := place(t, dir, "target.sh", program)
	seed := place(t, dir, "seed.txt", "1 2 3 4 5 6 8 9\n")
	text := fmt.Sprintf(`{
  "schema_version": "llmfuzz.fuzzspec.v1",
  "campaign_id": "conformance",
  "target": {"agent_id": "a", "work_root_base": %q, "command": ["sh", %q, "<input_path>", "<out_dir>"]},
  "seed": {"path": %q},
  "mutations": {"cases": 300, "rng_seed": 3},
  "execution": {},
  "outputs": {"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"}
}
`, dir+"/work", script, seed)
	contracttest.Run(t, contracttest.Fixture{
		Contract:   fuzzspec.New(command.Open),
		Spec:       campaign.Spec{Path: "spec.json", Data: []byte(text)},
		Findings:   3,
		UnknownKey: campaign.Spec{Path: "spec.json", Data: []byte(strings.Replace(text, `"rng_seed"`, `"rngseed"`, 1))},
		Options:    map[string][]string{"keep": {"none"}, "executor": {"spawn"}},
	})
}
