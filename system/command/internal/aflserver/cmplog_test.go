package aflserver

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
)

// Every layout of cmplog gives the same comparisons, whatever the places are where the
// program made them, and is empty afterwards.
func TestReadCmplog(t *testing.T) {
	pair := func(kind process.ComparisonKind, a, b string) process.Comparison {
		return process.Comparison{Kind: kind, A: []byte(a), B: []byte(b)}
	}
	want := []process.Comparison{
		pair(process.Areas, "GIF89a\x00rest", "GIF87a, but"), pair(process.Numbers, "\x01\x00\x00\x00", "\x02\x00\x00\x00"),
		pair(process.Texts, "one", "three"), pair(process.Numbers, "\x00\x00", "\x02\x00"),
	}
	mem := make([]byte, cmplogSize)
	for age, layouts := range cmplogLayouts {
		for i, l := range layouts {
			for _, first := range []int{3, cmplogPlaces - 5} {
				header := func(place int, size uint64, area uint64) {
					h := 1 | (size-1)<<l.shape | area<<l.area
					if l.header == 2 {
						binary.LittleEndian.PutUint16(mem[place*2:], uint16(h))
					} else {
						binary.LittleEndian.PutUint64(mem[place*8:], h)
					}
				}
				numbers := func(place, slot int, size, a, b uint64) {
					header(place, size, 0)
					log := l.log(mem, place)[slot*l.pair:]
					binary.LittleEndian.PutUint64(log, a)
					binary.LittleEndian.PutUint64(log[l.b:], b)
				}
				areas := func(place, slot int, text byte, a, b string) {
					header(place, 2, 1)
					log := l.log(mem, place)[slot*l.areas:]
					copy(log[:l.areaLength], a)
					copy(log[l.areaB:][:l.areaLength], b)
					log[l.lengthA], log[l.lengthB] = text|byte(len(a)), text|byte(len(b))
				}
				numbers(first, 0, 4, 1, 2)
				numbers(first, 31, 4, 1, 2)
				numbers(first, 7, 4, 5, 5)
				numbers(first+1, 2, 2, 0, 2)
				numbers(first+4, 2, 16, 9, 8)
				areas(first+2, 0, 0, "GIF89a\x00rest", "GIF87a, but")
				areas(first+3, 7, cmplogText, "one\x00", "three\x00")
				areas(first+3, 1, cmplogText, "same\x00", "same\x00")
				if got := readCmplog(mem, layouts); !reflect.DeepEqual(got, want) {
					t.Errorf("age %d, layout %d, from place %d: %+v", age, i, first, got)
				}
				numbers(first, 5, 4, 8, 9)
				if got := readCmplog(mem, layouts); len(got) != 1 {
					t.Errorf("age %d, layout %d, from place %d: a later case compares %+v", age, i, first, got)
				}
				if got := readCmplog(mem, layouts); got != nil {
					t.Errorf("age %d, layout %d, from place %d: %+v is left", age, i, first, got)
				}
			}
		}
	}
}
