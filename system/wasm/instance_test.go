package wasm_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// A call, what was traced of it, and going back allocate nothing.
func TestCallAllocatesNothing(t *testing.T) {
	p := bankPlan()
	p.Coverage, p.Compares = true, true
	_, x := open(t, p)
	args := ints(3)
	if n := testing.AllocsPerRun(100, func() {
		if r := x.Call(bankAdd, args); r.Cause != dut.None {
			t.Fatal(r.Cause)
		}
		x.Take()
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCallsAndFaults(t *testing.T) {
	_, x := open(t, bankPlan())
	for _, c := range []struct {
		name    string
		f       int
		args    []dut.Value
		want    int64
		cause   dut.Cause
		message string
	}{
		{"add", bankAdd, ints(5), 5, dut.None, ""},
		{"negative", bankAdd, ints(-7), -2, dut.None, ""},
		{"quotient", bankDivide, ints(-7, 2), -3, dut.None, ""},
		{"unsigned argument", bankDivide, ints(4294967295, 1), -1, dut.None, ""},
		{"assertion", bankFail, nil, 0, dut.Unreachable, "unreachable in fail"},
		{"by zero", bankDivide, ints(1, 0), 0, dut.DivideByZero, "integer divide by zero in divide"},
		{"overflow", bankDivide, ints(-1<<31, -1), 0, dut.Overflow, "integer overflow in divide"},
		{"out of bounds", bankLoad, ints(16<<16 - 7), 0, dut.OutOfBounds, "out of bounds memory access in load"},
		{"endless", bankSpin, nil, 0, dut.Timeout, "no end after 1000000 instructions in spin"},
		{"recursion", bankDive, ints(0), 0, dut.Timeout, "no end after 1000000 instructions in dive"},
		{"too large", bankDivide, ints(1<<32, 1), 0, dut.Argument, `argument "a": 4294967296 does not fit an i32`},
		{"wrong kind", bankAdd, []dut.Value{dut.Text("x")}, 0, dut.Argument, `argument "a" is a string, not an int`},
		{"too few", bankAdd, nil, 0, dut.Argument, "add takes 1 arguments, not 0"},
	} {
		r := x.Call(c.f, c.args)
		if r.Cause != c.cause || r.Cause == dut.None && r.Value.Int != c.want {
			t.Errorf("%s: %+v, want %d %v", c.name, r, c.want, c.cause)
		}
		if c.cause == dut.None {
			if x.Fault() != nil {
				t.Errorf("%s: fault %v", c.name, x.Fault())
			}
			continue
		}
		if x.Fault() == nil || x.Fault().Error() != c.message {
			t.Errorf("%s: %v, want %q", c.name, x.Fault(), c.message)
		}
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
		if r := x.Call(bankTotal, nil); r.Value.Int != 0 || r.Cause != dut.None {
			t.Errorf("%s: after a reset the total is %+v", c.name, r)
		}
	}
	if s := (&dut.Fault{Cause: dut.Unreachable, Stack: []string{"a", "b", "c", "d"}}).Signature(); s != "unreachable:a<b<c" {
		t.Error(s)
	}
}

// An endless loop ends at the same instruction each time and on every instance.
func TestFuelIsDeterministic(t *testing.T) {
	d, x := open(t, bankPlan())
	y, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	first := x.Call(bankSpin, nil)
	if first.Cause != dut.Timeout || first.Fuel != dut.DefaultFuel+1 {
		t.Errorf("%+v", first)
	}
	for _, i := range []dut.Instance{x, y, x} {
		if err := i.Reset(); err != nil {
			t.Fatal(err)
		}
		if r := i.Call(bankSpin, nil); r != first {
			t.Errorf("%+v, before %+v", r, first)
		}
	}
	a, b := x.Call(bankAdd, ints(1)), y.Call(bankAdd, ints(1))
	if a != b || a.Fuel < 10 || a.Fuel > 60 {
		t.Errorf("%+v, %+v", a, b)
	}
}

// observe is everything that a caller can see of the bank's state.
func observe(x dut.Instance) string {
	var b strings.Builder
	fmt.Fprint(&b, x.Call(bankTotal, nil), x.Call(bankSize, nil).Value.Int)
	for i := range int64(32) {
		fmt.Fprint(&b, " ", x.Call(bankCell, ints(i)).Value.Int)
	}
	for at := int64(0); at < 16<<16; at += 4089 {
		fmt.Fprint(&b, " ", x.Call(bankLoad, ints(at)).Value.Int)
	}
	return b.String()
}

// A restored snapshot is the state that was taken, on any instance, whatever
// happened in between: writes across blocks, fills, growth, traps.
func TestSnapshotsRestoreEverything(t *testing.T) {
	p := bankPlan()
	p.Coverage, p.Compares = true, true
	d, first := open(t, p)
	second, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	lanes := []dut.Instance{first, second}
	rapid.Check(t, func(t *rapid.T) {
		type saved struct {
			s    dut.Snapshot
			want string
		}
		var all []saved
		for _, x := range lanes {
			if err := x.Reset(); err != nil {
				t.Fatal(err)
			}
		}
		x := lanes[0]
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2:
				x.Call(bankAdd, ints(rapid.Int64Range(-2000, 2000).Draw(t, "n")))
			case 3:
				x.Call(bankFill, ints(rapid.Int64Range(0, 1<<19).Draw(t, "at"), rapid.Int64Range(0, 1<<18).Draw(t, "length")))
			case 4:
				x.Call(bankGrow, ints(rapid.Int64Range(0, 3).Draw(t, "pages")))
			case 5:
				x.Call(rapid.SampledFrom([]int{bankFail, bankSpin}).Draw(t, "fault"), nil)
			case 6:
				x = rapid.SampledFrom(lanes).Draw(t, "lane")
			case 7:
				if len(all) > 0 {
					if err := x.Restore(rapid.SampledFrom(all).Draw(t, "to").s); err != nil {
						t.Fatal(err)
					}
				}
			default:
				s := x.Snapshot()
				all = append(all, saved{s, observe(x)})
			}
		}
		for _, s := range all {
			for _, y := range lanes {
				if err := y.Restore(s.s); err != nil {
					t.Fatal(err)
				}
				if b, g := y.Changed(s.s); b != 0 || g != 0 {
					t.Fatalf("%d blocks and %d globals differ after a restore", b, g)
				}
				if got := observe(y); got != s.want {
					t.Fatalf("restored:\n%s\nwant:\n%s", got, s.want)
				}
			}
		}
	})
}

func TestChanged(t *testing.T) {
	_, x := open(t, bankPlan())
	s := x.Snapshot()
	x.Call(bankAdd, ints(3))                    // across two blocks, two globals
	if b, g := x.Changed(s); b != 1 || g != 2 { // of a small number only one block changes
		t.Errorf("%d blocks, %d globals", b, g)
	}
	x.Call(bankAdd, ints(-3))                   // all bytes of another cell, across two blocks
	if b, g := x.Changed(s); b != 3 || g != 1 { // the total is what it was
		t.Errorf("%d blocks, %d globals", b, g)
	}
	x.Call(bankGrow, ints(1))
	if x.Snapshot().Size() < 2*4096 {
		t.Errorf("size %d", x.Snapshot().Size())
	}
}

func TestSnapshotOfAnotherModule(t *testing.T) {
	_, x := open(t, bankPlan())
	other := bank()
	other.Global(e.I32, true, 0)
	_, y := open(t, dut.Plan{Binary: other.Bytes()})
	if err := x.Restore(y.Snapshot()); err == nil {
		t.Error("a snapshot of another module was restored")
	}
}

func TestTrace(t *testing.T) {
	p := bankPlan()
	p.Coverage, p.Compares = true, true
	d, x := open(t, p)
	info := d.Info()
	if info.Edges == 0 || len(info.Sites) != 1 || info.Sites[0].B != 1000 || !cmp.Equal(info.Constants, []int64{1000}) {
		t.Fatalf("%+v", info)
	}
	x.Call(bankAdd, ints(7))
	small := *x.Take()
	if d := cmp.Diff([]dut.Compare{{Site: 0, A: 7, B: 1000, False: true}}, small.Compares); d != "" {
		t.Error(d)
	}
	edges := small.Edges[0]
	x.Call(bankAdd, ints(1001))
	if large := x.Take(); large.Edges[0] == edges || !large.Compares[0].True {
		t.Errorf("%+v", large)
	}
	if empty := x.Take(); empty.Edges[0] != 0 || len(empty.Compares) != 0 {
		t.Errorf("%+v", empty)
	}
	x.Call(bankAdd, ints(1001))
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	if left := x.Take(); left.Edges[0] != 0 {
		t.Error("a reset leaves a trace")
	}
}

// Each place of comparison is traced with what it compared, however many there are.
func TestComparesOfManySites(t *testing.T) {
	const sites = 70
	m := e.New()
	f := m.Func("f", e.Params(e.I64, e.I64), nil)
	for i := range sites {
		if f.Get(0).I64(int64(100 + i)).Op(e.I64Add); i%2 == 0 {
			f.I64(int64(1000 + i))
		} else {
			f.Get(1)
		}
		f.Op(e.I64GtS).Op(e.Drop)
	}
	d, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("f", dut.Void, dut.Int, dut.Int)}, Compares: true})
	if n := len(d.Info().Sites); n != sites {
		t.Fatalf("%d places", n)
	}
	for _, a := range []int64{5, 930} {
		x.Call(0, ints(a, 3))
		var want []dut.Compare
		for i := range sites {
			c := dut.Compare{Site: i, A: a + 100 + int64(i), B: 3}
			if i%2 == 0 {
				c.B = int64(1000 + i)
			}
			c.True = c.A > c.B
			c.False = !c.True
			want = append(want, c)
		}
		if d := cmp.Diff(want, x.Take().Compares); d != "" {
			t.Error(d)
		}
	}
	x.Call(0, ints(5, 3))
	x.Call(0, ints(930, 3)) // both ways, with the operands of the last
	if c := x.Take().Compares[0]; !c.True || !c.False || c.A != 1030 {
		t.Errorf("%+v", c)
	}
}

// Devices may be opened, and their instances used, by many goroutines.
func TestManyLanes(t *testing.T) {
	g := engine(t)
	want := ""
	var mu sync.Mutex
	var wg sync.WaitGroup
	for lane := range 8 {
		wg.Go(func() {
			d, err := g.Open(context.Background(), bankPlan())
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			x, err := d.Open(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			for n := range int64(50) {
				x.Call(bankAdd, ints(n*n))
			}
			got := observe(x)
			mu.Lock()
			defer mu.Unlock()
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("lane %d differs", lane)
			}
		})
	}
	wg.Wait()
}

func TestBindings(t *testing.T) {
	p := bankPlan()
	p.Bindings = []dut.Binding{
		binding("ad", dut.Int, dut.Int), binding("memory", dut.Void), binding("divide", dut.Int, dut.Int),
		binding("total", dut.Void), binding("add", dut.Int, dut.String), binding("total", dut.Int),
	}
	_, err := engine(t).Open(context.Background(), p)
	bad, ok := err.(*dut.BindError)
	if !ok {
		t.Fatal(err)
	}
	want := []dut.BindProblem{
		{Binding: 0, Mismatch: dut.MissingExport, Message: "ad: the module does not export it", Nearest: "add"},
		{Binding: 1, Mismatch: dut.WrongExportKind, Message: "memory: the export is a memory, not a function"},
		{Binding: 2, Mismatch: dut.ParamCountMismatch, Message: "divide: the function takes 2 parameters, the binding gives 1"},
		{Binding: 3, Mismatch: dut.ReturnCountMismatch, Message: "total: the function returns (i64), the binding wants void"},
		{Binding: 4, Mismatch: dut.TypeMismatch, Message: `add: parameter "a" is a string, which does not go into i64`},
	}
	if d := cmp.Diff(want, bad.Problems); d != "" {
		t.Error(d)
	}
}

// A module whose state is in tables is restored all the same, by repetition.
func TestVolatileModule(t *testing.T) {
	m := e.New()
	m.Table(e.Funcref, 4, 4)
	one := m.Func("", nil, e.Results(e.I32)).I32(1)
	two := m.Func("", nil, e.Results(e.I32)).I32(2)
	m.Elements(0, one.Index, two.Index)
	swap := m.Func("swap", nil, nil)
	swap.I32(0).I32(1).Raw(0x25, 0).Raw(0x26, 0) // table.get, table.set
	m.Func("ask", nil, e.Results(e.I32)).I32(0).CallIndirect(m.Type(nil, e.Results(e.I32)))
	m.Func("empty", nil, e.Results(e.I32)).I32(3).CallIndirect(m.Type(nil, e.Results(e.I32)))
	m.Func("wrong", nil, nil).I32(0).CallIndirect(m.Type(nil, nil))
	d, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("swap", dut.Void), binding("ask", dut.Int), binding("empty", dut.Int), binding("wrong", dut.Void)}})
	if notes := strings.Join(d.Info().Notes, "\n"); !strings.Contains(notes, "table.set") {
		t.Errorf("notes: %s", notes)
	}
	before := x.Snapshot()
	x.Call(0, nil)
	after := x.Snapshot()
	for _, c := range []struct {
		s    dut.Snapshot
		want int64
	}{{before, 1}, {after, 2}, {before, 1}} {
		if err := x.Restore(c.s); err != nil {
			t.Fatal(err)
		}
		if r := x.Call(1, nil); r.Value.Int != c.want {
			t.Errorf("%+v, want %d", r, c.want)
		}
	}
	for f := 2; f < 4; f++ {
		if r := x.Call(f, nil); r.Cause != dut.IndirectCall {
			t.Errorf("%+v %v", r, x.Fault())
		}
	}
}
