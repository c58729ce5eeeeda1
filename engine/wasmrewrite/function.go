package wasmrewrite

import "github.com/thresh-dev/thresh/port/dut"

// What instructions cost beyond one unit of fuel.
const (
	growCost    = 50 // memory.grow leaves the compiled code
	memoryShift = 6  // bulk memory operations: a unit for 64 bytes
	tableShift  = 3  // bulk table operations: a unit for 8 elements
)

// BlockShift is the size of the memory blocks whose writes are marked, as a power
// of two. Bit n%64 marks block n.
const BlockShift = 12

// body rewrites one function.
//
// The function's own code becomes one block inside the new function, so that every
// exit but a tail call passes one place, where the fuel returns to its global. In
// between, the fuel is in a local, which an engine keeps in a register.
// Instructions are collected in a segment until control may come from or go
// elsewhere; then the segment's cost is known and is charged before it. Only
// entries of functions and loops check whether fuel is left: between two of them
// the number of instructions is bounded.
type body struct {
	m       *module
	r       *reader
	covered bool
	index   int // of the function

	out     []byte
	segment []byte
	cost    int64
	header  bool // the segment is an entry of the function or a loop
	dead    bool // control cannot come here
	labels  []label

	locals int           // of the function itself, parameters included
	added  []dut.ValType // locals that rewriting added
	temps  map[temp]int
	fuel   int // local
	prev   [2]instruction
	forks  int64 // blocks, branches and ways of switches
}

type label struct {
	op       byte
	dead     bool // the whole block is
	targeted bool // something branches to it
}

// temp identifies a local by type and use.
type temp struct {
	typ dut.ValType
	use byte
}

// Uses of temporary locals.
const (
	useLeft = iota
	useRight
	useResult
	useAddress
	useDirty
	useFuel
)

// function rewrites the function with the given index and returns its body without
// its size.
func (m *module) function(index int, r *reader) []byte {
	sig := m.types[m.funcs[index]]
	b := &body{m: m, r: r, index: index, temps: make(map[temp]int), header: true, covered: m.covered(index)}
	groups := r.count()
	from := r.pos
	locals := 0
	for range groups {
		n := r.u32()
		r.valType()
		if n > maxLocals || locals+int(n) > maxLocals {
			r.fail("a function has more than %d locals", maxLocals)
		}
		locals += int(n)
	}
	declared := r.data[from:r.pos]
	if m.allLocals += locals; m.allLocals > maxAllLocals {
		r.fail("the functions have more than %d locals together", maxAllLocals)
	}
	b.locals = len(sig.Params) + locals
	b.fuel = b.temp(dut.TypeI64, useFuel)

	b.out = appendIndexed(nil, opGlobalGet, m.fuel)
	b.out = appendIndexed(b.out, opLocalSet, b.fuel)
	b.out = append(b.out, opBlock)
	switch len(sig.Results) {
	case 0:
		b.out = append(b.out, blockEmpty)
	case 1:
		b.out = append(b.out, byte(sig.Results[0]))
	default:
		b.out = sleb(b.out, int64(m.typeIndex(dut.Signature{Results: sig.Results})))
	}
	b.point()
	for b.step() {
	}
	m.effort += b.forks*(b.forks+int64(b.locals)) + int64(b.locals)*int64(b.locals)/16
	if !r.done() {
		r.fail("there is code after the end of a function")
	}
	b.boundary(false)
	b.out = append(b.emitExit(b.out), opEnd)

	head := uleb(nil, groups+len(b.added))
	head = append(head, declared...)
	for _, t := range b.added {
		head = append(head, 1, byte(t))
	}
	return append(head, b.out...)
}

// temp returns a local of a type for a use.
func (b *body) temp(t dut.ValType, use byte) int {
	i, ok := b.temps[temp{t, use}]
	if !ok {
		i = b.locals + len(b.added)
		b.added = append(b.added, t)
		b.temps[temp{t, use}] = i
	}
	return i
}

// boundary ends the segment, since what follows may run without it or the other way
// round. header means that a loop begins.
func (b *body) boundary(header bool) {
	switch {
	case b.header:
		b.out = b.takeFuel(i64(appendIndexed(b.out, opLocalGet, b.fuel), b.cost))
	case b.cost > 0:
		b.out = i64(appendIndexed(b.out, opLocalGet, b.fuel), b.cost)
		b.out = appendIndexed(append(b.out, opI64Sub), opLocalSet, b.fuel)
	}
	b.out = append(b.out, b.segment...)
	b.segment, b.cost, b.header = b.segment[:0], 0, header
	b.prev = [2]instruction{}
}

// takeFuel subtracts the i64 on the stack from the fuel below it, and stops when
// none is left.
func (b *body) takeFuel(out []byte) []byte {
	out = appendIndexed(append(out, opI64Sub), opLocalTee, b.fuel)
	out = append(i64(out, 0), opI64LtS, opIf, blockEmpty)
	out = b.giveBack(out)
	return append(out, opUnreachable, opEnd)
}

// giveBack stores the fuel in its global.
func (b *body) giveBack(out []byte) []byte {
	return appendIndexed(appendIndexed(out, opLocalGet, b.fuel), opGlobalSet, b.m.fuel)
}

// emitExit writes what must happen on exit: it gives the fuel back, and joins the
// marks of written blocks to those of other functions.
func (b *body) emitExit(out []byte) []byte {
	out = b.giveBack(out)
	if d, ok := b.temps[temp{dut.TypeI64, useDirty}]; ok {
		out = appendIndexed(appendIndexed(out, opGlobalGet, b.m.dirty), opLocalGet, d)
		out = appendIndexed(append(out, opI64Or), opGlobalSet, b.m.dirty)
	}
	return out
}

// step rewrites one instruction; false: it was the last.
func (b *body) step() bool {
	from := b.r.pos
	in := b.m.next(b.r, b.locals, len(b.labels)+1)
	raw := b.r.data[from:b.r.pos]
	switch in.op {
	case opBlock, opLoop, opIf, opElse, opBrIf, opBrTable:
		b.forks += 1 + int64(in.labels)
	}
	switch in.op {
	case opBlock, opLoop, opIf:
		if len(b.labels) == maxNesting {
			b.r.fail("blocks are nested deeper than %d", maxNesting)
		}
	case opElse:
		if n := len(b.labels); n == 0 || b.labels[n-1].op != opIf {
			b.r.fail("else stands outside an if")
		}
	}
	if b.dead {
		return b.skip(in, raw)
	}
	b.rewrite(in, raw)
	if in.op == opEnd && len(b.labels) == 0 {
		return false
	}
	b.structure(in)
	b.prev[0], b.prev[1] = b.prev[1], in
	return true
}

// skip copies an instruction that is never executed.
func (b *body) skip(in instruction, raw []byte) bool {
	b.segment = append(b.segment, raw...)
	n := len(b.labels)
	switch in.op {
	case opBlock, opLoop, opIf:
		b.labels = append(b.labels, label{op: in.op, dead: true})
	case opElse:
		b.labels[n-1].op = opElse
		b.dead = b.labels[n-1].dead
	case opEnd:
		if n == 0 {
			return false
		}
		b.dead = b.labels[n-1].dead
		b.labels = b.labels[:n-1]
	}
	if !b.dead {
		b.boundary(false)
	}
	return true
}

// structure follows labels, and ends the segment where control divides or joins.
func (b *body) structure(in instruction) {
	n := len(b.labels)
	switch in.op {
	case opBlock:
		b.labels = append(b.labels, label{op: opBlock})
	case opLoop:
		b.labels = append(b.labels, label{op: opLoop})
		b.boundary(true)
		b.point()
	case opIf:
		b.labels = append(b.labels, label{op: opIf, targeted: true})
		b.boundary(false)
	case opElse:
		b.labels[n-1].op = opElse
		b.boundary(false)
	case opEnd:
		l := b.labels[n-1]
		b.labels = b.labels[:n-1]
		if l.targeted && l.op != opLoop {
			b.boundary(false)
		}
	case opBr, opBrIf:
		if in.index < n {
			b.labels[n-1-in.index].targeted = true
		}
		b.boundary(false)
	case opBrTable:
		for i := range b.labels {
			b.labels[i].targeted = true
		}
		b.boundary(false)
	case opReturn, opReturnCall, opReturnCallIndirect, opUnreachable:
		b.boundary(false)
	}
	switch in.op {
	case opBr, opBrTable, opReturn, opReturnCall, opReturnCallIndirect, opUnreachable:
		b.dead = true
	}
}

// rewrite writes a live instruction with its additions.
func (b *body) rewrite(in instruction, raw []byte) {
	switch in.op {
	case opBlock, opLoop, opElse, opEnd, opNop:
		b.segment = append(b.segment, raw...)
		return
	}
	b.cost++
	s := b.segment
	switch op := in.op; {
	case op == opIf || op == opBrIf:
		s = append(b.branch(s), raw...)
	case op == opBrTable:
		s = append(b.ways(s, in.labels), raw...)
	case op == opReturn:
		s = appendIndexed(s, opBr, len(b.labels))
	case op == opUnreachable:
		s = append(b.giveBack(s), raw...)
	case op == opCall || op == opCallIndirect:
		s = append(b.giveBack(s), raw...)
		s = appendIndexed(appendIndexed(s, opGlobalGet, b.m.fuel), opLocalSet, b.fuel)
	case op == opReturnCall || op == opReturnCallIndirect:
		s = append(b.emitExit(s), raw...)
	case in.stores != 0:
		s = b.store(s, in, raw)
	case op == opMemoryGrow:
		b.cost += growCost
		s = append(b.charge(s, 0), raw...)
	case op == prefixMore && in.sub > moreLastConversion:
		s = b.bulkMemory(s, in, raw)
	case op == opTableSet:
		b.m.volatile["table.set"] = true
		s = append(s, raw...)
	case op >= opI32Eqz && op <= opF64Last:
		s = b.compare(s, in, raw)
	default:
		s = append(s, raw...)
	}
	b.segment = s
}

// store marks the block that a store writes to. If the store crosses into the next
// block by less than its size, that is not marked: readers of the marks must take
// each block with a few bytes of the next.
func (b *body) store(s []byte, in instruction, raw []byte) []byte {
	value, address := b.temp(in.stores, useRight), b.temp(dut.TypeI32, useAddress)
	dirty := b.temp(dut.TypeI64, useDirty)
	s = appendIndexed(appendIndexed(appendIndexed(s, opLocalSet, value), opLocalTee, address), opLocalGet, value)
	s = append(s, raw...)
	s = i64(appendIndexed(s, opLocalGet, dirty), 1)
	s = append(appendIndexed(s, opLocalGet, address), opI64ExtendU)
	if in.offset != 0 {
		s = append(i64(s, int64(in.offset)), opI64Add)
	}
	s = append(i64(s, BlockShift), opI64ShrU, opI64Shl, opI64Or)
	return appendIndexed(s, opLocalSet, dirty)
}

// bulkMemory charges an instruction by its length, which is on top of the stack.
func (b *body) bulkMemory(s []byte, in instruction, raw []byte) []byte {
	switch in.sub {
	case moreMemoryInit, moreMemoryCopy, moreMemoryFill:
		s = append(b.charge(s, memoryShift), raw...)
		return appendIndexed(i64(s, -1), opLocalSet, b.temp(dut.TypeI64, useDirty)) // anywhere
	case moreTableSize:
		return append(s, raw...)
	case moreDataDrop:
		b.m.volatile["data.drop"] = true
		return append(s, raw...)
	case moreElemDrop:
		b.m.volatile["elem.drop"] = true
		return append(s, raw...)
	}
	b.m.volatile[map[uint32]string{moreTableInit: "table.init", moreTableCopy: "table.copy", moreTableGrow: "table.grow", moreTableFill: "table.fill"}[in.sub]] = true
	return append(b.charge(s, tableShift), raw...)
}

// charge takes fuel for the i32 on the stack, which stays there: one unit per
// 2^shift; without a shift at most 65,536 (pages), since requests for more fail.
func (b *body) charge(s []byte, shift int64) []byte {
	n := b.temp(dut.TypeI32, useResult)
	s = appendIndexed(appendIndexed(s, opLocalTee, n), opLocalGet, b.fuel)
	s = appendIndexed(s, opLocalGet, n)
	if shift == 0 {
		s = sleb(append(s, opI32Const), 1<<16)
		s = sleb(append(appendIndexed(s, opLocalGet, n), opI32Const), 1<<16)
		s = append(s, opI32LtU, opSelect, opI64ExtendU)
	} else {
		s = append(i64(append(s, opI64ExtendU), shift), opI64ShrU)
	}
	return b.takeFuel(s)
}
