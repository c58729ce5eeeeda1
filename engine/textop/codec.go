package textop

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func appendBase64(dst, src []byte) []byte    { return base64.StdEncoding.AppendEncode(dst, src) }
func appendBase64URL(dst, src []byte) []byte { return base64.RawURLEncoding.AppendEncode(dst, src) }
func appendBase32(dst, src []byte) []byte    { return base32.StdEncoding.AppendEncode(dst, src) }
func appendHex(dst, src []byte) []byte       { return hex.AppendEncode(dst, src) }

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

func appendBinary(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, '0'+b>>7, '0'+b>>6&1, '0'+b>>5&1, '0'+b>>4&1, '0'+b>>3&1, '0'+b>>2&1, '0'+b>>1&1, '0'+b&1)
	}
	return dst
}

func appendOctal(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, '0'+b>>6, '0'+b>>3&7, '0'+b&7)
	}
	return dst
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

func appendEscapedHex(dst, src []byte, mark byte) []byte {
	for _, b := range src {
		dst = append(dst, mark, upperHex[b>>4], upperHex[b&15])
	}
	return dst
}

func appendQuotedPrintable(dst, src []byte) []byte { return appendEscapedHex(dst, src, '=') }
func appendPercent(dst, src []byte) []byte         { return appendEscapedHex(dst, src, '%') }

func appendEntities(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		dst = append(dst, '&', '#')
		dst = append(appendCode(dst, r), ';')
		i += n
	}
	return dst
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

// appendBraille writes a byte as the Braille pattern of its eight bits.
func appendBraille(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, 0xe2, 0xa0|b>>6, 0x80|b&63)
	}
	return dst
}

// firstEmoji begins 256 code points that are all emoji, one per byte.
const firstEmoji = 0x1f400

func appendEmoji(dst, src []byte) []byte {
	for _, b := range src {
		dst = append(dst, 0xf0, 0x9f, 0x90|b>>6, 0x80|b&63)
	}
	return dst
}
