package operator_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

// compile compiles a document in a folder with seeds.
func compile(t *testing.T, dir, text string) ([]campaign.Any, diag.List) {
	t.Helper()
	return front().Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}, settings())
}

func plugin(id, bucket, surface, risk string) string {
	return fmt.Sprintf(`OPERATOR_META = {"op_id": %q, "bucket_tags": [%q], "surface_compat": [%q], "risk_level": %q, "strength_range": [1, 5]}
def apply(seed_text, ctx, rng): return ApplyResult("OK", seed_text + "!")
`, id, bucket, surface, risk)
}

// Damaged files in a folder are named and take no part; a file that is named
// itself, and a folder with nothing else, are refused.
func TestDamagedPlugins(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	for i := range 23 {
		id := fmt.Sprintf("op_lex_n%d", i)
		place(t, dir, "ops/"+id+".star", plugin(id, "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	}
	for _, name := range []string{"op_a_one.star", "op_b_two.star", "op_c_three.star"} {
		place(t, dir, "ops/"+name, "<<<<<<< HEAD\n")
		place(t, dir, "damaged/"+name, "<<<<<<< HEAD\n")
	}
	const doc = `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "operators": [%q], "children": 2}`
	list, found := compile(t, dir, fmt.Sprintf(doc, "ops"))
	if found.HasErrors() || len(list) != 1 {
		t.Fatal(found)
	}
	if all := found.Error(); !strings.Contains(all, "3 of 26 plug-ins are damaged and not used: op_a_one.star, op_b_two.star, op_c_three.star") || strings.Count(all, "ops/op_") < 3 {
		t.Error(all)
	}
	for _, name := range []string{"damaged", "ops/op_a_one.star"} {
		if _, found := compile(t, dir, fmt.Sprintf(doc, name)); !found.HasErrors() {
			t.Errorf("%s is accepted: %v", name, found)
		}
	}
}

// An id that is excluded is no collision.
func TestExcludeSettlesACollision(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "ops/op_one.star", plugin("op_lex_same", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	place(t, dir, "ops/op_two.star", plugin("op_lex_same", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	const doc = `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "operators": ["ops"], "children": 2, "select": {"exclude": [%q]}}`
	if _, found := compile(t, dir, fmt.Sprintf(doc, "op_enc_hex")); !found.HasErrors() || !strings.Contains(found.Error(), "is taken by") {
		t.Errorf("the collision is accepted: %v", found)
	}
	if _, found := compile(t, dir, fmt.Sprintf(doc, "op_lex_same")); len(found) > 0 {
		t.Error(found)
	}
}

// Only those that somebody wants are loaded, where their files say who they are.
func TestLoadWanted(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "op_one.star", plugin("op_lex_one", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	place(t, dir, "op_two.star", "x = (\n"+plugin("op_lex_two", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	place(t, dir, "op_three.star", strings.Replace(plugin("op_lex_three", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"), `"op_lex_three"`, `"op_lex_" + "three"`, 1))
	place(t, dir, "op_four.star", plugin("op_lex_four", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW")+`TRACE = {"op_id": "op_lex_four"}`+"\n")
	f := mutator.Filter{Include: []string{"op_lex_one"}}
	p := operator.LoadWanted(t.Context(), []string{dir}, disk(), nil, f.Named)
	if len(p.Faults) > 0 || len(p.Entries) != 2 || strings.Join(p.Ignored, " ") != "op_lex_four op_lex_two" {
		t.Errorf("%v, %d loaded, ignored %v", p.Faults, len(p.Entries), p.Ignored)
	}
}

// Operators that no seed lets be drawn are named, with what keeps them.
func TestIdleOperators(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "bucket.star", plugin("op_lex_bucket", "SUPPLY_CHAIN", "PROMPT_TEXT", "LOW"))
	place(t, dir, "surface.star", plugin("op_lex_surface", "PROMPT_INJECTION", "RAG_CONTEXT", "LOW"))
	place(t, dir, "risk.star", plugin("op_lex_risk", "PROMPT_INJECTION", "PROMPT_TEXT", "HIGH"))
	place(t, dir, "drawn.star", plugin("op_lex_drawn", "PROMPT_INJECTION", "PROMPT_TEXT", "LOW"))
	const doc = `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "operators": [%s], "builtins": %t, "children": 2, "select": {%s}, "policy": %s}`
	for name, c := range map[string]struct {
		plugins  string
		builtins bool
		filter   string
		policy   string
		want     []string
		refused  bool
	}{
		"a bucket that no seed has": {`"bucket.star", "drawn.star"`, false, "", `"uniform"`, []string{
			"bucket.star:2:1: warning: op_lex_bucket is never drawn: its bucket_tags are SUPPLY_CHAIN, and those of the seeds prompt-injection",
		}, false},
		"a surface":             {`"surface.star", "drawn.star"`, false, "", `"uniform"`, []string{"op_lex_surface is never drawn: its surface_compat is RAG_CONTEXT, and that of the seeds PROMPT_TEXT"}, false},
		"a risk":                {`"risk.star", "drawn.star"`, false, `"risk_max": "LOW"`, `"uniform"`, []string{"op_lex_risk is never drawn: its risk is HIGH, and the most allowed is LOW"}, false},
		"what is excluded":      {`"bucket.star", "drawn.star"`, false, `"exclude": ["op_lex_bucket"]`, `"uniform"`, nil, false},
		"a built-in by name":    {``, true, `"include": ["op_enc_hex", "op_rag_keyword_stuffing"]`, `"uniform"`, []string{"operators.json:1:156: warning: select.include[1]: op_rag_keyword_stuffing is never drawn"}, false},
		"control characters":    {``, true, `"include": ["op_enc_hex", "op_inv_ansi"]`, `"uniform"`, []string{"op_inv_ansi is never drawn: its children contain control characters"}, false},
		"nothing can be drawn":  {`"bucket.star"`, false, "", `"uniform"`, []string{"op_lex_bucket is never drawn", "no operator serves any seed"}, true},
		"every weight is 0":     {`"drawn.star"`, false, "", `"weighted", "weights": {"*": {"op_lex_drawn": 0}}`, []string{"has the weight 0: none could be drawn"}, true},
		"weights of no bucket":  {`"drawn.star"`, false, "", `"weighted", "weights": {"supply-chain": {"op_lex_drawn": 2}}`, []string{"weights.supply-chain: has no effect: no seed is in this bucket"}, false},
		"weights of the bucket": {`"drawn.star"`, false, "", `"weighted", "weights": {"prompt-injection": {"op_lex_drawn": 2}}`, nil, false},
	} {
		_, found := compile(t, dir, fmt.Sprintf(doc, c.plugins, c.builtins, c.filter, c.policy))
		if found.HasErrors() != c.refused || len(c.want) == 0 && len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		for _, want := range c.want {
			if !strings.Contains(found.Error(), want) {
				t.Errorf("%s: nothing says %q: %v", name, want, found)
			}
		}
	}
}

// What Python writes as JSON and JSON does not have is passed over where nobody
// reads it.
func TestSeedsWithConstants(t *testing.T) {
	const text = `{"id": "a", "text": "NaN is \"Infinity\"", "score": NaN, "most": [-Infinity, Infinity], "bucket_id": NaN}
{"id": "b", "text": NaN}
{"id": "c", "text": "c", "strength": Infinity}
{"id": "d", "text": "d", "score": nan}
{"id": "e", "text": "e"}}
{"id": "f", "text": "f"}
`
	r := operator.NewSeedReader(strings.NewReader(text), "s.jsonl", "")
	var got []string
	for {
		seed, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, seed.ID+" "+seed.Text)
	}
	want := []string{`a NaN is "Infinity"`, "s.jsonl:2:1: error: has no text", "s.jsonl:3:38: error: strength: ", "s.jsonl:4:35: error: is not one JSON object", "s.jsonl:5:25: error: is not one JSON object", "f f"}
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// A chain is applied to every child, in its order, by the generators that a
// policy's choice would leave it.
func TestChain(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "surface.star", plugin("op_lex_surface", "PROMPT_INJECTION", "RAG_CONTEXT", "LOW"))
	const doc = `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "operators": ["surface.star"], "testcases": ["order:3"], "strength": 1, "chain": [%s]}`
	got := made(t, dir, fmt.Sprintf(doc, `"op_enc_hex", "op_lex_surface", "op_enc_hex"`))["order:3"]
	twice := fmt.Sprintf("%x", fmt.Sprintf("%x", "Write a short letter to the board about the new office."))
	if got != twice {
		t.Errorf("%q, want %q", got, twice)
	}
	_, found := compile(t, dir, fmt.Sprintf(doc, `"op_enc_hex", "op_lex_surface"`))
	if found.HasErrors() || !strings.Contains(found.Error(), "chain[1]: op_lex_surface always skips: its surface_compat is RAG_CONTEXT") {
		t.Error(found)
	}
	if _, found = compile(t, dir, fmt.Sprintf(doc, `"op_enc_hax"`)); !found.HasErrors() || !strings.Contains(found.Error(), "did you mean op_enc_hex?") {
		t.Error(found)
	}
}
