package unwind

import (
	"encoding/binary"
	"slices"
	"sort"
)

// cie is the part that the frame descriptions of many functions share.
type cie struct {
	code    uint64
	data    int64
	pointer byte // encoding of addresses
	signal  bool // a signal frame: its caller was interrupted, it did not call
	aug     bool
	initial []byte
}

// fde describes how to undo the frames of one function.
type fde struct {
	lo, hi  uint64
	cie     *cie
	program []byte
}

// cursor reads a table that may be damaged: beyond its end it reads zeros.
type cursor struct {
	b    []byte
	at   int
	addr uint64 // address of b[0]
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.bad, c.at = true, len(c.b)
		return make([]byte, max(min(n, 8), 8))
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

func (c *cursor) leb() (v uint64, shift uint, last byte) {
	for {
		last = c.u8()
		if shift < 64 {
			v |= uint64(last&0x7f) << shift
		}
		if shift += 7; last&0x80 == 0 {
			return v, shift, last
		}
	}
}

func (c *cursor) uleb() uint64 { v, _, _ := c.leb(); return v }

func (c *cursor) sleb() int64 {
	v, shift, last := c.leb()
	if shift < 64 && last&0x40 != 0 {
		v |= ^uint64(0) << shift
	}
	return int64(v)
}

// pointer reads an address in one of the encodings DW_EH_PE_*.
func (c *cursor) pointer(enc byte) uint64 {
	base := uint64(0)
	if enc&0x70 == 0x10 {
		base = c.addr + uint64(c.at)
	}
	switch enc & 0xf {
	case 1:
		return base + c.uleb()
	case 2:
		return base + uint64(c.u16())
	case 3:
		return base + uint64(c.u32())
	case 9:
		return base + uint64(c.sleb())
	case 0xa:
		return base + uint64(int16(c.u16()))
	case 0xb:
		return base + uint64(int32(c.u32()))
	}
	return base + c.u64()
}

// parseFrames reads an .eh_frame section that is mapped at addr, skips damaged entries, and returns
// the entries sorted by address.
func parseFrames(b []byte, addr uint64) []fde {
	var list []fde
	cies := map[int]*cie{}
	for c := (&cursor{b: b, addr: addr}); c.at+4 <= len(b); {
		size := uint64(c.u32())
		if size == 0xffffffff {
			size = c.u64()
		}
		if size == 0 {
			continue
		}
		start := c.at
		body := c.take(int(min(size, uint64(len(b)))))
		if c.bad || len(body) < 4 {
			break
		}
		e := &cursor{b: body, addr: addr + uint64(start)}
		if id := int(e.u32()); id != 0 {
			of := cies[start-id]
			if of == nil {
				continue
			}
			f := fde{cie: of, lo: e.pointer(of.pointer)}
			f.hi = f.lo + e.pointer(of.pointer&0xf)
			if of.aug {
				e.take(int(e.uleb()))
			}
			if f.program = body[e.at:]; !e.bad && f.hi > f.lo {
				list = append(list, f)
			}
			continue
		}
		if x := readCIE(e); !e.bad {
			cies[start-4] = x
		}
	}
	slices.SortFunc(list, func(x, y fde) int { // a linker promises no order
		if x.lo < y.lo {
			return -1
		}
		return 1
	})
	return list
}

func readCIE(e *cursor) *cie {
	x := &cie{}
	version := e.u8()
	var letters []byte
	for b := e.u8(); b != 0; b = e.u8() {
		letters = append(letters, b)
	}
	x.code, x.data = e.uleb(), e.sleb()
	if version == 1 {
		e.u8()
	} else {
		e.uleb()
	}
	if len(letters) > 0 && letters[0] == 'z' {
		x.aug = true
		end := int(e.uleb())
		end += e.at
		for _, l := range letters[1:] {
			switch l {
			case 'L':
				e.u8()
			case 'R':
				x.pointer = e.u8()
			case 'P':
				e.pointer(e.u8())
			case 'S':
				x.signal = true
			}
		}
		if end < e.at || end > len(e.b) {
			e.bad = true
			return x
		}
		e.at = end
	}
	x.initial = e.b[e.at:]
	return x
}

// find returns the description of the function that contains pc, or nil.
func find(list []fde, pc uint64) *fde {
	i := sort.Search(len(list), func(i int) bool { return list[i].lo > pc }) - 1
	if i < 0 || pc >= list[i].hi {
		return nil
	}
	return &list[i]
}

// ruleKind is where to find the caller's value of a register.
type ruleKind uint8

const (
	same ruleKind = iota
	undefined
	saved    // in memory at the frame's address plus an offset
	computed // is the frame's address plus an offset
	moved    // in another register
	savedAt  // in memory at the result of an expression
	valueOf  // the result of an expression
)

type rule struct {
	kind ruleKind
	n    int64
	expr []byte
}

// row describes how to undo a frame at one address of its function.
type row struct {
	cfaReg uint64
	cfaOff int64
	cfa    []byte // expression; nil: register plus offset
	regs   [17]rule
	ever   uint32 // bit set of the registers saved so far
}

// rowAt runs the program of f up to pc.
func (f *fde) rowAt(pc uint64) (row, bool) {
	var r, start row
	var kept []row
	var ever uint32
	at := f.lo
	run := func(program []byte, until uint64) bool {
		c := &cursor{b: program, addr: 0}
		set := func(reg uint64, x rule) {
			if reg < uint64(len(r.regs)) {
				r.regs[reg] = x
				if x.kind == saved {
					ever |= 1 << reg
				}
			}
		}
		block := func() []byte { return c.take(int(min(c.uleb(), 1<<20))) }
		for c.at < len(program) && !c.bad {
			op := c.u8()
			low := uint64(op & 0x3f)
			switch op >> 6 {
			case 1:
				at += low * f.cie.code
			case 2:
				set(low, rule{kind: saved, n: int64(c.uleb()) * f.cie.data})
				continue
			case 3:
				set(low, start.regs[min(low, 16)])
				continue
			}
			if op >= 0x40 {
				if at > until {
					return true
				}
				continue
			}
			switch op {
			case 0x00:
			case 0x01:
				at = c.pointer(f.cie.pointer)
			case 0x02:
				at += uint64(c.u8()) * f.cie.code
			case 0x03:
				at += uint64(c.u16()) * f.cie.code
			case 0x04:
				at += uint64(c.u32()) * f.cie.code
			case 0x05:
				reg := c.uleb()
				set(reg, rule{kind: saved, n: int64(c.uleb()) * f.cie.data})
			case 0x06:
				reg := c.uleb()
				set(reg, start.regs[min(reg, 16)])
			case 0x07:
				set(c.uleb(), rule{kind: undefined})
			case 0x08:
				set(c.uleb(), rule{})
			case 0x09:
				reg := c.uleb()
				set(reg, rule{kind: moved, n: int64(c.uleb())})
			case 0x0a:
				if kept = append(kept, r); len(kept) > 64 {
					return false
				}
			case 0x0b:
				if len(kept) == 0 {
					return false
				}
				r, kept = kept[len(kept)-1], kept[:len(kept)-1]
			case 0x0c:
				r.cfa, r.cfaReg, r.cfaOff = nil, c.uleb(), int64(c.uleb())
			case 0x0d:
				r.cfa, r.cfaReg = nil, c.uleb()
			case 0x0e:
				r.cfaOff = int64(c.uleb())
			case 0x0f:
				r.cfa = block()
			case 0x10:
				reg := c.uleb()
				set(reg, rule{kind: savedAt, expr: block()})
			case 0x11:
				reg := c.uleb()
				set(reg, rule{kind: saved, n: c.sleb() * f.cie.data})
			case 0x12:
				r.cfa, r.cfaReg, r.cfaOff = nil, c.uleb(), c.sleb()*f.cie.data
			case 0x13:
				r.cfaOff = c.sleb() * f.cie.data
			case 0x14:
				reg := c.uleb()
				set(reg, rule{kind: computed, n: int64(c.uleb()) * f.cie.data})
			case 0x15:
				reg := c.uleb()
				set(reg, rule{kind: computed, n: c.sleb() * f.cie.data})
			case 0x16:
				reg := c.uleb()
				set(reg, rule{kind: valueOf, expr: block()})
			case 0x2e:
				c.uleb()
			case 0x2f:
				reg := c.uleb()
				set(reg, rule{kind: saved, n: -int64(c.uleb()) * f.cie.data})
			default:
				return false
			}
			if at > until {
				return true
			}
		}
		return !c.bad
	}
	if !run(f.cie.initial, ^uint64(0)) {
		return r, false
	}
	start, at = r, f.lo
	ok := run(f.program, pc)
	r.ever = ever
	return r, ok
}
