package shrink

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
)

// sized is data behind its length, of so many bytes.
func sized(order binary.AppendByteOrder, width int, tag string, data []byte) []byte {
	var b []byte
	switch width {
	case 1:
		b = append(b, byte(len(data)))
	case 2:
		b = order.AppendUint16(b, uint16(len(data)))
	case 4:
		b = order.AppendUint32(b, uint32(len(data)))
	}
	return append(append(b, tag...), data...)
}

// parts takes data apart that sized and join have made; ok means that nothing
// is left over. A tag and a trailer are not counted by the length.
func parts(b []byte, order binary.ByteOrder, width, tag, trailer int, each func(tag, data []byte)) (ok bool) {
	for len(b) > 0 {
		if len(b) < width+tag+trailer {
			return false
		}
		n := 0
		switch width {
		case 1:
			n = int(b[0])
		case 2:
			n = int(order.Uint16(b))
		case 4:
			n = int(order.Uint32(b))
		}
		b = b[width:]
		if n > len(b)-tag-trailer {
			return false
		}
		each(b[:tag], b[tag:tag+n])
		b = b[tag+n+trailer:]
	}
	return true
}

// TestBytesLowersLengths has formats that check every length, so that no byte
// can go alone.
func TestBytesLowersLengths(t *testing.T) {
	big, little := binary.BigEndian, binary.LittleEndian
	const many = 12
	body := func(i int) []byte {
		b := noise(20 + 4*i)
		for k := range b {
			b[k] = b[k]%100 + 100
		}
		if i == 7 {
			copy(b[11:], "BUG")
		}
		return b
	}
	var typed, strings, chunks, riff []byte
	for i := range many {
		typed = append(typed, sized(big, 2, string(rune('a'+i)), body(i))...)
		strings = append(strings, sized(big, 1, "", body(i))...)
		chunks = append(append(chunks, sized(big, 4, "tEXt", body(i))...), "crc!"...)
		riff = append(append(riff, "data"...), sized(little, 4, "", body(i))...)
	}
	bug := func(found *bool) func(tag, data []byte) {
		return func(_, data []byte) { *found = *found || bytes.Contains(data, []byte("BUG")) }
	}
	for _, p := range []struct {
		name   string
		input  []byte
		checks func(b []byte, each func(tag, data []byte)) bool
		want   string
	}{
		{"strings of a counted byte", strings, func(b []byte, each func(tag, data []byte)) bool {
			return parts(b, big, 1, 0, 0, each)
		}, "\x03BUG"},
		{"records with a type, big endian", typed, func(b []byte, each func(tag, data []byte)) bool {
			return parts(b, big, 2, 1, 0, each)
		}, "\x00\x03aBUG"},
		{"records within a counted whole", append([]byte("FMT1"), sized(little, 4, "", typed)...), func(b []byte, each func(tag, data []byte)) bool {
			whole := false
			return bytes.HasPrefix(b, []byte("FMT1")) && parts(b[4:], little, 4, 0, 0, func(_, data []byte) {
				whole = parts(data, big, 2, 1, 0, each)
			}) && whole
		}, "FMT1\x06\x00\x00\x00\x00\x03aBUG"},
		{"chunks with a tag and a trailer", chunks, func(b []byte, each func(tag, data []byte)) bool {
			return parts(b, big, 4, 4, 4, each)
		}, "\x00\x00\x00\x03aaaaBUGaaaa"},
		{"tags before lengths, within a counted whole", append([]byte("RIFF"), sized(little, 4, "", append([]byte("WAVE"), riff...))...), func(b []byte, each func(tag, data []byte)) bool {
			if len(b) < 12 || string(b[:4]) != "RIFF" || int(little.Uint32(b[4:])) != len(b)-8 || string(b[8:12]) != "WAVE" {
				return false
			}
			for b = b[12:]; len(b) > 0; {
				if len(b) < 8 || string(b[:4]) != "data" || int(little.Uint32(b[4:])) > len(b)-8 {
					return false
				}
				n := int(little.Uint32(b[4:]))
				each(b[:4], b[8:8+n])
				b = b[8+n:]
			}
			return true
		}, "RIFF\x0f\x00\x00\x00WAVEdata\x03\x00\x00\x00BUG"},
	} {
		t.Run(p.name, func(t *testing.T) {
			const most = 500 // what a finding is given
			got, stats := Bytes(context.Background(), p.input, func(b []byte) (bool, error) {
				found := false
				return p.checks(b, bug(&found)) && found, nil
			})
			if string(got) != p.want {
				t.Errorf("%q, want %q", got, p.want)
			}
			if stats.Tests > most {
				t.Errorf("%d tests, at most %d expected", stats.Tests, most)
			}
			t.Logf("%d -> %d bytes: %d tests", len(p.input), len(got), stats.Tests)
		})
	}
}

// TestLengthsAreLeftAloneInText keeps the pass from inputs that have none.
func TestLengthsAreLeftAloneInText(t *testing.T) {
	s := &search{ctx: context.Background(), best: prose(500), test: func([]byte) (bool, error) {
		t.Error("text was tried for lengths")
		return false, nil
	}}
	s.lengths(fits)
}
