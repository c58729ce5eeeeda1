package speclang_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/internal/golden"
)

const countingLoop = `["let", [["loop", ["fn", ["n", "acc"], ["if", ["eq", ["var", "n"], 0], ["var", "acc"],
	["call", ["var", "loop"], ["sub", ["var", "n"], 1], ["add", ["var", "acc"], 1]]]]]], ["call", ["var", "loop"], %d, 0]]`

const nonTailSum = `["let", [["sum", ["fn", ["n"], ["if", ["eq", ["var", "n"], 0], 0,
	["add", 1, ["call", ["var", "sum"], ["sub", ["var", "n"], 1]]]]]]], ["call", ["var", "sum"], %d]]`

func TestLoopsCostTwelveStepsAnIteration(t *testing.T) {
	for _, n := range []int{0, 1, 1500, 1665} {
		r := compile(t, fmt.Sprintf(countingLoop, n)).Eval(speclang.NullValue(), speclang.DefaultLimits(), speclang.Host{})
		if r.Err != nil || r.Steps != 12*n+11 || r.Value.Text() != fmt.Sprint(n) {
			t.Errorf("%d iterations: %s, %v, %d steps", n, r.Value.Text(), r.Err, r.Steps)
		}
	}
	r := compile(t, fmt.Sprintf(countingLoop, 1666)).Eval(speclang.NullValue(), speclang.DefaultLimits(), speclang.Host{})
	if r.Err == nil || r.Err.Message != "spec_lang budget exceeded: steps" || r.Err.Category != speclang.Runtime {
		t.Errorf("1666 iterations: %v", r.Err)
	}
}

func TestTailCallsTakeNoStack(t *testing.T) {
	l := speclang.DefaultLimits()
	l.Steps = 10_000_000
	if r := compile(t, fmt.Sprintf(countingLoop, 500_000)).Eval(speclang.NullValue(), l, speclang.Host{}); r.Err != nil {
		t.Error(r.Err)
	}
}

func TestDeepRecursionIsAnErrorAndNoCrash(t *testing.T) {
	l := speclang.DefaultLimits()
	if r := compile(t, fmt.Sprintf(nonTailSum, 1000)).Eval(speclang.NullValue(), l, speclang.Host{}); r.Err != nil || r.Value.Text() != "1000" {
		t.Errorf("1000 calls: %v, %v", r.Value.Text(), r.Err)
	}
	l.Steps = 1 << 40
	r := compile(t, fmt.Sprintf(nonTailSum, 10_000_000)).Eval(speclang.NullValue(), l, speclang.Host{})
	if r.Err == nil || r.Err.Category != speclang.Runtime || !strings.Contains(r.Err.Message, "recursion") {
		t.Errorf("10,000,000 calls: %v", r.Err)
	}
	deep := strings.Repeat(`["not",`, 9000) + "1" + strings.Repeat("]", 9000)
	if r := compile(t, deep).Eval(speclang.NullValue(), speclang.DefaultLimits(), speclang.Host{}); r.Err != nil || !r.Truthy() {
		t.Errorf("9000 nested nots: %v", r.Err)
	}
}

func TestTimeIsAskedForAndEnds(t *testing.T) {
	l := speclang.DefaultLimits()
	l.Steps = 1 << 40
	endless := compile(t, `["let", [["f", ["fn", [], ["call", ["var", "f"]]]]], ["call", ["var", "f"]]]`)
	asked := 0
	r := endless.Eval(speclang.NullValue(), l, speclang.Host{Expired: func() bool { asked++; return asked > 100 }})
	if r.Err == nil || r.Err.Message != "spec_lang budget exceeded: timeout" || r.Err.Category != speclang.Runtime {
		t.Errorf("%v", r.Err)
	}
	if r.Steps > 101*64 {
		t.Errorf("time was over at the 101st question, %d steps", r.Steps)
	}
	// Work on a large text is followed by a question.
	asked = 0
	large := speclang.StringValue(strings.Repeat("x", 1<<20))
	compile(t, `["and", ["not", ["contains", "a"]], ["not", ["contains", "b"]], true]`).Eval(large, l, speclang.Host{Expired: func() bool { asked++; return false }})
	if asked < 3 {
		t.Errorf("asked %d times", asked)
	}
}

func TestEndlessPatternsEnd(t *testing.T) {
	f := speclang.CallForm("regex_match", speclang.CallForm("subject"), speclang.ScalarForm(speclang.StringValue(`(a|aa)+\1c`)))
	p := speclang.Compile(f, speclang.Options{RegexTimeout: 50 * time.Millisecond})
	r := p.Eval(speclang.StringValue(strings.Repeat("a", 60)), speclang.DefaultLimits(), speclang.Host{})
	if r.Err == nil || r.Err.Category != speclang.Runtime || !strings.HasPrefix(r.Err.Message, "spec_lang budget exceeded: timeout") || !errors.Is(r.Err, match.ErrTimeout) {
		t.Errorf("%v", r.Err)
	}
}

func TestNumbersDoNotGrowForEver(t *testing.T) {
	l := speclang.DefaultLimits()
	l.Steps = 1 << 40
	r := compile(t, `["let", [["f", ["fn", ["n"], ["call", ["var", "f"], ["add", ["var", "n"], ["var", "n"]]]]]], ["call", ["var", "f"], 1]]`).
		Eval(speclang.NullValue(), l, speclang.Host{})
	if r.Err == nil || r.Err.Category != speclang.Runtime || r.Err.Symbol != "add" {
		t.Errorf("%v", r.Err)
	}
	max := speclang.IntValue(1<<63 - 1)
	if got := compile(t, `["add", ["subject"], 1]`).Eval(max, speclang.DefaultLimits(), speclang.Host{}); got.Value.Text() != "9223372036854775808" {
		t.Errorf("2^63 is %s", got.Value.Text())
	}
}

func TestBudgetsOfTheExpression(t *testing.T) {
	// Both budgets are exceeded; the walk from the end meets the long text first.
	p := compile(t, `["eq", "a", ["eq", "b", "`+strings.Repeat("c", 100)+`"]]`)
	for _, c := range []struct {
		nodes, bytes int
		want         string
	}{{3, 50, "literal_size"}, {1, 50, "nodes"}, {6, 500, "nodes"}, {7, 105, "literal_size"}, {7, 106, ""}} {
		r := p.Eval(speclang.NullValue(), speclang.Limits{Steps: 100, Nodes: c.nodes, LiteralBytes: c.bytes}, speclang.Host{})
		got := ""
		if r.Err != nil {
			got = strings.TrimPrefix(r.Err.Message, "spec_lang budget exceeded: ")
		}
		if got != c.want || r.Err != nil && r.Steps != 0 {
			t.Errorf("%d nodes, %d bytes: %q after %d steps, want %q", c.nodes, c.bytes, got, r.Steps, c.want)
		}
	}
}

// Every way to be refused when it is reached: category, symbol, message.
func TestErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		expr, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ###  ")
		r := compile(t, expr).Eval(speclang.StringValue("subject"), speclang.DefaultLimits(), speclang.Host{})
		if r.Err == nil {
			t.Errorf("%s is %s", expr, r.Value.JSON())
			continue
		}
		fmt.Fprintf(&got, "%s  ###  %s at %d, %s: %s\n", expr, r.Err.Category, r.Steps, r.Err.Symbol, r.Err.Message)
	}
	golden.Check(t, "testdata/errors.txt", got.String())
}

func TestProblemsHavePlaces(t *testing.T) {
	d, err := doctree.Parse([]byte("- if\n- [containz, x]\n- [len]\n- [regex_match, [subject], '(']\n- {a: 1}\n"), doctree.Options{LineOffset: 10})
	if err != nil {
		t.Fatal(err)
	}
	p := speclang.Compile(speclang.FormOfYAML(&d.Root), speclang.Options{})
	if r := p.Problems(); len(r) != 1 || r[0].Line != 11 || r[0].Symbol != "if" {
		t.Errorf("an if of four operands: %v", r)
	}
	d.Root = d.Root.WithItems(d.Root.Items()[:4])
	var got []string
	for _, e := range speclang.Compile(speclang.FormOfYAML(&d.Root), speclang.Options{}).Problems() {
		got = append(got, e.Error())
	}
	want := []string{"12:3: unsupported spec_lang symbol: containz", "13:3: spec_lang arity error for len: expected 1 got 0",
		"14:28: invalid regular expression: missing ), unterminated subpattern at position 0"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestProgramsAreShared(t *testing.T) {
	p := compile(t, `["let", [["k", ["fn", ["s"], ["regex_match", ["var", "s"], ["trim", " (?<=a)b "]]]]], ["call", ["var", "k"], ["subject"]]]`)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 200 {
				r := p.Eval(speclang.StringValue([]string{"ab", "b"}[i%2]), speclang.DefaultLimits(), speclang.Host{})
				if r.Err != nil || r.Truthy() != (i%2 == 0) {
					t.Errorf("%v %v", r.Value.JSON(), r.Err)
				}
			}
		})
	}
	group.Wait()
}

func TestClosuresWrittenAlikeInOneScopeAreEqual(t *testing.T) {
	for expr, want := range map[string]bool{
		`["eq", ["fn", ["a"], ["var", "a"]], ["fn", ["a"], ["var", "a"]]]`:                                             true,
		`["eq", ["fn", ["a"], 1], ["fn", ["a"], 2]]`:                                                                   false,
		`["eq", ["fn", ["a"], 1], 1]`:                                                                                  false,
		`["let", [["f", ["fn", [], 1]]], ["eq", ["var", "f"], ["var", "f"]]]`:                                          true,
		`["let", [["f", ["fn", [], 1]]], ["let", [["g", ["fn", [], 1]]], ["eq", ["var", "f"], ["var", "g"]]]]`:         false,
		`["let", [["f", ["fn", ["x"], ["fn", [], 1]]]], ["eq", ["call", ["var", "f"], 1], ["call", ["var", "f"], 2]]]`: false,
	} {
		if r := compile(t, expr).Eval(speclang.NullValue(), speclang.DefaultLimits(), speclang.Host{}); r.Err != nil || r.Truthy() != want {
			t.Errorf("%s: %s, %v", expr, r.Value.JSON(), r.Err)
		}
	}
}

func TestFormsShowThemselves(t *testing.T) {
	f := speclang.FormOfJSON(parse(t, `["if",["subject"],1.0,{"a":null}]`), nil)
	if got, want := f.String(), `["if", ["subject"], 1.0, <a mapping>]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestValues(t *testing.T) {
	v, err := speclang.ParseJSON(`{"a": 18446744073709551616, "b": [1, 2.0, null, "x'y"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.Text(), `{'a': 18446744073709551616, 'b': [1, 2.0, None, "x'y"]}`; got != want {
		t.Errorf("text %s, want %s", got, want)
	}
	if got, want := v.JSON(), `{"a":18446744073709551616,"b":[1,2.0,null,"x'y"]}`; got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
	if n, _ := speclang.StringValue("é\xed\xa0\x80").Len(); n != 2 {
		t.Errorf("a lone surrogate and a letter are %d code points", n)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`"k%d": %d`, i, i))
	}
	v, err = speclang.ParseJSON("{" + strings.Join(many, ",") + "}")
	if k, ok := v.Get("k77"); err != nil || !ok || k.Text() != "77" {
		t.Errorf("k77 of a large dict: %v, %v", k, err)
	}
}

// FuzzEval evaluates anything that is JSON: no crash, only known categories, and
// the same result twice.
func FuzzEval(f *testing.F) {
	f.Add(fmt.Sprintf(countingLoop, 3), `"subject"`)
	f.Add(`["regex_match", ["upper", ["subject"]], "(?i)[a-z]+$"]`, `"ß\ud800"`)
	f.Add(`["in", ["get", ["subject"], "a"], ["json_parse", "[1e400]"]]`, `{"a": [null, 1.5]}`)
	f.Add(`["let", [["x", ["var", "x"]], ["x", 1]], {"a": 1}]`, `0`)
	f.Fuzz(func(t *testing.T, expr, subject string) {
		e, err := jsontree.Parse([]byte(expr), jsontree.Python())
		if err != nil {
			t.Skip()
		}
		s, err := speclang.ParseJSON(subject)
		if err != nil {
			t.Skip()
		}
		p := speclang.Compile(speclang.FormOfJSON(&e.Root, e.Position), speclang.Options{RegexTimeout: 100 * time.Millisecond})
		l := speclang.Limits{Steps: 2000, Nodes: 2000, LiteralBytes: 2000}
		a := p.Eval(s, l, speclang.Host{})
		if a.Err != nil && a.Err.Category != speclang.Schema && a.Err.Category != speclang.Runtime {
			t.Fatalf("category %q", a.Err.Category)
		}
		if a.Err != nil && errors.Is(a.Err, match.ErrTimeout) {
			return
		}
		b := p.Eval(s, l, speclang.Host{})
		if a.Steps != b.Steps || (a.Err == nil) != (b.Err == nil) || a.Value.JSON() != b.Value.JSON() {
			t.Fatalf("%s in %d steps, then %s in %d", a.Value.JSON(), a.Steps, b.Value.JSON(), b.Steps)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	subject := speclang.StringValue(strings.Repeat("an ordinary line of text\n", 40) + "version: 1\n")
	for _, c := range []struct{ name, expr string }{
		{"contains", `["contains", ["subject"], "version: 1"]`},
		{"regex", `["regex_match", ["subject"], "version: [0-9]"]`},
		{"mixed", `["and", ["contains", "text"], ["not", ["starts_with", "x"]], ["if", ["eq", 1, 1.0], true, false]]`},
		{"loop1500", fmt.Sprintf(countingLoop, 1500)},
	} {
		p := compile(b, c.expr)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := p.Eval(subject, speclang.DefaultLimits(), speclang.Host{}); !r.Truthy() {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	n := parse(b, fmt.Sprintf(countingLoop, 1500))
	b.ReportAllocs()
	for b.Loop() {
		speclang.Compile(speclang.FormOfJSON(n, nil), speclang.Options{})
	}
}
