package bytemut_test

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image"
	"image/png"
	"testing"

	"github.com/thresh-dev/thresh/engine/bytemut"
)

// pngWhole says whether a file is chunks from end to end, each with its checksum.
func pngWhole(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	for b = b[8:]; len(b) >= 12; {
		n := int(binary.BigEndian.Uint32(b))
		if n < 0 || n > len(b)-12 || crc32.ChecksumIEEE(b[4:8+n]) != binary.BigEndian.Uint32(b[8+n:]) {
			return false
		}
		b = b[12+n:]
	}
	return len(b) == 0
}

// Lengths and checksums that a seed holds follow what a case changes, unless the case
// changed them themselves; the log of the case has them too.
func TestDerivedFieldsFollow(t *testing.T) {
	var picture bytes.Buffer
	noise := image.NewGray(image.Rect(0, 0, 20, 20))
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i * 7)
	}
	if err := png.Encode(&picture, noise); err != nil {
		t.Fatal(err)
	}
	body := []byte("\x01the body of a record, of some length\x00\x02\x03")
	big, little := binary.BigEndian, binary.LittleEndian
	framed := big.AppendUint16([]byte("\x7fR"), uint16(len(body)))
	framed = append(framed, body...)
	framed = little.AppendUint32(framed, crc32.ChecksumIEEE(framed))
	headed := append(big.AppendUint32([]byte("K1\x00"), adler32.Checksum(body)), body...)
	summed := append(bytes.Clone(body), 0)
	for _, c := range body {
		summed[len(body)] ^= c
	}
	for name, x := range map[string]struct {
		seed  []byte
		found string
		holds func([]byte) bool
	}{
		"PNG": {picture.Bytes(), "length in 3 places, CRC-32 in 3 places", pngWhole},
		"a trailer": {framed, "CRC-32 at byte 44, length at byte 2", func(b []byte) bool {
			return len(b) > 8 && little.Uint32(b[len(b)-4:]) == crc32.ChecksumIEEE(b[:len(b)-4]) && int(big.Uint16(b[2:])) == len(b)-8
		}},
		"a head": {headed, "Adler-32 at byte 3", func(b []byte) bool { return len(b) > 7 && big.Uint32(b[3:]) == adler32.Checksum(b[7:]) }},
		"one byte": {summed, "exclusive or at byte 40", func(b []byte) bool {
			sum := byte(0)
			for _, c := range b {
				sum ^= c
			}
			return len(b) > 0 && sum == 0
		}},
	} {
		if got := bytemut.Describe(bytemut.Derived(x.seed)); got != x.found || !x.holds(x.seed) {
			t.Errorf("%s: found %q, want %q", name, got, x.found)
		}
		d := bytemut.NewDeep([][]byte{x.seed}, bytemut.DeepParams{MaxOps: 2, Derived: true}, nil)
		bare := bytemut.NewDeep([][]byte{x.seed}, bytemut.DeepParams{MaxOps: 2}, nil)
		var buf bytemut.Buffer
		hold, held := 0, 0
		const cases = 1000
		for i := range int64(cases) {
			got := bytes.Clone(d.Case(i, &buf))
			if again := replay(t, x.seed, buf.Ops()); !bytes.Equal(again, got) {
				t.Fatalf("%s, case %d: the log gives %q, not %q", name, i, again, got)
			}
			if x.holds(got) {
				hold++
			}
			if x.holds(bare.Case(i, &buf)) {
				held++
			}
		}
		if hold < cases/2 || hold < 4*held {
			t.Errorf("%s: %d of %d cases hold, %d without", name, hold, cases, held)
		}
		t.Logf("%s: %d of %d, %d without", name, hold, cases, held)
	}
	for _, seed := range []string{"", "Please tell me, what is it?", `{"a": 1}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x89PNG\r\n\x1a\n\x00\x00"} {
		if found := bytemut.Derived([]byte(seed)); len(found) > 0 {
			t.Errorf("%q: %s", seed, bytemut.Describe(found))
		}
	}
}
