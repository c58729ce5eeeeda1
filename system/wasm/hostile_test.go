package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// refused opens a plan that must not open.
func refused(t *testing.T, p dut.Plan) error {
	t.Helper()
	d, err := engine(t).Open(context.Background(), p)
	if err == nil {
		d.Close()
		t.Error("the module was taken")
	}
	return err
}

func TestHostileStart(t *testing.T) {
	spin := e.New()
	f := spin.Func("", nil, nil)
	f.Loop(e.Empty, func() { f.Br(0) })
	spin.Start(f.Index)
	var failed *dut.StartError
	if err := refused(t, dut.Plan{Binary: spin.Bytes(), Limits: dut.Limits{StartFuel: 1e6}}); !errors.As(err, &failed) || failed.Fault.Cause != dut.Timeout {
		t.Error(err)
	}
	trap := e.New()
	trap.Func("_initialize", nil, nil).Op(e.Unreachable)
	if err := refused(t, dut.Plan{Binary: trap.Bytes()}); err == nil || err.Error() != "_initialize failed: unreachable in _initialize" {
		t.Error(err)
	}
	command := func(code int32) []byte {
		m := e.New()
		exit := m.Import("wasi_snapshot_preview1", "proc_exit", e.Params(e.I32), nil)
		ran := m.Global(e.I32, true, 0)
		m.Func("_start", nil, nil).I32(1).GlobalSet(ran).I32(code).Call(exit)
		m.Func("ran", nil, e.Results(e.I32)).GlobalGet(ran)
		return m.Bytes()
	}
	if err := refused(t, dut.Plan{Binary: command(3)}); err == nil || !strings.Contains(err.Error(), "_start failed: the module ended the process with code 3") {
		t.Error(err)
	}
	_, x := open(t, dut.Plan{Binary: command(0), Bindings: []dut.Binding{binding("ran", dut.Int)}})
	if r := x.Call(0, nil); r.Value.Int != 1 {
		t.Errorf("main did not run: %+v", r)
	}
	data := e.New()
	data.Memory(1, 1)
	data.Data(1<<16-1, []byte("ab"))
	if err := refused(t, dut.Plan{Binary: data.Bytes()}); err == nil || !strings.Contains(err.Error(), "out of bounds") {
		t.Error(err)
	}
}

// A module that asks for all memory again and again gets what it may have.
func TestGrowStorm(t *testing.T) {
	m := e.New()
	m.Memory(1, 65536)
	storm := m.Func("storm", nil, nil)
	storm.Loop(e.Empty, func() { storm.I32(1).MemoryGrow().Op(e.Drop).Br(0) })
	huge := m.Func("huge", nil, e.Results(e.I32))
	huge.I32(-1).MemoryGrow()
	m.Func("size", nil, e.Results(e.I32)).MemorySize()
	_, x := open(t, dut.Plan{
		Binary: m.Bytes(), Bindings: []dut.Binding{binding("storm", dut.Void), binding("huge", dut.Int), binding("size", dut.Int)}, Limits: dut.Limits{Memory: 32},
	})
	if r := x.Call(1, nil); r.Cause != dut.None || r.Value.Int != -1 {
		t.Errorf("%+v", r)
	}
	if r := x.Call(0, nil); r.Cause != dut.Timeout {
		t.Errorf("%+v", r)
	}
	if r := x.Call(2, nil); r.Value.Int != 32 {
		t.Errorf("%+v", r)
	}
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	if r := x.Call(2, nil); r.Value.Int != 1 {
		t.Errorf("%+v", r)
	}
}

// Bulk operations cost fuel by what they move, so that few instructions cannot
// take hours.
func TestBulkStorm(t *testing.T) {
	m := e.New()
	m.Memory(16, 16)
	f := m.Func("storm", nil, nil)
	f.Loop(e.Empty, func() { f.I32(0).I32(1).I32(1 << 20).MemoryFill().Br(0) })
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("storm", dut.Void)}})
	if r := x.Call(0, nil); r.Cause != dut.Timeout || r.Fuel > dut.DefaultFuel+1<<14+10 {
		t.Errorf("%+v", r)
	}
}

func TestDeepRecursion(t *testing.T) {
	m := e.New()
	f := m.Func("dive", e.Params(e.I64), e.Results(e.I64))
	f.Get(0).I64(1).Op(e.I64Add).Call(f.Index).Get(0).Op(e.I64Xor)
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("dive", dut.Int, dut.Int)}, Limits: dut.Limits{Fuel: 1 << 40}})
	for range 2 {
		r := x.Call(0, ints(0))
		if r.Cause != dut.StackOverflow || x.Fault().Error() != "stack overflow in dive" {
			t.Errorf("%+v %v", r, x.Fault())
		}
		if err := x.Reset(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyExports(t *testing.T) {
	m := e.New()
	for i := range 10_000 {
		m.Func(fmt.Sprintf("f%d", i), nil, e.Results(e.I32)).I32(int32(i))
	}
	p := dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("f9999", dut.Int)}}
	_, x := open(t, p)
	if r := x.Call(0, nil); r.Value.Int != 9999 {
		t.Errorf("%+v", r)
	}
	p.Bindings = []dut.Binding{binding("f10000", dut.Int)}
	if err := refused(t, p); err == nil {
		t.Error("a missing export was bound")
	}
}

func TestUnknownImports(t *testing.T) {
	m := e.New()
	now := m.Import("js", "now", nil, e.Results(e.I64))
	base := m.ImportGlobal("env", "base", e.I32, false)
	m.ImportMemory("env", "memory", 1)
	m.Func("safe", nil, e.Results(e.I32)).GlobalGet(base)
	m.Func("ask", nil, e.Results(e.I64)).Call(now)
	m.Names(map[e.Index]string{2: "inner ask"})
	d, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("safe", dut.Int), binding("ask", dut.Int)}})
	if r := x.Call(0, nil); r.Cause != dut.None || r.Value.Int != 0 {
		t.Errorf("%+v", r)
	}
	if r := x.Call(1, nil); r.Cause != dut.UnknownImport || x.Fault().Message != "the module called js.now, which is unknown" || x.Fault().Stack[1] != "inner ask" {
		t.Errorf("%+v %+v", r, x.Fault())
	}
	if n := d.Info().Notes; len(n) != 3 {
		t.Errorf("%q", n)
	}
}

// Functions that would keep a compiler busy for minutes are interpreted, and
// behave as they would.
func TestMonstrousFunctions(t *testing.T) {
	monster := func(ifs int) dut.Plan {
		m := bank()
		f := m.Func("huge", e.Params(e.I32), e.Results(e.I32))
		for i := range ifs {
			f.Get(0).I32(int32(i)).Op(e.I32Eq).If(e.Empty, func() { f.I32(int32(i + 1)).Set(0) }, nil)
		}
		f.Get(0)
		return dut.Plan{Binary: m.Bytes(), Bindings: append(slices.Clone(bankBindings), binding("huge", dut.Int, dut.Int))}
	}
	d, x := open(t, monster(11_000))
	if notes := strings.Join(d.Info().Notes, "\n"); !strings.Contains(notes, "interpreted") {
		t.Error(notes)
	}
	if r := x.Call(len(bankBindings), ints(5)); r.Value.Int != 11_000 {
		t.Errorf("%+v %v", r, x.Fault())
	}
	s := x.Snapshot()
	want := observe(x)
	x.Call(bankAdd, ints(9))
	x.Call(bankGrow, ints(1))
	if r := x.Call(bankSpin, nil); r.Cause != dut.Timeout || r.Fuel != dut.DefaultFuel+1 {
		t.Errorf("%+v", r)
	}
	if err := x.Restore(s); err != nil {
		t.Fatal(err)
	}
	if got := observe(x); got != want {
		t.Error("a restored state differs")
	}
	if err := refused(t, monster(60_000)); err == nil || !strings.Contains(err.Error(), "would take too long") {
		t.Error(err)
	}
}

// A memory that has grown to all it may have still comes back to its size.
func TestRestoreFromTheLargestMemory(t *testing.T) {
	_, x := open(t, bankPlan())
	want := observe(x)
	x.Call(bankAdd, ints(2000))
	added, small := observe(x), x.Snapshot()
	if r := x.Call(bankGrow, ints(48)); r.Value.Int != 16 {
		t.Fatalf("%+v", r)
	}
	x.Call(bankFill, ints(0, 64<<16))
	full := x.Snapshot()
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := observe(x); got != want {
		t.Error("the start differs")
	}
	if err := x.Restore(full); err != nil {
		t.Fatal(err)
	}
	if r := x.Call(bankLoad, ints(64<<16-8)); r.Value.Int != 0x0707070707070707 {
		t.Errorf("%+v %v", r, x.Fault())
	}
	if err := x.Restore(small); err != nil {
		t.Fatal(err)
	}
	if got := observe(x); got != added {
		t.Error("a state before the memory grew differs")
	}
}

// Damaged modules: an error or a module that can be called, never a panic.
func TestDamagedModules(t *testing.T) {
	good := bank().Bytes()
	g := engine(t)
	for i := 8; i < len(good); i += 3 {
		for _, with := range []byte{0x00, 0x7f, 0xff, good[i] ^ 1} {
			bad := bytes.Clone(good)
			bad[i] = with
			p := dut.Plan{Binary: bad, Bindings: []dut.Binding{bankBindings[bankAdd]}, Limits: dut.Limits{StartFuel: 1e5, Fuel: 1e5, Memory: 64}}
			d, err := g.Open(context.Background(), p)
			if err != nil {
				continue
			}
			x, err := d.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			x.Call(0, ints(1))
			if err := x.Reset(); err != nil {
				t.Fatal(err)
			}
			x.Close()
			d.Close()
		}
	}
}

// The interpreter of an instance is gone when it is closed.
func TestInstancesAreFreed(t *testing.T) {
	d, _ := open(t, bankPlan())
	var before, after runtime.MemStats
	for range 2 {
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 50 {
			x, err := d.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			x.Close()
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("50 closed instances keep %d bytes", grown)
	}
}
