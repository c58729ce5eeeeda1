package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/system/wasm"
	"github.com/thresh-dev/thresh/tools/modules/queue"
)

// most is the largest number that both sides put into the queue.
const most = 64

// ring is the queue under test as rapid drives it.
type ring interface {
	reset()
	push(int64) int64
	pop() int64
	peek() int64
	size() int64
	back() int64
}

// rivals drive the queue with rapid: the same module in the same engine, and the queue without a
// module, to show the cost of the module. Both observers are called after each step, as Thresh
// does.
func rivals(ctx context.Context, g *wasm.Engine) ([]contender, error) {
	d, err := g.Open(ctx, ringPlan(queue.Module(queue.None)))
	if err != nil {
		return nil, fmt.Errorf("opening the queue: %w", err)
	}
	inst, err := d.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the queue: %w", err)
	}
	for name, value := range map[string]string{"rapid.checks": "200", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			return nil, fmt.Errorf("setting up rapid: %w", err)
		}
	}
	module := &moduleRing{inst: inst}
	return []contender{
		{"rapid: the same queue and module", "steps", func() (int, error) { return check(module, &module.err) }},
		{"rapid: a queue in Go, no module", "steps", func() (int, error) { return check(&goRing{}, nil) }},
	}, nil
}

// ringPlan describes how rapid calls a module of the queue: its actions, then its observers.
func ringPlan(module []byte) dut.Plan {
	bind := func(function string, result dut.Kind, params ...dut.Kind) dut.Binding {
		b := dut.Binding{Function: function, Result: result}
		for _, k := range params {
			b.Params = append(b.Params, dut.Param{Name: "x", Kind: k})
		}
		return b
	}
	return dut.Plan{Binary: module, Coverage: true, Bindings: []dut.Binding{
		bind("queue_open", dut.Ref), bind("queue_push", dut.Int, dut.Ref, dut.Int), bind("queue_pop", dut.Int, dut.Ref),
		bind("queue_peek", dut.Int, dut.Ref), bind("queue_size", dut.Int, dut.Ref), bind("queue_back", dut.Int, dut.Ref),
	}}
}

// moduleRing is the queue in the module.
type moduleRing struct {
	inst  dut.Instance
	queue dut.Value
	args  [2]dut.Value
	err   error
}

func (r *moduleRing) call(binding int, args ...dut.Value) int64 {
	reply := r.inst.Call(binding, append(append(r.args[:0], r.queue), args...))
	if reply.Cause != dut.None {
		r.err = fmt.Errorf("the queue fails: %s", reply.Cause)
	}
	return reply.Value.Int
}

func (r *moduleRing) reset() {
	r.err = r.inst.Reset()
	r.queue = dut.Number(dut.Ref, r.inst.Call(0, nil).Value.Int)
}
func (r *moduleRing) push(v int64) int64 { return r.call(1, dut.Number(dut.Int, v)) }
func (r *moduleRing) pop() int64         { return r.call(2) }
func (r *moduleRing) peek() int64        { return r.call(3) }
func (r *moduleRing) size() int64        { return r.call(4) }
func (r *moduleRing) back() int64        { return r.call(5) }

// goRing is the queue in Go.
type goRing struct {
	slots    [3]int64
	head, in int64
}

func (r *goRing) reset() { *r = goRing{} }
func (r *goRing) push(v int64) int64 {
	r.slots[(r.head+r.in)%3] = v
	r.in++
	return 0
}
func (r *goRing) pop() int64 {
	v := r.peek()
	r.head, r.in = (r.head+1)%3, r.in-1
	return v
}
func (r *goRing) peek() int64 { return r.slots[r.head] }
func (r *goRing) size() int64 { return r.in }
func (r *goRing) back() int64 {
	if r.in == 0 {
		return 0
	}
	return r.slots[(r.head+r.in-1)%3]
}

// check runs some checks of rapid and counts the steps.
func check(r ring, failed *error) (steps int, err error) {
	t := &quiet{}
	numbers := rapid.Int64Range(1, most)
	rapid.Check(t, func(t *rapid.T) {
		r.reset()
		steps++ // opening the queue is a step, followed by both observers
		var model []int64
		answers := func(got, want int64) {
			if steps++; got != want {
				t.Fatalf("%d, want %d", got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				if len(model) == 3 {
					t.Skip()
				}
				v := numbers.Draw(t, "number")
				model = append(model, v)
				answers(r.push(v), 0)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				want := model[0]
				model = model[1:]
				answers(r.pop(), want)
			},
			"peek": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				answers(r.peek(), model[0])
			},
			"": func(t *rapid.T) {
				back := int64(0)
				if len(model) > 0 {
					back = model[len(model)-1]
				}
				if r.size() != int64(len(model)) || r.back() != back {
					t.Fatal("an observer differs")
				}
			},
		})
	})
	if failed != nil && *failed != nil {
		return 0, *failed
	}
	if t.failed {
		return 0, errFound
	}
	return steps, nil
}

// quiet replaces a test.
type quiet struct{ failed bool }

// errStop unwinds a test that has ended.
var errStop = errors.New("the test has ended")

func (*quiet) Helper()             {}
func (*quiet) Name() string        { return "queue" }
func (*quiet) Logf(string, ...any) {}
func (*quiet) Log(...any)          {}
func (*quiet) Skipf(string, ...any) {
	panic(errStop)
}
func (*quiet) Skip(...any)             { panic(errStop) }
func (*quiet) SkipNow()                { panic(errStop) }
func (q *quiet) Errorf(string, ...any) { q.failed = true }
func (q *quiet) Error(...any)          { q.failed = true }
func (q *quiet) Fatalf(string, ...any) { q.failed = true; panic(errStop) }
func (q *quiet) Fatal(...any)          { q.failed = true; panic(errStop) }
func (q *quiet) FailNow()              { q.failed = true; panic(errStop) }
func (q *quiet) Fail()                 { q.failed = true }
func (q *quiet) Failed() bool          { return q.failed }
