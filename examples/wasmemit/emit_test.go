package wasmemit_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
)

// A module of every kind of part is valid and does what it says.
func TestModule(t *testing.T) {
	m := e.New()
	m.Memory(1, 2)
	m.Table(e.Funcref, 2, 2)
	count := m.Global(e.I32, true, -3)
	m.ExportGlobal("count", count)
	m.Global(e.F64, true, 0)
	m.Global(e.F32, true, 0)
	m.Global(e.V128, true, 0)
	m.Global(e.Externref, true, 0)
	m.Data(8, []byte{5, 0, 0, 0})
	seg := m.PassiveData([]byte("xyz"))
	binary := e.Params(e.I32, e.I32)
	add := m.Func("", binary, e.Results(e.I32)).Get(0).Get(1).Op(e.I32Add)
	sub := m.Func("", binary, e.Results(e.I32)).Get(0).Get(1).Op(e.I32Sub)
	m.Elements(0, add.Index, sub.Index)
	start := m.Func("", nil, nil).GlobalGet(count).I32(4).Op(e.I32Add).GlobalSet(count)
	m.Start(start.Index)
	calc := m.Func("calc", e.Params(e.I32, e.I32, e.I32), e.Results(e.I32))
	calc.Get(1).Get(2).Get(0).CallIndirect(m.Type(binary, e.Results(e.I32)))
	sum := m.Func("sum", e.Params(e.I32), e.Results(e.I32)) // 1 + 2 + ... + n + memory[8]
	total := sum.Local(e.I32)
	sum.Block(e.Empty, func() {
		sum.Loop(e.Empty, func() {
			sum.Get(0).Op(e.I32Eqz).BrIf(1)
			sum.Get(total).Get(0).Op(e.I32Add).Set(total)
			sum.Get(0).I32(1).Op(e.I32Sub).Set(0).Br(0)
		})
	})
	sum.Get(total).I32(0).Memory(e.I32Load, 8).Op(e.I32Add)
	pick := m.Func("pick", e.Params(e.I32), e.Results(e.I64))
	pick.Get(0).If(e.I64, func() { pick.I64(-1) }, func() { pick.I64(1 << 40) })
	tail := m.Func("copy", nil, e.Results(e.I32))
	tail.I32(100).I32(0).I32(3).Raw(0xfc, 8, byte(seg), 0).I32(99).I32(100).I32(3).MemoryCopy().I32(102).I32(1).I32(1).MemoryFill()
	tail.I32(99).Memory(e.I32Load, 0)
	m.Names(map[e.Index]string{add.Index: "add", sub.Index: "sub"})

	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	mod, err := r.Instantiate(ctx, m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if g := mod.ExportedGlobal("count").Get(); g != 1 {
		t.Errorf("count = %d", g)
	}
	for _, c := range []struct {
		f    string
		args []uint64
		want uint64
	}{
		{"calc", []uint64{0, 7, 5}, 12}, {"calc", []uint64{1, 7, 5}, 2}, {"sum", []uint64{4}, 15}, {"pick", []uint64{0}, 1 << 40},
		{"pick", []uint64{1}, ^uint64(0)}, {"copy", nil, 0x01_7a_79_78},
	} {
		got, err := mod.ExportedFunction(c.f).Call(ctx, c.args...)
		if err != nil || got[0] != c.want {
			t.Errorf("%s%v = %x, %v; want %x", c.f, c.args, got, err, c.want)
		}
	}
}
