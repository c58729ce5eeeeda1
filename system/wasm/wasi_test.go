package wasm_test

import (
	"context"
	"strings"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// guest is a module that asks WASI for things.
//
//	say(n): writes n bytes of "hello\n..." to stdout
//	draw(): 8 random bytes; now(): the wall clock
//	quit(code): proc_exit; storm(): random_get of the whole memory for ever
//	missing(): a function of WASI that is not supported
func guest() *e.Module {
	m := e.New()
	i32, i64 := e.I32, e.I64
	const module = "wasi_snapshot_preview1"
	write := m.Import(module, "fd_write", e.Params(i32, i32, i32, i32), e.Results(i32))
	random := m.Import(module, "random_get", e.Params(i32, i32), e.Results(i32))
	clock := m.Import(module, "clock_time_get", e.Params(i32, i64, i32), e.Results(i32))
	exit := m.Import(module, "proc_exit", e.Params(i32), nil)
	remove := m.Import(module, "path_unlink_file", e.Params(i32, i32, i32), e.Results(i32))
	m.Memory(2, 2)
	m.Data(64, []byte("hello\n"))
	say := m.Func("say", e.Params(i32, i32), e.Results(i32))
	say.I32(0).I32(64).Memory(e.I32Store, 0).I32(0).Get(1).Memory(e.I32Store, 4)
	say.Get(0).I32(0).I32(1).I32(8).Call(write)
	draw := m.Func("draw", nil, e.Results(i64))
	draw.I32(128).I32(8).Call(random).Op(e.Drop).I32(128).Memory(e.I64Load, 0)
	now := m.Func("now", nil, e.Results(i64))
	now.I32(0).I64(0).I32(136).Call(clock).Op(e.Drop).I32(136).Memory(e.I64Load, 0)
	m.Func("quit", e.Params(i32), nil).Get(0).Call(exit)
	storm := m.Func("storm", nil, nil)
	storm.Loop(e.Empty, func() { storm.I32(0).I32(2 << 16).Call(random).Op(e.Drop).Br(0) })
	m.Func("missing", nil, e.Results(i32)).I32(0).I32(0).I32(0).Call(remove)
	m.Func("many", nil, e.Results(i32)).I32(1).I32(0).I32(1 << 28).I32(8).Call(write)
	return m
}

func guestPlan(seed uint64) dut.Plan {
	return dut.Plan{Binary: guest().Bytes(), Seed: seed, Limits: dut.Limits{Output: 100}, Bindings: []dut.Binding{
		binding("say", dut.Int, dut.Int, dut.Int), binding("draw", dut.Int), binding("now", dut.Int), binding("quit", dut.Void, dut.Int),
		binding("storm", dut.Void), binding("missing", dut.Int), binding("many", dut.Int),
	}}
}

func TestWASI(t *testing.T) {
	d, x := open(t, guestPlan(1))
	if n := strings.Join(d.Info().Notes, "\n"); n != "the import wasi_snapshot_preview1.path_unlink_file reports that it is not supported" {
		t.Error(n)
	}
	x.Call(0, ints(1, 6))
	x.Call(0, ints(2, 5))
	if r := x.Call(0, ints(7, 5)); r.Value.Int != 8 {
		t.Errorf("an unknown file: %+v", r)
	}
	if out, err := x.Output(); string(out) != "hello\n" || string(err) != "hello" {
		t.Errorf("%q %q", out, err)
	}
	for range 10 {
		x.Call(0, ints(1, 1<<16))
	}
	if out, _ := x.Output(); len(out) != 100 {
		t.Errorf("%d bytes are kept", len(out))
	}
	if r := x.Call(3, ints(7)); r.Cause != dut.Exit || x.Fault().Code != 7 || x.Fault().Error() != "the module ended the process with code 7 in wasi_snapshot_preview1.proc_exit" {
		t.Errorf("%+v %+v", r, x.Fault())
	}
	if r := x.Call(4, nil); r.Cause != dut.Timeout {
		t.Errorf("%+v", r)
	}
	if r := x.Call(5, nil); r.Value.Int != 52 {
		t.Errorf("%+v", r)
	}
	if r := x.Call(6, nil); r.Value.Int != 28 {
		t.Errorf("%+v", r)
	}
}

// Randomness and clocks follow the seed and the state, and nothing else.
func TestWASIWorldIsState(t *testing.T) {
	d, x := open(t, guestPlan(1))
	draw := func(x dut.Instance) int64 { return x.Call(1, nil).Value.Int }
	now := func(x dut.Instance) int64 { return x.Call(2, nil).Value.Int }
	a, b := draw(x), draw(x)
	first := now(x)
	s := x.Snapshot()
	c, second := draw(x), now(x)
	if a == b || b == c || second <= first {
		t.Errorf("%d %d %d, %d %d", a, b, c, first, second)
	}
	y, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	if draw(y) != a || draw(y) != b {
		t.Error("another instance draws otherwise")
	}
	if err := y.Restore(s); err != nil {
		t.Fatal(err)
	}
	if draw(y) != c || now(y) != second {
		t.Error("a restored instance draws otherwise")
	}
	_, z := open(t, guestPlan(2))
	if draw(z) == a {
		t.Error("the seed decides nothing")
	}
}

// AssemblyScript ends failed assertions with abort.
func TestAssemblyScriptAbort(t *testing.T) {
	m := e.New()
	abort := m.Import("env", "abort", e.Params(e.I32, e.I32, e.I32, e.I32), nil)
	m.Memory(1, 1)
	m.Data(0, []byte("\x04\x00\x00\x00n\x00o\x00\x08\x00\x00\x00a\x00.\x00t\x00s\x00"))
	m.Func("f", nil, nil).I32(4).I32(12).I32(3).I32(9).Call(abort)
	_, x := open(t, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("f", dut.Void)}})
	if r := x.Call(0, nil); r.Cause != dut.Unreachable || x.Fault().Message != "abort: no (a.ts:3:9)" {
		t.Errorf("%+v %+v", r, x.Fault())
	}
}
