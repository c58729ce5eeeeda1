package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	"github.com/thresh-dev/thresh/port/dut"
)

// device is a compiled module with a plan and its instances' initial states.
type device struct {
	code  *code
	plan  dut.Plan
	info  dut.Info
	birth *state // after instantiation, before any code ran
	ready *state // after the start function and initialisers

	mu    sync.Mutex
	spare *instance // the instance that made the states, for the first Open
}

// Info implements [dut.Device].
func (d *device) Info() dut.Info { return d.info }

// initialisers are exports to run before the first call; only the first one present is run. WASI
// reactors have the first, commands the second (main, which sets up the runtime of TinyGo and
// others), plain C++ modules may have the third.
var initialisers = [...]string{"_initialize", "_start", "__wasm_call_ctors"}

// begin makes the first instance and records the states.
func (d *device) begin(ctx context.Context) error {
	x := &instance{device: d}
	if err := x.instantiate(ctx); err != nil {
		return err
	}
	x.base = &state{code: d.code}
	x.marks = allDirty
	d.birth = x.snapshot()
	if err := x.start(); err != nil {
		return errors.Join(err, x.Close())
	}
	d.ready = x.snapshot()
	d.ready.own = 0 // every state shares these bytes
	x.forget()
	d.spare = x
	return nil
}

// start runs the start function and an initialiser, and adds the scratch page.
func (x *instance) start() error {
	d := x.device
	if d.code.module.HasStart {
		if err := x.initialise(wasmrewrite.Start, "the start function"); err != nil {
			return err
		}
	}
	for _, name := range initialisers {
		if f := x.mod.ExportedFunction(name); f != nil && len(f.Definition().ParamTypes())+len(f.Definition().ResultTypes()) == 0 {
			if name == "_start" && d.plan.Command {
				break // it is run by its calls, and runs constructors by itself
			}
			if err := x.initialise(name, name); err != nil {
				return err
			}
			break
		}
	}
	for _, a := range d.info.ABI {
		if a.Allocator == dut.ScratchPage {
			before, ok := x.memory.Grow(1)
			if !ok {
				return &dut.ModuleError{Offset: -1, Reason: "strings cannot be passed: no allocator is exported and the memory cannot grow by a page"}
			}
			x.scratch = before * pageSize
			break
		}
	}
	return nil
}

func (x *instance) initialise(export, name string) error {
	limit := x.device.plan.Limits.StartFuel
	x.fuel.Set(uint64(limit))
	err := x.mod.ExportedFunction(export).CallWithStack(x.ctx, nil)
	if err == nil && int64(x.fuel.Get()) >= 0 {
		return nil
	}
	f := x.classify(err, limit)
	if f.Cause == dut.Exit && f.Code == 0 { // a command's main that succeeded
		return nil
	}
	return &dut.StartError{Function: name, Fault: *f}
}

// Open implements [dut.Device].
func (d *device) Open(ctx context.Context) (dut.Instance, error) {
	d.mu.Lock()
	x := d.spare
	d.spare = nil
	d.mu.Unlock()
	if x != nil {
		return x, nil
	}
	x = &instance{device: d}
	if err := x.instantiate(ctx); err != nil {
		return nil, err
	}
	x.base, x.scratch = d.birth, d.scratch()
	if err := x.Reset(); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// scratch returns the address of the scratch page, if there is one: it is the last page of the
// ready state.
func (d *device) scratch() uint32 {
	return uint32(max(0, len(d.ready.blocks)*blockSize-pageSize))
}

// Close implements [dut.Device]. Compiled code stays with the engine.
func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spare == nil {
		return nil
	}
	err := d.spare.Close()
	d.spare = nil
	if err != nil {
		return fmt.Errorf("closing a module: %w", err)
	}
	return nil
}
