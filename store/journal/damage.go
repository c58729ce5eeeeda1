package journal

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	searchWindow = 64 << 10 // how far behind a bad record another one is looked for
	searchBody   = 4 << 10  // and how long it may be
)

// classify says what is wrong at s.off, where no whole record stands. Writers
// only append, so a bad record with nothing whole behind it is the tail that a
// crash left; one with whole records behind it is damage.
func (s *Scanner) classify(reason string) error {
	left := s.size - s.off
	window := make([]byte, min(left, searchWindow+searchBody))
	n, _ := s.r.ReadAt(window, s.off)
	window = window[:n]

	// The length may be right and the body wrong: look just behind it, also
	// when the record is longer than the window.
	if n, k := binary.Uvarint(window); k > 0 && n <= MaxRecord {
		next := s.off + int64(k) + int64(n) + crcSize
		if next < s.size {
			b := make([]byte, min(s.size-next, searchBody))
			n, _ := s.r.ReadAt(b, next)
			if wholeAt(b[:n]) {
				return &DamageError{s.off, left, reason}
			}
		}
	}
	for i := 1; i < len(window) && i < searchWindow; i++ {
		if wholeAt(window[i:]) {
			return &DamageError{s.off, left, reason}
		}
	}
	return &TornError{s.off, left}
}

// wholeAt reports whether b begins with a whole record of moderate length.
func wholeAt(b []byte) bool {
	n, k := binary.Uvarint(b)
	if k <= 0 || n < 2 || n > searchBody || int(n) > len(b)-k-crcSize {
		return false
	}
	end := k + int(n)
	return crc32.Checksum(b[:end], castagnoli) == binary.LittleEndian.Uint32(b[end:])
}
