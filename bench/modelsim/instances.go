package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/system/wasm"
)

// pages is the size of the module whose memory is restored.
const pages = 16

// instances are operations on single instances: restoring one of 16 pages after some of them were
// written, and stopping an endless call.
func instances(ctx context.Context, g *wasm.Engine) ([]contender, error) {
	m := wasmemit.New()
	m.Memory(pages, pages)
	fill := m.Func("fill", wasmemit.Params(wasmemit.I32), nil)
	fill.I32(0).I32(7).Get(0).MemoryFill()
	spin := m.Func("spin", nil, nil)
	spin.Loop(wasmemit.Empty, func() { spin.Br(0) })
	d, err := g.Open(ctx, dut.Plan{Binary: m.Bytes(), Coverage: true, Bindings: []dut.Binding{
		{Function: "fill", Params: []dut.Param{{Name: "bytes", Kind: dut.Int}}}, {Function: "spin"},
	}})
	if err != nil {
		return nil, fmt.Errorf("opening a module of %d pages: %w", pages, err)
	}
	inst, err := d.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting a module of %d pages: %w", pages, err)
	}
	written := func(bytes int64, restore bool) func() (int, error) {
		args := []dut.Value{dut.Number(dut.Int, bytes)}
		const times = 200
		return func() (int, error) {
			for range times {
				if r := inst.Call(0, args); r.Cause != dut.None {
					return 0, fmt.Errorf("writing to memory: %w", inst.Fault())
				}
				if !restore {
					continue
				}
				if err := inst.Reset(); err != nil {
					return 0, fmt.Errorf("restoring memory: %w", err)
				}
			}
			return times, nil
		}
	}
	fuel := int64(-1)
	return []contender{
		{"restore of 16 pages, 1 written: writing and restoring", "", written(1<<16, true)},
		{"restore of 16 pages, 1 written: writing alone", "", written(1<<16, false)},
		{"restore of 16 pages, all written: writing and restoring", "", written(pages<<16, true)},
		{"restore of 16 pages, all written: writing alone", "", written(pages<<16, false)},
		{"an endless loop, stopped by its fuel", "", func() (int, error) {
			r := inst.Call(1, nil)
			if r.Cause != dut.Timeout || fuel >= 0 && fuel != r.Fuel {
				return 0, fmt.Errorf("the loop ended otherwise than before: %q after %d instructions, %d before", r.Cause, r.Fuel, fuel)
			}
			fuel = r.Fuel
			return 1, inst.Reset()
		}},
	}, nil
}
