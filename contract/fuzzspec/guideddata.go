package fuzzspec

import (
	"encoding/binary"

	"github.com/thresh-dev/thresh/port/process"
)

// encodeKept is the data of a case that joins the corpus: its work, then its tuples in ascending
// order, delta encoded.
func encodeKept(work uint64, edges []uint32) []byte {
	b := binary.AppendUvarint([]byte{0, 'k'}, work)
	last := uint32(0)
	for _, e := range edges {
		b = binary.AppendUvarint(b, uint64(e-last))
		last = e
	}
	return b
}

func decodeKept(b []byte) (work uint64, edges []uint32) {
	if len(b) < 2 || b[0] != 0 || b[1] != 'k' {
		return 0, nil
	}
	work, n := binary.Uvarint(b[2:])
	return work, ascending(b[2+max(n, 0):])
}

// ascending decodes delta-encoded numbers.
func ascending(b []byte) (list []uint32) {
	last := uint32(0)
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		b = b[n:]
		last += uint32(d)
		list = append(list, last)
	}
	return list
}

// encodeAside is the data of a case that was set aside: its key, made of the edges that it took
// within its budget or of its input, then its edges that no hanging case took.
func (g *guided) encodeAside(res *process.Result, input []byte) []byte {
	if res.Status == process.SetAside {
		return append([]byte{0, 't'}, digest(input)[:16]...)
	}
	var places, fresh []byte
	last, lastFresh := uint32(0), uint32(0)
	for _, e := range res.Edges {
		if e>>8 == last {
			continue
		}
		last = e >> 8
		places = binary.LittleEndian.AppendUint32(places, last)
		if !g.hung[last] {
			fresh = binary.AppendUvarint(fresh, uint64(last-lastFresh))
			lastFresh = last
		}
	}
	return append(append([]byte{0, 'b'}, digest(places)[:16]...), fresh...)
}

// decodeAside decodes the result of encodeAside.
func decodeAside(data []byte) (key string, fresh []uint32, ok bool) {
	const size = 1 + 16
	if len(data) < 1+size || data[0] != 0 || data[1] != 'b' && data[1] != 't' {
		return "", nil, false
	}
	return string(data[1 : 1+size]), ascending(data[1+size:]), true
}

// isLate reports whether the key belongs to a case that exceeded its time.
func isLate(key string) bool { return key[0] == 't' }
