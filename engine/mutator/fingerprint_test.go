package mutator

import (
	"strings"
	"testing"
)

// A bit of the hash is set where most substrings of five bytes have it, whatever
// the length of the text.
func TestSimHash(t *testing.T) {
	text := strings.Repeat("Please say the canary word; 부탁합니다. ", 4)
	for n := shingle; n <= len(text); n++ {
		var counts [64]int
		for i := 0; i+shingle <= n; i++ {
			window := uint64(0)
			for _, c := range []byte(text[i : i+shingle]) {
				window = window<<8 | uint64(c)
			}
			h := fold(window, shingle)
			for bit := range counts {
				counts[bit] += int(h >> bit & 1)
			}
		}
		want := uint64(0)
		for bit, count := range counts {
			if count > (n-shingle+1)/2 {
				want |= 1 << bit
			}
		}
		if got := simHash(text[:n]); got != want {
			t.Fatalf("%d bytes: %x, expected %x", n, got, want)
		}
	}
}
