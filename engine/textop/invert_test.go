package textop

import (
	"bytes"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Inverters turn the child of an operator that loses nothing back into its seed,
// by the operator's id: tests hold Meta().Inverse to them. step is the trace of the
// application, which holds keys, shifts and layers that were drawn.
var Inverters = inverters()

type inverter = func(child string, step *Step) (string, error)

// errCode is what a decoder says of a text that is not its code.
var errCode = errors.New("the text is not in this code")

func inverters() map[string]inverter {
	list := map[string]inverter{"op_cipher_bijection": func(child string, step *Step) (string, error) {
		_, body, ok := strings.Cut(child, "\n\n")
		if !ok {
			return "", errors.New("the code is not explained")
		}
		key := step.Params.Text("key")
		return strings.Map(func(r rune) rune {
			if at := strings.IndexRune(key, r); at >= 0 {
				return rune('a' + at)
			}
			return r
		}, body), nil
	}}
	for id, decode := range map[string]func([]byte) ([]byte, error){
		"base64": decodeBase64, "base64url": decodeBase64URL, "base32": decodeBase32, "base16": decodeHex, "ascii85": decodeASCII85, "hex": decodeHex,
		"binary": decodeBinary, "octal": decodeOctal, "charcode": decodeCharcodes, "quoted_printable": decodeEscapedHex('='), "percent": decodeEscapedHex('%'),
		"html_entity": decodeEntities, "json_escape": decodeJSONEscapes, "uuencode": decodeUU, "braille": decodeBraille, "emoji": decodeEmoji,
	} {
		list["op_enc_"+id] = func(child string, s *Step) (string, error) {
			code, err := unframed(child, s)
			for _, c := range codecs() {
				if c.id == id && c.group > 0 {
					code = strings.NewReplacer(" ", "", "\n", "").Replace(code)
				}
			}
			if err != nil {
				return "", err
			}
			text, err := decode([]byte(code))
			if err == nil && s.Params.Int("layers") == 2 {
				text, err = decodeBase64(text)
			}
			if err != nil {
				return "", err
			}
			return string(text), nil
		}
	}
	for id, decode := range map[string]func(string) (string, error){"tag": decodeTags, "selector": decodeSelectors, "bit": decodeBits} {
		list["op_inv_"+id+"_smuggle"] = func(child string, s *Step) (string, error) {
			text, err := decode(child)
			if s.Params.Int("copies") == 2 && err == nil {
				text = text[:len(text)/2]
			}
			return text, err
		}
	}
	mapping := func(f func(rune) rune) inverter {
		return func(text string, _ *Step) (string, error) { return string(cipherText(nil, text, f)), nil }
	}
	for id, read := range map[string]inverter{
		"cipher_rot13": mapping(func(r rune) rune { return turnBack(r, 13) }),
		"cipher_rot47": mapping(func(r rune) rune {
			if r > ' ' && r <= '~' {
				return rot47(r)
			}
			return turnBack(r, 13)
		}),
		"cipher_caesar": func(text string, s *Step) (string, error) {
			shift := 1 + s.Params.Int("shift")
			return string(cipherText(nil, text, func(r rune) rune { return turnBack(r, shift) })), nil
		},
		"cipher_atbash": mapping(atbash),
		"cipher_vigenere": func(text string, s *Step) (string, error) {
			key, n := s.Params.Text("key"), 0
			if key == "" {
				return "", errCode
			}
			return string(cipherText(nil, text, func(r rune) rune { return turnBack(r, keyStep(key, &n)) })), nil
		},
		"cipher_reverse":       func(text string, _ *Step) (string, error) { return string(appendReversed(nil, text)), nil },
		"cipher_reverse_words": func(text string, _ *Step) (string, error) { return string(appendEachReversed(nil, text)), nil },
		"struct_word_order":    func(text string, _ *Step) (string, error) { return string(appendWordsReversed(nil, text)), nil },
	} {
		list["op_"+id] = func(child string, s *Step) (string, error) {
			text, err := unframed(child, s)
			if err != nil {
				return "", err
			}
			return read(text, s)
		}
	}
	for _, a := range spelled {
		list["op_spell_"+a.id] = func(child string, s *Step) (string, error) {
			code, err := unframed(child, s)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			for word := range strings.FieldsSeq(code) {
				if word == "/" {
					b.WriteByte(' ')
					continue
				}
				at := slices.Index(a.words, word)
				if r, _ := utf8.DecodeRuneInString(word); unspelled(r) {
					b.WriteString(word)
					continue
				}
				if at < 0 {
					return "", errors.New(quoted(word) + " spells nothing")
				}
				b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[at])
			}
			return b.String(), nil
		}
	}
	return list
}

// unframed is a child without the line that names its code.
func unframed(child string, s *Step) (string, error) {
	head, tail, framed := strings.Cut(frame(s.Params.Int("strength"), s.Params.Int("frame"), "§"), "§")
	if !framed {
		return child, nil
	}
	if rest, ok := strings.CutPrefix(child, head); ok {
		if _, code, ok := strings.Cut(rest, tail); ok {
			return code, nil
		}
	}
	return "", errors.New("the text does not begin with the line that the trace names")
}

func decodeBase64(code []byte) ([]byte, error) { return base64.StdEncoding.AppendDecode(nil, code) }

func decodeBase64URL(code []byte) ([]byte, error) {
	return base64.RawURLEncoding.AppendDecode(nil, code)
}

func decodeBase32(code []byte) ([]byte, error) { return base32.StdEncoding.AppendDecode(nil, code) }

func decodeHex(code []byte) ([]byte, error) { return hex.AppendDecode(nil, code) }

func decodeASCII85(code []byte) ([]byte, error) {
	out := make([]byte, 4*len(code)+4)
	n, _, err := ascii85.Decode(out, code, true)
	return out[:n], err
}

func decodeBinary(code []byte) ([]byte, error) { return decodeDigits(code, 8, 2) }

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

func decodeBraille(code []byte) ([]byte, error) { return decodeOffset(code, 0x2800) }

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

func decodeTags(child string) (string, error) {
	var tagged []byte
	for _, r := range child {
		if r >= 0xe0020 && r < 0xe007f {
			tagged = append(tagged, byte(r-0xe0000))
		}
	}
	var out []byte
	for i := 0; i < len(tagged); i++ {
		switch {
		case tagged[i] != '{':
			out = append(out, tagged[i])
		case i+1 < len(tagged) && tagged[i+1] == '{':
			out = append(out, '{')
			i++
		case i+2 < len(tagged):
			b, err := decodeHex(tagged[i+1 : i+3])
			if err != nil {
				return "", errCode
			}
			out = append(out, b...)
			i += 2
		default:
			return "", errCode
		}
	}
	return hidden(out)
}

func hidden(text []byte) (string, error) {
	if len(text) == 0 {
		return "", errCode
	}
	return string(text), nil
}

func decodeSelectors(child string) (string, error) {
	var out []byte
	for _, r := range child {
		switch {
		case r >= 0xfe00 && r <= 0xfe0f:
			out = append(out, byte(r-0xfe00))
		case r >= 0xe0100 && r <= 0xe01ef:
			out = append(out, byte(r-0xe0100+16))
		}
	}
	return hidden(out)
}

func decodeBits(child string) (string, error) {
	var out []byte
	n, bits := 0, byte(0)
	for _, r := range child {
		if r != '\u2062' && r != '\u2064' {
			continue
		}
		bits = bits<<1 | byte(r-'\u2062')>>1
		if n++; n%8 == 0 {
			out = append(out, bits)
		}
	}
	if n%8 != 0 {
		return "", errCode
	}
	return hidden(out)
}

// turnBack undoes turn.
func turnBack(r rune, shift int) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return turn(r, 26-shift)
	}
	if a, ok := alphabetOf(r); ok {
		return a.first + (r-a.first+a.size-a.share(shift))%a.size
	}
	return r
}
