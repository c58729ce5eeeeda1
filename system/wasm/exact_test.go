package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

const maxText = 16 << 20

func text(s string) dut.Value { return dut.Text(s) }

// Floating-point numbers go in and come out as whole numbers that they hold exactly, or not at all.
func TestFloats(t *testing.T) {
	m := e.New()
	m.Func("single", e.Params(e.F32), e.Results(e.F32)).Get(0)
	m.Func("double", e.Params(e.F64), e.Results(e.F64)).Get(0)
	bindings := []dut.Binding{binding("single", dut.Int, dut.Int), binding("double", dut.Int, dut.Int)}
	results := []struct {
		value  float64
		single bool
		want   int64
		cause  dut.Cause
	}{
		{-1 << 63, false, math.MinInt64, dut.None}, {math.Nextafter(1<<63, 0), false, 1<<63 - 1024, dut.None}, {-1 << 63, true, math.MinInt64, dut.None},
		{1 << 63, false, 0, dut.BadResult}, {math.Nextafter(-1<<63, math.Inf(-1)), false, 0, dut.BadResult}, {1 << 63, true, 0, dut.BadResult},
		{math.NaN(), false, 0, dut.BadResult}, {math.Inf(1), false, 0, dut.BadResult}, {math.Inf(-1), true, 0, dut.BadResult}, {-2.5, true, 0, dut.BadResult},
	}
	for i, r := range results {
		name := fmt.Sprint("f", i)
		if r.single {
			m.Func(name, nil, e.Results(e.F32)).F64(r.value).Raw(0xb6) // f32.demote_f64
		} else {
			m.Func(name, nil, e.Results(e.F64)).F64(r.value)
		}
		bindings = append(bindings, binding(name, dut.Int))
	}
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: bindings})
	for i, c := range results {
		r := x.Call(2+i, nil)
		if r.Cause != c.cause || c.cause == dut.None && r.Value.Int != c.want {
			t.Errorf("%v: %+v %v", c.value, r, x.Fault())
		}
		if c.cause != dut.None && x.Fault().Message != fmt.Sprintf("f%d returned %v, which is not a whole number", i, c.value) {
			t.Errorf("%v: %v", c.value, x.Fault())
		}
	}
	for _, c := range []struct {
		f     int
		n     int64
		cause dut.Cause
	}{{0, -3, dut.None}, {0, 1 << 24, dut.None}, {0, 1<<24 + 1, dut.Argument}, {0, 1 << 62, dut.None}, {1, 1 << 53, dut.None}, {1, 1<<53 + 1, dut.Argument}} {
		r := x.Call(c.f, ints(c.n))
		if r.Cause != c.cause || c.cause == dut.None && r.Value.Int != c.n {
			t.Errorf("%d: %+v %v", c.n, r, x.Fault())
		}
		if want := fmt.Sprintf(`argument "a": an f%d does not hold %d exactly`, 32+32*c.f, c.n); c.cause != dut.None && x.Fault().Message != want {
			t.Errorf("%d: %v", c.n, x.Fault())
		}
	}
}

// An i32 takes what a signed or an unsigned one holds, and comes back as the binding says; of a
// truth only 0 and 1 are seen.
func TestSmallIntegers(t *testing.T) {
	m := e.New()
	m.Func("same", e.Params(e.I32), e.Results(e.I32)).Get(0)
	m.Func("truth", e.Params(e.I32), e.Results(e.I32)).Get(0)
	unsigned := binding("same", dut.Int, dut.Int)
	unsigned.Unsigned = true
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("same", dut.Int, dut.Int), unsigned, binding("truth", dut.Bool, dut.Int)}})
	for _, c := range []struct{ f, n, want int64 }{
		{0, math.MinInt32, math.MinInt32}, {0, math.MaxUint32, -1}, {1, math.MaxUint32, math.MaxUint32}, {1, -1, math.MaxUint32},
		{2, 0, 0}, {2, 1, 1}, {2, -1, 1}, {2, 2, 1},
	} {
		if r := x.Call(int(c.f), ints(c.n)); r.Cause != dut.None || r.Value.Int != c.want {
			t.Errorf("%d(%d): %+v %v", c.f, c.n, r, x.Fault())
		}
	}
	for _, n := range []int64{math.MinInt32 - 1, math.MaxUint32 + 1} {
		if r := x.Call(0, ints(n)); r.Cause != dut.Argument {
			t.Errorf("%d: %+v", n, r)
		}
	}
}

// Each text of a call has a place of its own; on the scratch page they share it.
func TestTwoTextsInACall(t *testing.T) {
	for allocator, add := range allocators {
		m := e.New()
		m.Memory(3, 4)
		f := m.Func("both", e.Params(e.I32, e.I32, e.I32, e.I32), e.Results(e.I64)) // they lie side by side
		f.Get(0).Op(e.I64ExtendU32).I64(32).Op(e.I64Shl).Get(1).Get(3).Op(e.I32Add).Op(e.I64ExtendU32, e.I64Or)
		m.Func("load", e.Params(e.I32), e.Results(e.I32)).Get(0).Memory(e.I32Load8U, 0)
		m.Func("where", e.Params(e.I32, e.I32), e.Results(e.I32)).Get(0)
		m.Func("size", nil, e.Results(e.I32)).MemorySize()
		add(m)
		d, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{
			binding("both", dut.String, dut.String, dut.String), binding("load", dut.Int, dut.Int), binding("where", dut.Int, dut.String), binding("size", dut.Int),
		}})
		for range 2 { // the page is used anew by each call
			if r := x.Call(0, []dut.Value{text("one, "), text("two")}); r.Value != text("one, two") {
				t.Errorf("by %q: %+v %v", allocator, r, x.Fault())
			}
		}
		// What was placed is part of the state, and goes with it.
		at := x.Call(2, []dut.Value{text("x")}).Value.Int
		if r := x.Call(1, ints(at)); r.Value.Int != 'x' {
			t.Errorf("by %q: %+v at %d", allocator, r, at)
		}
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
		if r := x.Call(1, ints(at)); r.Value.Int != 0 {
			t.Errorf("by %q: %+v is left at %d", allocator, r, at)
		}
		if allocator != "" {
			continue
		}
		y, err := d.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if there := y.Call(2, []dut.Value{text("x")}); at != 3<<16 || there.Value.Int != at {
			t.Errorf("the scratch page is at %d, and at %+v", at, there)
		}
		y.Close()
		if r := x.Call(3, nil); r.Value.Int != 4 {
			t.Errorf("%+v pages", r)
		}
		for n, want := range map[int]dut.Cause{1<<16 - 10: dut.None, 1<<16 - 9: dut.Argument} {
			if r := x.Call(0, []dut.Value{text(strings.Repeat("x", 10)), text(strings.Repeat("y", n))}); r.Cause != want {
				t.Errorf("two strings of %d bytes: %+v", 10+n, r)
			}
		}
	}
}

// Texts have a limit of length, going in and coming out, and end with the memory.
func TestLimitsOfTexts(t *testing.T) {
	_, x := open(t, dut.Plan{Binary: texts().Bytes(), Bindings: textBindings})
	for n, want := range map[int]string{
		maxText:     `argument "a": the strings of a call are longer than a page (65536 bytes), and no allocator is exported`,
		maxText + 1: `argument "a": a string of 16777217 bytes is longer than 16777216`,
	} {
		if r := x.Call(0, []dut.Value{text(strings.Repeat("x", n))}); r.Cause != dut.Argument || x.Fault().Message != want {
			t.Errorf("%d bytes: %+v %v", n, r, x.Fault())
		}
	}
	if r := x.Call(8, []dut.Value{text("\x00a")}); r.Cause != dut.Argument {
		t.Errorf("a zero at the begin: %+v", r)
	}
	m := e.New()
	const pages = maxText>>16 + 1
	m.Memory(pages, pages)
	m.Data(pages<<16-8, []byte{100, 0, 0, 0, 3, 0, 0, 0})
	m.Data(100, []byte("abc"))
	m.Func("long", e.Params(e.I32), e.Results(e.I64)).Get(0).Op(e.I64ExtendU32)
	m.Func("pointer", e.Params(e.I32), e.Results(e.I32)).Get(0)
	_, x = open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("long", dut.String, dut.Int), binding("pointer", dut.String, dut.Int)}})
	if r := x.Call(0, ints(maxText)); r.Cause != dut.None || len(r.Value.Str) != maxText {
		t.Errorf("%v %v", r.Cause, x.Fault())
	}
	if r := x.Call(0, ints(maxText+1)); r.Cause != dut.BadResult || x.Fault().Message != "long returned a string of 16777217 bytes, more than 16777216" {
		t.Errorf("%v %v", r.Cause, x.Fault())
	}
	if r := x.Call(1, ints(pages<<16-8)); r.Value != text("abc") {
		t.Errorf("%+v %v", r, x.Fault())
	}
	if r := x.Call(1, ints(pages<<16-7)); r.Cause != dut.BadResult {
		t.Errorf("%+v", r)
	}
}

// An allocator may use the memory up to its last byte, and give 0 for nothing at all.
func TestAllocatorsAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		address int32
		f       int
		text    string
		want    dut.Cause
	}{
		{1<<16 - 3, 0, "abc", dut.None}, {1<<16 - 2, 0, "abc", dut.BadAllocation},
		{1<<16 - 3, 8, "ab", dut.None}, {1<<16 - 3, 8, "abc", dut.BadAllocation}, // its zero lies outside
		{0, 0, "", dut.None}, {0, 8, "", dut.BadAllocation}, {0, 0, "a", dut.BadAllocation},
	} {
		m := texts()
		m.Func("malloc", e.Params(e.I32), e.Results(e.I32)).I32(c.address)
		_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: textBindings})
		r := x.Call(c.f, []dut.Value{text(c.text)})
		if r.Cause != c.want || c.want == dut.None && r.Value.Int != int64(len(c.text)) {
			t.Errorf("%+v: %+v %v", c, r, x.Fault())
		}
		if c.want != dut.None && !slices.Equal(x.Fault().Stack, []string{"malloc"}) {
			t.Errorf("%+v: %q", c, x.Fault().Stack)
		}
	}
}

// An allocator that a module has broken is not one without room.
func TestBrokenAllocators(t *testing.T) {
	for _, c := range []struct {
		name        string
		room        int32 // in a fresh module; more is a trap in malloc itself
		broken, old dut.Cause
	}{
		{"all the room that is asked for", 1 << 30, dut.Unreachable, dut.None},
		{"little room, another trap", 5000, dut.Unreachable, dut.NoRoom},
	} {
		m := texts()
		used, broken := m.Global(e.I32, true, 0), m.Global(e.I32, true, 0)
		inner := m.Func("inner", nil, nil).Op(e.Unreachable)
		f := m.Func("malloc", e.Params(e.I32), e.Results(e.I32))
		f.GlobalGet(broken).If(e.Empty, func() { f.Call(inner.Index) }, nil)
		f.GlobalGet(used).Get(0).Op(e.I32Add).I32(c.room).Op(e.I32GtU).If(e.Empty, func() { f.Op(e.Unreachable) }, nil)
		f.GlobalGet(used).Get(0).Op(e.I32Add).GlobalSet(used).I32(1000)
		m.Func("break", nil, nil).I32(1).GlobalSet(broken)
		_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: append(slices.Clone(textBindings), binding("break", dut.Void))})
		long := []dut.Value{text(strings.Repeat("x", 3000))}
		x.Call(0, long)
		if r := x.Call(0, long); r.Cause != c.old {
			t.Errorf("%s: %+v %v, want %v", c.name, r, x.Fault(), c.old)
		}
		if c.old == dut.NoRoom && (x.Fault().Message != "malloc(3000) has no room left" || !slices.Equal(x.Fault().Stack, []string{"malloc"})) {
			t.Errorf("%s: %+v", c.name, x.Fault())
		}
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
		x.Call(len(textBindings), nil)
		if r := x.Call(0, []dut.Value{text("abc")}); r.Cause != c.broken {
			t.Errorf("%s: %+v %v, want %v", c.name, r, x.Fault(), c.broken)
		}
	}
}

// A call that needs just the instructions that it may take ends well, and so does a start.
func TestTheLastInstruction(t *testing.T) {
	m := texts()
	bump(m, "malloc", e.Params(e.I32), 0)
	ran := m.Global(e.I32, true, 0)
	m.Func("_initialize", nil, nil).GlobalGet(ran).I32(1).Op(e.I32Add).GlobalSet(ran)
	p := dut.Plan{Binary: m.Bytes(), Bindings: textBindings}
	_, x := open(t, p)
	for _, c := range []struct {
		f    int
		args []dut.Value
		end  dut.Cause
	}{{2, []dut.Value{text("abc")}, dut.None}, {10, []dut.Value{dut.Number(dut.Bool, 0)}, dut.None}, {2, []dut.Value{text("\xff")}, dut.BadResult}} {
		need := x.Call(c.f, c.args)
		if need.Cause != c.end || need.Fuel < 1 || need.Fuel > 100 {
			t.Errorf("%+v %v", need, x.Fault())
		}
		for less, want := range []dut.Cause{c.end, dut.Timeout} {
			q := p
			q.Limits.Fuel = need.Fuel - int64(less)
			_, y := open(t, q)
			r := y.Call(c.f, c.args)
			if r.Cause != want || less == 0 && r.Fuel != need.Fuel {
				t.Errorf("with %d instructions: %+v %v, want %v", q.Limits.Fuel, r, y.Fault(), want)
			}
			if less == 1 && (r.Fuel <= q.Limits.Fuel || y.Fault().Message != fmt.Sprintf("no end after %d instructions", q.Limits.Fuel) || len(y.Fault().Stack) == 0) {
				t.Errorf("with %d instructions: %+v %+v", q.Limits.Fuel, r, y.Fault())
			}
		}
	}
	least := int64(1)
	for ; least < 100; least++ {
		q := p
		q.Limits.StartFuel = least
		d, err := engine(t).Open(context.Background(), q)
		if err == nil {
			d.Close()
			break
		}
		var failed *dut.StartError
		if !errors.As(err, &failed) || failed.Function != "_initialize" || failed.Fault.Cause != dut.Timeout {
			t.Fatal(err)
		}
	}
	if least != 4 { // its instructions
		t.Errorf("_initialize takes %d instructions", least)
	}
}

// Of what a module may export to be run before its first call, the first is run that takes and
// gives nothing. A command's main is left to its calls, and readies its runtime by itself.
func TestWhatIsRunFirst(t *testing.T) {
	for _, c := range []struct {
		exports []string
		typed   bool // the first takes a number and gives one
		command bool
		want    int64 // the place of what was run, from 1
	}{
		{[]string{"_initialize", "_start", "__wasm_call_ctors"}, false, false, 1}, {[]string{"__wasm_call_ctors", "_start"}, false, false, 2}, {[]string{"__wasm_call_ctors"}, false, false, 1},
		{[]string{"_initialize", "_start"}, true, false, 2}, {[]string{"__wasm_call_ctors"}, true, false, 0}, {[]string{"other"}, false, false, 0},
		{[]string{"_start", "__wasm_call_ctors"}, false, true, 0}, {[]string{"__wasm_call_ctors"}, false, true, 1}, {[]string{"_start", "_initialize"}, false, true, 2},
	} {
		m := e.New()
		ran := m.Global(e.I32, true, 0)
		m.Func("ran", nil, e.Results(e.I32)).GlobalGet(ran)
		for i, name := range c.exports {
			f := m.Func(name, nil, nil)
			if c.typed && i == 0 {
				m = e.New()
				ran = m.Global(e.I32, true, 0)
				m.Func("ran", nil, e.Results(e.I32)).GlobalGet(ran)
				f = m.Func(name, e.Params(e.I32), e.Results(e.I32)).Get(0)
			}
			f.GlobalGet(ran).I32(10).Op(e.I32Mul).I32(int32(i + 1)).Op(e.I32Add).GlobalSet(ran)
		}
		_, x := open(t, dut.Plan{Binary: m.Bytes(), Command: c.command, Bindings: []dut.Binding{binding("ran", dut.Int)}})
		if r := x.Call(0, nil); r.Value.Int != c.want {
			t.Errorf("%+v: %d was run", c, r.Value.Int)
		}
	}
}

// What a module says and does before its first call, and before a state is restored, is not
// taken for what the next call does.
func TestNothingIsLeftOver(t *testing.T) {
	m := guest()
	i32 := e.I32
	start := m.Func("_initialize", nil, nil)
	start.I32(1).I32(5).Call(5).Op(e.Drop).I32(2).I32(5).Call(5).Op(e.Drop) // say
	store := m.Func("store", e.Params(i32), nil)
	store.Get(0).I32(7).I32(20).MemoryFill()
	store.Get(0).I32(20).Op(e.I32Add).I64(-1).Memory(e.I64Store, 0).Op(e.Unreachable)
	m.Func("load", e.Params(i32), e.Results(e.I64)).Get(0).Memory(e.I64Load, 0)
	p := guestPlan(1)
	p.Coverage = true
	say, quit, at := 0, 3, len(p.Bindings)
	p.Binary, p.Bindings = m.Bytes(), append(p.Bindings, binding("store", dut.Void, dut.Int), binding("load", dut.Int, dut.Int))
	d, first := open(t, p)
	second, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	clean := func(x dut.Instance, when string) {
		t.Helper()
		out, said := x.Output()
		if out != nil || said != nil || x.Fault() != nil || slices.ContainsFunc(x.Take().Edges, func(w uint64) bool { return w != 0 }) {
			t.Errorf("%s: %q, %q, %v, %v", when, out, said, x.Fault(), x.Take())
		}
	}
	for _, x := range []dut.Instance{first, second} {
		clean(x, "at first")
		x.Call(say, ints(1, 3))
		x.Call(say, ints(2, 3))
		x.Call(quit, ints(7))
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
		clean(x, "after a reset")
		for _, address := range []int64{8, 512, 4096 - 24, 1<<16 + 4090, 2<<16 - 28} {
			before := x.Call(at+1, ints(address)).Value.Int
			if r := x.Call(at, ints(address)); r.Cause != dut.Unreachable {
				t.Errorf("%+v", r)
			}
			if r := x.Call(at+1, ints(address+20)); r.Value.Int != -1 {
				t.Errorf("%+v is stored", r)
			}
			if err := x.Reset(); err != nil {
				t.Fatal(err)
			}
			for _, there := range []int64{address, address + 12, address + 20} {
				if r := x.Call(at+1, ints(there)); r.Value.Int == -1 || r.Value.Int == 0x0707070707070707 {
					t.Errorf("a store before a trap is left at %d", there)
				}
			}
			if r := x.Call(at+1, ints(address)); r.Value.Int != before {
				t.Errorf("%x at %d, before %x", r.Value.Int, address, before)
			}
		}
	}
}

// A device without instances can be closed, twice, and opened again.
func TestClosedDevices(t *testing.T) {
	g := engine(t)
	d, err := g.Open(context.Background(), bankPlan())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	x, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if r := x.Call(bankAdd, ints(4)); r.Value.Int != 4 {
		t.Errorf("%+v", r)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Open(ended, bankPlan()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := refused(t, dut.Plan{Binary: make([]byte, 64<<20+1)}); err == nil || err.Error() != (&dut.ModuleError{Offset: -1, Reason: "67108865 bytes are more than the limit of 67108864"}).Error() {
		t.Error(err)
	}
}

// foreign is a snapshot of another kind of system.
type foreign struct{ dut.Snapshot }

// A state counts what it holds beside the state after start, and is of its module alone.
func TestSizesOfStates(t *testing.T) {
	g := engine(t)
	var all []dut.Instance
	for range 2 {
		d, err := g.Open(context.Background(), bankPlan())
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close(); d.Close() })
		all = append(all, x)
	}
	x, y := all[0], all[1]
	empty := x.Snapshot().Size()
	if blocks := 16 * 16; empty < 8*(blocks+2) || empty > 8*(blocks+4) || empty%8 != 0 {
		t.Errorf("%d bytes", empty)
	}
	x.Call(bankFill, ints(4000, 200)) // two blocks
	s := x.Snapshot()
	x.Call(bankFill, ints(0, 1))
	z := x.Snapshot()
	if s.Size() != empty+2*4096 || z.Size() != empty+3*4096 {
		t.Errorf("%d, %d and %d bytes", empty, s.Size(), z.Size())
	}
	if err := y.Restore(s); err != nil { // of the same module, opened again
		t.Fatal(err)
	}
	if r := y.Call(bankLoad, ints(4096)); r.Value.Int != 0x0707070707070707 {
		t.Errorf("%+v", r)
	}
	if err := x.Restore(foreign{}); err == nil || err.Error() != "the snapshot is of another module" {
		t.Error(err)
	}
	if b, g := x.Changed(foreign{}); b != 0 || g != 0 {
		t.Errorf("%d blocks, %d globals", b, g)
	}
}

// A memory that begins without a page can be left without one again.
func TestEmptyMemory(t *testing.T) {
	m := e.New()
	m.Memory(0, 4)
	m.Func("grow", e.Params(e.I32), e.Results(e.I32)).Get(0).MemoryGrow()
	m.Func("size", nil, e.Results(e.I32)).MemorySize()
	m.Func("store", nil, nil).I32(8).I64(9).Memory(e.I64Store, 0)
	m.Func("load", nil, e.Results(e.I64)).I32(8).Memory(e.I64Load, 0)
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("grow", dut.Int, dut.Int), binding("size", dut.Int), binding("store", dut.Void), binding("load", dut.Int)}})
	for _, pages := range []int64{1, 3, 2, 4, 1} {
		if r := x.Call(0, ints(pages)); r.Value.Int != 0 {
			t.Errorf("%+v", r)
		}
		if r := x.Call(3, nil); r.Cause != dut.None || r.Value.Int != 0 {
			t.Errorf("%+v %v", r, x.Fault())
		}
		x.Call(2, nil)
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
		if r := x.Call(1, nil); r.Value.Int != 0 {
			t.Errorf("after %d pages there are %d", pages, r.Value.Int)
		}
	}
}

// Calls are repeated with their arguments, in their order, and only those of the state.
func TestRepeatedCalls(t *testing.T) {
	m := e.New()
	m.Table(e.Funcref, 2, 2)
	total := m.Global(e.I64, true, 0)
	m.Func("touch", nil, nil).I32(0).I32(1).Raw(0x25, 0).Raw(0x26, 0) // table.get, table.set
	f := m.Func("digit", e.Params(e.I64), e.Results(e.I64))
	f.GlobalGet(total).I64(10).Op(e.I64Mul).Get(0).Op(e.I64Add).GlobalSet(total).GlobalGet(total)
	d, x := open(t, dut.Plan{Binary: m.Bytes(), Coverage: true, Bindings: []dut.Binding{binding("digit", dut.Int, dut.Int)}})
	args := ints(0)
	states := map[int64]dut.Snapshot{}
	for n := range int64(4) {
		args[0].Int = n + 1 // the caller may use its arguments again
		states[x.Call(0, args).Value.Int] = x.Snapshot()
	}
	y, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	for _, i := range []dut.Instance{x, y} {
		for total, s := range states {
			if err := i.Restore(s); err != nil {
				t.Fatal(err)
			}
			again := i.Snapshot()
			if edges := i.Take().Edges; slices.ContainsFunc(edges, func(w uint64) bool { return w != 0 }) {
				t.Errorf("the calls that were repeated are traced: %x", edges)
			}
			if r := i.Call(0, ints(5)); r.Value.Int != 10*total+5 {
				t.Errorf("%+v after %d", r, total)
			}
			if err := i.Restore(again); err != nil {
				t.Fatal(err)
			}
			if r := i.Call(0, ints(6)); r.Value.Int != 10*total+6 {
				t.Errorf("%+v after %d, again", r, total)
			}
		}
	}
}

// Of a module that Go made, how much is traced is said where anything is.
func TestNotesOnTraces(t *testing.T) {
	m := e.New()
	m.Func("a", nil, nil)
	m.Func("b", nil, nil)
	m.Names(map[e.Index]string{0: "runtime.mallocgc", 1: "main.b"})
	const want = "coverage is of 1 of 2 functions: Go's own packages are left out"
	for _, c := range []struct{ coverage, compares bool }{{}, {coverage: true}, {compares: true}, {true, true}} {
		d, _ := open(t, dut.Plan{Binary: m.Bytes(), Coverage: c.coverage, Compares: c.compares})
		if said := slices.Contains(d.Info().Notes, want); said != (c.coverage || c.compares) {
			t.Errorf("%+v: %q", c, d.Info().Notes)
		}
	}
}

// Imports that a module declares twice are served if their types agree; those of its runtime's are known.
func TestImportsThatAreServed(t *testing.T) {
	m := e.New()
	seed := m.Import("env", "seed", nil, e.Results(e.F64))
	again := m.Import("env", "seed", nil, e.Results(e.F64))
	grown := m.Import("env", "emscripten_notify_memory_growth", e.Params(e.I32), nil)
	odd := m.Import("wasi_snapshot_preview1", "fd_close", e.Params(e.I64), e.Results(e.I32))
	m.Import("wasi_snapshot_preview1", "proc_exit", nil, nil)
	own := m.Func("", nil, e.Results(e.F64)).F64(1)
	m.Func("seed", nil, e.Results(e.F64)).Call(seed)
	m.Func("again", nil, e.Results(e.F64)).Call(again)
	m.Func("grown", nil, nil).I32(1).Call(grown)
	m.Func("odd", nil, e.Results(e.I32)).I64(1).Call(odd)
	m.Func("own", nil, e.Results(e.F64)).Call(own.Index)
	p := dut.Plan{Binary: m.Bytes(), Seed: 3, Bindings: []dut.Binding{binding("seed", dut.Int), binding("again", dut.Int), binding("grown", dut.Void), binding("odd", dut.Int), binding("own", dut.Int)}}
	d, x := open(t, p)
	if want := []string{
		"the import wasi_snapshot_preview1.fd_close reports that it is not supported", "the import wasi_snapshot_preview1.proc_exit reports that it is not supported",
	}; !slices.Equal(d.Info().Notes, want) {
		t.Errorf("%q", d.Info().Notes)
	}
	a, b := x.Call(0, nil), x.Call(1, nil)
	if a.Cause != dut.None || b.Cause != dut.None || a.Value == b.Value || a.Value.Int < 1<<40 || a.Value.Int >= 1<<53 {
		t.Errorf("%+v, %+v", a, b)
	}
	if own := x.Call(4, nil); a.Fuel != own.Fuel+50-1 { // in place of an instruction
		t.Errorf("a call of an import takes %d instructions, one within the module %d", a.Fuel, own.Fuel)
	}
	if r := x.Call(2, nil); r.Cause != dut.None {
		t.Errorf("%+v %v", r, x.Fault())
	}
	if r := x.Call(3, nil); r.Value.Int != 52 {
		t.Errorf("%+v %v", r, x.Fault())
	}
	m = e.New()
	m.Import("env", "f", nil, nil)
	m.Import("env", "f", e.Params(e.I32), nil)
	if err := refused(t, dut.Plan{Binary: m.Bytes()}); err == nil || !strings.Contains(err.Error(), "the import env.f is declared with two types, () -> () and (i32) -> ()") {
		t.Error(err)
	}
}
