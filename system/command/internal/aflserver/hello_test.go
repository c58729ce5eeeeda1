package aflserver

import (
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"time"
)

// tape is a server that says what is on it and notes what it is told.
type tape struct {
	words []uint32
	said  []uint32
}

func (s *tape) Send(word uint32) error { s.said = append(s.said, word); return nil }

func (s *tape) Receive(time.Duration) (uint32, error) {
	if len(s.words) == 0 {
		return 0, io.EOF
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w, nil
}

func (s *tape) Discard(n int, _ time.Duration) error {
	for ; n > 0; n -= 4 {
		if _, err := s.Receive(0); err != nil {
			return err
		}
	}
	return nil
}

func TestGreet(t *testing.T) {
	const v1 = newVersion + 1
	for _, c := range []struct {
		name  string
		words []uint32
		want  terms
		said  []uint32
		err   string
	}{
		{"before flags", []uint32{0}, terms{mapSize: 65536}, nil, ""},
		{"old", []uint32{0x80000001}, terms{mapSize: 65536}, nil, ""},
		{"old, map", []uint32{0x80000001 | 0x40000000 | 7<<1}, terms{mapSize: 8}, nil, ""},
		{"old, shared", []uint32{0x81000001}, terms{mapSize: 65536, sharedInput: true}, []uint32{0x81000001}, ""},
		{"old, shared and dictionary", []uint32{0x91000001}, terms{mapSize: 65536, sharedInput: true}, []uint32{0x81000001}, ""},
		{"old, dictionary", []uint32{0x90000001}, terms{mapSize: 65536}, nil, ""},
		{"old, cmplog", []uint32{0x82000001}, terms{mapSize: 65536, cmplog: earlyCmplog}, nil, ""},
		{"old, bits without meaning", []uint32{0x8f000001}, terms{mapSize: 65536}, nil, ""},
		{"old, error", []uint32{0xf800008f | 1<<8}, terms{}, nil, "the fork server does not start: the edge map is too small for the program"},
		{"new", []uint32{v1, 0, v1}, terms{mapSize: 65536, cmplog: lateCmplog}, []uint32{^uint32(v1)}, ""},
		{"new, map", []uint32{v1, 1, 1 << 20, v1}, terms{mapSize: 1 << 20, cmplog: lateCmplog}, []uint32{^uint32(v1)}, ""},
		{"new, all", []uint32{v1, 0x803, 77, 8, 0, 0, v1}, terms{mapSize: 77, sharedInput: true, cmplog: lateCmplog}, []uint32{^uint32(v1)}, ""},
		{"new, option that carries nothing", []uint32{v1, 0x40003, 77, v1}, terms{mapSize: 77, sharedInput: true, cmplog: lateCmplog}, []uint32{^uint32(v1)}, ""},
		{"new, option that carries something", []uint32{v1, 0x41, 77, 5, v1}, terms{}, []uint32{^uint32(v1)}, "the fork server has options that are not known: 0x41"},
		{"new, huge dictionary", []uint32{v1, 0x800, 1 << 30}, terms{}, []uint32{^uint32(v1)}, "the fork server offers a dictionary of 1073741824 bytes"},
		{"new, error", []uint32{0xeffe0008}, terms{}, nil, "the fork server does not start: it cannot attach the shared memory"},
		{"new, late error", []uint32{v1, 0xeffe0010}, terms{}, []uint32{^uint32(v1)}, "the fork server does not start: it cannot map the shared memory"},
		{"version 0", []uint32{newVersion}, terms{}, nil, "the fork server speaks version 0 of its protocol; up to 1 is known"},
		{"silence", nil, terms{}, nil, "EOF"},
		{"cut short", []uint32{v1, 3, 1}, terms{}, []uint32{^uint32(v1)}, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &tape{words: slices.Clone(c.words)}
			got, err := greet(l, time.Second)
			if message(err) != c.err {
				t.Fatalf("error %q, want %q", message(err), c.err)
			}
			if got != c.want || !slices.Equal(l.said, c.said) || err == nil && len(l.words) > 0 {
				t.Errorf("%+v, said %x, %d words left; want %+v, said %x", got, l.said, len(l.words), c.want, c.said)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzGreet(f *testing.F) {
	f.Add([]byte{1, 'L', 'F', 'A', 3, 8, 0, 0, 9, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0xc1})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &tape{}
		for ; len(data) >= 4; data = data[4:] {
			l.words = append(l.words, binary.LittleEndian.Uint32(data))
		}
		if got, err := greet(l, time.Second); err != nil && got != (terms{}) {
			t.Errorf("terms %+v with error %v", got, err)
		}
	})
}
