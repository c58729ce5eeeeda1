package wasm_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

func BenchmarkCall(b *testing.B) {
	for _, mode := range []struct {
		name               string
		coverage, compares bool
	}{{"plain", false, false}, {"coverage", true, false}, {"compares", true, true}} {
		b.Run(mode.name, func(b *testing.B) {
			p := bankPlan()
			p.Coverage, p.Compares = mode.coverage, mode.compares
			_, x := open(b, p)
			args := ints(3)
			b.ReportAllocs()
			for b.Loop() {
				x.Call(bankAdd, args)
			}
		})
	}
}

func BenchmarkRestore16Pages(b *testing.B) {
	_, x := open(b, bankPlan())
	args := ints(3)
	b.ReportAllocs()
	for b.Loop() {
		x.Call(bankAdd, args)
		if err := x.Reset(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestoreAllWritten restores a module that wrote all of its 16 pages.
func BenchmarkRestoreAllWritten(b *testing.B) {
	_, x := open(b, bankPlan())
	for b.Loop() {
		x.Call(bankFill, ints(0, 16<<16))
		if err := x.Reset(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRestoreGrown(b *testing.B) {
	_, x := open(b, bankPlan())
	for b.Loop() {
		x.Call(bankGrow, ints(1))
		if err := x.Reset(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot16Pages(b *testing.B) {
	_, x := open(b, bankPlan())
	args := ints(3)
	b.ReportAllocs()
	for b.Loop() {
		x.Call(bankAdd, args)
		x.Snapshot()
	}
}

func BenchmarkTake(b *testing.B) {
	p := bankPlan()
	p.Coverage, p.Compares = true, true
	_, x := open(b, p)
	args := ints(3)
	for b.Loop() {
		x.Call(bankAdd, args)
		x.Take()
	}
}

func BenchmarkEndlessLoop(b *testing.B) {
	_, x := open(b, bankPlan())
	for b.Loop() {
		if r := x.Call(bankSpin, nil); r.Cause != dut.Timeout {
			b.Fatal(r)
		}
	}
}

func BenchmarkEndlessRecursion(b *testing.B) {
	_, x := open(b, bankPlan())
	for b.Loop() {
		x.Call(bankDive, ints(0))
	}
}

// BenchmarkLoop is a tight loop of 10,000 rounds with a store in each.
func BenchmarkLoop(b *testing.B) {
	m := e.New()
	m.Memory(1, 1)
	f := m.Func("work", e.Params(e.I32), e.Results(e.I32))
	sum := f.Local(e.I32)
	f.Loop(e.Empty, func() {
		f.Get(sum).Get(0).Op(e.I32Xor).I32(3).Op(e.I32Mul).Set(sum)
		f.Get(0).I32(1023).Op(e.I32And).Get(sum).Memory(e.I32Store, 0)
		f.Get(0).I32(1).Op(e.I32Sub).Tee(0).BrIf(0)
	})
	f.Get(sum)
	b.Run("bare", func(b *testing.B) { // not rewritten
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		defer r.Close(ctx)
		mod, err := r.Instantiate(ctx, m.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		call, stack := mod.ExportedFunction("work"), make([]uint64, 1)
		for b.Loop() {
			stack[0] = 10_000
			if err := call.CallWithStack(ctx, stack); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, mode := range []struct {
		name               string
		coverage, compares bool
	}{{"plain", false, false}, {"coverage", true, false}, {"compares", true, true}} {
		b.Run(mode.name, func(b *testing.B) {
			_, x := open(b, dut.Plan{Binary: m.Bytes(), Bindings: []dut.Binding{binding("work", dut.Int, dut.Int)}, Coverage: mode.coverage, Compares: mode.compares})
			args := ints(10_000)
			for b.Loop() {
				if r := x.Call(0, args); r.Cause != dut.None {
					b.Fatal(r, x.Fault())
				}
			}
		})
	}
}
