package textop

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the result as the contract's ApplyResult: status,
// child_text, trace, error (null unless there is one).
func (r *Result) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"status":"`...)
	dst = append(append(dst, r.Status...), `","child_text":`...)
	dst = AppendString(dst, r.Child)
	dst = append(dst, `,"trace":`...)
	dst = r.Trace.AppendJSON(dst)
	if r.Error == "" {
		return append(dst, `,"error":null}`...)
	}
	dst = append(dst, `,"error":`...)
	return append(AppendString(dst, r.Error), '}')
}

// AppendJSON appends the step as an object: op_id, status, params, len_before,
// len_after, then the extra keys.
func (s *Step) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"op_id":`...)
	dst = AppendString(dst, s.OpID)
	dst = append(dst, `,"status":"`...)
	dst = append(append(dst, s.Status...), `","params":`...)
	dst = s.Params.AppendJSON(dst)
	dst = append(dst, `,"len_before":`...)
	dst = strconv.AppendInt(dst, int64(s.LenBefore), 10)
	dst = append(dst, `,"len_after":`...)
	dst = strconv.AppendInt(dst, int64(s.LenAfter), 10)
	for i := range s.Extra {
		dst = append(dst, ',')
		dst = append(AppendString(dst, s.Extra[i].Key), ':')
		dst = appendValue(dst, s.Extra[i].Value)
	}
	return append(dst, '}')
}

// AppendJSON appends the parameters as an object.
func (p Params) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range p {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, p[i].Key), ':')
		dst = appendValue(dst, p[i].Value)
	}
	return append(dst, '}')
}

// MarshalJSON implements json.Marshaler.
func (r Result) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// MarshalJSON implements json.Marshaler.
func (s Step) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// MarshalJSON implements json.Marshaler.
func (p Params) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// JSONAppender is a value of a trace that writes itself. Params is one.
type JSONAppender interface {
	AppendJSON(dst []byte) []byte
}

func appendValue(dst []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, x)
	case int:
		return strconv.AppendInt(dst, int64(x), 10)
	case int64:
		return strconv.AppendInt(dst, x, 10)
	case string:
		return AppendString(dst, x)
	case JSONAppender:
		return x.AppendJSON(dst)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) { // JSON has no such number
			return AppendString(dst, strconv.FormatFloat(x, 'g', -1, 64))
		}
	case []any:
		dst = append(dst, '[')
		for i, e := range x {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	}
	text, err := json.Marshal(v)
	if err != nil { // a channel, a function: nothing that a host can hand over
		return AppendString(dst, err.Error())
	}
	return append(dst, text...)
}

// AppendString appends s as a JSON string. Characters stay as they are, but
// for quotes, backslashes, control characters, and the two line separators
// that some readers of lines of JSON trip over; what is not UTF-8 becomes
// U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' && b != 0x7f {
			i++
			continue
		}
		n := 1
		if b >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			if r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || n > 1) {
				i += n
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, uint16(r))
		} else {
			dst = append(dst, s[from:i]...)
			switch b {
			case '"', '\\':
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = appendEscape(dst, uint16(b))
			}
		}
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, u uint16) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
}
