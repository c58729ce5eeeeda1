// Package record writes the parts of WebAssembly modules that keep records: instances in memory
// with 64 bytes of i32 fields each, numbered from 1. The example systems are built with it; it
// imports only the emitter.
package record

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
)

// size is the bytes of a record, and the address of the first one.
const size = 64

// Module is a module under construction that keeps records.
type Module struct {
	*e.Module
	Count e.Index // global: the number of records
}

// New makes a module with a page of memory.
func New() *Module {
	m := &Module{Module: e.New()}
	m.Memory(1, 1)
	m.Count = m.Global(e.I32, true, 0)
	return m
}

// Func is a function whose first parameter is a record.
type Func struct{ *e.Func }

// Open adds the function that makes a record of zeros.
func (m *Module) Open(name string) *e.Func {
	f := m.Func(name, nil, e.Results(e.I32))
	return f.GlobalGet(m.Count).I32(1).Op(e.I32Add).GlobalSet(m.Count).GlobalGet(m.Count)
}

// On adds a function of a record and n further numbers that returns a number.
func (m *Module) On(name string, n int) Func {
	params := e.Params(e.I32)
	for range n {
		params = append(params, e.I32)
	}
	return Func{m.Func(name, params, e.Results(e.I32))}
}

// Value pushes a number.
type Value func()

// Const, Local and Field are values: a constant, a parameter or local, and a
// field of a record that a parameter or local names.
func (f Func) Const(v int32) Value   { return func() { f.I32(v) } }
func (f Func) Local(i e.Index) Value { return func() { f.Get(i) } }
func (f Func) Field(of e.Index, n uint32) Value {
	return func() { f.Get(of).I32(size).Op(e.I32Mul).Memory(e.I32Load, 4*n) }
}

// Of returns the value of an instruction with two operands.
func (f Func) Of(op e.Op, a, b Value) Value {
	return func() {
		a()
		b()
		f.Op(op)
	}
}

// Store sets a field.
func (f Func) Store(of e.Index, n uint32, v Value) {
	f.Get(of).I32(size).Op(e.I32Mul)
	v()
	f.Memory(e.I32Store, 4*n)
}

// Slot returns the value of field first+at, and SetSlot sets it.
func (f Func) Slot(of e.Index, first uint32, at Value) Value {
	return func() { f.address(of, at).Memory(e.I32Load, 4*first) }
}

// SetSlot sets field first+at.
func (f Func) SetSlot(of e.Index, first uint32, at, v Value) {
	f.address(of, at)
	v()
	f.Memory(e.I32Store, 4*first)
}

func (f Func) address(of e.Index, at Value) *e.Func {
	f.Get(of).I32(size).Op(e.I32Mul)
	at()
	return f.I32(4).Op(e.I32Mul, e.I32Add)
}

// When runs body if a value is not 0.
func (f Func) When(cond Value, body func()) {
	cond()
	f.If(e.Empty, body, nil)
}

// Answer returns a value immediately.
func (f Func) Answer(v Value) {
	v()
	f.Op(e.Return)
}

// Last ends the function with its result.
func (f Func) Last(v Value) { v() }
