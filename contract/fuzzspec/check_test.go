package fuzzspec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
)

// sample is a document without fault; the refusals are edits of it.
const sample = `{
  "schema_version": "llmfuzz.fuzzspec.v1",
  "campaign_id": "pdf-intake",
  "target": {
    "agent_id": "intake",
    "work_root_base": "/srv/fuzz",
    "command": ["cat", "<input_path>"],
    "timeout_s": 5
  },
  "seed": {
    "path": "/srv/fuzz/seed.bin"
  },
  "mutations": {
    "cases": 10,
    "rng_seed": 1
  },
  "execution": {},
  "outputs": {
    "out_dir": "runs/<run_id>/out",
    "eval_dir": "runs/<run_id>/eval"
  }
}
`

// refusal is one line of testdata/errors.json: a document that is refused or
// doubted, as edits of the sample or as a whole text, and what is said of it.
type refusal struct {
	Name      string   `json:"name"`
	Edit      []string `json:"edit,omitempty"` // what to replace, by what, and so on
	Text      *string  `json:"text,omitempty"`
	Times     int      `json:"times,omitempty"` // the text is repeated this often
	Hex       string   `json:"hex,omitempty"`   // a text that no JSON string can hold
	Strict    bool     `json:"strict,omitempty"`
	AllowExec []string `json:"allow_exec,omitempty"`
	NoReader  bool     `json:"seed_not_read,omitempty"`
	Want      []string `json:"want"` // rendered diagnostics, line by line
}

func readSeed(path string) ([]byte, error) {
	switch path {
	case "/srv/fuzz/seed.bin":
		return []byte("seed"), nil
	case "/srv/fuzz/locked.bin":
		return nil, errors.New("permission denied")
	}
	return nil, nil
}

func (r refusal) check(t testing.TB) diag.List {
	text := edit(t, sample, r.Edit...)
	if r.Text != nil {
		text = strings.Repeat(*r.Text, max(r.Times, 1))
	}
	if r.Hex != "" {
		raw, err := hex.DecodeString(r.Hex)
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	o := fuzzspec.CheckOptions{File: "spec.json", Strict: r.Strict, AllowExec: r.AllowExec, ReadSeed: readSeed}
	if r.NoReader {
		o.ReadSeed = nil
	}
	spec, list := fuzzspec.Check([]byte(text), debian(), o)
	if (spec == nil) != list.HasErrors() {
		t.Errorf("%s: spec %v beside\n%s", r.Name, spec, list)
	}
	return list
}

func TestEveryRefusedInputSaysWhy(t *testing.T) {
	const file = "testdata/errors.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []refusal
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	said, levels := map[string]bool{}, map[string][]string{}
	for i := range cases {
		c := &cases[i]
		list := c.check(t)
		for _, d := range list {
			said[d.Code] = true
			levels[d.Code] = append(levels[d.Code], d.Level.String())
			if d.Pos.Line == 0 || d.Source == "" && d.Pos.Line > 0 && c.Text == nil {
				t.Errorf("%s: no place or source line: %s", c.Name, d)
			}
		}
		got := strings.Split(strings.TrimSuffix(list.Render(diag.Style{}), "\n"), "\n")
		if golden.Update() {
			c.Want = got
		} else if !slices.Equal(got, c.Want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.Name, strings.Join(got, "\n"), strings.Join(c.Want, "\n"))
		}
	}
	for _, r := range rules(t) {
		if !said[r.Code] {
			t.Errorf("no line in %s shows %s", file, r.Code)
		}
		if !slices.Contains(levels[r.Code], r.Level) {
			t.Errorf("%s is said as %v, and testdata/rules.json says %s", r.Code, levels[r.Code], r.Level)
		}
		delete(said, r.Code)
	}
	for code := range said {
		t.Errorf("%s is not in testdata/rules.json", code)
	}
	if golden.Update() {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(cases); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFaultlessDocumentHasNoDiagnostics(t *testing.T) {
	if list := (refusal{}).check(t); len(list) > 0 {
		t.Error(list)
	}
	_, list := fuzzspec.Check([]byte(edit(t, sample, `"<input_path>"`, `"-"`)), debian(), fuzzspec.CheckOptions{Stdin: true})
	if len(list) > 0 {
		t.Errorf("with input on stdin: %s", list)
	}
	_, list = fuzzspec.Check([]byte(edit(t, sample, `"cat"`, `"/opt/tool"`)), debian(), fuzzspec.CheckOptions{AllowExec: []string{"/opt//tool"}})
	if len(list) > 0 {
		t.Errorf("with the program allowed: %s", list)
	}
}

// rule is one thing that Check says about documents.
type rule struct {
	Code     string
	Level    string
	Stricter string // why Check refuses what Validate accepts
}

// rules are all of them. A document has an error from Check exactly when Validate
// refuses it, but for the rules that say why they are stricter.
func rules(t testing.TB) (list []rule) {
	t.Helper()
	text, err := os.ReadFile("testdata/rules.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) == 0 {
		t.Fatalf("%d rules: %v", len(list), err)
	}
	return list
}

// agree fails if Check and Validate differ in a way that no rule accounts for.
func agree(t testing.TB, text string, machine fuzzspec.FS) {
	t.Helper()
	_, _, refused := fuzzspec.Validate([]byte(text), machine, false)
	_, list := fuzzspec.Check([]byte(text), machine, fuzzspec.CheckOptions{ReadSeed: readSeed})
	stricter := map[string]bool{}
	for _, r := range rules(t) {
		stricter[r.Code] = r.Stricter != ""
	}
	shared := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Level == diag.Error && !stricter[d.Code] })
	if shared && refused == nil {
		t.Errorf("Check refuses what Validate accepts, and no rule says that it is stricter:\n%s\n%s", text, list)
	}
	if refused != nil && !list.HasErrors() {
		t.Errorf("Check accepts what Validate refuses (%v):\n%s", refused, text)
	}
}

func TestCheckAgreesWithValidate(t *testing.T) {
	dir := fixtures(t)
	for _, v := range vectors(t, dir) {
		agree(t, v.Text, debian(dir))
	}
}

// FuzzValidate looks for documents that crash the checks or on which they
// disagree.
func FuzzValidate(f *testing.F) {
	dir := fixtures(f)
	for _, v := range vectors(f, dir) {
		if len(v.Text) < 2000 {
			f.Add(strings.ReplaceAll(v.Text, dir, "/srv/fuzz"))
		}
	}
	f.Add(sample)
	machine := debian()
	f.Fuzz(func(t *testing.T, text string) {
		agree(t, text, machine)
		spec, _, err := fuzzspec.Validate([]byte(text), machine, false)
		if err != nil {
			return
		}
		again, _, err := fuzzspec.Validate(spec.Snapshot(), machine, false)
		if err != nil {
			t.Fatalf("the snapshot of an accepted document is refused: %v\n%s", err, spec.Snapshot())
		}
		if !bytes.Equal(spec.Snapshot(), again.Snapshot()) {
			t.Fatalf("the snapshot's snapshot differs:\n%s\n%s", spec.Snapshot(), again.Snapshot())
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	machine := debian()
	for b.Loop() {
		fuzzspec.Check([]byte(sample), machine, fuzzspec.CheckOptions{ReadSeed: readSeed})
	}
}

// What is refused or doubted for its size begins where it is said to.
func TestSizesOfMutations(t *testing.T) {
	const huge, many, cut = "[fuzzspec.too-many-bytes]", "[fuzzspec.bytes-huge]", "[fuzzspec.seed-truncated]"
	for edit, want := range map[string]string{
		`"max_ops_per_case": 1000000`: "", `"max_ops_per_case": 1000001`: "[fuzzspec.too-many-ops]",
		`"strategies": ["append_bytes"], "max_bytes": 1073741824`: many, `"strategies": ["append_bytes"], "max_bytes": 1073741825`: huge,
		`"strategies": ["append_bytes"], "max_bytes": 16777216`: "", `"strategies": ["append_bytes"], "max_bytes": 16777217`: many,
		`"strategies": ["flip_bit"], "max_bytes": 1073741825`: "", `"strategies": ["flip_bit"], "max_bytes": 4`: "", `"strategies": ["flip_bit"], "max_bytes": 3`: cut,
	} {
		list := refusal{Edit: []string{`"rng_seed": 1`, `"rng_seed": 1, ` + edit}}.check(t)
		var codes []string
		for _, d := range list {
			codes = append(codes, "["+d.Code+"]")
		}
		if got := strings.Join(codes, ""); got != want {
			t.Errorf("%s: %s, want %s", edit, got, want)
		}
	}
}
