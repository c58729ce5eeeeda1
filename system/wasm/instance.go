package wasm

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	"github.com/thresh-dev/thresh/port/dut"
)

// instance is one running copy of a module.
type instance struct {
	device *device
	ctx    context.Context // carries the instance to the functions that serve imports
	mod    api.Module
	memory api.Memory // nil: none
	linear *linear    // backs memory
	fuel   api.MutableGlobal
	dirty  api.MutableGlobal // nil without memory

	functions []function // by binding
	allocator api.Function
	getState  []accessor
	setState  []accessor
	takeTrace []accessor
	operands  []accessor

	scratch uint32 // address of the scratch page
	base    *state // content of memory, except for dirty blocks
	marks   uint64 // dirty blocks besides those that the module marked
	world   world
	calls   *called
	words   []uint64 // buffer of Changed

	trace          dut.Trace
	stdout, stderr output
	fault          *dut.Fault
}

// accessor is a function added by the rewriter, with a buffer for its words.
type accessor struct {
	call  api.Function
	words []uint64
}

// carrier is the key of the instance in the context of a call.
type carrier struct{}

// instantiate makes a new copy of the module and runs none of its code.
func (x *instance) instantiate(ctx context.Context) error {
	c, limits := x.device.code, x.device.plan.Limits
	mod, err := c.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, x), c.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return &dut.ModuleError{Offset: -1, Reason: err.Error()}
	}
	x.ctx = context.WithValue(context.Background(), carrier{}, x)
	x.mod, x.memory, x.dirty = mod, nil, nil
	if c.module.Memory {
		x.memory = mod.Memory()
		x.dirty, _ = mod.ExportedGlobal(wasmrewrite.Dirty).(api.MutableGlobal)
	}
	x.fuel, _ = mod.ExportedGlobal(wasmrewrite.Fuel).(api.MutableGlobal)
	x.functions = make([]function, len(x.device.info.ABI))
	for i, abi := range x.device.info.ABI {
		x.functions[i] = function{abi: abi, kinds: x.device.plan.Bindings[i], call: mod.ExportedFunction(abi.Function)}
		x.functions[i].stack = make([]uint64, max(len(abi.Sig.Params), len(abi.Sig.Results), 1))
		if abi.Allocator != dut.NoAllocator && abi.Allocator != dut.ScratchPage {
			x.allocator = mod.ExportedFunction(abi.Allocator.String())
		}
	}
	m := c.module
	x.getState = x.accessors(m.State.Get)
	x.setState = x.accessors(m.State.Set)
	x.takeTrace = x.accessors(m.Trace.Get)
	x.operands = nil
	for _, o := range m.Operands {
		x.operands = append(x.operands, x.accessors(o.Get)...)
	}
	x.stdout.limit, x.stderr.limit = limits.Output, limits.Output
	x.world = world{seed: x.device.plan.Seed}
	x.calls, x.marks = nil, 0
	return nil
}

func (x *instance) accessors(names []string) []accessor {
	list := make([]accessor, len(names))
	for i, n := range names {
		f := x.mod.ExportedFunction(n)
		list[i] = accessor{f, make([]uint64, max(len(f.Definition().ResultTypes()), len(f.Definition().ParamTypes())))}
	}
	return list
}

// renew replaces the module with a new copy in the state of birth.
func (x *instance) renew() error {
	if err := x.mod.Close(context.Background()); err != nil {
		return fmt.Errorf("closing a module: %w", err)
	}
	if err := x.instantiate(context.Background()); err != nil {
		return fmt.Errorf("restarting the module: %w", err)
	}
	x.base = x.device.birth
	return nil
}

// volatile reports whether the module has state outside memory and globals.
func (x *instance) volatile() bool { return len(x.device.code.module.Volatile) > 0 }

// repeat restores a volatile module's state by repeating all calls.
func (x *instance) repeat(s *state) error {
	if err := x.renew(); err != nil {
		return err
	}
	if err := x.start(); err != nil {
		return fmt.Errorf("restarting the module: %w", err)
	}
	var calls []*called
	for c := s.calls; c != nil; c = c.before {
		calls = append(calls, c)
	}
	for _, c := range slices.Backward(calls) {
		x.Call(c.binding, c.args)
	}
	return nil
}

// run calls an accessor. An accessor cannot fail, because it only moves numbers.
func (x *instance) run(a *accessor) {
	if err := a.call.CallWithStack(x.ctx, a.words); err != nil {
		panic(fmt.Sprintf("wasm: an accessor trapped: %v", err))
	}
}

func (x *instance) getGlobals(to []uint64) []uint64 {
	for i := range x.getState {
		x.run(&x.getState[i])
		to = append(to, x.getState[i].words...)
	}
	return to
}

func (x *instance) setGlobals(from []uint64) {
	for i := range x.setState {
		a := &x.setState[i]
		copy(a.words, from)
		from = from[len(a.words):]
		x.run(a)
	}
}

// Take implements [dut.Instance].
func (x *instance) Take() *dut.Trace {
	t, m := &x.trace, x.device.code.module
	t.Edges, t.Compares = t.Edges[:0], t.Compares[:0]
	for i := range x.takeTrace {
		x.run(&x.takeTrace[i])
		t.Edges = append(t.Edges, x.takeTrace[i].words...)
	}
	hits := t.Edges[m.EdgeWords:]
	for w, hit := range hits {
		if hit != 0 {
			x.compares(w, hit)
		}
	}
	t.Edges = t.Edges[:m.EdgeWords]
	return t
}

// compares reads the operands of the 32 sites of one word of hits.
func (x *instance) compares(word int, hit uint64) {
	const sites = 32
	a := &x.operands[word]
	x.run(a)
	at := 0
	for i := word * sites; i < min((word+1)*sites, len(x.device.code.module.Sites)); i++ {
		s := &x.device.code.module.Sites[i]
		c := dut.Compare{Site: i, A: int64(a.words[at]), B: s.B}
		at++
		if !s.Const {
			c.B = int64(a.words[at])
			at++
		}
		bits := hit >> (i % sites * 2)
		c.False, c.True = bits&1 != 0, bits&2 != 0
		if c.False || c.True {
			x.trace.Compares = append(x.trace.Compares, c)
		}
	}
}

// Output implements [dut.Instance].
func (x *instance) Output() (stdout, stderr []byte) { return x.stdout.take(), x.stderr.take() }

// Fault implements [dut.Instance].
func (x *instance) Fault() *dut.Fault { return x.fault }

// Close implements [dut.Instance].
func (x *instance) Close() error { return x.mod.Close(context.Background()) }

// output keeps what a module writes, up to a limit; the rest is dropped.
type output struct {
	limit int
	data  []byte
}

func (o *output) write(b []byte) {
	o.data = append(o.data, b[:min(len(b), o.limit-len(o.data))]...)
}

func (o *output) clear() { o.data = o.data[:0] }

// take returns and clears a copy of the kept bytes.
func (o *output) take() []byte {
	if len(o.data) == 0 {
		return nil
	}
	b := append([]byte(nil), o.data...)
	o.clear()
	return b
}

// linear is a module's memory. It exists so that memory can shrink, which WebAssembly cannot do but
// restoring a state requires: the engine adopts the length of whatever Reallocate returns, so
// Reallocate returns target bytes while target is set. A new instance in place of a smaller memory
// would cost hundreds of microseconds at each pass over a module that grows its heap.
type linear struct {
	data   []byte
	high   uint64 // bytes that were ever in use; everything after them is zero
	target int64  // bytes to shrink to; -1: none
}

var _ experimental.LinearMemory = (*linear)(nil)

// Allocate implements [experimental.MemoryAllocator]. Any earlier memory of the instance is no
// longer in use.
func (x *instance) Allocate(_, _ uint64) experimental.LinearMemory {
	x.linear = &linear{target: -1}
	return x.linear
}

// Reallocate implements [experimental.LinearMemory].
func (l *linear) Reallocate(size uint64) []byte {
	if l.target >= 0 {
		l.data = l.data[:l.target]
		return l.data
	}
	before := uint64(len(l.data))
	if size <= uint64(cap(l.data)) {
		l.data = l.data[:size]
		clear(l.data[before:max(before, min(size, l.high))])
	} else {
		grown := make([]byte, size, max(size, 3*before/2))
		copy(grown, l.data)
		l.data = grown
		l.high = 0 // nothing after size in the new array was in use
	}
	l.high = max(l.high, size)
	return l.data
}

// Free implements [experimental.LinearMemory].
func (l *linear) Free() { l.data = nil }

// resize sets the size of the memory; added bytes are zero. It returns false if that is impossible.
func (x *instance) resize(size int) bool {
	now := int(x.memory.Size())
	if size < now {
		x.linear.target = int64(size)
		_, ok := x.memory.Grow(1)
		x.linear.target = -1
		return ok
	}
	_, ok := x.memory.Grow(uint32(size-now) / pageSize)
	return ok
}
