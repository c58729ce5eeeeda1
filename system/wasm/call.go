package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/api"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/dut"
)

// function is a binding's function in an instance.
type function struct {
	abi   dut.ABI
	kinds dut.Binding
	call  api.Function
	stack []uint64 // arguments, then results
}

// maxText is the maximum length of a string argument or result, in bytes.
const maxText = 16 << 20

// Call implements [dut.Instance].
func (x *instance) Call(binding int, args []dut.Value) dut.Reply {
	f := &x.functions[binding]
	x.fault = nil
	limit := x.device.plan.Limits.Fuel
	if len(args) != len(f.abi.Args) {
		return x.unfit("%s takes %d arguments, not %d", f.abi.Function, len(f.abi.Args), len(args))
	}
	if x.volatile() {
		x.calls = &called{x.calls, binding, slices.Clone(args)}
	}
	x.fuel.Set(uint64(limit))
	at, used := 0, uint32(0)
	for i, l := range f.abi.Args {
		a := &args[i]
		if a.Kind != f.kinds.Params[i].Kind {
			return x.unfit("argument %q is %s, not %s", f.kinds.Params[i].Name, diag.A(a.Kind.String()), diag.A(f.kinds.Params[i].Kind.String()))
		}
		switch l {
		case dut.AsI64:
			f.stack[at] = uint64(a.Int)
		case dut.AsI32:
			if a.Int < math.MinInt32 || a.Int > math.MaxUint32 {
				return x.unfit("argument %q: %d does not fit an i32", f.kinds.Params[i].Name, a.Int)
			}
			f.stack[at] = uint64(uint32(a.Int))
		case dut.AsF32:
			if int64(float32(a.Int)) != a.Int {
				return x.unfit("argument %q: an f32 does not hold %d exactly", f.kinds.Params[i].Name, a.Int)
			}
			f.stack[at] = api.EncodeF32(float32(a.Int))
		case dut.AsF64:
			if int64(float64(a.Int)) != a.Int {
				return x.unfit("argument %q: an f64 does not hold %d exactly", f.kinds.Params[i].Name, a.Int)
			}
			f.stack[at] = api.EncodeF64(float64(a.Int))
		default:
			address, reply := x.putString(f, i, a.Str, &used)
			if reply.Cause != dut.None {
				return reply
			}
			f.stack[at] = uint64(address)
			if l == dut.AsPointerLength {
				at++
				f.stack[at] = uint64(len(a.Str))
			}
		}
		at++
	}
	if err := f.call.CallWithStack(x.ctx, f.stack); err != nil {
		r := x.failed(err, limit, f.abi.Function)
		f.call = x.mod.ExportedFunction(f.abi.Function) // a deep recursion leaves a large stack behind
		return r
	}
	left := int64(x.fuel.Get())
	if left < 0 {
		return x.failed(nil, limit, f.abi.Function)
	}
	r := dut.Reply{Fuel: limit - left}
	x.liftResults(f, &r)
	return r
}

// unfit reports a mistake of the caller; the module was not called.
func (x *instance) unfit(format string, args ...any) dut.Reply {
	x.fault = &dut.Fault{Cause: dut.Argument, Message: fmt.Sprintf(format, args...)}
	return dut.Reply{Cause: dut.Argument}
}

// badValue reports an impossible value from the module.
func (x *instance) badValue(cause dut.Cause, function, format string, args ...any) dut.Reply {
	x.fault = &dut.Fault{Cause: cause, Message: fmt.Sprintf(format, args...), Stack: []string{function}}
	return dut.Reply{Cause: cause, Fuel: x.device.plan.Limits.Fuel - int64(x.fuel.Get())}
}

// putString writes a string into the module's memory. used is how many bytes of the scratch page
// this call has used.
func (x *instance) putString(f *function, i int, s string, used *uint32) (uint32, dut.Reply) {
	name := f.kinds.Params[i].Name
	size := uint32(len(s))
	if len(s) > maxText {
		return 0, x.unfit("argument %q: a string of %d bytes is longer than %d", name, len(s), maxText)
	}
	if f.abi.Args[i] == dut.AsCString {
		size++
		if strings.IndexByte(s, 0) >= 0 {
			return 0, x.unfit("argument %q holds a zero byte, and is passed as a string that ends with one", name)
		}
	}
	var address uint32
	if f.abi.Allocator == dut.ScratchPage {
		if *used+size > pageSize {
			return 0, x.unfit("argument %q: the strings of a call are longer than a page (%d bytes), and no allocator is exported", name, pageSize)
		}
		address = x.scratch + *used
		*used += size
	} else {
		var r dut.Reply
		if address, r = x.allocate(f.abi.Allocator, size); r.Cause != dut.None {
			if x.full(f.abi.Allocator, size) {
				r = x.badValue(dut.NoRoom, f.abi.Allocator.String(), "%s(%d) has no room left", f.abi.Allocator, size)
			}
			return 0, r
		}
	}
	if !x.memory.WriteString(address, s) || uint64(address)+uint64(size) > uint64(x.memory.Size()) {
		return 0, x.badValue(dut.BadAllocation, f.abi.Allocator.String(), "%s(%d) returned %d, outside of the memory of %d bytes", f.abi.Allocator, size, address, x.memory.Size())
	}
	if f.abi.Args[i] == dut.AsCString {
		x.memory.WriteByte(address+size-1, 0)
	}
	x.mark(address, size)
	return address, dut.Reply{}
}

// allocate calls the module's allocator.
func (x *instance) allocate(a dut.Allocator, size uint32) (uint32, dut.Reply) {
	stack := [4]uint64{uint64(size)}
	switch {
	case a == dut.CabiRealloc:
		stack = [4]uint64{0, 0, 1, uint64(size)}
	case a == dut.FirAlloc || a == dut.Alloc:
		stack[1] = 1 // alignment, if the allocator takes one
	}
	if err := x.allocator.CallWithStack(x.ctx, stack[:]); err != nil || int64(x.fuel.Get()) < 0 {
		r := x.failed(err, x.device.plan.Limits.Fuel, a.String())
		x.allocator = x.mod.ExportedFunction(a.String())
		return 0, r
	}
	address := uint32(stack[0])
	if address == 0 && size > 0 {
		return 0, x.badValue(dut.BadAllocation, a.String(), "%s(%d) returned 0", a, size)
	}
	return address, dut.Reply{}
}

// full reports whether an allocator that just failed has merely run out of room. Callers do not
// free strings, so they can use up a small heap. An allocator that works in a new module may return
// 0; one that traps instead does the same there once more memory is requested.
func (x *instance) full(a dut.Allocator, size uint32) bool {
	const most, step = 1 << 20, 256
	zero := x.fault.Cause == dut.BadAllocation
	if !zero && x.fault.Cause != dut.Unreachable {
		return false
	}
	open, err := x.device.Open(context.Background())
	fresh, ok := open.(*instance)
	if err != nil || !ok {
		return false
	}
	defer fresh.Close()
	gives := func(size uint32) bool {
		fresh.fuel.Set(uint64(x.device.plan.Limits.Fuel))
		_, r := fresh.allocate(a, size)
		return r.Cause == dut.None
	}
	anew := func(size uint32) bool { return fresh.Reset() == nil && gives(size) }
	switch {
	case zero:
		return gives(1)
	case !gives(size):
		return anew(1) && !anew(2*size+1)
	}
	for given := uint32(0); given < most; given += max(size, step) {
		if !gives(max(size, step)) {
			return fresh.fault.Signature() == x.fault.Signature()
		}
	}
	return false
}

// liftResults converts the results of a call to a value.
func (x *instance) liftResults(f *function, r *dut.Reply) {
	kind := f.kinds.Result
	r.Value.Kind = kind
	var n float64
	switch f.abi.Result {
	case dut.FromNothing:
		return
	case dut.FromI32:
		r.Value.Int = int64(int32(uint32(f.stack[0])))
		if f.kinds.Unsigned {
			r.Value.Int = int64(uint32(f.stack[0]))
		}
	case dut.FromI64:
		r.Value.Int = int64(f.stack[0])
	case dut.FromF32, dut.FromF64:
		if n = api.DecodeF64(f.stack[0]); f.abi.Result == dut.FromF32 {
			n = float64(api.DecodeF32(f.stack[0]))
		}
		if n != math.Trunc(n) || n < -1<<63 || n >= 1<<63 {
			*r = x.badValue(dut.BadResult, f.abi.Function, "%s returned %v, which is not a whole number", f.abi.Function, n)
			return
		}
		r.Value.Int = int64(n)
	case dut.FromPacked:
		x.text(f, uint32(f.stack[0]>>32), uint32(f.stack[0]), r)
	case dut.FromPair:
		x.text(f, uint32(f.stack[0]), uint32(f.stack[1]), r)
	case dut.FromPointerToPair:
		pair, ok := x.memory.Read(uint32(f.stack[0]), 8)
		if !ok {
			*r = x.badValue(dut.BadResult, f.abi.Function, "%s returned the address %d, outside of the memory of %d bytes", f.abi.Function, uint32(f.stack[0]), x.memory.Size())
			return
		}
		x.text(f, binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[4:]), r)
	}
	if kind == dut.Bool && r.Value.Int != 0 {
		r.Value.Int = 1
	}
}

func (x *instance) text(f *function, address, size uint32, r *dut.Reply) {
	b, ok := x.memory.Read(address, size)
	switch {
	case !ok:
		*r = x.badValue(dut.BadResult, f.abi.Function, "%s returned a string of %d bytes at %d, outside of the memory of %d bytes", f.abi.Function, size, address, x.memory.Size())
	case size > maxText:
		*r = x.badValue(dut.BadResult, f.abi.Function, "%s returned a string of %d bytes, more than %d", f.abi.Function, size, maxText)
	case !utf8.Valid(b):
		*r = x.badValue(dut.BadResult, f.abi.Function, "%s returned a string that is not UTF-8", f.abi.Function)
	default:
		r.Value.Str = string(b)
	}
}
