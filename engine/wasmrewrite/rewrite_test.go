package wasmrewrite

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// start rewrites a module and runs it with a full tank.
func start(t testing.TB, m *e.Module, opt Options) (*Module, api.Module) {
	t.Helper()
	out, err := Rewrite(m.Bytes(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features))
	t.Cleanup(func() { r.Close(ctx) })
	mod, err := r.InstantiateWithConfig(ctx, out.Binary, wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	fuel(mod).Set(1000)
	return out, mod
}

func call(t testing.TB, mod api.Module, name string, args ...uint64) []uint64 {
	t.Helper()
	r, err := mod.ExportedFunction(name).Call(context.Background(), args...)
	if err != nil {
		t.Fatalf("%s%v: %v", name, args, err)
	}
	return r
}

var modes = []Options{{}, {Coverage: true}, {Compares: true}, {Coverage: true, Compares: true}}

// Fuel is the number of instructions that were executed, whatever is traced.
func TestFuelIsExact(t *testing.T) {
	m := e.New()
	m.Memory(1, 2)
	loop := m.Func("loop", e.Params(e.I32), e.Results(e.I32))
	loop.Block(e.Empty, func() {
		loop.Loop(e.Empty, func() {
			loop.Get(0).Op(e.I32Eqz).BrIf(1)             // 3 each time
			loop.Get(0).I32(1).Op(e.I32Sub).Set(0).Br(0) // 5 each round
		})
	})
	loop.Get(0) // 1
	pick := m.Func("pick", e.Params(e.I32), e.Results(e.I32))
	pick.Get(0).I32(7).Op(e.I32Eq).If(e.I32, func() { pick.I32(1).I32(2).Op(e.I32Add) }, func() { pick.I32(9) }) // 4 + (3 or 1)
	twice := m.Func("twice", e.Params(e.I32), e.Results(e.I32))
	twice.Get(0).Call(pick.Index).Op(e.Drop).Get(0).Call(pick.Index).Op(e.Return) // 6
	fill := m.Func("fill", e.Params(e.I32), nil)
	fill.I32(0).I32(1).Get(0).MemoryFill() // 4 + length/64
	leave := m.Func("leave", e.Params(e.I32), e.Results(e.I32))
	leave.Block(e.Empty, func() {
		leave.Block(e.Empty, func() {
			leave.Block(e.Empty, func() { leave.Get(0).BrTable(0, 1, 2) }) // 2
			leave.I32(10).Op(e.Return)                                     // 2
		})
		leave.I32(20).Op(e.Nop).Op(e.Return) // 2
	})
	leave.I32(30) // 1
	for _, opt := range modes {
		_, mod := start(t, m, opt)
		for _, c := range []struct {
			f    string
			arg  uint64
			want uint64
			cost int64
		}{
			{"loop", 0, 0, 4}, {"loop", 1, 0, 12}, {"loop", 10, 0, 84}, {"pick", 7, 3, 7}, {"pick", 1, 9, 5}, {"twice", 7, 3, 20}, {"twice", 0, 9, 16},
			{"leave", 0, 10, 4}, {"leave", 1, 20, 4}, {"leave", 9, 30, 3},
		} {
			fuel(mod).Set(1000)
			got := call(t, mod, c.f, c.arg)
			if spent := 1000 - int64(fuel(mod).Get()); got[0] != c.want || spent != c.cost {
				t.Errorf("%+v: %s(%d) = %d for %d instructions, want %d for %d", opt, c.f, c.arg, got[0], spent, c.want, c.cost)
			}
		}
		fuel(mod).Set(1000)
		if call(t, mod, "fill", 6400); fuel(mod).Get() != 1000-104 {
			t.Errorf("fill: %d left", fuel(mod).Get())
		}
		fuel(mod).Set(83)
		if _, err := mod.ExportedFunction("loop").Call(context.Background(), 1000); err == nil || int64(fuel(mod).Get()) >= 0 {
			t.Errorf("an endless loop went on: %v, fuel %d", err, int64(fuel(mod).Get()))
		}
	}
}

func TestTraceOfBranchesAndComparisons(t *testing.T) {
	m := e.New()
	f := m.Func("f", e.Params(e.I64, e.F64), e.Results(e.I32))
	f.Get(0).I64(-5).Op(e.I64LtS).If(e.I32, func() { f.I32(1) }, func() {
		f.Get(0).Get(0).Op(e.I64Eqz).Op(e.I64ExtendU32).Op(e.I64GtU).Op(e.Drop)
		f.Get(1).F64(2.5).Op(e.F64Eq)
	})
	s := m.Func("s", e.Params(e.I32), nil)
	s.Block(e.Empty, func() {
		s.Block(e.Empty, func() { s.Get(0).I32(100).Op(e.I32Sub).BrTable(0, 1, 0, 1) })
	})
	out, mod := start(t, m, Options{Coverage: true, Compares: true})
	wantSites := []dut.Site{
		{Type: dut.I64, Const: true, B: -5},
		{Type: dut.I64, Const: true},
		{Type: dut.U64},
		{Type: dut.F64},
		{Type: dut.U32, Const: true, B: 3},
	}
	if d := cmp.Diff(wantSites, out.Sites); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{-5, 0, 100, 101, 102}, out.Constants); d != "" {
		t.Error(d)
	}
	// Points: entry of f, else, then; entry of s, ways 0, 1, 2, default.
	if out.Edges != 8 || out.EdgeWords != 1 {
		t.Errorf("%d edges in %d words", out.Edges, out.EdgeWords)
	}
	take := func() []uint64 { return call(t, mod, out.Trace.Get[0]) }
	call(t, mod, "f", ^uint64(5), api.EncodeF64(0)) // -6: then
	if got := take(); got[0] != 0b101 || got[1] != 0b10 {
		t.Errorf("then: %b", got)
	}
	call(t, mod, "f", 7, api.EncodeF64(2.5))
	if got := take(); got[0] != 0b011 || got[1] != 0b10_10_01_01 {
		t.Errorf("else: %b", got)
	}
	call(t, mod, "s", 102)
	call(t, mod, "s", 99)
	if got := take(); got[0] != 0b1100_1000 || got[1] != 0b11_00_00_00_00 {
		t.Errorf("switch: %b", got)
	}
	if got := take(); got[0]|got[1] != 0 {
		t.Errorf("taken twice: %b", got)
	}
	want := []uint64{7, 7, 7, 0, api.EncodeF64(2.5), api.EncodeF64(2.5), 0xffffffff}
	if d := cmp.Diff(want, call(t, mod, out.Operands[0].Get[0])); d != "" {
		t.Error("operands: ", d)
	}
}

// Every mutable global, of any number type, can be read and set at once.
func TestStateOfAllGlobals(t *testing.T) {
	m := e.New()
	m.ImportGlobal("env", "base", e.I32, false)
	fixed := m.Global(e.I64, false, 99)
	gs := []e.Index{m.Global(e.I32, true, -1), m.Global(e.F32, true, 0x40490fdb), m.Global(e.F64, true, 1<<62), m.Global(e.V128, true, 0)}
	for range 70 { // more than one accessor takes
		gs = append(gs, m.Global(e.I64, true, 5))
	}
	bump := m.Func("bump", nil, nil)
	bump.GlobalGet(gs[0]).I32(1).Op(e.I32Add).GlobalSet(gs[0])
	bump.GlobalGet(fixed).GlobalSet(gs[73])
	bump.I64(3).Raw(0xfd, 18).GlobalSet(gs[3]) // i64x2.splat
	out, mod := start(t, m, Options{})
	if len(out.State.Get) != 2 {
		t.Fatalf("%d parts", len(out.State.Get))
	}
	state := func() (all []uint64) {
		for _, g := range out.State.Get {
			all = append(all, call(t, mod, g)...)
		}
		return all
	}
	before := state()
	call(t, mod, "bump")
	after := state()
	if after[0] != 0 || after[3] != 3 || after[4] != 3 || after[74] != 99 {
		t.Errorf("after: %v", after)
	}
	call(t, mod, out.State.Set[0], before[:64]...)
	call(t, mod, out.State.Set[1], before[64:]...)
	if d := cmp.Diff(before, state()); d != "" {
		t.Error(d)
	}
}

// Marks name the blocks that were written.
func TestMarksOfWrittenBlocks(t *testing.T) {
	m := e.New()
	m.Memory(2, 2)
	f := m.Func("put", e.Params(e.I32), nil)
	f.Get(0).I64(-1).Memory(e.I64Store, 8)
	_, mod := start(t, m, Options{})
	dirty := mod.ExportedGlobal(Dirty).(api.MutableGlobal)
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.Uint32Range(0, 2<<16-16).Draw(rt, "address")
		dirty.Set(0)
		fuel(mod).Set(1000)
		call(t, mod, "put", uint64(at))
		if want := uint64(1) << ((at + 8) >> BlockShift & 63); dirty.Get() != want {
			rt.Fatalf("put(%d) marks %x, want %x", at, dirty.Get(), want)
		}
	})
}

func TestRefusals(t *testing.T) {
	code := func(body ...byte) []byte {
		m := e.New()
		m.Global(e.I64, true, 0)
		m.Func("f", nil, nil).Raw(body...)
		return m.Bytes()
	}
	named := e.New()
	named.Export("thresh:fuel", named.Func("", nil, nil).Index)
	table := e.New()
	table.Table(e.Funcref, 2_000_000, 2_000_000)
	memory := e.New()
	memory.Memory(17, 20)
	for _, c := range []struct {
		name   string
		binary []byte
		want   string
	}{
		{"text", []byte("hello"), "not a WebAssembly module"},
		{"empty", nil, "4 bytes are declared, 0 are left"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "component"},
		{"the rewriter's global", code(0x23, 1, 0x1a), "global 1 does not exist, there are 1"},
		{"the rewriter's local", code(0x20, 0, 0x1a), "local 0 does not exist, there are 0"},
		{"the rewriter's label", code(0x0c, 1), "label 1 does not exist, there are 1"},
		{"the rewriter's function", code(0x10, 1), "function 1 does not exist, there are 1"},
		{"threads", code(0xfe, 0x03, 0x00), "threads"},
		{"exceptions", code(0x08, 0x00), "exception handling"},
		{"long code", code(0xfc, 0x8b, 0x00, 0x00), "shortest form"},
		{"else alone", code(0x05), "else stands outside an if"},
		{"no memory", code(0x41, 0, 0x28, 2, 0, 0x1a), "memory is used, and the module has none"},
		{"our export", named.Bytes(), "reserved for testing"},
		{"large table", table.Bytes(), "a table of 2000000 elements"},
		{"large memory", memory.Bytes(), "starts with 17 pages of memory, more than the limit of 16"},
		{"cut", code()[:30], "bytes are declared"},
	} {
		_, err := Rewrite(c.binary, Options{MaxMemory: 16})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Sections that are of no use to execution go; the names are kept beside.
func TestCustomSections(t *testing.T) {
	m := e.New()
	f := m.Func("f", nil, nil)
	m.Names(map[e.Index]string{f.Index: "inner::f"})
	m.Custom(".debug_info", []byte(strings.Repeat("x", 1000)))
	out, err := Rewrite(m.Bytes(), Options{})
	if err != nil || len(out.Binary) > 500 || out.Names[0] != "inner::f" {
		t.Errorf("%d bytes, names %v, %v", len(out.Binary), out.Names, err)
	}
}

// Parts that are not traced are named.
func TestLimitsOfTracing(t *testing.T) {
	m := e.New()
	f := m.Func("f", e.Params(e.I32), nil)
	for range maxEdges/2 + 10 {
		f.Get(0).Get(0).Op(e.I32Ne).If(e.Empty, func() {}, nil)
	}
	out, err := Rewrite(m.Bytes(), Options{Coverage: true, Compares: true})
	if err != nil || out.Edges > maxEdges || len(out.Sites) != maxSites || len(out.Notes) != 2 {
		t.Errorf("%d edges, %d sites, notes %q, %v", out.Edges, len(out.Sites), out.Notes, err)
	}
}

func BenchmarkRewrite(b *testing.B) {
	m := e.New()
	m.Memory(1, 1)
	for range 500 {
		f := m.Func("", e.Params(e.I32), e.Results(e.I32))
		f.Loop(e.Empty, func() { f.Get(0).I32(1).Op(e.I32Sub).Tee(0).I32(10).Op(e.I32GtS).BrIf(0) }).Get(0)
	}
	binary := m.Bytes()
	b.SetBytes(int64(len(binary)))
	for b.Loop() {
		if _, err := Rewrite(binary, Options{Coverage: true, Compares: true}); err != nil {
			b.Fatal(err)
		}
	}
}
