package wasmemit

import (
	"encoding/binary"
	"math"
)

// Func is a function under construction; its methods append instructions and return the function.
type Func struct {
	Index  Index
	typ    Index
	params int
	locals []Type
	code   []byte
}

// Local adds a local and returns its index; parameters come first, from 0.
func (f *Func) Local(t Type) Index {
	f.locals = append(f.locals, t)
	return Index(f.params + len(f.locals) - 1)
}

func (f *Func) bytes() []byte {
	b := uleb(nil, uint64(len(f.locals)))
	for _, t := range f.locals {
		b = append(b, 1, byte(t))
	}
	return append(append(b, f.code...), 0x0b)
}

// Raw appends bytes as they are.
func (f *Func) Raw(b ...byte) *Func {
	f.code = append(f.code, b...)
	return f
}

// Op appends instructions without operands.
func (f *Func) Op(ops ...Op) *Func {
	for _, o := range ops {
		f.code = append(f.code, byte(o))
	}
	return f
}

func (f *Func) index(op byte, i Index) *Func {
	f.code = uleb(append(f.code, op), uint64(i))
	return f
}

// Get, Set and Tee access locals.
func (f *Func) Get(local Index) *Func { return f.index(0x20, local) }
func (f *Func) Set(local Index) *Func { return f.index(0x21, local) }
func (f *Func) Tee(local Index) *Func { return f.index(0x22, local) }

// GlobalGet and GlobalSet access globals.
func (f *Func) GlobalGet(g Index) *Func { return f.index(0x23, g) }
func (f *Func) GlobalSet(g Index) *Func { return f.index(0x24, g) }

// Call calls a function of the module.
func (f *Func) Call(g Index) *Func { return f.index(0x10, g) }

// CallIndirect calls through table 0; the element's index is on the stack.
func (f *Func) CallIndirect(typ Index) *Func {
	f.index(0x11, typ)
	return f.Raw(0)
}

// I32, I64 and F64 push constants.
func (f *Func) I32(v int32) *Func {
	f.code = sleb(append(f.code, 0x41), int64(v))
	return f
}

func (f *Func) I64(v int64) *Func {
	f.code = sleb(append(f.code, 0x42), v)
	return f
}

func (f *Func) F64(v float64) *Func {
	f.code = binary.LittleEndian.AppendUint64(append(f.code, 0x44), math.Float64bits(v))
	return f
}

// Memory appends a load or store at an offset from the address on the stack.
func (f *Func) Memory(op Op, offset uint32) *Func {
	f.code = uleb(append(f.code, byte(op), 0), uint64(offset)) // alignment is a hint
	return f
}

// MemorySize and MemoryGrow count in pages.
func (f *Func) MemorySize() *Func { return f.Raw(0x3f, 0) }
func (f *Func) MemoryGrow() *Func { return f.Raw(0x40, 0) }

// MemoryFill and MemoryCopy take three i32 from the stack, the length last.
func (f *Func) MemoryFill() *Func { return f.Raw(0xfc, 11, 0) }
func (f *Func) MemoryCopy() *Func { return f.Raw(0xfc, 10, 0, 0) }

// Empty is the type of a block without a result.
const Empty Type = 0x40

// Block, Loop and If nest the code that body and otherwise append; result is [Empty] or the type of
// the block's result.
func (f *Func) Block(result Type, body func()) *Func { return f.nest(0x02, result, body) }
func (f *Func) Loop(result Type, body func()) *Func  { return f.nest(0x03, result, body) }

// If takes the condition from the stack; otherwise may be nil.
func (f *Func) If(result Type, body, otherwise func()) *Func {
	return f.nest(0x04, result, func() {
		body()
		if otherwise != nil {
			f.Raw(0x05)
			otherwise()
		}
	})
}

func (f *Func) nest(op byte, result Type, body func()) *Func {
	f.Raw(op, byte(result))
	body()
	return f.Raw(0x0b)
}

// Br, BrIf and BrTable branch out of the given number of blocks, 0 the innermost.
func (f *Func) Br(depth Index) *Func   { return f.index(0x0c, depth) }
func (f *Func) BrIf(depth Index) *Func { return f.index(0x0d, depth) }

// BrTable branches by the number on the stack; the last depth is the default.
func (f *Func) BrTable(depths ...Index) *Func {
	f.code = uleb(append(f.code, 0x0e), uint64(len(depths)-1))
	for _, d := range depths {
		f.code = uleb(f.code, uint64(d))
	}
	return f
}
