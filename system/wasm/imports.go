package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/thresh-dev/thresh/port/dut"
)

// service implements an imported function; it may panic with a hostFault.
type service func(x *instance, stack []uint64)

// hostCost is the fuel that a call of an import takes in addition to that for the bytes it moves.
const hostCost = 50

// serve defines a function in the runtime for every import, and marks the imports that are served.
func serve(ctx context.Context, r wazero.Runtime, imports []dut.Import) error {
	builders := make(map[string]wazero.HostModuleBuilder)
	var order []string
	seen := make(map[string]dut.Signature)
	for n := range imports {
		i := &imports[n]
		if i.Kind != dut.Func {
			continue
		}
		s, served := knownImport(i)
		i.Served = served
		full := i.Module + "." + i.Name
		if sig, twice := seen[full]; twice {
			if !sig.Equal(i.Sig) {
				return &dut.ModuleError{Offset: -1, Reason: fmt.Sprintf("the import %s is declared with two types, %s and %s", full, sig, i.Sig)}
			}
			continue
		}
		seen[full] = i.Sig
		b := builders[i.Module]
		if b == nil {
			b = r.NewHostModuleBuilder(i.Module)
			builders[i.Module] = b
			order = append(order, i.Module)
		}
		f := api.GoFunc(func(ctx context.Context, stack []uint64) {
			x := ctx.Value(carrier{}).(*instance)
			x.charge(0)
			s(x, stack)
		})
		b.NewFunctionBuilder().WithGoFunction(f, types(i.Sig.Params), types(i.Sig.Results)).WithName(full).Export(i.Name)
	}
	for _, name := range order {
		if _, err := builders[name].Instantiate(ctx); err != nil {
			return &dut.ModuleError{Offset: -1, Reason: fmt.Sprintf("its imports from %q cannot be served: %v", name, err)}
		}
	}
	return nil
}

func types(ts []dut.ValType) []api.ValueType {
	list := make([]api.ValueType, len(ts))
	for i, t := range ts {
		list[i] = api.ValueType(t) // both use the binary format's numbers
	}
	return list
}

// knownImport returns the service of an import, by its name and type, and whether the import is
// served.
func knownImport(i *dut.Import) (service, bool) {
	name := i.Module + "." + i.Name
	if i.Module == wasiModule {
		if w, ok := wasiFunctions[i.Name]; ok && i.Sig.String() == w.signature {
			return w.service(), true
		}
		if i.Sig.Equal(dut.Signature{Params: i.Sig.Params, Results: []dut.ValType{dut.TypeI32}}) {
			return func(_ *instance, stack []uint64) { stack[0] = errNotSupported }, false
		}
	}
	switch name + i.Sig.String() {
	case "env.abort(i32, i32, i32, i32) -> ()":
		return abort, true
	case "env.seed() -> (f64)": // for AssemblyScript's Math.random
		return func(x *instance, stack []uint64) {
			stack[0] = api.EncodeF64(float64(x.world.word() >> 11))
		}, true
	case "env.emscripten_notify_memory_growth(i32) -> ()":
		return func(*instance, []uint64) {}, true
	}
	return func(*instance, []uint64) {
		panic(&hostFault{dut.Fault{Cause: dut.UnknownImport, Message: "the module called " + name + ", which is unknown"}})
	}, false
}

// charge takes fuel for a call of an import that moves n bytes. The module checks its fuel again at
// the next start of a function or a loop.
func (x *instance) charge(n uint32) {
	x.fuel.Set(uint64(int64(x.fuel.Get()) - hostCost - int64(n)/64))
}

// abort is AssemblyScript's abort: message and file are its strings, UTF-16 preceded by their
// length in bytes.
func abort(x *instance, stack []uint64) {
	message := "abort"
	if s := x.utf16(uint32(stack[0])); s != "" {
		message += ": " + s
	}
	if s := x.utf16(uint32(stack[1])); s != "" {
		message += fmt.Sprintf(" (%s:%d:%d)", s, uint32(stack[2]), uint32(stack[3]))
	}
	panic(&hostFault{dut.Fault{Cause: dut.Unreachable, Message: message}})
}

func (x *instance) utf16(address uint32) string {
	if x.memory == nil || address < 4 {
		return ""
	}
	size, ok := x.memory.ReadUint32Le(address - 4)
	if !ok {
		return ""
	}
	b, ok := x.memory.Read(address, min(size, 1024)&^1)
	if !ok {
		return ""
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
