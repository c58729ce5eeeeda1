package wasmrewrite

import "github.com/thresh-dev/thresh/port/dut"

// Limits of tracing; functions beyond them run untraced, and a note says so.
const (
	maxEdges = 1 << 16
	maxSites = 1 << 12
	maxCases = 256 // ways of a switch whose numbers become constants

	sitesPerWord = 32 // two bits per site: it was false, it was true
)

// bits reserves n adjacent bits of coverage, within one global, and returns that
// global and the first bit.
func (b *body) bits(n int) (word, bit int, ok bool) {
	m := b.m
	if !m.opt.Coverage || !b.covered {
		return 0, 0, false
	}
	if m.edges%64+n > 64 {
		m.edges = (m.edges + 63) / 64 * 64
	}
	if m.edges+n > maxEdges {
		m.full("edges", maxEdges, b.index)
		return 0, 0, false
	}
	if m.edges/64 == len(m.edgeWords) {
		m.edgeWords = append(m.edgeWords, m.newGlobal())
	}
	word, bit = m.edgeWords[m.edges/64], m.edges%64
	m.edges += n
	return word, bit, true
}

// mark sets a bit after the given one. push writes the code that leaves its
// distance on the stack as an i64.
func mark(s []byte, word, bit int, push func([]byte) []byte) []byte {
	s = i64(appendIndexed(s, opGlobalGet, word), int64(uint64(1)<<bit))
	s = append(push(s), opI64Shl, opI64Or)
	return appendIndexed(s, opGlobalSet, word)
}

// point marks that control reached this point.
func (b *body) point() {
	if word, bit, ok := b.bits(1); ok {
		s := i64(appendIndexed(b.segment, opGlobalGet, word), int64(uint64(1)<<bit))
		b.segment = appendIndexed(append(s, opI64Or), opGlobalSet, word)
	}
}

// branch marks which way a branch goes, from the condition on the stack, which
// stays there.
func (b *body) branch(s []byte) []byte {
	word, bit, ok := b.bits(2)
	if !ok {
		return s
	}
	t := b.temp(dut.TypeI32, useResult)
	return mark(appendIndexed(s, opLocalTee, t), word, bit, func(s []byte) []byte {
		s = appendIndexed(s, opLocalGet, t)
		if p := b.prev[1].op; p < opI32Eqz || p > opF64Last { // otherwise it is 0 or 1
			s = append(s, opI32Const, 0, opI32Ne)
		}
		return append(s, opI64ExtendU)
	})
}

// ways marks which way a switch goes. If there are more than 64 ways, the last ones
// and the default share a mark.
func (b *body) ways(s []byte, n int) []byte {
	if b.covered {
		b.switchConstants(n)
	}
	last := min(n, 63)
	if word, bit, ok := b.bits(last + 1); ok {
		t := b.temp(dut.TypeI32, useResult)
		s = mark(appendIndexed(s, opLocalTee, t), word, bit, func(s []byte) []byte {
			s = sleb(append(appendIndexed(s, opLocalGet, t), opI32Const), int64(last))
			s = sleb(append(appendIndexed(s, opLocalGet, t), opI32Const), int64(last))
			return append(s, opI32LtU, opSelect, opI64ExtendU)
		})
	}
	site, ok := b.site(dut.Site{Type: dut.U32, Const: true, B: int64(n)})
	if !ok {
		return s
	}
	t, result := b.temp(dut.TypeI32, useLeft), b.temp(dut.TypeI32, useResult)
	s = appendIndexed(s, opLocalTee, t)
	s = b.m.keep(s, b.m.operands[site].a, dut.U32, t)
	s = sleb(append(appendIndexed(s, opLocalGet, t), opI32Const), int64(int32(n)))
	s = appendIndexed(append(s, opI32LtU), opLocalSet, result)
	return b.outcome(s, site, result)
}

// switchConstants learns the numbers that a switch distinguishes: compilers
// subtract the smallest of them first.
func (b *body) switchConstants(n int) {
	base := int64(0)
	if b.prev[0].op == opI32Const {
		switch b.prev[1].op {
		case opI32Sub:
			base = b.prev[0].value
		case opI32Add:
			base = -b.prev[0].value
		}
	}
	for i := range min(n, maxCases) {
		b.m.constants[base+int64(i)] = true
	}
}

// site reserves a comparison site.
func (b *body) site(s dut.Site) (int, bool) {
	m := b.m
	if !m.opt.Compares || !b.covered {
		return 0, false
	}
	if len(m.sites) == maxSites {
		m.full("comparisons", maxSites, b.index)
		return 0, false
	}
	if len(m.sites)%sitesPerWord == 0 {
		m.hitWords = append(m.hitWords, m.newGlobal())
	}
	o := operands{a: m.newGlobal(), b: -1}
	if !s.Const {
		o.b = m.newGlobal()
	}
	m.sites = append(m.sites, s)
	m.operands = append(m.operands, o)
	return len(m.sites) - 1, true
}

// operands are the globals that hold a site's operands; b is -1 for a constant.
type operands struct{ a, b int }

// outcome marks the result of a site; result is a local that holds 0 or 1.
func (b *body) outcome(s []byte, site, result int) []byte {
	word, bit := b.m.hitWords[site/sitesPerWord], site%sitesPerWord*2
	return mark(s, word, bit, func(s []byte) []byte { return append(appendIndexed(s, opLocalGet, result), opI64ExtendU) })
}

// keep puts a local into a site's global, as the 64 bits of its type.
func (m *module) keep(s []byte, global int, t dut.NumberType, local int) []byte {
	s = appendIndexed(s, opLocalGet, local)
	switch t {
	case dut.I32:
		s = append(s, opI64ExtendS)
	case dut.U32:
		s = append(s, opI64ExtendU)
	case dut.F64:
		s = append(s, opI64Reinterpret)
	}
	return appendIndexed(s, opGlobalSet, global)
}

// comparison returns what an instruction from i32.eqz to f64.ge compares.
func comparison(op byte) (dut.ValType, dut.NumberType) {
	switch {
	case op > 0x60:
		return dut.TypeF64, dut.F64
	case op > 0x5a:
		return dut.TypeF32, dut.F64
	case op > opI64Eqz:
		return dut.TypeI64, dut.I64 + dut.NumberType(unsigned(op-opI64Eqz-1))
	case op == opI64Eqz:
		return dut.TypeI64, dut.I64
	case op > opI32Eqz:
		return dut.TypeI32, dut.I32 + dut.NumberType(unsigned(op-opI32Eqz-1))
	}
	return dut.TypeI32, dut.I32
}

// unsigned returns 1 for the unsigned ones of the ten integer comparisons.
func unsigned(i byte) byte {
	if i >= 2 {
		return i & 1
	}
	return 0
}

// compare records the operands and the result of a comparison.
func (b *body) compare(s []byte, in instruction, raw []byte) []byte {
	t, number := comparison(in.op)
	p := b.prev[1]
	zero := in.op == opI32Eqz || in.op == opI64Eqz
	if !b.covered || zero && p.op >= opI32Eqz && p.op <= opF64Last { // eqz of a truth value is "not"
		return append(s, raw...)
	}
	site := dut.Site{Type: number, Const: zero}
	if p.op == opI32Const && t == dut.TypeI32 || p.op == opI64Const && t == dut.TypeI64 {
		if !zero {
			site.Const, site.B = true, p.value
			if number == dut.U32 {
				site.B = int64(uint32(p.value))
			}
		}
	}
	if site.Const && t != dut.TypeF32 && t != dut.TypeF64 {
		b.m.constants[site.B] = true
	}
	i, ok := b.site(site)
	if !ok {
		return append(s, raw...)
	}
	left, result := b.temp(t, useLeft), b.temp(dut.TypeI32, useResult)
	right := -1
	if zero {
		s = appendIndexed(s, opLocalTee, left)
	} else {
		right = b.temp(t, useRight)
		s = appendIndexed(appendIndexed(appendIndexed(s, opLocalSet, right), opLocalTee, left), opLocalGet, right)
	}
	s = appendIndexed(append(s, raw...), opLocalTee, result)
	s = b.m.keepOperand(s, b.m.operands[i].a, t, number, left)
	if !site.Const {
		s = b.m.keepOperand(s, b.m.operands[i].b, t, number, right)
	}
	return b.outcome(s, i, result)
}

func (m *module) keepOperand(s []byte, global int, t dut.ValType, n dut.NumberType, local int) []byte {
	if t != dut.TypeF32 {
		return m.keep(s, global, n, local)
	}
	s = append(appendIndexed(s, opLocalGet, local), opF64Promote, opI64Reinterpret)
	return appendIndexed(s, opGlobalSet, global)
}
