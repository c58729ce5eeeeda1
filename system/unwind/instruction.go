package unwind

import (
	"encoding/binary"
	"slices"
)

// instruction is the part of an instruction that matters here: its opcode, and the byte that
// selects its operands.
type instruction struct {
	space  byte // 0: one byte; 1, 2, 3: the spaces 0F, 0F38, 0F3A
	op     byte
	modrm  byte
	prefix byte // 66, F2 or F3
}

// decode reads the beginning of an amd64 instruction: prefixes, opcode, operands. VEX and EVEX
// encode the opcode space in their own prefix.
func decode(b []byte) instruction {
	b = append(append([]byte(nil), b...), make([]byte, 16)...)
	var x instruction
	i := 0
	for ; i < 8; i++ {
		switch c := b[i]; {
		case c == 0x66 || c == 0xf2 || c == 0xf3:
			x.prefix = c
			continue
		case c == 0x2e || c == 0x36 || c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65 || c == 0x67 || c == 0xf0 || c>>4 == 4:
			continue
		}
		break
	}
	pp := [...]byte{0, 0x66, 0xf3, 0xf2}
	switch b[i] {
	case 0xc5:
		x.space, x.prefix = 1, pp[b[i+1]&3]
		i += 2
	case 0xc4:
		x.space, x.prefix = b[i+1]&3, pp[b[i+2]&3]
		i += 3
	case 0x62:
		x.space, x.prefix = b[i+1]&3, pp[b[i+2]&3]
		i += 4
	case 0x0f:
		x.space = 1
		if i++; b[i] == 0x38 || b[i] == 0x3a {
			x.space = 2 + b[i]>>1&1
			i++
		}
	}
	x.op, x.modrm = b[i], b[i+1]
	return x
}

func (x instruction) is(space byte, ops ...byte) bool {
	return slices.ContainsFunc(ops, func(o byte) bool { return x.space == space && x.op == o })
}

// writes reports whether the instruction writes to its memory operand. Otherwise a fault counts as
// a read; the kernel does not say which it was.
func (x instruction) writes() bool {
	reg := x.modrm >> 3 & 7
	if x.modrm>>6 == 3 && !x.is(0, 0xa4, 0xa5, 0xaa, 0xab, 0x6c, 0x6d) {
		return false // its operands are registers
	}
	switch x.space {
	case 0:
		switch {
		case x.op < 0x38:
			return x.op&7 < 2
		case x.is(0, 0x80, 0x81, 0x83):
			return reg != 7
		case x.is(0, 0x86, 0x87, 0x88, 0x89, 0x8c, 0x8f, 0xa2, 0xa3, 0xaa, 0xab, 0x6c, 0x6d, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3):
			return true
		case x.is(0, 0xf6, 0xf7):
			return reg == 2 || reg == 3
		case x.is(0, 0xfe, 0xff):
			return reg < 2
		case x.is(0, 0xd9):
			return reg == 2 || reg == 3 || reg >= 6
		case x.is(0, 0xdb, 0xdd, 0xdf):
			return reg >= 1 && reg <= 3 || reg >= 6
		}
	case 1:
		switch {
		case x.op >= 0x90 && x.op <= 0x9f:
			return true
		case x.op == 0x7e:
			return x.prefix != 0xf3
		case x.is(1, 0xba):
			return reg > 4
		case x.is(1, 0xae):
			return reg == 0 || reg == 3 || reg == 4
		}
		return x.is(1, 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xa4, 0xa5, 0xac, 0xad, 0xab, 0xb0, 0xb1, 0xb3, 0xbb, 0xc0, 0xc1, 0xc3, 0xc7, 0xd6, 0xe7)
	case 2:
		return x.is(2, 0x2e, 0x2f, 0x8e, 0xf1, 0x7f, 0x8a, 0x8b)
	case 3:
		return x.is(3, 0x14, 0x15, 0x16, 0x17, 0x19, 0x39, 0x1b, 0x3b, 0x1d)
	}
	return false
}

// pushes reports whether the instruction writes to the stack.
func (x instruction) pushes() bool {
	reg := x.modrm >> 3 & 7
	return x.space == 0 && (x.op>>3 == 0x50>>3 || x.is(0, 0x68, 0x6a, 0xe8, 0xc8) || x.op == 0xff && (reg == 2 || reg == 6))
}

func (x instruction) returns() bool { return x.is(0, 0xc2, 0xc3) }

// afterCall reports whether a call instruction ends at a.
func (p *Process) afterCall(a uint64) bool {
	if !p.at(a).may('x') {
		return false
	}
	if p.calls(a) != 0 {
		return true
	}
	b := p.read(a-7, 7)
	for _, n := range [...]int{2, 3, 4, 6, 7} { // through a register or memory
		if len(b) != 7 {
			break
		}
		if c := b[7-n:]; c[0] == 0xff && c[1]>>3&7 == 2 && callLength(c[1], c) == n {
			return true
		}
	}
	return false
}

// callLength returns the length of a call through modrm, in bytes.
func callLength(modrm byte, b []byte) int {
	n := 2
	mod, rm := modrm>>6, modrm&7
	if mod == 3 {
		return n
	}
	if rm == 4 {
		if n++; len(b) > 2 && b[2]&7 == 5 && mod == 0 {
			return n + 4
		}
	}
	switch {
	case mod == 1:
		return n + 1
	case mod == 2, mod == 0 && rm == 5:
		return n + 4
	}
	return n
}

// calls returns the target of the direct call that ends at a; 0 if there is none.
func (p *Process) calls(a uint64) uint64 {
	b := p.read(a-5, 5)
	if len(b) != 5 || b[0] != 0xe8 {
		return 0
	}
	if to := a + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:])))); p.at(to).may('x') {
		return to
	}
	return 0
}
