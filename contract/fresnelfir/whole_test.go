package fresnelfir_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/system/wasm"
)

// testdata/whole holds all that short explorations say: of models alone and with modules,
// with faults and without, with actors, combinations of inputs and claims over time.
func TestWholeExplorations(t *testing.T) {
	engine, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	starter := map[string][]byte{}
	for _, f := range fresnelfir.New(nil).Starter("") {
		starter[f.Name] = f.Data
	}
	for _, x := range []struct {
		name, path, text, budget string
		module                   []byte
	}{
		{"ticket", "model.json", string(starter["model.json"]), "60", starter["ticket.wasm"]},
		{"article", "article.json", faulty(t), "80", nil},
		{"permissions", "permissions.model.star", read(t, "../../examples/fresnelfir/permissions.model.star"), "40", nil},
		{"queue", "queue.json", read(t, "../../examples/fresnelfir/queue.json"), "30", []byte(read(t, "../../examples/fresnelfir/queue.wasm"))},
		{"library", "library.model.star", read(t, "testdata/commands/library.model.star"), "60", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			set := campaign.Settings{Options: map[string][]string{"budget": {x.budget}}, Read: func(path string) ([]byte, error) {
				if x.module == nil {
					return nil, os.ErrNotExist
				}
				return x.module, nil
			}}
			list, diags := fresnelfir.New(engine.Open).Compile(t.Context(), campaign.Spec{Path: x.path, Data: []byte(x.text)}, set)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			got := wholeExploration(t, list[0], diags.Error())
			golden.Check(t, filepath.Join("testdata", "whole", x.name+".txt"), got)
		})
	}
}

func wholeExploration(t *testing.T, c campaign.Any, notes string) string {
	var b strings.Builder
	write := func(what string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", what, strings.NewReplacer(`},{`, "},\n  {", `],[`, "],\n  [").Replace(string(text)))
	}
	fmt.Fprintf(&b, "planned %s\n%s\n", campaign.TraitsOf(c).Cases(), notes)
	facts, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write("facts", facts)
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	reducer, _ := campaign.As[campaign.Reducer](c)
	explorer, _ := campaign.As[campaign.Explorer](c)
	state, index, seen := c.Start(facts), int64(0), map[string]int{}
	for number := 0; ; number++ {
		round, more := c.Round(state)
		if !more {
			break
		}
		before := state
		state = c.Fold(before, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range round.Len {
				at := campaign.Case{Round: number, Index: index, Payload: round.Payload(i)}
				index++
				o, err := x.Execute(t.Context(), before, at)
				if err != nil {
					t.Error(err)
				}
				if seen[o.Title]++; o.Verdict == campaign.VerdictFail && seen[o.Title] == 1 {
					fmt.Fprintf(&b, "\ncase %d of round %d: %s %s, %v, %q, cause %q\n", at.Index, number, o.Kind, o.Title, o.Severity, o.Signature, o.Cause)
					input := c.(campaign.Inputter[any]).Input(t.Context(), before, at)
					smallest, parts := reducer.Reduce(t.Context(), input, func(p []byte) (bool, error) {
						again, err := x.Execute(t.Context(), before, campaign.Case{Payload: p})
						return again.Title == o.Title, err
					})
					action, generation, err := explorer.Trigger(t.Context(), input)
					size, unit := campaign.TraitsOf(c).Gauge(t.Context(), input)
					small, _ := campaign.TraitsOf(c).Gauge(t.Context(), smallest)
					fmt.Fprintf(&b, "after %s, action %d, %v; %d, then %d %s, each %s needed; cause %q\n", action, generation, err, size, small, unit, parts, c.(campaign.Grouper[any]).Group(before, o))
					write("shown", c.(campaign.Describer[any]).Describe(before, at, o, smallest))
				}
				if !yield(at, o) {
					return
				}
			}
		})
	}
	b.WriteString("\n")
	for _, title := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&b, "%d times %q\n", seen[title], title)
	}
	sum := c.(campaign.Summarizer[any]).Summarize(state)
	sum.Examples = nil
	for _, e := range sum.Exhibits {
		write("exhibit", e)
	}
	sum.Exhibits = nil
	write("figures", c.(campaign.Figurer[any]).Figures(state))
	write("explored", explorer.Explored(state))
	fmt.Fprintf(&b, "summary %+v\n", sum)
	return b.String()
}
