package wasmrewrite

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/port/dut"
)

// accessors are functions added to a module that read and write many globals at
// once: one call costs a fraction of accessing each global.
type accessors struct {
	m       *module
	types   []int
	code    []byte
	exports []byte
}

// slot is one 64-bit word of a global; a v128 has two.
type slot struct {
	global int
	typ    dut.ValType
	half   byte
}

// add adds a function with words as parameters and results, and returns its
// name.
func (a *accessors) add(name string, params, results int, code []byte) string {
	sig := dut.Signature{Params: slices.Repeat([]dut.ValType{dut.TypeI64}, params), Results: slices.Repeat([]dut.ValType{dut.TypeI64}, results)}
	a.exports = append(text(a.exports, name), byte(dut.Func))
	a.exports = uleb(a.exports, len(a.m.funcs)+len(a.types))
	a.types = append(a.types, a.m.typeIndex(sig))
	body := append(append([]byte{0}, code...), opEnd) // no locals
	a.code = append(uleb(a.code, len(body)), body...)
	return name
}

// get makes functions that return words.
func (a *accessors) get(name string, words []slot) (w Words) {
	for part := range slices.Chunk(words, chunk) {
		var code []byte
		for _, s := range part {
			code = s.load(code)
		}
		w.Get = append(w.Get, a.add(fmt.Sprintf("%s.%d", name, len(w.Get)), 0, len(part), code))
	}
	return w
}

// take makes functions that return words and clear them.
func (a *accessors) take(globals []int) (w Words) {
	for part := range slices.Chunk(globals, chunk) {
		var code []byte
		for _, g := range part {
			code = appendIndexed(i64(appendIndexed(code, opGlobalGet, g), 0), opGlobalSet, g)
		}
		w.Get = append(w.Get, a.add(fmt.Sprintf("%s.%d", takeHits, len(w.Get)), 0, len(part), code))
	}
	return w
}

// state makes the functions for the module's own mutable globals.
func (m *module) state(a *accessors, out *Module) {
	var words []slot
	for i, g := range m.globals {
		switch {
		case !g.mutable:
		case g.typ == dut.TypeFuncref || g.typ == dut.TypeExternref:
			m.volatile["global.set of a reference"] = true
		case g.typ == dut.TypeV128:
			words = append(words, slot{i, g.typ, 0}, slot{i, g.typ, 1})
		default:
			words = append(words, slot{i, g.typ, 0})
		}
	}
	out.State = a.get(getState, words)
	for part := range slices.Chunk(words, chunk) {
		var code []byte
		for i, s := range part {
			code = s.store(code, i)
		}
		out.State.Set = append(out.State.Set, a.add(fmt.Sprintf("%s.%d", setState, len(out.State.Set)), len(part), 0, code))
	}
}

// load puts the word on the stack.
func (s slot) load(code []byte) []byte {
	code = appendIndexed(code, opGlobalGet, s.global)
	switch s.typ {
	case dut.TypeI32:
		return append(code, opI64ExtendU)
	case dut.TypeF32:
		return append(code, 0xbc, opI64ExtendU) // i32.reinterpret_f32
	case dut.TypeF64:
		return append(code, opI64Reinterpret)
	case dut.TypeV128:
		return append(code, prefixVector, 29, s.half) // i64x2.extract_lane
	}
	return code
}

// store puts a parameter into the global.
func (s slot) store(code []byte, param int) []byte {
	if s.typ == dut.TypeV128 {
		code = appendIndexed(appendIndexed(code, opGlobalGet, s.global), opLocalGet, param)
		code = append(code, prefixVector, 30, s.half) // i64x2.replace_lane
		return appendIndexed(code, opGlobalSet, s.global)
	}
	code = appendIndexed(code, opLocalGet, param)
	switch s.typ {
	case dut.TypeI32:
		code = append(code, 0xa7) // i32.wrap_i64
	case dut.TypeF32:
		code = append(code, 0xa7, 0xbe) // f32.reinterpret_i32
	case dut.TypeF64:
		code = append(code, 0xbf) // f64.reinterpret_i64
	}
	return appendIndexed(code, opGlobalSet, s.global)
}
