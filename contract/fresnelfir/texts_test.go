package fresnelfir

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// notes is a model whose module takes two texts: an input, and a field of who acts.
const notes = `{
  "entities": {"User": {"fields": {"id": {"type": "string"}, "nick": {"type": "string"}, "code": {"type": "string", "format": "uuid"}}}},
  "refinements": {}, "functions": {},
  "protocols": {"notes": {"root": {"type": "repeat", "min": 1, "max": 3, "body": {"type": "call", "action": "note"}}}},
  "effects": {"note": {"sets": []}},
  "properties": {}, "generators": {},
  "exploration": {
    "weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
    "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0,
    "concurrency": {"mode": "deterministic_interleaving", "threads": 1}
  },
  "inputs": {
    "domains": {"line": {"type": "string", "values": ["a plain line of text", "검색어"]}},
    "constraints": [], "coverage": {"targets": [{"type": "boundary", "domain": "line", "values": ["검색어"]}], "seed": 7, "reproducible": true}
  },
  "bindings": {
    "runtime": "wasm", "entry": "notes.wasm",
    "actions": {"note": {"function": "note", "args": ["line", "actor_nick"], "returns": {"type": "void"}, "mutates": true, "idempotent": false, "reads": [], "writes": ["User"]}},
    "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}
  }
}`

// traps is a module that cannot take a text of text number arg (0 or 1) if
// that is longer than most bytes.
func traps(arg wasmemit.Index, most int32) []byte {
	m := wasmemit.New()
	m.Memory(1, 4)
	f := m.Func("note", wasmemit.Params(wasmemit.I32, wasmemit.I32, wasmemit.I32, wasmemit.I32), nil)
	f.Get(2*arg+1).I32(most).Op(wasmemit.I32GtU).If(wasmemit.Empty, func() { f.Op(wasmemit.Unreachable) }, nil)
	return m.Bytes()
}

// A module that cannot take some variant of a text is found out, and the texts
// that have no part in it are plain once the finding is made small.
func TestTexts(t *testing.T) {
	g := engine(t)
	for name, c := range map[string]struct {
		arg   wasmemit.Index
		most  int32
		plain string // among the arguments of the smallest reproducer
	}{
		"a variant of an input":    {0, 60, `actor_nick=""`},
		"a variant of a field":     {1, 20, `line="a plain line of text"`},
		"no variant has a part":    {0, 3, `line="a plain line of text"`},
		"no text of the field has": {0, 3, `actor_nick=""`},
	} {
		t.Run(name, func(t *testing.T) {
			campaigns := withModuleNamed(t, g, "notes.json", notes, traps(c.arg, c.most))
			campaigns.budget = 300
			_, failing := explore(t, campaigns, firstFailure)
			if len(failing) == 0 {
				t.Fatal("nothing failed")
			}
			for title, at := range failing {
				x := open(t, campaigns)
				small, _ := campaigns.Reduce(context.Background(), at.Payload, func(tape []byte) (bool, error) {
					o, err := x.Execute(context.Background(), campaigns.Start(campaign.Facts{}), campaign.Case{Payload: tape})
					return o.Title == title, err
				})
				tr, _, err := campaigns.retold(t.Context(), small)
				if err != nil {
					t.Fatal(err)
				}
				if len(tr.Steps) != 1 || !slices.Contains(tr.Steps[0].Args, c.plain) {
					t.Errorf("%s: %v", title, tr.Steps)
				}
			}
		})
	}
	sound := withModuleNamed(t, g, "notes.json", notes, traps(0, 1<<20))
	sound.budget = 300
	if _, failing := explore(t, sound, ""); len(failing) > 0 {
		t.Error(failing)
	}
}

// Texts are many, distinct, valid and the same every time; other seeds give
// others, and the campaign is another one then.
func TestVariants(t *testing.T) {
	compile := func(text string) *Campaign {
		return withModuleNamed(t, engine(t), "notes.json", text, traps(0, 1<<20))
	}
	a, b := compile(notes), compile(notes)
	other := compile(strings.Replace(notes, `"seed": 7`, `"seed": 8`, 1))
	x, nick := a.plan.doc.Inputs.Domains[0], a.plan.doc.Entities[0].Field("nick")
	if again := b.plan.doc.Inputs.Domains[0]; !slices.Equal(x.Variants, again.Variants) || a.Identity() != b.Identity() {
		t.Error("the variants come out differently")
	}
	if slices.Equal(x.Variants, other.plan.doc.Inputs.Domains[0].Variants) {
		t.Error("another seed gives the same variants")
	}
	if x.Size() != 2 || len(x.Variants) < 200 || len(nick.Texts) < 200 || nick.Texts[0] != "" || a.plan.doc.Entities[0].Field("code").Texts != nil {
		t.Errorf("%d values, %d variants, %d texts", x.Size(), len(x.Variants), len(nick.Texts))
	}
	for _, list := range [][]string{x.Variants, nick.Texts} {
		seen := map[string]bool{}
		for _, text := range list {
			if seen[text] || !utf8.ValidString(text) || utf8.RuneCountInString(text) > variantChars || slices.Contains(x.Values, text) {
				t.Errorf("%q", text)
			}
			seen[text] = true
		}
	}
	// A tape of nothing but zeros is the plainest traversal.
	tr, inputs, err := a.retold(t.Context(), choice.Encode(nil))
	if err != nil || inputs["line"] != x.Values[0] || !slices.Contains(tr.Steps[0].Args, `actor_nick=""`) {
		t.Errorf("%v %v %v", inputs, tr, err)
	}
}
