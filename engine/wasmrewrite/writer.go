package wasmrewrite

import (
	"encoding/binary"

	"github.com/thresh-dev/thresh/port/dut"
)

// uleb appends an unsigned number.
func uleb[T ~int | ~uint32 | ~uint64](b []byte, v T) []byte {
	return binary.AppendUvarint(b, uint64(v)) // the same encoding
}

// sleb appends a signed number.
func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func text(b []byte, s string) []byte { return append(uleb(b, len(s)), s...) }

// appendIndexed appends an instruction that takes an index.
func appendIndexed(b []byte, op byte, index int) []byte { return uleb(append(b, op), index) }

func i64(b []byte, v int64) []byte { return sleb(append(b, opI64Const), v) }

// section appends a whole section; an empty one is omitted.
func section(b []byte, id byte, count int, content []byte) []byte {
	if count == 0 {
		return b
	}
	n := uleb(nil, count)
	b = uleb(append(b, id), len(n)+len(content))
	return append(append(b, n...), content...)
}

// zeroGlobal returns a global of the type that starts as zero or null.
func zeroGlobal(g global) []byte {
	b := []byte{byte(g.typ), 0}
	if g.mutable {
		b[1] = 1
	}
	switch g.typ {
	case dut.TypeI32, dut.TypeI64:
		b = append(b, opI32Const+byte(dut.TypeI32-g.typ), 0)
	case dut.TypeF32:
		b = append(b, 0x43, 0, 0, 0, 0)
	case dut.TypeF64:
		b = append(b, 0x44, 0, 0, 0, 0, 0, 0, 0, 0)
	case dut.TypeV128:
		b = append(append(b, prefixVector, 12), make([]byte, 16)...)
	default:
		b = append(b, opRefNull, byte(g.typ))
	}
	return append(b, opEnd)
}
