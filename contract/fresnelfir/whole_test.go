package fresnelfir_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/sut"
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

const shopModel = `
system("shop.system.yaml")
explore(threads = 2)
Item = entity(colour = enum("red", "green", '{"b": [1, 2], "a": 3}'), price = int(0, 90), sold = bool(default = False), note = string(default = "new"))
price = input(int(1, 9))
colour = input(enum("red", "green", '{"b": [1, 2], "a": 3}'))
def cost(i = Item): return i.price
def gone(i = Item): return i.sold
def shade(i = Item, returns = "Item.colour"): return i.colour
def says(i = Item): return i.note
ask_cost = observer("cost", i = Item, returns = int, part = "data.price", models = cost)
ask_gone = observer("gone", i = Item, returns = bool, models = gone)
ask_shade = observer("shade", i = Item, returns = "Item.colour", models = shade)
ask_note = observer("note", i = Item, returns = string, models = says)
def make():
    weight(2)
    i = new(Item, price = price, colour = colour)
    call("make", price, colour, returns = Item, part = "item.id")
def sell():
    i = any(Item, sold = False)
    i.sold = True
    i.note = "sold"
    call("sell", i, rejects = True, returns = int, answer = i.price)
def raise_price():
    weight(3)
    i = any(Item)
    i.price += price
    call("raise", i, price)
def mark():
    i = any(Item)
    i.note = "marked"
    call("mark", i, idempotent = True)
cheap = always(forall(Item, lambda i: i.price < 60))
`

// shop is a system that behaves as mood says.
type shop struct {
	mood  string
	items []struct {
		price  int
		colour string
		sold   bool
		note   string
	}
	calls int
}

func (*shop) Operations() (list []sut.Operation) {
	args := map[string][]sut.Argument{"make": {{Name: "price"}, {Name: "colour", Type: "object"}}, "raise": {{Name: "id"}, {Name: "price"}}}
	for _, name := range []string{"cost", "gone", "make", "mark", "note", "raise", "sell", "shade"} {
		list = append(list, sut.Operation{Name: name, Arguments: args[name], Refuses: name == "sell"})
	}
	return list
}

func (*shop) Notes() []string { return []string{"a shop that is played"} }
func (*shop) Close() error    { return nil }
func (x *shop) Reset(context.Context) error {
	x.items, x.calls = nil, 0
	return nil
}

func (x *shop) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	x.calls++
	text := func(at int) string {
		if at < len(c.Named) {
			return string(c.Named[at].Value)
		}
		if at < len(c.Positional) {
			return string(c.Positional[at])
		}
		return ""
	}
	say := func(v string) (sut.Observation, error) {
		return sut.Observation{End: sut.Answered, Value: json.RawMessage(v)}, nil
	}
	if c.Operation == "make" {
		n, err := strconv.Atoi(text(0))
		if x.mood == "makes three" && len(x.items) == 3 {
			return say(`{"error": "full"}`)
		}
		if x.mood == "mistakes names" && c.Named == nil {
			return sut.Observation{}, errors.New("by position")
		}
		x.items = append(x.items, struct {
			price  int
			colour string
			sold   bool
			note   string
		}{n, text(1), false, "new"})
		if err != nil {
			return sut.Observation{}, err
		}
		return say(fmt.Sprintf(`{"item": {"id": "it-%d"}}`, len(x.items)))
	}
	n, err := strconv.Atoi(strings.Trim(text(0), `it-"`))
	if err != nil || n < 1 || n > len(x.items) {
		return sut.Observation{End: sut.Refused, Why: "no item " + text(0)}, nil
	}
	i := &x.items[n-1]
	switch c.Operation {
	case "cost":
		if x.mood == "hides prices" && i.price > 9 {
			return say(`{"data": {"price": null}}`)
		}
		return say(fmt.Sprintf(`{"data": {"price": %d.0}}`, i.price))
	case "gone":
		if x.mood == "talks" && i.sold {
			return say(`"yes"`)
		}
		return say(map[bool]string{true: "true", false: "null"}[i.sold])
	case "shade":
		if x.mood == "other colours" && n == 2 {
			return say(`"blue"`)
		}
		var v any // in another order of its keys
		err := json.Unmarshal([]byte(i.colour), &v)
		text, _ := json.Marshal(v)
		if err != nil {
			return sut.Observation{}, err
		}
		return say(string(text))
	case "note":
		return say(strconv.Quote(i.note))
	case "raise":
		d, err := strconv.Atoi(text(1))
		if i.price += d; x.mood == "dies" && i.price > 25 {
			return sut.Observation{End: sut.Crashed, Signal: 11, Why: "signal 11", Printed: []byte("panic: index out of range [7] with length 3\n\ngoroutine 1 [running]:\nmain.raise(0xc000012345)\n\t/src/shop.go:12 +0x1d\n")}, err
		} else if x.mood == "hangs" && i.price > 25 {
			return sut.Observation{End: sut.Hung, Why: "no answer in 2 s"}, err
		} else if x.mood == "says no" && i.sold {
			return sut.Observation{End: sut.Refused, Undeclared: true, Why: "403 is sold"}, err
		}
		return say("null")
	case "mark":
		if i.note == "marked" && x.mood == "counts marks" {
			i.note = "marked twice"
			return say("null")
		}
		i.note = "marked"
		return say("null")
	}
	if i.sold && x.mood != "sells twice" {
		return sut.Observation{End: sut.Refused, Why: "sold"}, nil
	}
	i.sold, i.note = true, "sold"
	if x.mood == "asks too much" && i.price > 12 {
		return say(strconv.Itoa(i.price + 1))
	}
	return say(strconv.Itoa(i.price))
}

// What is said of systems that are played, each with another fault.
func TestWholeSystems(t *testing.T) {
	for _, mood := range []string{"sound", "makes three", "hides prices", "talks", "other colours", "dies", "hangs", "says no", "counts marks", "sells twice", "asks too much"} {
		set := campaign.Settings{Options: map[string][]string{"budget": {"60"}}, Digest: func(string) (string, error) { return strings.Repeat("0", 64), nil },
			Read: func(string) ([]byte, error) {
				return []byte("schema: thresh.system.v1\nname: shop\nkind: driver\ncommand: [./shop]\n"), nil
			}}
		k := fresnelfir.New(nil).Systems(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return &shop{mood: mood}, nil })
		list, diags := k.Compile(t.Context(), campaign.Spec{Path: "shop.model.star", Data: []byte(shopModel)}, set)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		golden.Check(t, filepath.Join("testdata", "whole", "shop that "+mood+".txt"), wholeExploration(t, list[0], diags.Error()))
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
	promoter, _ := campaign.As[campaign.Promoter](c)
	kept, err := filepath.Abs("kept")
	if err != nil {
		t.Fatal(err)
	}
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
					files, err := promoter.Promote(t.Context(), campaign.Finding{ID: "F-1", Title: o.Title, Kind: o.Kind, Cause: o.Cause}, [][]byte{smallest}, kept)
					if err != nil {
						t.Error(err)
					}
					for _, f := range files {
						_, own, _ := strings.Cut(string(f.Data), `"capsule": `) // what precedes it is the document
						own, _, inside := strings.Cut(cmp.Or(own, string(f.Data)), `"module": "`)
						fmt.Fprintf(&b, "> %s, the module is in it: %t\n%s\n", f.Name, inside, own)
					}
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
