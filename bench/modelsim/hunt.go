package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/system/wasm"
	"github.com/thresh-dev/thresh/tools/modules/queue"
)

// A hunt counts the calls of actions until a planted fault of the queue first shows: a figure that
// the load of the machine does not change. Both sides search the same space: one queue or two, each
// answer, both observers of each queue after each call, what must be refused, numbers from 1 to
// 1000.

// mostCalls ends a hunt without a find.
const mostCalls = 300_000

// hunts prints the number of calls that each side needs for each fault, over some seeds.
func hunts(ctx context.Context, g *wasm.Engine, seeds int) error {
	fmt.Printf("\nCalls of actions until the fault shows: median (worst) of %d seeds, at most %d each.\n\n", seeds, mostCalls)
	fmt.Printf("| %-55s | %12s | %13s | %14s |\n|%s|%s:|%s:|%s:|\n", "queue", "thresh", "thresh, even", "rapid", dashes(57), dashes(13), dashes(14), dashes(15))
	return eachHunt(ctx, g, seeds, func(fault queue.Fault, ours, even, theirs []int) {
		fmt.Printf("| %-55s | %12s | %13s | %14s |\n", fault, told(ours), told(even), told(theirs))
	})
}

// eachHunt counts the calls for each fault, from each seed, in ascending order: with the example's
// model, with that model without vary, and by rapid.
func eachHunt(ctx context.Context, g *wasm.Engine, seeds int, counted func(fault queue.Fault, ours, even, theirs []int)) error {
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(mostCalls), "rapid.nofailfile": "true", "rapid.shrinktime": "1ns"} {
		if err := flag.Set(name, value); err != nil {
			return fmt.Errorf("setting up rapid: %w", err)
		}
	}
	text, err := os.ReadFile("examples/fresnelfir/queue.json")
	if err != nil {
		return fmt.Errorf("reading the model: %w", err)
	}
	plain := bytes.Replace(text, []byte(`"vary": true,`), nil, 1)
	for _, fault := range queue.Faults() {
		var counts [3][]int
		for seed := range int64(seeds) {
			for i, hunt := range [...]func() (int, error){
				func() (int, error) { return explorer(ctx, g, "queue.json", text, queue.Module(fault), seed) },
				func() (int, error) { return explorer(ctx, g, "queue.json", plain, queue.Module(fault), seed) },
				func() (int, error) { return hunter(ctx, g, queue.Module(fault), seed) },
			} {
				n, err := hunt()
				if err != nil {
					return fmt.Errorf("%s: %w", fault, err)
				}
				if n < 0 {
					n = mostCalls
				}
				counts[i] = append(counts[i], n)
			}
		}
		for _, c := range counts {
			slices.Sort(c)
		}
		counted(fault, counts[0], counts[1], counts[2])
	}
	return nil
}

// languages counts the calls with JSON models and with models of the same systems in the language,
// for each faulty module of the examples.
func languages(ctx context.Context, g *wasm.Engine, seeds int) error {
	fmt.Printf("Calls of actions until the fault shows: median (worst) of %d seeds, at most %d each.\n", seeds, mostCalls)
	for _, m := range [...]struct{ json, source, modules string }{
		{"fresnelfir/article.json", "fresnelfir/permissions.model.star", "fresnelfir/faulty/article/*.wasm"},
		{"fresnelfir/bank.json", "fresnelfir/bank.model.star", "fresnelfir/faulty/bank/*.wasm"},
		{"fresnelfir/cache.json", "fresnelfir/cache.model.star", "fresnelfir/faulty/cache/*.wasm"},
		{"systems/orders.json", "systems/orders.model.star", "systems/orders.wasm"},
		{"fresnelfir/queue.json", "fresnelfir/queue.model.star", "fresnelfir/faulty/queue/*.wasm"},
	} {
		modules, err := filepath.Glob("examples/" + m.modules)
		if err != nil || len(modules) == 0 {
			return fmt.Errorf("no modules %s: %w", m.modules, err)
		}
		fmt.Printf("\n| %-55s | %12s | %12s |\n|%s|%s:|%s:|\n", strings.TrimSuffix(filepath.Base(m.source), ".model.star"), "JSON", "language", dashes(57), dashes(13), dashes(13))
		for _, path := range modules {
			row := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".wasm"), "-", " ")
			fmt.Printf("| %-55s |", row)
			for _, model := range [...]string{m.json, m.source} {
				counts, err := counts(ctx, g, "examples/"+model, path, seeds)
				if err != nil {
					return fmt.Errorf("%s with %s: %w", row, model, err)
				}
				fmt.Printf(" %12s |", told(counts))
			}
			fmt.Println()
		}
	}
	return nil
}

// counts returns the number of calls that a model needs to find the fault of a module, in ascending
// order.
func counts(ctx context.Context, g *wasm.Engine, path, module string, seeds int) (list []int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the model: %w", err)
	}
	binary, err := os.ReadFile(module)
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	text = bytes.Replace(text, []byte(`"runtime": "system"`), []byte(`"runtime": "wasm"`), 1) // the orders are a service there
	for seed := range int64(seeds) {
		n, err := explorer(ctx, g, path, text, binary, seed)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			n = mostCalls
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return list, nil
}

// told is the median and the worst of some counts.
func told(counts []int) string {
	say := func(n int) string {
		if n >= mostCalls {
			return "none"
		}
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s (%s)", say(counts[len(counts)/2]), say(counts[len(counts)-1]))
}

// count counts the calls of the first bindings, the actions.
type count struct {
	actions int
	calls   int
	before  int // at the beginning of the current case
	first   int // at the end of the case's first run, if it runs again to learn from it or to list its steps; otherwise -1
}

// counted opens modules whose calls are counted.
func counted(g *wasm.Engine, n *count) dut.Opener {
	return func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		d, err := g.Open(ctx, p)
		return countedDevice{d, n}, err
	}
}

type countedDevice struct {
	dut.Device
	n *count
}

func (d countedDevice) Open(ctx context.Context) (dut.Instance, error) {
	x, err := d.Device.Open(ctx)
	return countedInstance{x, d.n}, err
}

type countedInstance struct {
	dut.Instance
	n *count
}

func (x countedInstance) Call(binding int, args []dut.Value) dut.Reply {
	if binding < x.n.actions {
		x.n.calls++
	}
	return x.Instance.Call(binding, args)
}

func (x countedInstance) Reset() error {
	if x.n.first < 0 && x.n.calls > x.n.before {
		x.n.first = x.n.calls
	}
	return x.Instance.Reset()
}

// explorer is Thresh with an example's unchanged model.
func explorer(ctx context.Context, g *wasm.Engine, path string, text, module []byte, seed int64) (int, error) {
	n := &count{} // observers are bound after the actions
	if m, list := lang.Compile(path, text); strings.HasSuffix(path, ".star") && !list.HasErrors() {
		n.actions = len(m.Tree.Root.Get("bindings").Get("actions").Members())
	} else {
		var x struct {
			Bindings struct{ Actions map[string]any }
		}
		if err := json.Unmarshal(text, &x); err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		n.actions = len(x.Bindings.Actions)
	}
	list, diags := fresnelfir.New(counted(g, n)).Compile(ctx, campaign.Spec{Path: path, Data: text}, campaign.Settings{
		Seed: &seed, Read: func(string) ([]byte, error) { return module, nil },
	})
	if diags.HasErrors() || len(list) != 1 {
		return 0, fmt.Errorf("the model is refused: %v", diags)
	}
	x, err := campaign.Solo(ctx, list[0], campaign.Lane{})
	if err != nil {
		return 0, fmt.Errorf("starting the module: %w", err)
	}
	defer x.Close()
	state, next, found := list[0].Start(campaign.Facts{}), int64(0), -1
	for found < 0 && n.calls < mostCalls {
		r, more := list[0].Round(state)
		if !more {
			break
		}
		var failed error
		state = list[0].Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				at := campaign.Case{Index: next + i}
				n.before, n.first = n.calls, -1
				o, err := x.Execute(ctx, state, at)
				if failed = err; err != nil {
					return
				}
				if o.Verdict == campaign.VerdictFail {
					found = n.first
					return
				}
				if !yield(at, o) {
					return
				}
			}
		})
		if next += r.Len; failed != nil {
			return 0, fmt.Errorf("case %d: %w", next, failed)
		}
	}
	return found, nil
}

// hunter is an equivalent test by rapid.
func hunter(ctx context.Context, g *wasm.Engine, module []byte, seed int64) (found int, err error) {
	if err := flag.Set("rapid.seed", strconv.FormatInt(seed+1, 10)); err != nil {
		return 0, fmt.Errorf("setting up rapid: %w", err)
	}
	n := &count{actions: 4}
	d, err := counted(g, n)(ctx, ringPlan(module))
	if err != nil {
		return 0, fmt.Errorf("opening the queue: %w", err)
	}
	defer d.Close()
	inst, err := d.Open(ctx)
	if err != nil {
		return 0, fmt.Errorf("starting the queue: %w", err)
	}
	defer inst.Close()
	over := false
	found = -1
	defer func() {
		if r := recover(); r != nil && r != any(errStop) { // a failed test ends this way
			panic(r)
		}
	}()
	rapid.Check(&quiet{}, func(t *rapid.T) {
		if over || n.calls >= mostCalls && found < 0 {
			over = true
			t.FailNow()
		}
		if err := inst.Reset(); err != nil {
			t.Fatal(err)
		}
		want := func(got dut.Reply, want int64) int64 {
			if found < 0 && (got.Cause != dut.None || got.Value.Int != want && want != any64) {
				found = n.calls
			}
			if found >= 0 {
				t.Fatal("the fault shows")
			}
			return got.Value.Int
		}
		queues := make([]dut.Value, 1+rapid.IntRange(0, 1).Draw(t, "second queue"))
		model := make([][]int64, len(queues))
		for i := range queues {
			queues[i] = dut.Number(dut.Ref, want(inst.Call(0, nil), any64))
		}
		which := func(t *rapid.T) int { return rapid.IntRange(0, len(queues)-1).Draw(t, "queue") }
		oldest := func(i int) int64 { return append(model[i], -1)[0] }
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				i, v := which(t), rapid.Int64Range(1, 1000).Draw(t, "number")
				answer := int64(-1)
				if len(model[i]) < 3 {
					model[i], answer = append(slices.Clone(model[i]), v), 0
				}
				want(inst.Call(1, []dut.Value{queues[i], dut.Number(dut.Int, v)}), answer)
			},
			"pop": func(t *rapid.T) {
				i := which(t)
				answer := oldest(i)
				model[i] = model[i][min(1, len(model[i])):]
				want(inst.Call(2, queues[i:i+1]), answer)
			},
			"peek": func(t *rapid.T) {
				i := which(t)
				want(inst.Call(3, queues[i:i+1]), oldest(i))
			},
			"": func(*rapid.T) {
				for i := range queues {
					back := int64(0)
					if k := len(model[i]); k > 0 {
						back = model[i][k-1]
					}
					want(inst.Call(4, queues[i:i+1]), int64(len(model[i])))
					want(inst.Call(5, queues[i:i+1]), back)
				}
			},
		})
	})
	return found, nil
}

// any64 is the expected result of a call that may answer anything.
const any64 = -1 << 63
