package ir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
)

// load decodes and checks a document.
func load(text string) (*ir.Document, diag.List) {
	doc, src, list := ir.Decode("model.json", []byte(text))
	if doc != nil {
		list = append(list, ir.Check(doc, src)...)
		list.Sort()
	}
	if list.HasErrors() {
		return nil, list
	}
	return doc, list
}

func article(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../examples/fresnelfir/article.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestArticle(t *testing.T) {
	doc, list := load(article(t))
	if len(list) > 0 {
		t.Fatalf("the example gives rise to diagnostics:\n%v", list)
	}
	if len(doc.Entities) != 2 || doc.Actor != "User" || doc.Vars["article"] != "Article" {
		t.Errorf("entities %d, actor %q, vars %v", len(doc.Entities), doc.Actor, doc.Vars)
	}
	if r := doc.Roots(); len(r) != 1 || r[0].Name != "article_lifecycle" {
		t.Errorf("roots: %v", r)
	}
	shown := doc.Function("shown")
	if p := doc.Pair(shown); p == nil || p.Name != "live" {
		t.Errorf("the observer's pair is %v", p)
	}
}

// small is a document with nothing in it; edits replace sections.
func small(edits map[string]string) string {
	sections := map[string]string{
		"entities": "{}", "refinements": "{}", "functions": "{}", "protocols": "{}", "effects": "{}", "properties": "{}", "generators": "{}",
		"exploration": `{"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
  "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
  "concurrency": {"mode": "deterministic_interleaving", "threads": 4}}`,
		"inputs":   `{"domains": {}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
		"bindings": `{"runtime": "wasm", "entry": "m.wasm", "actions": {}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}`,
	}
	for k, v := range edits {
		sections[k] = v
	}
	var b strings.Builder
	for i, k := range ir.Sections() {
		if sections[k] == "-" {
			continue
		}
		sep := "{\n"
		if i > 0 {
			sep = ",\n"
		}
		b.WriteString(sep + "\"" + k + "\": " + sections[k])
	}
	return b.String() + "\n}\n"
}

func TestEmptySections(t *testing.T) {
	if _, list := load(small(nil)); len(list) > 0 {
		t.Errorf("empty sections: %v", list)
	}
}

// Every refused input, and every doubt, has its line in testdata/errors.json.
func TestErrors(t *testing.T) {
	type entry struct {
		Name string            `json:"name"`
		Text string            `json:"text,omitempty"` // the whole document
		Edit map[string]string `json:"edit,omitempty"` // sections of the smallest document
		Want []string          `json:"want"`
	}
	path := filepath.Join("testdata", "errors.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []entry
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		text := e.Text
		if text == "" {
			text = small(e.Edit)
		}
		_, found := load(text)
		var got []string
		for _, d := range found {
			got = append(got, d.String()+" ["+d.Code+"]")
			if d.Pos.Line < 1 || d.Pos.Col < 1 || d.Code == "" {
				t.Errorf("%s: without place or code: %+v", e.Name, d)
			}
		}
		if golden.Update() {
			list[i].Want = got
		} else if strings.Join(got, "\n") != strings.Join(e.Want, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", e.Name, strings.Join(got, "\n     "), strings.Join(e.Want, "\n     "))
		}
		if len(got) == 0 {
			t.Errorf("%s: nothing is said", e.Name)
		}
	}
	if golden.Update() {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		enc := json.NewEncoder(f)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What the contract allows is not refused, however doubtful it is.
func TestAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		sets, predicate string
		doubts          string // the codes of what is said, apart by spaces
	}{
		"a literal above the bounds":        {`{"target": ["x", "n"], "value": 9}`, `true`, "int-bounds constant-property"},
		"a word that an enum does not have": {`{"target": ["x", "e"], "value": "c"}`, `true`, "enum-value constant-property"},
		"an enum that has none in common":   {`{"target": ["x", "e"], "value": ["field", "x", "f"]}`, `true`, "unset-field constant-property"},
		"values of two types":               {``, `["forall", "a", "T", ["eq", ["field", "a", "n"], "many"]]`, "unset-field operand-type"},
		"a word compared with an enum":      {``, `["forall", "a", "T", ["neq", ["field", "a", "e"], "c"]]`, "unset-field enum-value"},
		"variables called as ours are":      {`{"target": ["input", "n"], "value": ["field", "self", "n"]}`, `["forall", "input", "T", ["gt", ["field", "input", "n"], 0]]`, "unset-field"},
		"bounds that nothing is within":     {`{"target": ["x", "m"], "value": 3}`, `true`, "int-bounds int-bounds constant-property"},
	} {
		field := ""
		if strings.Contains(c.sets, `"m"`) {
			field = `, "m": {"type": "int", "min": 4, "max": 2}`
		}
		make := func(action, variable string) (effect, binding, call string) {
			return `"` + action + `": {"creates": {"entity": "T", "assign": "` + variable + `"}}`,
				`"` + action + `": {"function": "f", "args": [], "returns": {"type": "void"}, "mutates": true, "idempotent": false, "reads": [], "writes": []}`,
				`{"type": "call", "action": "` + action + `"}`
		}
		var effects, bindings, calls []string
		for _, v := range []string{"x", "self", "input"} {
			e, b, k := make("make_"+v, v)
			effects, bindings, calls = append(effects, e), append(bindings, b), append(calls, k)
		}
		_, b, k := make("use", "")
		bindings, calls = append(bindings, b), append(calls, k)
		doc, list := load(small(map[string]string{
			"entities":   `{"T": {"fields": {"n": {"type": "int", "min": 0, "max": 3}, "e": {"type": "enum", "values": ["a", "b"]}, "f": {"type": "enum", "values": ["d"]}` + field + `}}}`,
			"effects":    "{" + strings.Join(effects, ", ") + `, "use": {"sets": [` + c.sets + `]}}`,
			"protocols":  `{"p": {"root": {"type": "seq", "children": [` + strings.Join(calls, ", ") + `]}}}`,
			"properties": `{"p": {"type": "invariant", "predicate": ` + c.predicate + `}}`,
			"inputs":     `{"domains": {"n": {"type": "int", "min": 0, "max": 3}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
			"bindings":   `{"runtime": "wasm", "entry": "m.wasm", "actions": {` + strings.Join(bindings, ", ") + `}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}`,
		}))
		var got []string
		for _, d := range list {
			got = append(got, strings.TrimPrefix(d.Code, "fresnelfir."))
		}
		if doc == nil || strings.Join(got, " ") != c.doubts {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// Every code of an error stands in the page, in the table that says by which rule
// documents are refused.
func TestRefusalsHaveTheirRule(t *testing.T) {
	page, err := os.ReadFile("../../../docs/fresnelfir.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## What is refused")
	table, _, _ = strings.Cut(table, "\n## ")
	file, err := os.ReadFile(filepath.Join("testdata", "errors.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(file)) {
		at := strings.LastIndex(line, "[fresnelfir.")
		if at < 0 || !strings.Contains(line, ": error: ") {
			continue
		}
		code, _, _ := strings.Cut(line[at+len("[fresnelfir."):], "]")
		if !seen[code] && !strings.Contains(table, "`"+code+"`") {
			t.Errorf("%s is refused, and the page does not say by which rule", code)
		}
		seen[code] = true
	}
	if len(seen) < 40 {
		t.Errorf("only %d codes are refused", len(seen))
	}
}

// Of a document with so many effects that another thread reads them the same is said as of a short
// one, in the order of the text; of very many faults the first are listed.
func TestManyEffects(t *testing.T) {
	said := func(faulty, more int) string {
		effects := strings.Repeat(`"e#": {"sets": [{"target": ["x"], "value": 1}]}, `, faulty) + strings.Repeat(`"f#": {"sets": []}, `, more)
		for i := range faulty + more {
			effects = strings.Replace(effects, "#", strconv.Itoa(i), 1)
		}
		_, list := load(small(map[string]string{
			"entities": `{"A": {"fields": {"n": {"type": "int", "min": "low"}}}}`,
			"effects":  "{" + effects + `"z": {"creates": 1}}`,
			"bindings": `{"runtime": "wasm", "entry": 7, "actions": {}}`,
		}))
		var lines []string
		for _, d := range list {
			if d.Level == diag.Error {
				lines = append(lines, d.Path+": "+d.Message)
			}
		}
		return strings.Join(lines, "\n")
	}
	short, long := said(2, 0), said(2, 100)
	if short != long || strings.Count(short, "\n") != 5 {
		t.Errorf("%s\nof a long document:\n%s", short, long)
	}
	if got := said(1200, 0); strings.Count(got, "\n") != diag.MostKept || !strings.HasSuffix(got, "204 more errors are not listed") {
		t.Errorf("%.300s ... %s", got, got[len(got)-200:])
	}
}
