package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Every mapping refuses keys that it does not know, and names the nearest; a
// judge refuses the keys of other types, and names these.
func TestKeysThatDoNotBelong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "seeds.jsonl"), []byte(`{"text": "hello there", "bucket_id": "PROMPT_INJECTION", "surface": "PROMPT_TEXT"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "operators.json")
	contracttest.Keys{
		Of: doctree.Object(format()), Unknown: diag.Error, Contract: New(nil, nil), Path: path,
		Base: `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"]}`,
	}.Run(t)
	tried := 0
	for kind, keys := range judgeKeys {
		for _, key := range judgeShape().Keys("") {
			if key == "type" || key == "id" || key == keys.needs || slices.Contains(keys.may, key) {
				continue
			}
			tried++
			text := fmt.Sprintf(`{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "judges": [{"type": %q, %q: 1}]}`, kind, key)
			_, list := New(nil, nil).Compile(t.Context(), campaign.Spec{Path: path, Data: []byte(text)}, campaign.Settings{Check: true, Read: os.ReadFile})
			want := "is not a key of type " + kind + "; it belongs to " + doctree.Either(types(key))
			if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
				return d.Code == "operator.unknown-key" && d.Path == "judges[0]."+key && d.Level == diag.Error && d.Message == want && len(types(key)) > 0
			}) {
				t.Errorf("%s of %s: want %q, it says\n%v", key, kind, want, list)
			}
		}
	}
	if tried < 100 || !strings.Contains(strings.Join(types("case_sensitive"), " "), "contains_any") {
		t.Errorf("%d keys were tried", tried)
	}
}
