package fresnelfir

import (
	"context"
	"fmt"
	"github.com/thresh-dev/thresh/engine/choice"
	"os"
	"runtime"
	"testing"
)

// All ways of a decision are gone through, whatever values are likely.
func TestEveryState(t *testing.T) {
	const text = `
module("none.wasm")
Pair = entity(a = int(0, 5), b = int(0, 4), c = bool(default = False))
a = input(int(0, 5))
b = input(int(0, 4))
def make():
    require(count(Pair) < 1)
    p = new(Pair, a = a, b = b)
    call("make", returns = Pair)
def turn():
    p = any(Pair, c = False)
    require(p.a != a)
    p.a = a
    p.c = True
    call("turn", p)
cover(all_pairs(a, b))
explore(threads = 1)
`
	// To begin with; made, or turned from another a. That a protocol may end there is no state of its own.
	if x := alone(t, "pairs.model.star", text).exhaust(context.Background(), 3); x.known.n != 1+30+30 || x.failed != nil {
		t.Errorf("%d states, want 61; %v", x.known.n, x.failed)
	}
	for a := range 6 {
		for b := range 5 {
			kept := fmt.Sprintf("kept = always(forall(Pair, lambda p: not (p.c and p.a == %d and p.b == %d)))", a, b)
			x := alone(t, "pairs.model.star", text+kept).exhaust(context.Background(), 3)
			if x.failed == nil {
				t.Errorf("a = %d, b = %d is not reached", a, b)
			}
		}
	}
}

// Instances that refer to others change places together with them.
func TestSymmetricReferences(t *testing.T) {
	const text = `
module("none.wasm")
Buyer = entity(id = string)
Order = entity(paid = bool(default = False), buyer = ref(Buyer))
def join():
    require(count(Buyer) < 2)
    b = new(Buyer)
    call("join", returns = Buyer)
def order():
    require(count(Order) < 2)
    b = any(Buyer)
    o = new(Order, buyer = b)
    call("order", b, returns = Order)
def pay():
    o = any(Order, paid = False)
    o.paid = True
    call("pay", o)
explore(threads = 1)
`
	// Without a buyer 1, with one 1+2+3, with two 1+2+6: orders of one or of both, each with 0, 1 or 2 of them paid.
	if x := alone(t, "buyers.model.star", text).exhaust(context.Background(), maxSteps); x.known.n != 1+6+9 || x.queue != 0 || x.failed != nil {
		t.Errorf("%d states, want 16; %v", x.known.n, x.failed)
	}
}

// Tapes that lead to what is wrong are put together from the ways of states, also of
// states with several threads, generators, marks of rules and choices.
func TestTraces(t *testing.T) {
	for _, name := range []string{"permissions.model.star", "queue.model.star"} {
		text, err := os.ReadFile("../../examples/fresnelfir/" + name)
		if err != nil {
			t.Fatal(err)
		}
		c := alone(t, name, string(text))
		x := c.exhaust(context.Background(), 4)
		if x.failed != nil || x.from.n < 20 {
			t.Fatalf("%s: %d states, %v", name, x.from.n, x.failed)
		}
		for i := 0; i < x.from.n; i += 1 + x.from.n/40 {
			tape := x.trace(x.from.of(i))
			x.fresh()
			at := string(x.key)
			x.t.src.Follow(tape)
			x.t.start()
			x.t.walk(len(tape))
			x.fresh()
			if x.t.failed != nil || string(x.key) != at {
				t.Errorf("%s: state %d is not where its decisions lead", name, i)
			}
		}
	}
}

func TestFingerprints(t *testing.T) {
	var f fingerprints
	v := uint64(7)
	next := func() uint64 { // every fourth comes again, some are close together
		v = v*6364136223846793005 + 1442695040888963407
		return v >> 3 << 3 &^ (v >> 62)
	}
	known := map[uint64]bool{0: true}
	if !f.add(0) || f.add(0) {
		t.Error("0 is a number, too")
	}
	for i := range 100_000 {
		x := next()
		if i%100 == 0 {
			x = uint64(i) // all in one shard, and at one place of it
		}
		if fresh := f.add(x); fresh == known[x] {
			t.Fatalf("%d: known %t, but %t", x, known[x], !fresh)
		}
		known[x] = true
	}
	if f.n != len(known) {
		t.Errorf("%d, want %d", f.n, len(known))
	}
	table, empty, steps := make([]uint64, 5000), make([]uint64, 5000), 0
	for i := range 4000 {
		v := choice.Key(uint64(i)) | 1
		at := place(table, v)
		steps += (at - place(empty, v) + len(table)) % len(table)
		table[at] = v
	}
	if steps > 10*4000 {
		t.Errorf("4,000 numbers are put %d places away from where they are looked for first", steps)
	}
}

// BenchmarkStates goes through the states of a model: distinct states a second, and bytes
// of memory a state, of which the queue is a part.
func BenchmarkStates(b *testing.B) {
	text, err := os.ReadFile("../../examples/fresnelfir/queue.json")
	if err != nil {
		b.Fatal(err)
	}
	c, states := alone(b, "queue.json", string(text)), 0
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := c.exhaust(context.Background(), 8)
		runtime.GC()
		runtime.ReadMemStats(&after)
		states += x.known.n
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(x.known.n), "bytes/state")
		runtime.KeepAlive(x)
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}
