package wasmrewrite

import "github.com/thresh-dev/thresh/port/dut"

// constant reads a constant expression of type t, and checks every index.
func (m *module) constant(r *reader, t dut.ValType) {
	for {
		switch op := r.u8(); op {
		case opEnd:
			return
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case 0x43: // f32.const
			r.bytes(4)
		case 0x44: // f64.const
			r.bytes(8)
		case opGlobalGet:
			from := r.pos - 1
			if i := r.index("global", len(m.globals)); i < m.nForeign {
				zero := zeroGlobal(m.globals[i])
				m.patches = append(m.patches, patch{from, r.pos, zero[2 : len(zero)-1]})
			}
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		case opRefNull:
			r.refType()
		case opRefFunc:
			r.index("function", len(m.funcs))
		case prefixVector:
			if r.subcode() != 12 { // v128.const
				r.fail("a constant expression contains a vector instruction")
			}
			r.bytes(16)
		default:
			r.pos--
			r.fail("instruction 0x%02x stands in a constant expression of %s", op, t)
		}
	}
}

// patch replaces a part of a section. Constant expressions may name only imported
// globals; when these become the module's own, their value replaces them.
type patch struct {
	from, to int
	with     []byte
}

// patched returns a section's data from an offset on, with the patches applied.
func (m *module) patched(data []byte, from int) []byte {
	if m.patches == nil {
		return data[from:]
	}
	var out []byte
	for _, p := range m.patches {
		out = append(append(out, data[from:p.from]...), p.with...)
		from = p.to
	}
	m.patches = nil
	return append(out, data[from:]...)
}

// element reads one element segment. The three bits of its flag say whether it
// is passive or declared, has an explicit table or kind, and holds expressions.
func (m *module) element(r *reader) {
	flag := r.u32()
	if flag > 7 {
		r.fail("an element segment of kind %d is not known", flag)
	}
	active, explicit, exprs := flag&1 == 0, flag&2 != 0, flag&4 != 0
	if active {
		table := 0
		if explicit {
			table = r.index("table", m.nTables)
		}
		if table >= m.nTables {
			r.fail("an element segment is for a table that does not exist")
		}
		m.constant(r, dut.TypeI32)
	}
	t := dut.TypeFuncref
	if flag&3 != 0 {
		if exprs {
			t = r.refType()
		} else if kind := r.u8(); kind != 0 {
			r.fail("elements of kind %d are not known", kind)
		}
	}
	for range r.count() {
		if exprs {
			m.constant(r, t)
		} else {
			r.index("function", len(m.funcs))
		}
	}
}

// segment reads one data segment.
func (m *module) segment(r *reader) {
	flag := r.u32()
	if flag > 2 {
		r.fail("a data segment of kind %d is not known", flag)
	}
	if flag == 2 {
		r.index("memory", 1)
	}
	if flag != 1 {
		if m.memory == nil {
			r.fail("a data segment is for a memory that does not exist")
		}
		m.constant(r, dut.TypeI32)
	}
	r.bytes(r.u32())
}

// functionNames reads the names of functions from the name section. The section
// is optional, so what is not understood is skipped.
func functionNames(s *reader) (names []string) {
	defer func() {
		if e := recover(); e != nil {
			if _, ours := e.(malformed); !ours {
				panic(e)
			}
		}
	}()
	for !s.done() {
		id := s.u8()
		sub := s.part(s.u32())
		if id != 1 {
			continue
		}
		for range sub.count() {
			i := sub.u32()
			name := sub.name()
			if uint64(i) > uint64(len(names))+uint64(len(s.data)) {
				return names // an index that no function of this module can have
			}
			for len(names) <= int(i) {
				names = append(names, "")
			}
			names[i] = name
		}
	}
	return names
}
