package fresnelfir

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/port/sut"
)

// What a failure contradicts follows from its cause: what the model says of the call, of the state
// after it, or of the observer that shows it.
func TestGuessesAgainst(t *testing.T) {
	for cause, want := range map[string]string{
		"answers otherwise after pay":          "effect pay, models f",
		"answers otherwise after refusing pay": "effect pay, models f, requires pay",
		"answers otherwise after a second pay": "effect pay, idempotent pay, models f",
		"is not idempotent":                    "idempotent f",
		"answers otherwise if called twice":    "idempotent f",
		"mutates nothing, but changed":         "mutates f",
		"answers otherwise":                    "mutates f",
		"returns":                              "answer f",
		"refused":                              "call f, requires f",
		"not refused":                          "requires f",
		"crashed":                              "models f, requires f, returns f",
	} {
		x := tried{against: map[string]string{}}
		for _, title := range []string{"first", "second"} {
			x.add(nil, &campaign.Outcome{Verdict: campaign.VerdictFail, Title: title, Signature: "f", Cause: []string{cause}})
		}
		if got := strings.Join(slices.Sorted(maps.Keys(x.against)), ", "); got != want {
			t.Errorf("%s: against %s, want %s", cause, got, want)
		}
		for k, why := range x.against {
			if why != "first" {
				t.Errorf("%s: %s because of the %s failure", cause, k, why)
			}
		}
	}
	held := tried{against: map[string]string{}}
	if held.add(nil, &campaign.Outcome{Verdict: campaign.VerdictPass}); len(held.against) != 0 {
		t.Errorf("what held is against %v", held.against)
	}

	// What the system refuses is against all that is guessed of the call, unless it is guessed when the
	// call is allowed.
	x := tried{against: map[string]string{claimKey("call", "f"): "refused"}}
	list := []ir.Guess{{Of: "f", Claim: "answer"}, {Of: "f", Claim: "models"}, {Of: "g", Claim: "requires"}, {Of: "g", Claim: "answer"}}
	for i, want := range []string{"refused", "", "", ""} {
		if got := x.contradiction(list, &list[i]); got != want {
			t.Errorf("%+v: %q", list[i], got)
		}
	}
	list[3].Of, list[2].Of = "f", "f"
	if got := x.contradiction(list, &list[0]); got != "" {
		t.Errorf("a call of which it is guessed when it is allowed: %q", got)
	}
}

// Calls support a guess as far as they could have contradicted it.
func TestSupport(t *testing.T) {
	x := tried{calls: map[string]int64{"f": 2, "g": 3}, refusals: map[string]int64{"f": 5}}
	blind, answering := &ir.Document{}, &ir.Document{}
	blind.Bindings.Actions = []*ir.ActionBinding{{}}
	answering.Bindings.Actions = []*ir.ActionBinding{{}, {Answer: &ir.Expr{}}}
	for _, c := range []struct {
		doc   *ir.Document
		claim string
		want  int64
	}{{blind, "effect", 0}, {answering, "effect", 2}, {blind, "models", 5}, {blind, "requires", 7}, {blind, "answer", 2}} {
		if n := x.support(c.doc, &ir.Guess{Of: "f", Claim: c.claim}); n != c.want {
			t.Errorf("%s: %d, want %d", c.claim, n, c.want)
		}
	}
}

// An operation over HTTP needs what is in its path, and takes no more than it has.
func TestUnfit(t *testing.T) {
	get := &sut.Operation{Name: "get", Arguments: []sut.Argument{{Name: "id", In: "path"}, {Name: "full", In: "query"}}}
	last := &sut.Operation{Name: "last", Arguments: []sut.Argument{{Name: "full", In: "query"}, {Name: "id", In: "path"}}}
	for _, c := range []struct {
		kind sut.Kind
		o    *sut.Operation
		args string
		want string
	}{
		{sut.HTTP, get, "id", ""}, {sut.HTTP, get, "full id", ""}, {sut.HTTP, get, "a b", ""}, {sut.HTTP, get, "a", ""},
		{sut.HTTP, get, "a b c", `the operation "get" takes 2 arguments, got 3`},
		{sut.HTTP, get, "full", `the operation "get" has {id} in its path: the binding must give it as an argument`},
		{sut.HTTP, last, "a", `the operation "last" has {id} in its path: the binding must give it as an argument`},
		{sut.HTTP, get, "", `the operation "get" has {id} in its path: the binding must give it as an argument`},
		{sut.HTTP, nil, "", ""}, {sut.Python, get, "a b c", ""},
	} {
		if got := unfit(&sut.Plan{Kind: c.kind}, c.o, strings.Fields(c.args)); got != c.want {
			t.Errorf("%v with %q: %q, want %q", c.o, c.args, got, c.want)
		}
	}
}

// Values of traces are written as JSON that every reader can represent.
func TestTraceValues(t *testing.T) {
	shown := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for text, want := range map[string]string{
		"7": "7", "-7": "-7", "9007199254740991": "9007199254740991", "9007199254740992": `{"#bigint":"9007199254740992"}`,
		"-9007199254740991": "-9007199254740991", "-9007199254740992": `{"#bigint":"-9007199254740992"}`,
		"true": "true", "false": "false", `"7"`: `"7"`, `"true"`: `"true"`, "red": `"red"`, `"a b"`: `"a b"`, "": `""`,
	} {
		if got := shown(tableValue(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for of, want := range map[ir.Type]string{ir.Int: "7", ir.String: `"7"`, ir.Bool: "false"} {
		if got := shown(plainValue("7", of)); got != want {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
	if got := shown(plainValue("true", ir.Bool)); got != "true" {
		t.Errorf("true: %s", got)
	}
	if got := shown(argsOf(&traceStep{Args: []string{"a=1", `b="x=y"`, "c"}})); got != `{"a":1,"b":"x=y","c":""}` {
		t.Errorf("arguments %s", got)
	}
}

const two = `
explore(threads = 1)
Box = entity(name = string, other = string, n = int(0, 9))
k = input(int(0, 9))
def make():
    b = new(Box, name = "plain", other = "plain", n = k)
def paint():
    b = any(Box, lambda b: b.name == "red" or "blue" != b.name or b.name == "red" or b.other == "white" or b.name == "")
    b.name = "green"
main = protocol(seq(make, paint))
`

// The texts that a field is compared with are those that a document names beside it, once each.
func TestCompared(t *testing.T) {
	doc := alone(t, "x.model.star", two).plan.doc
	if got := compared(doc, "name"); !slices.Equal(got, []string{"red", "blue"}) {
		t.Errorf("name is compared with %q", got)
	}
	if got := compared(doc, "other"); !slices.Equal(got, []string{"white"}) {
		t.Errorf("other is compared with %q", got)
	}
}

// A case of a document that has changed is kept if it makes the same calls as before, or fails.
func TestAdopt(t *testing.T) {
	was := alone(t, "x.model.star", two)
	for _, c := range []struct {
		edits []string
		want  string
	}{
		{nil, ""},
		{[]string{`"white"`, `"black"`}, ""},
		{[]string{"paint", "colour"}, "it reads the traversal differently: step 2 was paint() and is colour()"},
		{[]string{"seq(make, paint)", "seq(make)"}, "it reads the traversal differently: step 2 was paint() and is missing"},
		{[]string{"seq(make, paint)", "seq(make, paint, paint)"}, ""},
		{[]string{"seq(make, paint)", "seq(make)", "main =", "never = always(forall(Box, lambda b: b.n > 9))\nmain ="}, ""}, // it fails
	} {
		payload := []byte("payload")
		now := alone(t, "x.model.star", strings.NewReplacer(c.edits...).Replace(two))
		got, err := now.Adopt(t.Context(), campaign.Erase[*state](was), payload, "")
		if string(got) != string(payload) || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: %v, want %q", c.edits, err, c.want)
		}
	}
}

// The table of pairs lists those that are to be covered, and why some cannot be.
func TestPairTable(t *testing.T) {
	m := &campaign.Matrix{Rows: []string{"a=1", "a=2"}, Columns: []string{"b=1", "b=2"}, Cells: [][]campaign.MatrixCell{
		{{Hits: 1, Total: 1}, {Total: 1}}, {{}, {Total: 1, Hits: 2, Note: "no input leads to it"}}}}
	want := "[[a=1, b=1 hit ] [a=1, b=2 pending ] [a=2, b=2 unreachable no input leads to it]]"
	if got := fmt.Sprint(pairTable(m).Rows); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Commands that translate a model refuse what they cannot read, and write nothing then.
func TestTranslations(t *testing.T) {
	files := map[string]string{"two.model.star": two, "two.json": string(mustCompile(t, two)), "bad.model.star": "nonsense", "sum.model.star": strings.Replace(two, "green\"\n", "green\"\n    b.n = b.n * 2 % 10\n", 1), "article.json": article(t)}
	for _, c := range []struct {
		command campaign.Command
		model   string
		refused string
		holds   string
		told    string // on standard error
	}{
		{compileCommand(), "two.model.star", "", `"Box"`, "two.model.star:7:1: beyond the published format: which instance is chosen, in $.effects.paint.picks\n"},
		{compileCommand(), "sum.model.star", "", `"Box"`, "sum.model.star:10:11: beyond the published format: a value with mod or mul, in $.effects.paint\n"},
		{compileCommand(), "two.json", "", `"Box"`, ""},
		{compileCommand(), "bad.model.star", "is not a statement of a model", "", ""},
		{compileCommand(), "missing", "reading the model", "", ""},
		{formatCommand(), "two.json", "", "def paint():", ""},
		{formatCommand(), "bad.model.star", "is not a statement of a model", "", ""},
		{traceCommand(), "article.json", "article.json is not a capsule: thresh promote FINDING writes one", "", ""},
		{traceCommand(), "missing", "reading the model", "", ""},
	} {
		d := &desk{files: files, written: map[string]string{}}
		flags := texts{of: map[string]*string{}}
		c.command.Flags(flags)
		*flags.of["o"] = "out"
		err := c.command.Run(t.Context(), d, []string{c.model})
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s %s: %v, want %q", c.command.Use, c.model, err, c.refused)
		}
		if c.holds == "" && len(d.written) != 0 || !strings.Contains(d.written["out"], c.holds) {
			t.Errorf("%s %s wrote %q", c.command.Use, c.model, d.written)
		}
		if !strings.Contains(d.err.String(), c.told) || c.told == "" && d.err.Len() > 0 {
			t.Errorf("%s %s told %q", c.command.Use, c.model, d.err.String())
		}
		if c.command.Least != 1 || c.command.Most != 1 {
			t.Errorf("%s: from %d to %d models", c.command.Use, c.command.Least, c.command.Most)
		}
	}
}
