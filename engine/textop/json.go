package textop

import "unicode/utf8"

// AppendString appends s as a JSON string for a child. Characters stay as they are,
// except quotes, backslashes, control characters, and the two line separators that
// confuse some readers of JSON lines; invalid UTF-8 becomes U+FFFD.
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
