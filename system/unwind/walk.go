package unwind

import "slices"

// frame is one call on the stack.
type frame struct {
	m       *module
	at      uint64 // address in the module's file; for a caller, one less, so that it is in the call
	start   uint64 // start of the function by its frame description; 0 if it has none
	sp      uint64 // its stack pointer; for a caller, just above its callee's return address
	library bool   // belongs to a static program's C library, as far as that can be seen without names
	signal  bool   // a signal frame: a signal interrupted its caller
}

// mostFrames is the maximum number of calls examined.
const mostFrames = 96

// walk unwinds the calls of a stopped thread, innermost first. back is how many bytes the pc is
// past the instruction that stopped. whole means that the walk reached the start of the thread.
func (p *Process) walk(r Regs, back uint64) (out []frame, whole bool) {
	out, whole = p.undo(r, back)
	for i, f := range slices.Backward(out) {
		if m := f.m; m.static {
			// The library's rarely executed code lies before the entry, as main does.
			early := m.library != noLibrary && f.at < m.file.Entry && i+1 < len(out) && out[i+1].library && out[i+1].start != m.library
			out[i].library = f.at >= m.library || early || f.start == 0 && len(m.frames) > 0 // musl's has no descriptions
		}
	}
	return out, whole
}

func (p *Process) undo(r Regs, back uint64) (out []frame, whole bool) {
	for len(out) < mostFrames && (r[pc] != 0 || len(out) == 0) {
		m, at := p.locate(r[pc])
		if m == nil {
			if len(out) > 0 {
				return out, false // a broken chain: do not trust what lies above
			}
			if ret := p.word(r[rsp]); p.afterCall(ret) { // called through a bad pointer
				r[pc], r[rsp], back = ret, r[rsp]+8, 1
				return p.undo(r, back)
			}
			if f, ok := p.lastCallee(r); ok {
				return []frame{f}, false
			}
			return nil, false
		}
		f := frame{m: m, at: at - back, sp: r[rsp]}
		d := find(m.frames, f.at)
		if d != nil {
			f.start = d.lo
		}
		out = append(out, f)
		back = 1
		if d == nil {
			if !p.guess(&r) {
				return out, false
			}
			continue
		}
		if !p.step(&r, d, f.at) {
			return out, false
		}
		if d.cie.signal {
			out[len(out)-1].signal, back = true, 0
		}
	}
	last := find(out[len(out)-1].m.frames, out[len(out)-1].at)
	if last == nil {
		return out, false
	}
	x, ok := last.rowAt(out[len(out)-1].at)
	return out, ok && x.regs[pc].kind == undefined
}

// lastCallee finds the function that returned to a bad address. The return address of the last call
// it made is still below its stack, and its frame must end at the current stack pointer.
func (p *Process) lastCallee(r Regs) (frame, bool) {
	for a := r[rsp] - 16; a > r[rsp]-1024; a -= 8 {
		ret := p.word(a)
		if !p.afterCall(ret) {
			continue
		}
		m, at := p.locate(ret)
		if m == nil || !m.own {
			continue
		}
		d := find(m.frames, at-1)
		t := Regs{rbp: r[rsp] - 16, rsp: a + 8}
		if d != nil && p.step(&t, d, at-1) && t[rsp] == r[rsp] {
			return frame{m: m, at: at - 1, start: d.lo}, true
		}
	}
	return frame{}, false
}

// step unwinds one frame by its rules.
func (p *Process) step(r *Regs, d *fde, at uint64) bool {
	x, ok := d.rowAt(at)
	if !ok {
		return false
	}
	cfa := uint64(0)
	if x.cfa != nil {
		cfa, ok = p.eval(r, nil, x.cfa)
	} else if x.cfaReg < uint64(len(r)) {
		cfa = r[x.cfaReg] + uint64(x.cfaOff)
	}
	if !ok || cfa == 0 {
		return false
	}
	n := *r
	n[rsp], n[pc] = cfa, 0
	for i, u := range x.regs {
		switch u.kind {
		case saved:
			n[i] = p.word(cfa + uint64(u.n))
		case computed:
			n[i] = cfa + uint64(u.n)
		case moved:
			n[i] = r[uint64(u.n)%uint64(len(r))]
		case savedAt, valueOf:
			v, ok := p.eval(r, &cfa, u.expr)
			if !ok {
				return false
			}
			if n[i] = v; u.kind == savedAt {
				n[i] = p.word(v)
			}
		}
	}
	if n[rsp] <= r[rsp] && !d.cie.signal {
		return false
	}
	*r = n
	return true
}

// eval evaluates a DWARF expression, with the operations that frame tables use.
func (p *Process) eval(r *Regs, first *uint64, expr []byte) (uint64, bool) {
	var stack []uint64
	if first != nil {
		stack = append(stack, *first)
	}
	pop := func() (v uint64) {
		if len(stack) > 0 {
			v, stack = stack[len(stack)-1], stack[:len(stack)-1]
		}
		return v
	}
	for c := (&cursor{b: expr}); c.at < len(expr); {
		if c.bad {
			return 0, false
		}
		op := c.u8()
		v := uint64(0)
		switch {
		case op >= 0x30 && op <= 0x4f:
			v = uint64(op - 0x30)
		case op >= 0x70 && op <= 0x80:
			v = r[op-0x70] + uint64(c.sleb())
		case op == 0x06:
			v = p.word(pop())
		case op == 0x08:
			v = uint64(c.u8())
		case op == 0x09:
			v = uint64(int8(c.u8()))
		case op == 0x0a:
			v = uint64(c.u16())
		case op == 0x0b:
			v = uint64(int16(c.u16()))
		case op == 0x0c:
			v = uint64(c.u32())
		case op == 0x10:
			v = c.uleb()
		case op == 0x11:
			v = uint64(c.sleb())
		case op == 0x12:
			v = pop()
			stack = append(stack, v)
		case op == 0x23:
			v = pop() + c.uleb()
		case op == 0x1a, op == 0x1c, op == 0x22, op == 0x24, op == 0x2a:
			b, a := pop(), pop()
			switch op {
			case 0x1a:
				v = a & b
			case 0x1c:
				v = a - b
			case 0x22:
				v = a + b
			case 0x24:
				v = a << min(b, 63)
			case 0x2a:
				if int64(a) >= int64(b) {
					v = 1
				}
			}
		case op == 0x96:
			continue
		default:
			return 0, false
		}
		stack = append(stack, v)
	}
	return pop(), len(stack) >= 0
}

// guess finds the caller of code without rules: by the saved frame pointer, or a word of the stack
// that is a return address. The best sign is a direct call whose target is the closest below the
// pc.
func (p *Process) guess(r *Regs) bool {
	best, bestTarget, byPointer := uint64(0), uint64(0), false
	try := func(at uint64, pointer bool) {
		ret := p.word(at)
		if !p.afterCall(ret) {
			return
		}
		target := p.calls(ret)
		near := target != 0 && target <= r[pc] && r[pc]-target < 16<<10
		if !near && (pointer || best != 0) || near && target <= bestTarget {
			return
		}
		if best, byPointer = at, pointer; near {
			bestTarget = target
		}
	}
	if r[rbp] > r[rsp] && r[rbp]-r[rsp] < 1<<20 && r[rbp]&7 == 0 {
		try(r[rbp]+8, true)
	}
	for i := range uint64(512) {
		try(r[rsp]&^7+8*i, false)
	}
	if best == 0 {
		return false
	}
	if r[pc] = p.word(best); byPointer {
		r[rbp] = p.word(r[rbp])
	}
	r[rsp] = best + 8
	return true
}
