package bytemut

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Field of an input depends on other bytes of it: a length or a checksum. Its offsets
// are those in the input where it was found.
type Field struct {
	at, width int
	from, to  int // the bytes that it is computed over
	big       bool
	as        *derivation
}

// derivation is a way to compute a field.
type derivation struct {
	name   string
	widths []int
	value  func([]byte) uint64
}

var lengthOf = &derivation{"length", nil, func(b []byte) uint64 { return uint64(len(b)) }}

var crc = &derivation{"CRC-32", []int{4}, func(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) }}

// checksums are tried in this order.
var checksums = []*derivation{
	crc,
	{"CRC-32C", []int{4}, func(b []byte) uint64 { return uint64(crc32.Checksum(b, castagnoli)) }},
	{"Adler-32", []int{4}, func(b []byte) uint64 { return uint64(adler32.Checksum(b)) }},
	{"CRC-16", []int{2}, func(b []byte) uint64 { return crc16(b, 0) }},
	{"CRC-16", []int{2}, func(b []byte) uint64 { return crc16(b, 0xffff) }},
	{"CRC-16/MODBUS", []int{2}, modbus},
	{"sum", []int{4, 2, 1}, func(b []byte) (sum uint64) {
		for _, c := range b {
			sum += uint64(c)
		}
		return sum
	}},
	{"exclusive or", []int{1}, func(b []byte) (sum uint64) {
		for _, c := range b {
			sum ^= uint64(c)
		}
		return sum
	}},
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc16 is the CCITT CRC, the highest bit first.
func crc16(b []byte, crc uint16) uint64 {
	for _, c := range b {
		crc ^= uint16(c) << 8
		for range 8 {
			crc = crc<<1 ^ crc>>15*0x1021
		}
	}
	return uint64(crc)
}

func modbus(b []byte) uint64 {
	crc := uint16(0xffff)
	for _, c := range b {
		crc ^= uint16(c)
		for range 8 {
			crc = crc>>1 ^ crc&1*0xa001
		}
	}
	return uint64(crc)
}

const (
	derivedMost  = 1 << 14 // longer inputs are not searched, except for chunks
	derivedNear  = 32      // how far from either end to look for fields
	derivedLeast = 8
	pngMagic     = "\x89PNG\r\n\x1a\n"
)

// Derived finds the lengths and checksums that an input contains: of the chunks of PNG,
// and of everything before or after a place near one of its ends. It ignores what may be a
// coincidence, such as a small number anywhere.
func Derived(input []byte) (list []Field) {
	if bytes.HasPrefix(input, []byte(pngMagic)) {
		for at := len(pngMagic); at+12 <= len(input); {
			n := binary.BigEndian.Uint32(input[at:])
			if uint64(n) > uint64(len(input)-at-12) {
				break
			}
			end := at + 8 + int(n)
			list = append(list, Field{at, 4, at + 8, end, true, lengthOf}, Field{end, 4, at + 4, end, true, crc})
			at = end + 4
		}
		return slices.DeleteFunc(list, func(f Field) bool { return f.value(input) != f.read(input) })
	}
	odd := func(c rune) bool { return c == utf8.RuneError || c < ' ' && !strings.ContainsRune("\t\r\n", c) }
	if len(input) < derivedLeast || len(input) > derivedMost || bytes.Count(input, input[:1]) == len(input) || bytes.IndexFunc(input, odd) < 0 {
		return nil
	}
	taken := make([]bool, len(input))
	try := func(f Field) bool {
		if f.to <= f.from || slices.Contains(taken[f.at:f.at+f.width], true) {
			return false
		}
		v := f.value(input)
		if f.big = f.read(input) == v; !f.big && f.read(input) != v {
			return false
		}
		list = append(list, f)
		for i := range f.width {
			taken[f.at+i] = true
		}
		return true
	}
	n := len(input)
	for _, as := range checksums {
		for _, width := range as.widths {
			var ranges []Field
			for k := range min(8, n-width) { // a trailer, over all but a few bytes at the beginning
				ranges = append(ranges, Field{at: n - width, width: width, from: k, to: n - width})
			}
			for at := range min(n-width, derivedNear) { // in the head, over everything after it
				ranges = append(ranges, Field{at: at, width: width, from: at + width, to: n})
			}
			if width == 1 { // anything else may be a coincidence
				ranges = ranges[:1]
			}
			for _, f := range ranges {
				if f.as, f.big = as, true; f.to-f.from >= derivedLeast/2 && f.read(input) != 0 {
					try(f)
				}
			}
		}
	}
	end := n // end of what precedes a trailer
	for _, f := range list {
		if f.at+f.width == n {
			end = f.at
		}
	}
	for _, width := range []int{4, 2} {
		for at := range min(n-4, derivedNear) {
			for _, f := range []Field{{at, width, at + width, n, true, lengthOf}, {at, width, 0, n, true, lengthOf}, {at, width, at + width, end, true, lengthOf}} {
				if try(f) {
					break
				}
			}
		}
	}
	return list
}

// Describe counts the fields, for people; "" if there are none.
func Describe(fields []Field) string {
	var parts []string
	for _, f := range fields {
		if !slices.Contains(parts, f.as.name) {
			parts = append(parts, f.as.name)
		}
	}
	for i, name := range parts {
		n := 0
		for _, f := range fields {
			if f.as.name == name {
				n++
			}
		}
		parts[i] = fmt.Sprintf("%s at byte %d", name, fields[slices.IndexFunc(fields, func(f Field) bool { return f.as.name == name })].at)
		if n > 1 {
			parts[i] = fmt.Sprintf("%s in %d places", name, n)
		}
	}
	return strings.Join(parts, ", ")
}

func (f Field) read(b []byte) (v uint64) {
	for i := range f.width {
		if f.big {
			v = v<<8 | uint64(b[f.at+i])
		} else {
			v |= uint64(b[f.at+i]) << (8 * i)
		}
	}
	return v
}

func (f Field) value(b []byte) uint64 { return f.as.value(b[f.from:f.to]) & (1<<(8*f.width) - 1) }

// after moves a field's offsets by an edit of the input. false: the edit changed the field
// itself, which then stays as it is.
func (f *Field) after(op Op) bool {
	at, length, grown := int(op.Offset), int(op.Length), len(op.Value)-int(op.Length)
	if at < f.at+f.width && at+length > f.at || length == 0 && at > f.at && at < f.at+f.width {
		return false
	}
	moved := func(p int, inserted bool) int {
		switch {
		case p > at+length || p == at+length && (length > 0 || inserted):
			return p + grown
		case p > at:
			return at + len(op.Value)
		}
		return p
	}
	f.at, f.from, f.to = moved(f.at, true), moved(f.from, false), moved(f.to, true)
	return true
}

// rederive recomputes the derived fields of a case, the inner ones first, except those
// that its operations changed.
func (c *deepCase) rederive(fields []Field) {
	ops := c.buf.ops
	left := make([]Field, 0, len(fields))
next:
	for _, f := range fields {
		for _, op := range ops {
			if !f.after(op) {
				continue next
			}
		}
		left = append(left, f)
	}
	slices.SortStableFunc(left, func(x, y Field) int {
		order := func(f Field) int {
			if f.as == lengthOf {
				return -1
			}
			return f.to - f.from
		}
		return cmp.Compare(order(x), order(y))
	})
	c.op++
	for _, f := range left {
		c.store("derived_field", f.at, f.width, f.as.value(c.data[f.from:f.to]), f.big)
	}
}
