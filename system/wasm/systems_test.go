package wasm_test

import (
	"context"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/system/wasm"
)

// engine makes an engine for a test.
func engine(t testing.TB) *wasm.Engine {
	t.Helper()
	g, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func open(t testing.TB, p dut.Plan) (dut.Device, dut.Instance) {
	t.Helper()
	d, err := engine(t).Open(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(); d.Close() })
	return d, x
}

func ints(ns ...int64) []dut.Value {
	var list []dut.Value
	for _, n := range ns {
		list = append(list, dut.Number(dut.Int, n))
	}
	return list
}

func binding(function string, result dut.Kind, params ...dut.Kind) dut.Binding {
	b := dut.Binding{Function: function, Result: result}
	for i, k := range params {
		b.Params = append(b.Params, dut.Param{Name: string(rune('a' + i)), Kind: k})
	}
	return b
}

// bank is a small system with all kinds of state: memory, two hidden globals,
// pages that it grows.
//
//	add(n): total += n, hidden; cell[n&255] += n in memory; returns total
//	total(): returns total
//	cell(i): returns the cell
//	grow(pages): memory.grow
//	fail(): unreachable
//	divide(a, b), load(address), spin(), dive(): ways to go wrong
//	fill(address, length): memory.fill with 7
func bank() *e.Module {
	m := e.New()
	m.Memory(16, 64)
	total := m.Global(e.I64, true, 0)
	odd := m.Global(e.F64, true, 0)
	add := m.Func("add", e.Params(e.I64), e.Results(e.I64))
	at := add.Local(e.I32)
	add.GlobalGet(total).Get(0).Op(e.I64Add).GlobalSet(total)
	add.GlobalGet(odd).F64(0.5).Op(e.F64Add).GlobalSet(odd)
	add.Get(0).Op(e.I32WrapI64).I32(255).Op(e.I32And).I32(4096 * 16).Op(e.I32Mul).I32(0xfffff).Op(e.I32And).Tee(at)
	add.Get(at).Memory(e.I64Load, 4092).Get(0).Op(e.I64Add).Memory(e.I64Store, 4092) // across two blocks
	add.Get(0).I64(1000).Op(e.I64GtS).If(e.Empty, func() { add.GlobalGet(total).I64(1).Op(e.I64Add).GlobalSet(total) }, nil)
	add.GlobalGet(total)
	m.Func("total", nil, e.Results(e.I64)).GlobalGet(total)
	cell := m.Func("cell", e.Params(e.I32), e.Results(e.I64))
	cell.Get(0).I32(4096*16).Op(e.I32Mul).I32(0xfffff).Op(e.I32And).Memory(e.I64Load, 4092)
	m.Func("grow", e.Params(e.I32), e.Results(e.I32)).Get(0).MemoryGrow()
	m.Func("size", nil, e.Results(e.I32)).MemorySize()
	m.Func("fail", nil, nil).Op(e.Unreachable)
	m.Func("divide", e.Params(e.I32, e.I32), e.Results(e.I32)).Get(0).Get(1).Op(e.I32DivS)
	m.Func("load", e.Params(e.I32), e.Results(e.I64)).Get(0).Memory(e.I64Load, 0)
	spin := m.Func("spin", nil, nil)
	spin.Loop(e.Empty, func() { spin.Br(0) })
	dive := m.Func("dive", e.Params(e.I32), e.Results(e.I32))
	dive.Get(0).I32(1).Op(e.I32Add).Call(dive.Index)
	fill := m.Func("fill", e.Params(e.I32, e.I32), nil)
	fill.Get(0).I32(7).Get(1).MemoryFill()
	return m
}

var bankBindings = []dut.Binding{
	binding("add", dut.Int, dut.Int), binding("total", dut.Int), binding("cell", dut.Int, dut.Int), binding("grow", dut.Int, dut.Int),
	binding("fail", dut.Void), binding("divide", dut.Int, dut.Int, dut.Int), binding("load", dut.Int, dut.Int),
	binding("spin", dut.Void), binding("dive", dut.Int, dut.Int), binding("fill", dut.Void, dut.Int, dut.Int), binding("size", dut.Int),
}

const (
	bankAdd = iota
	bankTotal
	bankCell
	bankGrow
	bankFail
	bankDivide
	bankLoad
	bankSpin
	bankDive
	bankFill
	bankSize
)

func bankPlan() dut.Plan { return dut.Plan{Binary: bank().Bytes(), Bindings: bankBindings} }
