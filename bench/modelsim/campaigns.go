package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/system/wasm"
	"github.com/thresh-dev/thresh/tools/modules"
)

// campaigns are the example systems as users run them, without a store: rounds of cases and the
// learning between them.
func campaigns(ctx context.Context, g *wasm.Engine) ([]contender, error) {
	var list []contender
	all := modules.All()
	for _, s := range all {
		if s.Name == "queue" {
			all = append(all, s) // a second time, as described to a rival
		}
	}
	for i, s := range all {
		x := &explored{system: s, engine: g, plain: i == len(modules.All())}
		if err := x.open(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		name := "thresh: " + s.Name + ", every check on"
		if x.plain {
			name = "thresh: queue, as rapid tests it"
		}
		list = append(list, contender{name, "steps", func() (int, error) { return x.rounds(ctx, 50) }})
	}
	return list, nil
}

// explored is a campaign that restarts whenever it ends.
type explored struct {
	system modules.System
	engine *wasm.Engine
	seed   int64
	plain  bool // see plainly

	campaign campaign.Any
	explorer *fresnelfir.Campaign
	executor campaign.Executor[any]
	state    any
	next     int64
}

func (x *explored) open(ctx context.Context) error {
	text, err := os.ReadFile("examples/fresnelfir/" + x.system.Name + ".json")
	if err != nil {
		return fmt.Errorf("reading the model: %w", err)
	}
	if x.plain {
		if text, err = plainly(text); err != nil {
			return err
		}
	}
	list, diags := fresnelfir.New(x.engine.Open).Compile(ctx, campaign.Spec{Path: x.system.Name + ".json", Data: text}, campaign.Settings{
		Seed: &x.seed,
		Read: func(string) ([]byte, error) { return x.system.Module(""), nil },
	})
	if diags.HasErrors() || len(list) != 1 {
		return fmt.Errorf("the model is refused: %v", diags)
	}
	x.campaign, x.next = list[0], 0
	x.explorer, _ = campaign.As[*fresnelfir.Campaign](list[0])
	if x.executor, err = campaign.Solo(ctx, x.campaign, campaign.Lane{}); err != nil {
		return fmt.Errorf("starting the module: %w", err)
	}
	x.state = x.campaign.Start(campaign.Facts{})
	return nil
}

// errFound means that figures of a module without a fault are meaningless.
var errFound = errors.New("a fault was found where there is none")

// rounds runs some rounds and counts their steps.
func (x *explored) rounds(ctx context.Context, n int) (steps int, err error) {
	begin := x.explorer.Explored(x.state).Actions
	for range n {
		if r, more := x.campaign.Round(x.state); more {
			if err := x.round(ctx, r); err != nil {
				return 0, err
			}
			continue
		}
		steps += int(x.explorer.Explored(x.state).Actions - begin)
		if err := x.executor.Close(); err != nil {
			return 0, fmt.Errorf("stopping the module: %w", err)
		}
		x.seed++ // a finished campaign starts again with another seed
		if err := x.open(ctx); err != nil {
			return 0, err
		}
		begin = 0
	}
	return steps + int(x.explorer.Explored(x.state).Actions-begin), nil
}

func (x *explored) round(ctx context.Context, r campaign.Round) (failed error) {
	x.state = x.campaign.Fold(x.state, func(yield func(campaign.Case, campaign.Outcome) bool) {
		for i := range r.Len {
			at := campaign.Case{Index: x.next + i}
			o, err := x.executor.Execute(ctx, x.state, at)
			if err == nil && o.Verdict != campaign.VerdictPass {
				err = fmt.Errorf("%w: %s", errFound, o.Title)
			}
			if failed = err; err != nil || !yield(at, o) {
				return
			}
		}
	})
	x.next += r.Len
	return failed
}

// plainly reduces the queue's model to the description for a state machine tester, so that both
// sides do the same work: one actor; traversals as long as the rival's; every answer is given, also
// that of peek; all actions are equally likely; no claims, refusals or invariants, which the rival
// does not check; small numbers, whose comparisons within the module are then not recorded; nothing
// learned between rounds.
func plainly(text []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("reading the model: %w", err)
	}
	within := func(m any, keys ...string) map[string]any {
		for _, k := range keys {
			m = m.(map[string]any)[k]
		}
		return m.(map[string]any)
	}
	repeat := within(doc, "protocols", "queue_use", "root")["children"].([]any)[1].(map[string]any)
	repeat["max"] = 60
	alt := within(repeat, "body")
	branches := alt["branches"].([]any)
	branches = branches[:len(branches)-1] // without peek
	for _, b := range branches {
		b.(map[string]any)["weight"] = 10 // all actions are equally likely, as for the rival
	}
	actions, effects := within(doc, "bindings", "actions"), within(doc, "effects")
	for size, oldest := range []string{"newest", "second", "third"} {
		name := "peek_" + oldest
		branches = append(branches, map[string]any{
			"id": name, "weight": 10, "guard": []any{"eq", []string{"field", "queue", "size"}, size + 1},
			"body": map[string]any{"type": "call", "action": name},
		})
		effects[name] = map[string]any{}
		b := maps.Clone(within(actions, "peek"))
		b["answer"] = []string{"field", "queue", oldest}
		actions[name] = b
	}
	alt["branches"] = branches
	delete(effects, "peek")
	delete(actions, "peek")
	for _, b := range actions {
		b := b.(map[string]any)
		delete(b, "rejects")
		b["mutates"], b["idempotent"], b["reads"], b["writes"] = true, false, []string{}, []string{}
	}
	within(doc, "inputs", "domains", "number")["max"] = most
	within(doc, "inputs", "coverage")["targets"] = []any{}
	doc["properties"] = map[string]any{}
	x := within(doc, "exploration")
	delete(x, "vary")
	within(x, "concurrency")["threads"] = 1
	within(x, "weights")["decay"] = "none"
	x["directives_allowed"], x["adaptation_signals"] = []any{}, []any{}
	x["epoch_size"] = 10_000
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing the model: %w", err)
	}
	return text, nil
}
