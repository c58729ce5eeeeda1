package fresnelfir

import (
	"context"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
)

// Whatever compiles can be walked by whatever tape, again and again with the
// same outcome.
func FuzzTraverse(f *testing.F) {
	f.Add(article(f), []byte{1, 0, 2, 3})
	f.Add(string(starter), []byte{1, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, text string, tape []byte) {
		if len(text) > 1<<15 {
			return
		}
		list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "m.json", Data: []byte(text)}, campaign.Settings{})
		if diags.HasErrors() {
			return
		}
		c, _ := campaign.As[*Campaign](list[0])
		x := open(t, c)
		values := make([]uint64, len(tape))
		for i, b := range tape {
			values[i] = uint64(b)
		}
		at := campaign.Case{Payload: choice.Encode(values)}
		first, err := x.Execute(context.Background(), nil, at)
		if err != nil {
			t.Fatal(err)
		}
		again, err := x.Execute(context.Background(), nil, at)
		if err != nil || string(first.AppendFacts(nil)) != string(again.AppendFacts(nil)) {
			t.Errorf("%+v, again %+v, %v", first, again, err)
		}
	})
}

func TestBudget(t *testing.T) {
	entities := []*ir.Entity{{}, {}}
	domains := []*ir.Domain{
		{Type: ir.Enum, Values: []string{"a", "b", "c"}}, {Type: ir.Bool}, {Type: ir.Enum, Values: []string{"a", "b", "c"}}, {Type: ir.Bool},
		{Type: ir.Int, Min: 1, Max: 8},
	}
	for _, c := range []struct {
		name string
		doc  ir.Document
		want int64
	}{
		{"nothing", ir.Document{}, 100},
		{"entities alone", ir.Document{Entities: entities}, 100},
		{"a document lifecycle", ir.Document{Entities: entities, Effects: make([]*ir.Effect, 6), Protocols: make([]*ir.Protocol, 2),
			Inputs: ir.Inputs{Domains: domains, Targets: make([]ir.Target, 3)}}, 20736},
		{"inputs without end", ir.Document{Entities: entities, Inputs: ir.Inputs{Domains: []*ir.Domain{{Type: ir.Int, Min: -1 << 63, Max: 1<<63 - 1}, {Type: ir.Bool}}}}, 2000},
		{"more than a campaign may have", ir.Document{Entities: make([]*ir.Entity, 2000), Effects: make([]*ir.Effect, 2000)}, 1_000_000},
	} {
		if got := Budget(&c.doc); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestConstraints(t *testing.T) {
	text := article(t, `"constraints": []`, `"constraints": [{"name": "readers stay out", "rule": ["implies", ["eq", "actor_role", "reader"], ["not", "actor_signed_in"]]}]`)
	c := compileText(t, text)
	s, failing := explore(t, c, "")
	if len(failing) > 0 {
		t.Error(failing)
	}
	for i, x := range c.plan.space.targets {
		excluded := x.label == "actor_role=reader, actor_signed_in=true"
		if excluded != (x.unreachable != "") || excluded == s.reached[i] {
			t.Errorf("%s: unreachable %q, reached %t", x.label, x.unreachable, s.reached[i])
		}
	}
	_, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "m.json", Data: []byte(article(t, `"constraints": []`,
		`"constraints": [{"name": "a", "rule": ["eq", "actor_role", "reader"]}, {"name": "b", "rule": ["neq", "actor_role", "reader"]}]`))}, campaign.Settings{})
	if !diags.HasErrors() || diags[0].Code != "fresnelfir.no-input" || diags[0].Message != "the constraints exclude every input: a, b" {
		t.Errorf("%v", diags)
	}
}
