package textop

import (
	"bytes"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// errCode is what a decoder says of a text that is not its code.
var errCode = errors.New("the text is not in this code")

func appendBase64(dst, src []byte) []byte    { return base64.StdEncoding.AppendEncode(dst, src) }
func appendBase64URL(dst, src []byte) []byte { return base64.RawURLEncoding.AppendEncode(dst, src) }
func appendBase32(dst, src []byte) []byte    { return base32.StdEncoding.AppendEncode(dst, src) }
func appendHex(dst, src []byte) []byte       { return hex.AppendEncode(dst, src) }

func decodeBase64(code []byte) ([]byte, error) { return base64.StdEncoding.AppendDecode(nil, code) }
func decodeBase64URL(code []byte) ([]byte, error) {
	return base64.RawURLEncoding.AppendDecode(nil, code)
}
func decodeBase32(code []byte) ([]byte, error) { return base32.StdEncoding.AppendDecode(nil, code) }
func decodeHex(code []byte) ([]byte, error)    { return hex.AppendDecode(nil, code) }

const upperHex = "0123456789ABCDEF"

func appendBase16(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, upperHex[b>>4], upperHex[b&15])
	}
	return dst
}

func appendASCII85(dst, src []byte) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, ascii85.MaxEncodedLen(len(src)))...)
	return dst[:n+ascii85.Encode(dst[n:], src)]
}

func decodeASCII85(code []byte) ([]byte, error) {
	out := make([]byte, 4*len(code)+4)
	n, _, err := ascii85.Decode(out, code, true)
	return out[:n], err
}

func appendBinary(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, '0'+b>>7, '0'+b>>6&1, '0'+b>>5&1, '0'+b>>4&1, '0'+b>>3&1, '0'+b>>2&1, '0'+b>>1&1, '0'+b&1)
	}
	return dst
}

func decodeBinary(code []byte) ([]byte, error) { return decodeDigits(code, 8, 2) }

func appendOctal(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, '0'+b>>6, '0'+b>>3&7, '0'+b&7)
	}
	return dst
}

func decodeOctal(code []byte) ([]byte, error) { return decodeDigits(code, 3, 8) }

// decodeDigits reads bytes of a fixed number of digits.
func decodeDigits(code []byte, width, base int) ([]byte, error) {
	if len(code)%width != 0 {
		return nil, errCode
	}
	out := make([]byte, 0, len(code)/width)
	for i := 0; i < len(code); i += width {
		n, err := strconv.ParseUint(string(code[i:i+width]), base, 8)
		if err != nil {
			return nil, errCode
		}
		out = append(out, byte(n))
	}
	return out, nil
}

func appendCharcodes(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendCode(dst, r)
		i += n
	}
	return dst
}

// appendCode appends a code point in decimal digits.
func appendCode(dst []byte, r rune) []byte {
	switch {
	case r < 10 || r > 999:
		return strconv.AppendInt(dst, int64(r), 10)
	case r < 100:
		return append(dst, byte('0'+r/10), byte('0'+r%10))
	}
	return append(dst, byte('0'+r/100), byte('0'+r/10%10), byte('0'+r%10))
}

func decodeCharcodes(code []byte) ([]byte, error) {
	var out []byte
	n, digits := 0, 0
	for i := 0; i <= len(code); i++ {
		if i < len(code) && code[i] != ' ' {
			if code[i] < '0' || code[i] > '9' || digits > 7 {
				return nil, errCode
			}
			n, digits = n*10+int(code[i]-'0'), digits+1
			continue
		}
		if digits == 0 || n > utf8.MaxRune {
			return nil, errCode
		}
		out = utf8.AppendRune(out, rune(n))
		n, digits = 0, 0
	}
	return out, nil
}

func appendEscapedHex(dst, src []byte, mark byte) []byte {
	for _, b := range src {
		dst = append(dst, mark, upperHex[b>>4], upperHex[b&15])
	}
	return dst
}

func appendQuotedPrintable(dst, src []byte) []byte { return appendEscapedHex(dst, src, '=') }
func appendPercent(dst, src []byte) []byte         { return appendEscapedHex(dst, src, '%') }

func decodeEscapedHex(mark byte) func([]byte) ([]byte, error) {
	return func(code []byte) ([]byte, error) {
		if len(code)%3 != 0 {
			return nil, errCode
		}
		var digits []byte
		for i := 0; i < len(code); i += 3 {
			if code[i] != mark {
				return nil, errCode
			}
			digits = append(digits, code[i+1], code[i+2])
		}
		return decodeHex(digits)
	}
}

func appendEntities(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		dst = append(dst, '&', '#')
		dst = append(appendCode(dst, r), ';')
		i += n
	}
	return dst
}

func decodeEntities(code []byte) ([]byte, error) {
	var out []byte
	for i := 0; i < len(code); {
		if i+3 > len(code) || code[i] != '&' || code[i+1] != '#' {
			return nil, errCode
		}
		n := 0
		for i += 2; i < len(code) && code[i] != ';'; i++ {
			if code[i] < '0' || code[i] > '9' || n > utf8.MaxRune {
				return nil, errCode
			}
			n = n*10 + int(code[i]-'0')
		}
		out = utf8.AppendRune(out, rune(n))
		i++
	}
	return out, nil
}

func appendJSONEscapes(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		i += n
		units := [2]rune{r}
		rest := units[:1]
		if r > 0xffff {
			units[0], units[1] = utf16.EncodeRune(r)
			rest = units[:2]
		}
		for _, u := range rest {
			dst = appendEscape(dst, uint16(u))
		}
	}
	return dst
}

func decodeJSONEscapes(code []byte) ([]byte, error) {
	if len(code)%6 != 0 {
		return nil, errCode
	}
	var units []uint16
	for i := 0; i < len(code); i += 6 {
		u, err := strconv.ParseUint(string(code[i+2:i+6]), 16, 16)
		if err != nil || code[i] != '\\' || code[i+1] != 'u' {
			return nil, errCode
		}
		units = append(units, uint16(u))
	}
	return []byte(string(utf16.Decode(units))), nil
}

// uuLine is the number of bytes on a full line of uuencode.
const uuLine = 45

func appendUU(dst, src []byte) []byte {
	digit := func(b byte) byte {
		if b &= 63; b != 0 {
			return b + ' '
		}
		return '`'
	}
	dst = append(dst, "begin 644 message.txt\n"...)
	for len(src) > 0 {
		line := src[:min(uuLine, len(src))]
		src = src[len(line):]
		dst = append(dst, digit(byte(len(line))))
		for len(line) > 0 {
			var t [3]byte
			line = line[copy(t[:], line):]
			dst = append(dst, digit(t[0]>>2), digit(t[0]<<4|t[1]>>4), digit(t[1]<<2|t[2]>>6), digit(t[2]))
		}
		dst = append(dst, '\n')
	}
	return append(dst, "`\nend\n"...)
}

func decodeUU(code []byte) ([]byte, error) {
	var out []byte
	at := 0
	for line := range bytes.Lines(code) {
		if at++; at == 1 { // the line that names the file
			continue
		}
		if line[0] == '`' {
			return out, nil
		}
		var full []byte
		for q := line[1:]; len(q) >= 4; q = q[4:] {
			b, c := (q[1]-' ')&63, (q[2]-' ')&63
			full = append(full, (q[0]-' ')<<2|b>>4, b<<4|c>>2, c<<6|(q[3]-' ')&63)
		}
		n := int(line[0] - ' ')
		if n > len(full) {
			return nil, fmt.Errorf("line %d is too short: %w", at, errCode)
		}
		out = append(out, full[:n]...)
	}
	return nil, errCode
}

// appendBraille writes a byte as the Braille pattern of its eight bits.
func appendBraille(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, 0xe2, 0xa0|b>>6, 0x80|b&63)
	}
	return dst
}

func decodeBraille(code []byte) ([]byte, error) { return decodeOffset(code, 0x2800) }

// firstEmoji begins 256 code points all of which are emoji, one a byte.
const firstEmoji = 0x1f400

func appendEmoji(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, 0xf0, 0x9f, 0x90|b>>6, 0x80|b&63)
	}
	return dst
}

func decodeEmoji(code []byte) ([]byte, error) { return decodeOffset(code, firstEmoji) }

// decodeOffset reads code points that are bytes moved up by base.
func decodeOffset(code []byte, base rune) ([]byte, error) {
	var out []byte
	for len(code) > 0 {
		r, n := utf8.DecodeRune(code)
		if r < base || r > base+0xff {
			return nil, errCode
		}
		out = append(out, byte(r-base))
		code = code[n:]
	}
	return out, nil
}
