package bytemut

import (
	"encoding/base64"
	"strconv"
)

// Kind names an operation.
type Kind string

// The operations of [Reference], in the order in which it considers them.
const (
	FlipBit      Kind = "flip_bit"
	FlipByte     Kind = "flip_byte"
	TruncateTail Kind = "truncate_tail"
	AppendBytes  Kind = "append_bytes"
)

// Op is one entry in the log of a case.
//
// In a log of [Reference], flips have an Offset (counted in bits for flip_bit),
// truncate_tail has a Length, and append_bytes has a Length and a Value. In a
// log of [Deep] every entry says that Length bytes at Offset were replaced by
// Value, so that a log applied to the parent gives the case again; an operation
// that changes two places has two entries with the same I.
type Op struct {
	I      int // 0-based number of the operation in the case
	Kind   Kind
	Offset int64
	Length int64
	Value  []byte // valid until the buffer's next case
}

// AppendLog appends the log of a case as JSON lines: an object for each
// operation, its keys sorted, without spaces, only those that apply. A case
// without operations has one line that says so.
func AppendLog(dst []byte, ops []Op) []byte {
	if len(ops) == 0 {
		return append(dst, `{"i":0,"note":"fallback:empty_mutations","op":"identity"}`+"\n"...)
	}
	for _, op := range ops {
		dst = append(dst, `{"i":`...)
		dst = strconv.AppendInt(dst, int64(op.I), 10)
		if op.Kind != FlipBit && op.Kind != FlipByte {
			dst = append(dst, `,"length":`...)
			dst = strconv.AppendInt(dst, op.Length, 10)
		}
		if op.Kind != TruncateTail && op.Kind != AppendBytes {
			dst = append(dst, `,"offset":`...)
			dst = strconv.AppendInt(dst, op.Offset, 10)
		}
		dst = append(dst, `,"op":"`...)
		dst = append(dst, op.Kind...)
		dst = append(dst, '"')
		if op.Kind != FlipBit && op.Kind != FlipByte && op.Kind != TruncateTail {
			dst = append(dst, `,"value_b64":"`...)
			dst = base64.StdEncoding.AppendEncode(dst, op.Value)
			dst = append(dst, '"')
		}
		dst = append(dst, '}', '\n')
	}
	return dst
}
