package wasmrewrite

import "github.com/thresh-dev/thresh/port/dut"

// Instructions that the rewriter looks at or writes.
const (
	opUnreachable        = 0x00
	opNop                = 0x01
	opBlock              = 0x02
	opLoop               = 0x03
	opIf                 = 0x04
	opElse               = 0x05
	opEnd                = 0x0b
	opBr                 = 0x0c
	opBrIf               = 0x0d
	opBrTable            = 0x0e
	opReturn             = 0x0f
	opCall               = 0x10
	opCallIndirect       = 0x11
	opReturnCall         = 0x12
	opReturnCallIndirect = 0x13
	opDrop               = 0x1a
	opSelect             = 0x1b
	opSelectTyped        = 0x1c
	opLocalGet           = 0x20
	opLocalSet           = 0x21
	opLocalTee           = 0x22
	opGlobalGet          = 0x23
	opGlobalSet          = 0x24
	opTableGet           = 0x25
	opTableSet           = 0x26
	opLoadFirst          = 0x28
	opStoreFirst         = 0x36
	opStoreLast          = 0x3e
	opMemorySize         = 0x3f
	opMemoryGrow         = 0x40
	opI32Const           = 0x41
	opI64Const           = 0x42
	opI32Eqz             = 0x45
	opI32Ne              = 0x47
	opI32LtU             = 0x49
	opI64Eqz             = 0x50
	opI64LtS             = 0x53
	opF64Last            = 0x66
	opI32Add             = 0x6a
	opI32Sub             = 0x6b
	opI32And             = 0x71
	opI64Add             = 0x7c
	opI64Sub             = 0x7d
	opI64Or              = 0x84
	opI64Shl             = 0x86
	opI64ShrU            = 0x88
	opI64ExtendS         = 0xac
	opI64ExtendU         = 0xad
	opF64Promote         = 0xbb
	opI64Reinterpret     = 0xbd
	opLastPlain          = 0xc4
	opRefNull            = 0xd0
	opRefIsNull          = 0xd1
	opRefFunc            = 0xd2
	prefixMore           = 0xfc
	prefixVector         = 0xfd

	blockEmpty = 0x40
)

// Instructions with prefixMore.
const (
	moreLastConversion = 7
	moreMemoryInit     = 8
	moreDataDrop       = 9
	moreMemoryCopy     = 10
	moreMemoryFill     = 11
	moreTableInit      = 12
	moreElemDrop       = 13
	moreTableCopy      = 14
	moreTableGrow      = 15
	moreTableSize      = 16
	moreTableFill      = 17
)

// instruction is one decoded instruction, with only those operands that
// rewriting needs.
type instruction struct {
	op     byte
	sub    uint32      // after a prefix
	index  int         // of the function, global or table, or the label's depth
	labels int         // ways of a br_table, the default not counted
	value  int64       // of i32.const and i64.const
	offset uint32      // of a store
	stores dut.ValType // the type of what a store takes from the stack, or 0
}

// next decodes one instruction. locals is how many the function has, depth how
// many labels can be branched to.
func (m *module) next(r *reader, locals, depth int) (in instruction) {
	in.op = r.u8()
	switch op := in.op; {
	case op == opBlock || op == opLoop || op == opIf:
		m.blockType(r)
	case op == opBr || op == opBrIf:
		in.index = r.index("label", depth)
	case op == opBrTable:
		in.labels = r.count()
		for range in.labels + 1 {
			r.index("label", depth)
		}
	case op == opCall || op == opReturnCall || op == opRefFunc:
		in.index = r.index("function", len(m.funcs))
	case op == opCallIndirect || op == opReturnCallIndirect:
		r.index("type", len(m.types))
		in.index = r.index("table", m.nTables)
	case op == opSelectTyped:
		for range r.count() {
			r.valType()
		}
	case op >= opLocalGet && op <= opLocalTee:
		r.index("local", locals)
	case op == opGlobalGet || op == opGlobalSet:
		in.index = r.index("global", len(m.globals))
	case op == opTableGet || op == opTableSet:
		in.index = r.index("table", m.nTables)
	case op >= opLoadFirst && op <= opStoreLast:
		in.offset = m.address(r)
		if op >= opStoreFirst {
			in.stores = [...]dut.ValType{dut.TypeI32, dut.TypeI64, dut.TypeF32, dut.TypeF64, dut.TypeI32, dut.TypeI32, dut.TypeI64, dut.TypeI64, dut.TypeI64}[op-opStoreFirst]
		}
	case op == opMemorySize || op == opMemoryGrow:
		m.memoryIndex(r)
	case op == opI32Const:
		in.value = r.signed(32)
	case op == opI64Const:
		in.value = r.signed(64)
	case op == 0x43: // f32.const
		r.bytes(4)
	case op == 0x44: // f64.const
		r.bytes(8)
	case op == opRefNull:
		r.refType()
	case op == prefixMore:
		m.more(r, &in)
	case op == prefixVector:
		m.vector(r, &in)
	case op <= opNop, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect, op == opRefIsNull, op >= opI32Eqz && op <= opLastPlain:
	default:
		r.pos--
		r.fail("instruction 0x%02x (%s) is not supported", op, proposal(op))
	}
	return in
}

// proposal names the proposal that an unsupported instruction belongs to.
func proposal(op byte) string {
	switch {
	case op >= 0x06 && op <= 0x0a || op == 0x18 || op == 0x19 || op == 0x1f:
		return "exception handling"
	case op == 0x14 || op == 0x15 || op >= 0xd3 && op <= 0xd6:
		return "typed function references"
	case op == 0xfb:
		return "garbage collection"
	case op == 0xfe:
		return "threads"
	}
	return "unknown"
}

func (m *module) blockType(r *reader) {
	if c := r.u8(); c == blockEmpty || isValType(dut.ValType(c)) {
		return
	}
	r.pos--
	if i := r.signed(33); i < 0 || i >= int64(len(m.types)) {
		r.fail("a block has type %d, which does not exist", i)
	}
}

// address reads the alignment and offset of a load or store.
func (m *module) address(r *reader) uint32 {
	if m.memory == nil {
		r.fail("memory is used, and the module has none")
	}
	if r.u32() >= 32 {
		r.fail("more than one memory is not supported")
	}
	return r.u32()
}

func (m *module) memoryIndex(r *reader) {
	if m.memory == nil {
		r.fail("memory is used, and the module has none")
	}
	if r.u8() != 0 {
		r.fail("more than one memory is not supported")
	}
}

func (m *module) more(r *reader, in *instruction) {
	in.sub = r.subcode()
	switch in.sub {
	case moreMemoryInit, moreDataDrop:
		if m.nData < 0 {
			r.fail("data segments are used without a data count section")
		}
		r.index("data segment", m.nData)
		if in.sub == moreMemoryInit {
			m.memoryIndex(r)
		}
	case moreMemoryCopy:
		m.memoryIndex(r)
		m.memoryIndex(r)
	case moreMemoryFill:
		m.memoryIndex(r)
	case moreTableInit:
		r.index("element segment", m.nElements)
		r.index("table", m.nTables)
	case moreElemDrop:
		r.index("element segment", m.nElements)
	case moreTableCopy:
		r.index("table", m.nTables)
		r.index("table", m.nTables)
	case moreTableGrow, moreTableSize, moreTableFill:
		r.index("table", m.nTables)
	default:
		if in.sub > moreTableFill {
			r.fail("instruction 0xfc %d is not supported", in.sub)
		}
	}
}

func (m *module) vector(r *reader, in *instruction) {
	in.sub = r.subcode()
	switch s := in.sub; {
	case s <= 11 || s == 92 || s == 93: // loads and v128.store
		in.offset = m.address(r)
		if s == 11 {
			in.stores = dut.TypeV128
		}
	case s == 12 || s == 13: // v128.const, i8x16.shuffle
		r.bytes(16)
	case s >= 21 && s <= 34: // extract_lane, replace_lane
		r.u8()
	case s >= 84 && s <= 91: // loads and stores of a lane
		in.offset = m.address(r)
		r.u8()
		if s >= 88 {
			in.stores = dut.TypeV128
		}
	case s > 255:
		r.fail("vector instruction %d (relaxed SIMD) is not supported", s)
	}
}
