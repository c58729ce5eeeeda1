package dut

import (
	"slices"
	"strings"
)

// ValType is a WebAssembly value type, as encoded in the binary format.
type ValType byte

// The value types.
const (
	TypeI32       ValType = 0x7f
	TypeI64       ValType = 0x7e
	TypeF32       ValType = 0x7d
	TypeF64       ValType = 0x7c
	TypeV128      ValType = 0x7b
	TypeFuncref   ValType = 0x70
	TypeExternref ValType = 0x6f
)

func (t ValType) String() string {
	switch t {
	case TypeI32:
		return "i32"
	case TypeI64:
		return "i64"
	case TypeF32:
		return "f32"
	case TypeF64:
		return "f64"
	case TypeV128:
		return "v128"
	case TypeFuncref:
		return "funcref"
	case TypeExternref:
		return "externref"
	}
	return "unknown"
}

// Signature is the type of a function.
type Signature struct {
	Params, Results []ValType
}

func (s Signature) String() string { return "(" + list(s.Params) + ") -> (" + list(s.Results) + ")" }

func list(ts []ValType) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// Equal reports whether two signatures are the same.
func (s Signature) Equal(o Signature) bool {
	return slices.Equal(s.Params, o.Params) && slices.Equal(s.Results, o.Results)
}

// ExternKind is the kind of an import or export.
type ExternKind byte

// The kinds.
const (
	Func ExternKind = iota
	Table
	Memory
	Global
)

func (k ExternKind) String() string {
	return [...]string{"function", "table", "memory", "global"}[k]
}

// Export is one export of a module.
type Export struct {
	Name  string
	Kind  ExternKind
	Index int       // in the index space of its kind
	Sig   Signature // of a function
}

// Import is one import of a module.
type Import struct {
	Module, Name string
	Kind         ExternKind
	Sig          Signature // of a function
	// Served says that the import is provided. A function that is not provided traps when called, a
	// global is zero, and a memory or table is the module's own.
	Served bool
}
