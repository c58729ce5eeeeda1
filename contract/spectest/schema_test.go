package spectest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Rules that a schema can express.
var inSchema = []string{
	"case-shape", "case-keys", "id", "type", "harness", "assert", "group-keys", "group-list", "leaf-target", "leaf-empty",
	"operator-list", "operand", "empty-branch", "requires", "assert-health", "argv", "exit-code", "flag", "request", "url", "method",
	"spec-lang", "misplaced-key", "setup-files", "env", "unknown-key", "path", "hook", "tags", "expect", "missing-key", "capture", "range", "no-effect", "empty",
}

// refuses reports whether a schema refuses what is said of a case: errors, and
// what is ignored where it stands.
func refuses(d diag.Diagnostic) bool {
	code := strings.TrimPrefix(d.Code, "spectest.")
	if code == "operator" { // it knows operators, but not those of a target
		return !slices.ContainsFunc(operators(), func(op string) bool { return strings.HasSuffix(d.Message, ": "+op) })
	}
	if strings.Contains(d.Message, "multiple values") || strings.Contains(d.Message, "as Python prints") { // of two keys at once
		return false
	}
	if code == "unknown-word" { // it knows neither the operations of systems nor other cases
		return strings.HasPrefix(d.Path, "expect.")
	}
	return slices.Contains(inSchema, code) && (d.Level == diag.Error || slices.Contains([]string{"unknown-key", "no-effect", "tags", "expect", "argv", "empty-branch", "operand", "path", "type"}, code))
}

func TestSchemaRefusesWhatCheckRefuses(t *testing.T) {
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(BlockSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("spectest.schema.json", instance); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("spectest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	set, list := decodeSettings(campaign.Settings{}, func(string) string { return "" })
	if list.HasErrors() {
		t.Fatal(list)
	}
	accepted, refused := 0, 0
	compare := func(name string, doc *document) {
		for u := range doc.units() {
			for _, e := range doc.unit(u) {
				if e.node == nil || len(e.twice) > 0 {
					continue
				}
				x, faults, warnings := decode(doc, set, e)
				want := slices.ContainsFunc(slices.Concat(faults, warnings), refuses)
				j := e.node.JSON()
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(compact.Format(&j)))
				if err != nil {
					continue // NaN
				}
				if err := s.Validate(value); (err != nil) != want {
					t.Errorf("%s %s: the schema says %v, check says\n%s%s", name, x.label(), err, faults.Error(), warnings.Error())
				} else if want {
					refused++
				} else {
					accepted++
				}
			}
		}
	}
	for _, pattern := range []string{"../../examples/spectest/*.md", "../../docs/*.md", "testdata/errors.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if pattern != "testdata/errors.md" {
				compare(f, newDocument(f, text))
				continue
			}
			for _, m := range errorSection.FindAllSubmatch(text, -1) {
				name := "a.md"
				if len(m[2]) > 0 {
					name = "a." + string(m[2])
				}
				compare(string(m[1]), newDocument(name, m[3]))
			}
		}
	}
	compare("starter", newDocument("a.spec.md", []byte(starterDocument)))
	data, err := os.ReadFile("testdata/probes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []probe }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, p := range all.Cases {
		if p.Label == "spec_lang float" { // 20000.0 is an integer in JSON Schema
			continue
		}
		compare("probe "+p.Label, newDocument("a.json", p.Case))
	}
	if accepted < 100 || refused < 50 {
		t.Errorf("only %d accepted and %d refused cases were compared", accepted, refused)
	}
}
