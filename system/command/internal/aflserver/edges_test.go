package aflserver

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBuckets(t *testing.T) {
	for _, c := range []struct {
		counts []byte
		want   uint8
	}{
		{[]byte{1}, 1}, {[]byte{2}, 2}, {[]byte{3}, 4}, {[]byte{4, 7}, 8}, {[]byte{8, 15}, 16},
		{[]byte{16, 31}, 32}, {[]byte{32, 127}, 64}, {[]byte{128, 255}, 128},
	} {
		for _, n := range c.counts {
			counts := make([]byte, 32)
			counts[31] = n
			if got, want := appendEdges(nil, counts), []uint32{31<<8 | uint32(c.want)}; !slices.Equal(got, want) {
				t.Errorf("count %d: %v, want %v", n, got, want)
			}
		}
	}
}

// Every entry but the first that is not zero is an edge, in ascending order.
func TestAppendEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := make([]byte, 32*rapid.IntRange(0, 20).Draw(t, "blocks"))
		for i := range rapid.IntRange(0, 40).Draw(t, "hits") {
			if len(counts) > 0 {
				counts[rapid.IntRange(0, len(counts)-1).Draw(t, "edge")] = byte(i)
			}
		}
		got := appendEdges([]uint32{7}, counts)
		want := []uint32{7}
		for i, c := range counts {
			if i > 0 && c > 0 {
				want = append(want, uint32(i)<<8|uint32(bucket[c]))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func BenchmarkEdges(b *testing.B) {
	counts := make([]byte, plainMapSize)
	for i := 100; i < len(counts); i += 997 {
		counts[i] = 1
	}
	dst := make([]uint32, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		dst = appendEdges(dst[:0], counts)
	}
}
