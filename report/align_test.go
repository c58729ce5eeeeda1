package report

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"pgregory.net/rapid"
)

// What was put in or taken out moves nothing that comes after it.
func TestDumpAligns(t *testing.T) {
	for _, c := range []struct{ base, row, want string }{
		{"abcdef", "abXcdef", "ab.cdef/abXcdef +X"},
		{"abcdef", "abef", "abcdef/ab..ef"},
		{"abcdef", "abXdef", "abcdef/abXdef +X"},
		{"abcdef", "abcdefgh", "abcdef/abcdefgh +g +h"},
		{"abcdef", "XYabcdef", "..abcdef/XYabcdef +X +Y"},
		{"", "ab", "/ab +a +b"},
		{"ab", "", "ab/"},
	} {
		laid := layBytes([]campaign.BytesRow{{Data: []byte(c.base)}, {Data: []byte(c.row)}})
		var got []string
		changed := ""
		for _, row := range laid {
			line := ""
			for _, b := range row {
				line += strings.Repeat(".", int(b.at)-len(line)) + string(b.value)
				if b.changed {
					changed += " +" + string(b.value)
				}
			}
			got = append(got, line)
		}
		if text := strings.Join(got, "/") + changed; text != c.want {
			t.Errorf("%s, %s: %s, want %s", c.base, c.row, text, c.want)
		}
	}
}

// Every byte has a column of its own, in order, and what is not marked is what
// the base has there.
func TestDumpAlignsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.ByteRange('a', 'd'), 0, 40)
		rows := []campaign.BytesRow{{Data: bytes.Draw(t, "base")}, {Data: bytes.Draw(t, "case")}, {Data: bytes.Draw(t, "minimized")}}
		laid := layBytes(rows)
		base := make(map[int64]byte)
		for _, b := range laid[0] {
			base[b.at] = b.value
		}
		for i, row := range laid {
			for k, b := range row {
				if b.value != rows[i].Data[k] || k > 0 && row[k-1].at >= b.at {
					t.Fatalf("row %d, byte %d: %+v after %+v", i, k, b, row[max(k-1, 0)])
				}
				if v, there := base[b.at]; i > 0 && b.changed == (there && v == b.value) {
					t.Fatalf("row %d, byte %d is marked: %v; the base has %q there", i, k, b.changed, v)
				}
			}
		}
	})
}
