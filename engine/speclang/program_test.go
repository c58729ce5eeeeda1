package speclang_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/speclang"
)

// program draws expressions in which every form stands within every other:
// most are well formed, so that evaluation gets somewhere. names are the
// variables that may be in scope.
func (r pick) program(depth int, names []string) string {
	if depth == 0 {
		return r.literal(names)
	}
	sub := func() string { return r.program(depth-1, names) }
	list := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = ", " + sub()
		}
		return strings.Join(parts, "")
	}
	switch r.IntN(12) {
	case 0:
		return `["if"` + list(3-max(0, r.IntN(30)-28)) + `]`
	case 1, 2:
		return r.let(depth, names)
	case 3:
		return r.fn(depth, names)
	case 4, 5:
		f := r.fn(depth, names)
		if len(names) > 0 && r.IntN(2) == 0 {
			f = `["var", "` + r.of(names...) + `"]`
		}
		return `["call", ` + f + list(r.IntN(3)) + `]`
	case 6:
		return `["` + r.of("and", "or") + `"` + list(max(r.IntN(4), min(r.IntN(10), 1))) + `]`
	case 7:
		return r.of(`[]`, `[""]`, `[1]`, `{"a": 1}`, `["nope", 1]`, `["f"]`, `["subject", 1]`, `["var"]`, `["var", " x "]`, `["var", "unknown"]`, `["let", [["x"]], 1]`, `["let", [["x", 1], [" x", 2]], 1]`, `["let", {}, 1]`,
			`["fn", ["a", "a"], 1]`, `["fn", [1], 1]`, `["fn", "a", 1]`, `["call"]`, `["call", 5, 1]`, `["If", 1, 2, 3]`, `[["subject"]]`, r.literal(names), r.literal(names), r.literal(names))
	case 8:
		return `["` + r.of("not", "len", "trim", "lower", "upper", "json_parse") + `"` + list(max(0, 1+max(0, r.IntN(20)-18)-max(0, r.IntN(20)-18))) + `]`
	}
	return `["` + r.of("contains", "starts_with", "ends_with", "regex_match", "eq", "neq", "in", "json_type", "has_key", "get", "add", "sub", "add", "sub", "eq") + `"` + list(2-max(0, r.IntN(8)-6)+max(0, r.IntN(20)-18)) + `]`
}

func (r pick) let(depth int, names []string) string {
	var bindings []string
	inner := append([]string(nil), names...)
	for range r.IntN(3) {
		inner = append(inner, r.of("x", "y", "z", "f"))
	}
	for _, n := range inner[len(names):] {
		bindings = append(bindings, `["`+r.of("", "", "", " ")+n+`", `+r.program(depth-1, inner)+`]`)
	}
	return `["let", [` + strings.Join(bindings, ", ") + `], ` + r.program(depth-1, inner) + `]`
}

func (r pick) fn(depth int, names []string) string {
	params := []string{"a", "b", "x"}[:r.IntN(4)]
	inner := append(append([]string(nil), names...), params...)
	quoted := "[]"
	if len(params) > 0 {
		quoted = `["` + strings.Join(params, `", "`) + `"]`
	}
	return `["fn", ` + quoted + `, ` + r.program(depth-1, inner) + `]`
}

func (r pick) literal(names []string) string {
	if len(names) > 0 && r.IntN(2) == 0 {
		return `["var", "` + r.of(names...) + `"]`
	}
	return r.of(`["subject"]`, `["subject"]`, `0`, `1`, `2`, `1.5`, `true`, `false`, `null`, `""`, `"a"`, `"0"`, `"[1, 2]"`, `"{\"a\": [1, null]}"`, `"é😀"`, `"("`, `["json_parse", "[0, \"a\", {\"k\": 1}]"]`)
}

// A counting loop ends after as many rounds as the program says: bodies of
// closures that call themselves are drawn too seldom.
func (r pick) loop() string {
	step := r.of(`["sub", ["var", "n"], 1]`, `["sub", ["var", "n"], 2]`, `["add", ["var", "n"], -1]`)
	again := `["call", ["var", "f"], ` + step + `]`
	again = r.of(again, again, `["and", true, `+again+`]`, `["if", `+r.literal([]string{"n"})+`, `+again+`, `+again+`]`, `["let", [["m", `+step+`]], ["call", ["var", "f"], ["var", "m"]]]`, `["add", 1, `+again+`]`)
	return fmt.Sprintf(`["let", [["f", ["fn", ["n"], ["if", %s, %s, %s]]]], ["call", ["var", "f"], %d]]`,
		r.of(`["eq", ["var", "n"], 0]`, `["in", ["var", "n"], ["json_parse", "[0, -1]"]]`), r.literal([]string{"n"}), again, r.IntN(120))
}

func TestProgramsAgainstPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here to be asked")
	}
	r := pick{rand.New(rand.NewPCG(11, uint64(*rounds)))}
	type question struct {
		expr, subject        string
		steps, nodes, spaces int
	}
	questions := make([]question, *rounds)
	var in bytes.Buffer
	for i := range questions {
		q := question{subject: r.value(2), steps: 1500, nodes: 20000, spaces: 262144}
		switch r.IntN(8) {
		case 0:
			q.expr = r.loop()
		default:
			q.expr = r.program(1+r.IntN(4), nil)
		}
		switch r.IntN(10) {
		case 0:
			q.steps = 1 + r.IntN(40)
		case 1:
			q.nodes, q.spaces = 1+r.IntN(40), 1+r.IntN(100)
		}
		if strings.Contains(q.subject, "NaN") {
			q.subject = `{"a": [1, "b"], "b": "text"}` // Python's lists compare objects before values
		}
		questions[i] = q
		fmt.Fprintf(&in, "[%s, %s, [%d, %d, %d]]\n", q.expr, q.subject, q.steps, q.nodes, q.spaces)
	}
	cmd := exec.Command(python, "-W", "ignore", "testdata/program.py")
	cmd.Stdin = &in
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v: %s", err, complaint.String())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(lines), len(questions))
	}
	values, failures := 0, map[string]int{}
	for i, q := range questions {
		var want struct {
			Text, Error string
			Steps       int
		}
		if err := json.Unmarshal(lines[i], &want); err != nil {
			t.Fatal(err)
		}
		l := speclang.Limits{Steps: q.steps, Nodes: q.nodes, LiteralBytes: q.spaces}
		got := compile(t, q.expr).Eval(speclang.OfJSON(parse(t, q.subject)), l, host())
		failed := ""
		if got.Err != nil {
			if failed = string(got.Err.Category); got.Err.Category == speclang.Runtime {
				if _, budget, ok := strings.Cut(got.Err.Message, "budget exceeded: "); ok {
					failed = budget
				}
			}
			failures[failed]++
		} else {
			values++
		}
		// Lone surrogates are stray bytes here and have no form in JSON.
		same := got.Err != nil || got.Value.Text() == want.Text || strings.ContainsRune(want.Text, '\ufffd')
		if failed != want.Error || got.Steps != want.Steps || !same {
			t.Errorf("%s of %s within %d, %d, %d: %q %q %d steps; Python: %q %q %d steps", q.expr, q.subject, q.steps, q.nodes, q.spaces,
				got.Value.Text(), failed, got.Steps, want.Text, want.Error, want.Steps)
		}
	}
	t.Logf("%d programs with a value, failures: %v", values, failures)
}
