package operator_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
)

// refused is an input of testdata/errors.json with what is said of it.
type refused struct {
	Spec     string   `json:"spec,omitempty"`
	Seeds    string   `json:"seeds,omitempty"`
	Verdicts string   `json:"verdicts,omitempty"`
	Name     string   `json:"name,omitempty"`
	Want     []string `json:"want"`
}

// says is all that is said of the input.
func (r *refused) says() diag.List {
	name := r.Name
	if name == "" {
		name = "in.json"
	}
	switch {
	case r.Spec != "":
		_, list := operator.Decode(name, []byte(r.Spec))
		return list
	case r.Verdicts != "":
		_, list := operator.DecodeVerdicts(name, []byte(r.Verdicts))
		return list
	}
	var list diag.List
	s := operator.NewSeedReader(strings.NewReader(r.Seeds), name, "")
	for range 100 {
		_, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var found diag.List
		if errors.As(err, &found) {
			list = append(list, found...)
		}
	}
	return append(list, s.Warnings()...)
}

func TestErrors(t *testing.T) {
	const file = "testdata/errors.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []refused
	if err := json.Unmarshal(data, &inputs); err != nil {
		t.Fatal(err)
	}
	for i := range inputs {
		var got []string
		for _, d := range inputs[i].says() {
			got = append(got, d.String()+" ["+d.Code+"]")
			if d.Pos.Line < 1 || d.Pos.Col < 1 {
				t.Errorf("input %d: no place: %s", i, d)
			}
		}
		if len(got) == 0 {
			t.Errorf("input %d is accepted", i)
		}
		if !golden.Update() {
			if diff := cmp.Diff(inputs[i].Want, got); diff != "" {
				t.Errorf("input %d (go test -update shows all): %s", i, diff)
			}
		}
		inputs[i].Want = got
	}
	if golden.Update() {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(inputs); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The schema accepts the starter and refuses what Decode refuses for its shape.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(operator.Schema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("operators.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("operators.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) bool {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && schema.Validate(v) == nil
	}
	if !valid(string(front().Starter("")[0].Data)) {
		t.Error("the starter is refused")
	}
	for _, field := range []string{`"children": 0`, `"steps": 17`, `"policy": "ucb"`, `"select": {"bucket": 1}`, `"oracle": {}`, `"sead": 1`, `"strength": [1]`, `"weights": {"*": {"op_x": -1}}`} {
		text := `{"schema_version": "thresh.operators.v1", "seeds": ["s"], ` + field + `}`
		if _, list := operator.Decode("x", []byte(text)); valid(text) || !list.HasErrors() {
			t.Errorf("%s: the schema says %t, Decode %v", field, valid(text), list)
		}
	}
}

func TestSeedReader(t *testing.T) {
	all := func(name, text string, prefer ...textop.Bucket) []mutator.Seed {
		t.Helper()
		var list []mutator.Seed
		r := operator.NewSeedReader(strings.NewReader(text), name, "", prefer...)
		for {
			s, err := r.Next()
			if errors.Is(err, io.EOF) {
				return list
			}
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, *s)
		}
	}
	const record = `{"record_id": "r1", "dataset_name": "d", "input_primary": "whole", "mutation_target_text": "target\r\nline", "bucket_tags": ["LLM01_PROMPT_INJECTION", "LLM02_INSECURE_OUTPUT"], "attack_surface": "email_body", "mutation_target_role": "attacker_controlled_input", "is_mutable": true, "source_format": "mutation_seed_v1"}`
	for name, c := range map[string]struct {
		file, text string
		prefer     []textop.Bucket
		want       []mutator.Seed
	}{
		"mutation_seed_v1": {"s.jsonl", record + "\n", nil, []mutator.Seed{{ID: "r1", Text: "target\nline", Bucket: textop.PromptInjection, BucketTag: "LLM01_PROMPT_INJECTION", Surface: textop.PromptText, SurfaceTag: "email_body"}}},
		"preferred bucket": {"s.jsonl", record, []textop.Bucket{textop.OutputHandling}, []mutator.Seed{{ID: "r1", Text: "target\nline", Bucket: textop.OutputHandling, BucketTag: "LLM02_INSECURE_OUTPUT", Surface: textop.PromptText, SurfaceTag: "email_body"}}},
		"normalized_v1":    {"s", "\ufeff{\"record_id\": \"r2\", \"dataset_name\": \"d\", \"input_primary\": \"안녕\", \"input_secondary\": null, \"raw_json\": {}}", nil, []mutator.Seed{{ID: "r2", Text: "안녕", Surface: textop.PromptText}}},
		"not mutable":      {"s.jsonl", "{\"id\": 1, \"text\": \"a\", \"is_mutable\": false}\n\n{\"id\": 2, \"text\": \"b\"}\n", nil, []mutator.Seed{{ID: "2", Text: "b", Surface: textop.PromptText}}},
		"table of pandas":  {"s.csv", "text,is_mutable,bucket_tags\na,False,\nb,True,\"[\"\"LLM01_PROMPT_INJECTION\"\", \"\"dos\"\"]\"\nc,FALSE,\nd,0,\n", nil, []mutator.Seed{{ID: "line-3", Text: "b", Bucket: textop.PromptInjection, BucketTag: "LLM01_PROMPT_INJECTION", Surface: textop.PromptText}}},
		"lines": {"s.txt", "one\n\n  two \r\nthree", nil, []mutator.Seed{
			{ID: "line-1", Text: "one", Surface: textop.PromptText}, {ID: "line-3", Text: "  two ", Surface: textop.PromptText, Ordinal: 1}, {ID: "line-4", Text: "three", Surface: textop.PromptText, Ordinal: 2},
		}},
		"csv": {"s.csv", "ID, Text ,bucket_tags,strength\na,\"two\nlines\",LLM06_SENSITIVE_INFO_DISCLOSURE;dos,3\nb,x,,\n", nil, []mutator.Seed{
			{ID: "a", Text: "two\nlines", Bucket: textop.Disclosure, BucketTag: "LLM06_SENSITIVE_INFO_DISCLOSURE", Surface: textop.PromptText, Strength: textop.Range{Min: 3, Max: 3}},
			{ID: "b", Text: "x", Surface: textop.PromptText, Ordinal: 1},
		}},
		"child": {"s.jsonl", `{"schema_version":"thresh.child.v1","testcase_id":"a:3","seed_id":"a","bucket_id":"","surface":"","child_text":"c","constraints":{"max_chars":9}}`, nil, []mutator.Seed{{ID: "a:3", Text: "c", Surface: textop.PromptText, Constraints: &textop.Constraints{MaxChars: 9, Given: map[string]any{"max_chars": json.Number("9")}}}}},
	} {
		if diff := cmp.Diff(c.want, all(c.file, c.text, c.prefer...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What cannot be read costs itself alone, and later records keep their lines.
func TestSeedReaderGoesOn(t *testing.T) {
	for name, c := range map[string]struct{ text, fault, seed string }{
		"a line too long": {"{\"text\": \"a\"}\n{\"text\": \"" + strings.Repeat("x", 17<<20) + "\"}\n{\"text\": \"b\"}\n", "s.jsonl:2:1: error: is a line of more than 16 MiB", "line-3"},
		"half a pair":     {"{\"text\": \"a\"}\n{\"text\": 1}\n{\"text\": \"b \\ud800\"}\n", "s.jsonl:2:10: error: text: must be a string", "line-3"},
		"UTF-16":          {"\xff\xfea\x00\n\x00", "s.jsonl:1:1: error: is UTF-16: expected UTF-8", ""},
	} {
		r := operator.NewSeedReader(strings.NewReader(c.text), "s.jsonl", "")
		var faults, last string
		for {
			seed, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				faults += err.Error()
				continue
			}
			last = seed.ID
		}
		if !strings.HasPrefix(faults, c.fault) || last != c.seed {
			t.Errorf("%s: %q, the last seed is %q", name, faults, last)
		}
	}
}

// FuzzSeedReader looks for input that crashes or never ends.
func FuzzSeedReader(f *testing.F) {
	for _, s := range []string{"a\nb", `{"text":"x"}`, "id,text\n1,x", "\ufeff{}", "\"", "{\"text\":\"\\ud800\"}"} {
		for _, name := range []string{"s.jsonl", "s.csv", "s"} {
			f.Add(name, s)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		r := operator.NewSeedReader(strings.NewReader(text), name, "")
		for range len(text) + 2 {
			s, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && (s.ID == "" || s.Text == "" || strings.ContainsRune(s.Text, '\r')) {
				t.Fatalf("seed %+v", s)
			}
		}
		t.Fatal("there are more records than bytes")
	})
}

// FuzzDecode looks for documents that crash, and holds diagnostics to places.
func FuzzDecode(f *testing.F) {
	f.Add(string(front().Starter("")[0].Data))
	data, err := os.ReadFile("testdata/errors.json")
	if err != nil {
		f.Fatal(err)
	}
	var inputs []refused
	if err := json.Unmarshal(data, &inputs); err != nil {
		f.Fatal(err)
	}
	for _, in := range inputs {
		f.Add(in.Spec)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, list := operator.Decode("x.json", []byte(text))
		if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Pos.Line < 1 || d.Code == "" || d.Message == "" }) {
			t.Fatalf("%v", list)
		}
	})
}

// What is set for all seeds holds for those that set nothing themselves.
func TestSeedsAreTrimmed(t *testing.T) {
	r := operator.NewSeedReader(strings.NewReader("{\"text\": \"a \\nb\\t\"}\n{\"text\": \"a \\nb\\t\", \"constraints\": {}}\n"), "seeds.jsonl", "")
	r.Constraints.TrimTrailing = true
	for _, want := range []string{"a\nb", "a \nb\t"} {
		if seed, err := r.Next(); err != nil || seed.Text != want {
			t.Errorf("%+v %v, want %q", seed, err, want)
		}
	}
}

// A score is what Python makes a number of.
func TestScores(t *testing.T) {
	for text, want := range map[string]float64{"0.5": 0.5, `"0.25"`: 0.25, "true": 1, "false": 0, `" 7 "`: 7, "-3": -3, `"NaN"`: -1, `"high"`: -1, "null": -1, "[]": -1} {
		list, found := operator.DecodeVerdicts("v.jsonl", []byte(`{"op_id": "op_a", "verdict": "PASS", "oracle_score": `+text+"}\n"))
		if len(found) > 0 || len(list) != 1 || (list[0].Score == nil) != (want == -1) || list[0].Score != nil && *list[0].Score != want {
			t.Errorf("%s: %+v %v", text, list, found)
		}
	}
}
