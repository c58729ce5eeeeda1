package aflserver

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/port/process"
)

// A program that AFL++ built with AFL_LLVM_CMPLOG=1 writes its comparisons into shared memory: a
// header for each of 65,536 hashes of a place in the program, then for each place a ring of the
// last 32 pairs of numbers or up to 16 pairs of memory areas.

const (
	cmplogPlaces  = 1 << 16
	cmplogNumbers = 32
	cmplogAreas   = 16
	cmplogText    = 0x80 // flag in the length: the operand's end is known
)

// cmplogLayout is the layout of a version of AFL++: sizes and offsets in bytes, and bit positions
// in a header.
type cmplogLayout struct {
	header     int
	shape      uint // lowest bit of the numbers' size minus one
	area       uint // bit set if the pairs are areas
	pair, b    int  // size of a pair of numbers; offset of its second
	areas      int  // size of a pair of areas
	areaB      int
	lengthA    int
	lengthB    int
	areaLength int // longest area
}

// cmplogAge is what a greeting reveals about the layout.
type cmplogAge uint8

const (
	noCmplog    cmplogAge = iota
	earlyCmplog           // 4.00 to 4.10
	lateCmplog            // 4.20, 4.21 or later
)

var cmplogLayouts = [...][]cmplogLayout{earlyCmplog: {
	{header: 8, shape: 48, area: 54, pair: 32, b: 8, areas: 64, areaB: 32, lengthA: 31, lengthB: 63, areaLength: 31},
}, lateCmplog: {
	{header: 2, shape: 6, area: 11, pair: 42, b: 8, areas: 66, areaB: 33, lengthA: 32, lengthB: 65, areaLength: 32},
	{header: 2, shape: 6, area: 11, pair: 72, b: 32, areas: 72, areaB: 32, lengthA: 64, lengthB: 65, areaLength: 32},
}}

// cmplogSize is the size of the largest layout. The kernel allocates no memory that no case writes.
const cmplogSize = cmplogPlaces * (2 + cmplogNumbers*72)

func (l *cmplogLayout) headerAt(mem []byte, place int) uint64 {
	h := mem[place*l.header:]
	if l.header == 2 {
		return uint64(binary.LittleEndian.Uint16(h))
	}
	return binary.LittleEndian.Uint64(h)
}

// log returns the pairs of a place.
func (l *cmplogLayout) log(mem []byte, place int) []byte {
	size := cmplogNumbers * l.pair
	return mem[cmplogPlaces*l.header+place*size:][:size]
}

// readCmplog returns what the last case compared, longest operands first because they are the most
// informative, and clears the memory for the next case. If several layouts greet alike, it uses the
// one with data for the most places that were reached.
func readCmplog(mem []byte, layouts []cmplogLayout) []process.Comparison {
	var places []int
	for place := range cmplogPlaces {
		if layouts[0].headerAt(mem, place) != 0 {
			places = append(places, place)
		}
	}
	holds := func(l *cmplogLayout) (n int) {
		for _, place := range places {
			if slices.ContainsFunc(l.log(mem, place), func(b byte) bool { return b != 0 }) {
				n++
			}
		}
		return n
	}
	layout, most := &layouts[0], -1
	if len(layouts) > 1 {
		for i := range layouts {
			if n := holds(&layouts[i]); n > most {
				layout, most = &layouts[i], n
			}
		}
	}
	var list []process.Comparison
	for _, place := range places {
		log := layout.log(mem, place)
		list = layout.read(list, layout.headerAt(mem, place), log)
		clear(log)
	}
	clear(mem[:cmplogPlaces*layout.header])
	slices.SortFunc(list, func(a, b process.Comparison) int {
		return cmp.Or(cmp.Compare(len(b.A), len(a.A)), cmp.Compare(a.Kind, b.Kind), bytes.Compare(a.A, b.A), bytes.Compare(a.B, b.B))
	})
	return slices.CompactFunc(list, func(a, b process.Comparison) bool {
		return a.Kind == b.Kind && bytes.Equal(a.A, b.A) && bytes.Equal(a.B, b.B)
	})
}

// read appends the pairs of a place whose operands differ.
func (l *cmplogLayout) read(list []process.Comparison, header uint64, log []byte) []process.Comparison {
	add := func(kind process.ComparisonKind, a, b []byte) {
		if !bytes.Equal(a, b) {
			list = append(list, process.Comparison{Kind: kind, A: bytes.Clone(a), B: bytes.Clone(b)})
		}
	}
	if header>>l.area&1 == 0 {
		if size := int(header>>l.shape&31) + 1; size <= 8 {
			for ; len(log) >= l.pair; log = log[l.pair:] {
				add(process.Numbers, log[:size], log[l.b:][:size])
			}
		}
		return list
	}
	for i := 0; i < cmplogAreas; i, log = i+1, log[l.areas:] {
		a := log[:min(int(log[l.lengthA]&^cmplogText), l.areaLength)]
		b := log[l.areaB:][:min(int(log[l.lengthB]&^cmplogText), l.areaLength)]
		if log[l.lengthA]&cmplogText == 0 {
			add(process.Areas, a, b)
			continue
		}
		a, _, _ = bytes.Cut(a, []byte{0})
		b, _, _ = bytes.Cut(b, []byte{0})
		add(process.Texts, a, b)
	}
	return list
}
