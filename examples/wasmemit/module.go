// Package wasmemit writes WebAssembly modules from Go: systems under test, mazes, and hostile
// modules for tests. A module is built function by function, a function instruction by instruction
// with nested control flow as nested Go functions:
//
//	m := wasmemit.New()
//	m.Memory(1, 4)
//	n := m.Global(wasmemit.I64, true, 0)
//	f := m.Func("add", wasmemit.Params(wasmemit.I64), wasmemit.Results(wasmemit.I64))
//	f.GlobalGet(n).Get(0).Op(wasmemit.I64Add).GlobalSet(n)
//	f.GlobalGet(n)
//	binary := m.Bytes()
//
// The rules are those of the binary format of the core specification 2.0. The package encodes what
// it is given and validates nothing, so that tests can make invalid modules. It is pure and imports
// only the standard library.
package wasmemit

import (
	"encoding/binary"
	"slices"
)

// Type is a value type.
type Type byte

// The value types.
const (
	I32       Type = 0x7f
	I64       Type = 0x7e
	F32       Type = 0x7d
	F64       Type = 0x7c
	V128      Type = 0x7b
	Funcref   Type = 0x70
	Externref Type = 0x6f
)

// Params and Results make signatures readable.
func Params(ts ...Type) []Type  { return ts }
func Results(ts ...Type) []Type { return ts }

// Index names a function, global or table of a module.
type Index uint32

// Module is a module under construction.
type Module struct {
	types    [][]byte
	imports  [][]byte
	imported Index // functions
	funcs    []*Func
	tables   [][]byte
	memory   []byte
	globals  [][]byte
	exports  [][]byte
	start    *Index
	elements [][]byte
	data     [][]byte
	custom   [][]byte
	counted  bool // write a data count section
}

// New makes an empty module.
func New() *Module { return &Module{} }

// Func adds a function and exports it unless the name is "".
func (m *Module) Func(export string, params, results []Type) *Func {
	f := &Func{Index: m.imported + Index(len(m.funcs)), typ: m.Type(params, results), params: len(params)}
	m.funcs = append(m.funcs, f)
	if export != "" {
		m.Export(export, f.Index)
	}
	return f
}

// Import adds an imported function. All imports come before the first Func.
func (m *Module) Import(module, name string, params, results []Type) Index {
	b := append(text(text(nil, module), name), 0)
	m.imports = append(m.imports, uleb(b, uint64(m.Type(params, results))))
	m.imported++
	return m.imported - 1
}

// ImportGlobal adds an imported global; it comes before the first Global.
func (m *Module) ImportGlobal(module, name string, t Type, mutable bool) Index {
	b := append(text(text(nil, module), name), 3, byte(t), flag(mutable))
	m.imports = append(m.imports, b)
	m.globals = append(m.globals, nil) // takes an index, not a place
	return Index(len(m.globals) - 1)
}

// ImportMemory imports the memory, with at least low pages.
func (m *Module) ImportMemory(module, name string, low uint32) {
	b := append(text(text(nil, module), name), 2, 0)
	m.imports = append(m.imports, uleb(b, uint64(low)))
}

// Type returns the index of a function type, adding it if necessary.
func (m *Module) Type(params, results []Type) Index {
	b := []byte{0x60}
	for _, ts := range [][]Type{params, results} {
		b = uleb(b, uint64(len(ts)))
		for _, t := range ts {
			b = append(b, byte(t))
		}
	}
	i := slices.IndexFunc(m.types, func(t []byte) bool { return string(t) == string(b) })
	if i < 0 {
		i = len(m.types)
		m.types = append(m.types, b)
	}
	return Index(i)
}

// Memory gives the module a memory of low to high pages and exports it as "memory".
func (m *Module) Memory(low, high uint32) {
	m.memory = uleb(uleb([]byte{1}, uint64(low)), uint64(high))
	m.exports = append(m.exports, append(text(nil, "memory"), 2, 0))
}

// Global adds a global with an initial value: the bits of a float, 0 for vectors and references.
func (m *Module) Global(t Type, mutable bool, start int64) Index {
	b := []byte{byte(t), flag(mutable)}
	switch t {
	case I32, I64:
		b = sleb(append(b, 0x41+byte(I32-t)), start)
	case F32:
		b = binary.LittleEndian.AppendUint32(append(b, 0x43), uint32(start))
	case F64:
		b = binary.LittleEndian.AppendUint64(append(b, 0x44), uint64(start))
	case V128:
		b = append(append(b, 0xfd, 12), make([]byte, 16)...)
	default:
		b = append(b, 0xd0, byte(t))
	}
	m.globals = append(m.globals, append(b, 0x0b))
	return Index(len(m.globals) - 1)
}

// Table adds a table of low to high elements.
func (m *Module) Table(t Type, low, high uint32) Index {
	m.tables = append(m.tables, uleb(uleb([]byte{byte(t), 1}, uint64(low)), uint64(high)))
	return Index(len(m.tables) - 1)
}

// Elements puts functions into table 0, starting at offset.
func (m *Module) Elements(offset int32, funcs ...Index) {
	b := append(sleb([]byte{0, 0x41}, int64(offset)), 0x0b)
	b = uleb(b, uint64(len(funcs)))
	for _, f := range funcs {
		b = uleb(b, uint64(f))
	}
	m.elements = append(m.elements, b)
}

// Data puts bytes into memory at an offset.
func (m *Module) Data(offset int32, data []byte) {
	b := append(sleb([]byte{0, 0x41}, int64(offset)), 0x0b)
	m.data = append(m.data, append(uleb(b, uint64(len(data))), data...))
}

// PassiveData adds a segment for memory.init and returns its index.
func (m *Module) PassiveData(data []byte) Index {
	m.counted = true
	m.data = append(m.data, append(uleb([]byte{1}, uint64(len(data))), data...))
	return Index(len(m.data) - 1)
}

// Export exports a function under another name.
func (m *Module) Export(name string, f Index) {
	m.exports = append(m.exports, uleb(append(text(nil, name), 0), uint64(f)))
}

// ExportGlobal exports a global.
func (m *Module) ExportGlobal(name string, g Index) {
	m.exports = append(m.exports, uleb(append(text(nil, name), 3), uint64(g)))
}

// Start names the start function.
func (m *Module) Start(f Index) { m.start = &f }

// Custom adds a custom section at the end.
func (m *Module) Custom(name string, content []byte) {
	m.custom = append(m.custom, append(text(nil, name), content...))
}

// Names adds a name section with names of functions, in ascending order of index.
func (m *Module) Names(names map[Index]string) {
	var list []Index
	for i := range names {
		list = append(list, i)
	}
	slices.Sort(list)
	b := uleb(nil, uint64(len(list)))
	for _, i := range list {
		b = text(uleb(b, uint64(i)), names[i])
	}
	m.Custom("name", append(uleb([]byte{1}, uint64(len(b))), b...))
}

// Bytes encodes the module.
func (m *Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	var types, code [][]byte
	for _, f := range m.funcs {
		types = append(types, uleb(nil, uint64(f.typ)))
		body := f.bytes()
		code = append(code, append(uleb(nil, uint64(len(body))), body...))
	}
	var memories [][]byte
	if m.memory != nil {
		memories = [][]byte{m.memory}
	}
	globals := slices.DeleteFunc(slices.Clone(m.globals), func(g []byte) bool { return g == nil })
	out = section(out, 1, m.types)
	out = section(out, 2, m.imports)
	out = section(out, 3, types)
	out = section(out, 4, m.tables)
	out = section(out, 5, memories)
	out = section(out, 6, globals)
	out = section(out, 7, m.exports)
	if m.start != nil {
		out = sized(append(out, 8), uleb(nil, uint64(*m.start)))
	}
	out = section(out, 9, m.elements)
	if m.counted {
		out = sized(append(out, 12), uleb(nil, uint64(len(m.data))))
	}
	out = section(out, 10, code)
	out = section(out, 11, m.data)
	for _, c := range m.custom {
		out = sized(append(out, 0), c)
	}
	return out
}

func section(out []byte, id byte, elements [][]byte) []byte {
	if len(elements) == 0 {
		return out
	}
	return sized(append(out, id), append(uleb(nil, uint64(len(elements))), slices.Concat(elements...)...))
}

func sized(out, content []byte) []byte {
	return append(uleb(out, uint64(len(content))), content...)
}

func text(b []byte, s string) []byte { return append(uleb(b, uint64(len(s))), s...) }

func uleb(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) } // the same encoding

func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
