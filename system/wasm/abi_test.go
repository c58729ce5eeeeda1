package wasm_test

import (
	"context"
	"strings"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// texts is a module of functions on strings, whatever the allocator.
func texts() *e.Module {
	m := e.New()
	m.Memory(1, 3)
	m.Data(32, []byte{100, 0, 0, 0, 3, 0, 0, 0}) // address and length of "abc"
	m.Data(100, []byte("abc\xff\xfe"))
	length := m.Func("length", e.Params(e.I32, e.I32), e.Results(e.I32))
	length.Get(1)
	first := m.Func("first", e.Params(e.I32, e.I32, e.I32), e.Results(e.I32)) // text, number
	first.Get(0).Get(2).Op(e.I32Add).Memory(e.I32Load8U, 0)
	echo := m.Func("echo", e.Params(e.I32, e.I32), e.Results(e.I64))
	echo.Get(0).Op(e.I64ExtendU32).I64(32).Op(e.I64Shl).Get(1).Op(e.I64ExtendU32).Op(e.I64Or)
	m.Func("pair", e.Params(e.I32, e.I32), e.Results(e.I32, e.I32)).Get(0).Get(1)
	m.Func("pointer", nil, e.Results(e.I32)).I32(32)
	m.Func("bytes", nil, e.Results(e.I32, e.I32)).I32(103).I32(2)
	m.Func("outside", nil, e.Results(e.I64)).I64(-1)
	m.Func("nowhere", nil, e.Results(e.I32)).I32(-8)
	c := m.Func("c", e.Params(e.I32), e.Results(e.I32)) // strlen
	n := c.Local(e.I32)
	c.Loop(e.Empty, func() {
		c.Get(0).Get(n).Op(e.I32Add).Memory(e.I32Load8U, 0).If(e.Empty, func() { c.Get(n).I32(1).Op(e.I32Add).Set(n).Br(1) }, nil)
	})
	c.Get(n)
	m.Func("half", e.Params(e.F64), e.Results(e.F64)).Get(0).F64(0.5).Op(e.F64Mul)
	m.Func("not", e.Params(e.I32), e.Results(e.I32)).Get(0).Op(e.I32Eqz)
	m.Func("five", nil, e.Results(e.I32)).I32(5)
	return m
}

var textBindings = []dut.Binding{
	binding("length", dut.Int, dut.String), binding("first", dut.Int, dut.String, dut.Int), binding("echo", dut.String, dut.String),
	binding("pair", dut.String, dut.String), binding("pointer", dut.String), binding("bytes", dut.String), binding("outside", dut.String),
	binding("nowhere", dut.String), binding("c", dut.Int, dut.String), binding("half", dut.Int, dut.Int), binding("not", dut.Bool, dut.Bool),
	binding("five", dut.Bool), binding("five", dut.Enum),
}

// allocators adds each known allocator to a module; each gives 1000 upwards.
var allocators = map[string]func(*e.Module){
	"":       func(*e.Module) {},
	"malloc": func(m *e.Module) { bump(m, "malloc", e.Params(e.I32), 0) },
	"alloc":  func(m *e.Module) { bump(m, "alloc", e.Params(e.I32, e.I32), 0) },
	"cabi_realloc": func(m *e.Module) {
		bump(m, "cabi_realloc", e.Params(e.I32, e.I32, e.I32, e.I32), 3)
	},
	"__new":       func(m *e.Module) { bump(m, "__new", e.Params(e.I32, e.I32), 0) },
	"__fir_alloc": func(m *e.Module) { bump(m, "__fir_alloc", e.Params(e.I32), 0) },
}

func bump(m *e.Module, name string, params []e.Type, size e.Index) {
	next := m.Global(e.I32, true, 1000)
	f := m.Func(name, params, e.Results(e.I32))
	f.GlobalGet(next).GlobalGet(next).Get(size).Op(e.I32Add).GlobalSet(next)
}

func TestStringsAndNumbers(t *testing.T) {
	for allocator, add := range allocators {
		m := texts()
		add(m)
		d, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: textBindings})
		if got := d.Info().ABI[0].String(); allocator != "" && got != "length(address+length) -> i32; strings by "+allocator {
			t.Error(got)
		}
		str := func(s string) []dut.Value { return []dut.Value{dut.Text(s)} }
		for _, c := range []struct {
			f     int
			args  []dut.Value
			want  dut.Value
			cause dut.Cause
			text  string
		}{
			{f: 0, args: str("héllo"), want: dut.Number(dut.Int, 6)},
			{f: 0, args: str(""), want: dut.Number(dut.Int, 0)},
			{f: 1, args: []dut.Value{dut.Text("xyz"), dut.Number(dut.Int, 2)}, want: dut.Number(dut.Int, 'z')},
			{f: 2, args: str("há\x00"), want: dut.Text("há\x00")},
			{f: 3, args: str("two results"), want: dut.Text("two results")},
			{f: 4, want: dut.Text("abc")},
			{f: 5, cause: dut.BadResult, text: "bytes returned a string that is not UTF-8 in bytes"},
			{f: 6, cause: dut.BadResult, text: "outside returned a string of 4294967295 bytes at 4294967295, outside of the memory"},
			{f: 7, cause: dut.BadResult, text: "nowhere returned the address 4294967288, outside of the memory"},
			{f: 8, args: str("to the zero"), want: dut.Number(dut.Int, 11)},
			{f: 8, args: str("short"), want: dut.Number(dut.Int, 5)}, // where a longer one may have been
			{f: 8, args: str(""), want: dut.Number(dut.Int, 0)},
			{f: 8, args: str("a\x00b"), cause: dut.Argument, text: `argument "a" holds a zero byte`},
			{f: 9, args: ints(8), want: dut.Number(dut.Int, 4)},
			{f: 9, args: ints(3), cause: dut.BadResult, text: "half returned 1.5, which is not a whole number"},
			{f: 9, args: ints(1<<53 + 1), cause: dut.Argument, text: "an f64 does not hold 9007199254740993 exactly"},
			{f: 10, args: []dut.Value{dut.Number(dut.Bool, 0)}, want: dut.Number(dut.Bool, 1)},
			{f: 11, want: dut.Number(dut.Bool, 1)},
			{f: 12, want: dut.Number(dut.Enum, 5)},
		} {
			r := x.Call(c.f, c.args)
			if r.Cause != c.cause || c.cause == dut.None && r.Value != c.want {
				t.Errorf("%s by %q: %+v, want %v %v (%v)", textBindings[c.f].Function, allocator, r, c.want, c.cause, x.Fault())
			}
			if c.text != "" && !strings.Contains(x.Fault().Error(), c.text) {
				t.Errorf("%s by %q: %q, want %q", textBindings[c.f].Function, allocator, x.Fault(), c.text)
			}
		}
		// What was placed is part of the state, and goes with it.
		s := x.Snapshot()
		x.Call(2, str(strings.Repeat("x", 3000)))
		if err := x.Restore(s); err != nil {
			t.Fatal(err)
		}
		if b, g := x.Changed(s); b+g > 0 {
			t.Errorf("by %q: %d blocks and %d globals differ", allocator, b, g)
		}
		// Another instance has its texts in a place of its own.
		y, err := d.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r := y.Call(2, str("elsewhere")); r.Value != dut.Text("elsewhere") {
			t.Errorf("by %q: another instance says %+v (%v)", allocator, r, y.Fault())
		}
		y.Close()
		for n, want := range map[int]dut.Cause{1 << 16: dut.None, 1<<16 + 1: dut.Argument} {
			if r := x.Call(0, str(strings.Repeat("x", n))); allocator == "" && r.Cause != want {
				t.Errorf("a string of %d bytes for the scratch page: %+v", n, r)
			}
		}
		if long := x.Call(0, str(strings.Repeat("x", 1<<16+1))); allocator == "" && long.Cause != dut.Argument {
			t.Errorf("a string longer than the scratch page: %+v", long)
		}
	}
}

// Each allocator is asked for memory in its own way.
func TestWhatAllocatorsAreAsked(t *testing.T) {
	for name, want := range map[string][]int64{
		"malloc": {5}, "alloc": {5, 1}, "cabi_realloc": {0, 0, 1, 5}, "__new": {5, 0}, "__fir_alloc": {5},
	} {
		var params []e.Type
		for range want {
			params = append(params, e.I32)
		}
		asked := e.New()
		asked.Memory(1, 1)
		allocate := asked.Func(name, params, e.Results(e.I32))
		for i := range want {
			allocate.I32(int32(900+8*i)).Get(e.Index(i)).Memory(e.I32Store, 0)
		}
		allocate.I32(1000)
		asked.Func("length", e.Params(e.I32, e.I32), e.Results(e.I32)).Get(1)
		asked.Func("load", e.Params(e.I32), e.Results(e.I32)).Get(0).Memory(e.I32Load, 0)
		_, x := open(t, dut.Plan{Binary: asked.Bytes(), Bindings: []dut.Binding{binding("length", dut.Int, dut.String), binding("load", dut.Int, dut.Int)}})
		if r := x.Call(0, []dut.Value{dut.Text("hello")}); r.Value != dut.Number(dut.Int, 5) {
			t.Errorf("%s: %+v (%v)", name, r, x.Fault())
		}
		for i, n := range want {
			if r := x.Call(1, ints(int64(900+8*i))); r.Value.Int != n {
				t.Errorf("%s is asked with %d in place %d, want %d", name, r.Value.Int, i, n)
			}
		}
	}
}

// An allocator that gives nonsense is a fault of the module, and nothing more.
func TestBadAllocators(t *testing.T) {
	for _, c := range []struct {
		name string
		body func(*e.Func)
		want dut.Cause
	}{
		{"zero", func(f *e.Func) { f.I32(0) }, dut.BadAllocation},
		{"outside", func(f *e.Func) { f.I32(-16) }, dut.BadAllocation},
		{"at the end", func(f *e.Func) { f.I32(1<<16 - 2) }, dut.BadAllocation},
		{"endless", func(f *e.Func) { f.Loop(e.Empty, func() { f.Br(0) }).I32(0) }, dut.Timeout},
		{"trap", func(f *e.Func) { f.Op(e.Unreachable) }, dut.Unreachable},
	} {
		m := texts()
		c.body(m.Func("malloc", e.Params(e.I32), e.Results(e.I32)))
		_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: textBindings})
		if r := x.Call(0, []dut.Value{dut.Text("abc")}); r.Cause != c.want {
			t.Errorf("%s: %+v %v", c.name, r, x.Fault())
		}
	}
	noRoom := e.New()
	noRoom.Memory(1, 1)
	noRoom.Func("f", e.Params(e.I32, e.I32), nil)
	if _, err := engine(t).Open(context.Background(), dut.Plan{Binary: noRoom.Bytes(), Bindings: []dut.Binding{binding("f", dut.Void, dut.String)}}); err == nil || !strings.Contains(err.Error(), "cannot grow by a page") {
		t.Error(err)
	}
}

// An allocator that works in a fresh module has no room left at some time; it may say so by
// 0 or by a trap.
func TestAllocatorsWithoutRoom(t *testing.T) {
	zero, trap := []e.Op{e.I32Eqz, e.Return}, []e.Op{e.Unreachable}
	for _, c := range []struct {
		name    string
		full    []e.Op // what it does beyond 1000 bytes in all
		odd     bool   // and for 3 bytes
		lengths []int
		want    dut.Cause
	}{
		{"zero", zero, false, []int{600, 600}, dut.NoRoom},
		{"zero for a long text", zero, false, []int{5000}, dut.NoRoom},
		{"trap", trap, false, []int{600, 600}, dut.NoRoom},
		{"trap for a long text", trap, false, []int{5000}, dut.NoRoom},
		{"trap for one size", trap, true, []int{3}, dut.Unreachable},
		{"division by zero", []e.Op{e.I32Eqz, e.I32DivU, e.Return}, false, []int{600, 600}, dut.DivideByZero},
	} {
		m := texts()
		used := m.Global(e.I32, true, 0)
		f := m.Func("malloc", e.Params(e.I32), e.Results(e.I32))
		f.GlobalGet(used).Get(0).Op(e.I32Add).I32(1000).Op(e.I32GtU)
		if c.odd {
			f.Get(0).I32(3).Op(e.I32Eq, e.I32Or)
		}
		f.If(e.Empty, func() { f.I32(1).I32(1).Op(c.full...) }, nil)
		f.GlobalGet(used).Get(0).Op(e.I32Add).GlobalSet(used).I32(3000).GlobalGet(used).Op(e.I32Add)
		_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: textBindings})
		var r dut.Reply
		for _, n := range c.lengths {
			r = x.Call(0, []dut.Value{dut.Text(strings.Repeat("x", n))})
		}
		if r.Cause != c.want {
			t.Errorf("%s: %+v %v, want %v", c.name, r, x.Fault(), c.want)
		}
	}
}
