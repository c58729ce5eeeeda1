package wasmrewrite

import (
	"fmt"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/port/dut"
)

// malformed is what a reader panics with and [Rewrite] recovers: decoding is a
// deep descent in which every step may fail, each for one reason.
type malformed struct{ err *dut.ModuleError }

// reader decodes a part of the binary. base is where data starts in the whole
// module, for messages.
type reader struct {
	data []byte
	pos  int
	base int
}

func (r *reader) fail(format string, args ...any) {
	panic(malformed{&dut.ModuleError{Offset: r.base + r.pos, Reason: fmt.Sprintf(format, args...)}})
}

func (r *reader) done() bool { return r.pos >= len(r.data) }

func (r *reader) u8() byte {
	if r.done() {
		r.fail("the module ends too early")
	}
	r.pos++
	return r.data[r.pos-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)-r.pos) {
		r.fail("%d bytes are declared, %d are left", n, len(r.data)-r.pos)
	}
	r.pos += int(n)
	return r.data[r.pos-int(n) : r.pos : r.pos]
}

// part returns a reader of the next n bytes.
func (r *reader) part(n uint32) *reader {
	base := r.base + r.pos
	return &reader{data: r.bytes(n), base: base}
}

func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.u8()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				r.fail("a number does not fit 32 bits")
			}
			return uint32(v)
		}
	}
	r.fail("a number is longer than 5 bytes")
	return 0
}

// signed reads a signed number of at most bits bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.u8()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if shift+7 < 64 {
				v = v << (64 - shift - 7) >> (64 - shift - 7)
			}
			if bits < 64 && (v >= 1<<(bits-1) || v < -1<<(bits-1)) {
				r.fail("a number does not fit %d bits", bits)
			}
			return v
		}
	}
	r.fail("a number is longer than %d bits allow", bits)
	return 0
}

// subcode reads the number after a prefix byte, in its shortest form: the
// engine could read a longer form differently.
func (r *reader) subcode() uint32 {
	start := r.pos
	v := r.u32()
	if v < 1<<7 && r.pos-start > 1 || r.pos-start > 2 {
		r.fail("an instruction code is not in its shortest form")
	}
	return v
}

// count reads the length of a vector whose elements take at least one byte.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.data)-r.pos) {
		r.fail("%d elements are declared, %d bytes are left", n, len(r.data)-r.pos)
	}
	return int(n)
}

// index reads an index that must be less than n.
func (r *reader) index(what string, n int) int {
	i := r.u32()
	if uint64(i) >= uint64(n) {
		r.fail("%s %d does not exist, there are %d", what, i, n)
	}
	return int(i)
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail("a name is not UTF-8")
	}
	return string(b)
}

func (r *reader) valType() dut.ValType {
	t := dut.ValType(r.u8())
	if !isValType(t) {
		r.pos--
		r.fail("value type 0x%02x is not supported (numbers, v128, funcref and externref are)", byte(t))
	}
	return t
}

func isValType(t dut.ValType) bool {
	return t >= dut.TypeV128 && t <= dut.TypeI32 || t == dut.TypeFuncref || t == dut.TypeExternref
}

// refType reads the type of a table's elements.
func (r *reader) refType() dut.ValType {
	t := r.valType()
	if t != dut.TypeFuncref && t != dut.TypeExternref {
		r.fail("a table holds references, not %s", t)
	}
	return t
}

// limits reads bounds, of a table or memory.
func (r *reader) limits() (low uint32, high uint32, bounded bool) {
	switch flag := r.u8(); flag {
	case 0:
		return r.u32(), 0, false
	case 1:
		low = r.u32()
		return low, r.u32(), true
	case 2, 3:
		r.fail("shared memory (threads) is not supported")
	case 4, 5, 6, 7:
		r.fail("64-bit memories and tables are not supported")
	default:
		r.fail("limits of kind %d are not known", flag)
	}
	return 0, 0, false
}
