package shrink

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// counted is lengths for the most certain guesses.
func (s *search) counted() { s.lengths(tiles) }

// lengths deletes bytes after a binary length and lowers the length accordingly:
// formats that check lengths allow no deletion otherwise. Which bytes are lengths
// is a guess (see lengthFields) with at least this much trust, and the test
// decides.
func (s *search) lengths(trust int) {
	const most = 1 << 16
	if len(s.best) > most || !binaryBytes(s.best) {
		return
	}
	fields := lengthFields(s.best, trust)
	start, doubt := s.version, s.stats.Tests+16+len(s.best)/8
	for i := 0; i < len(fields) && !s.stopped(); i++ {
		if s.version == start && s.stats.Tests > doubt {
			return // none of the best guesses was right
		}
		at, before := fields[i].at, s.version
		if s.records(fields, i); s.version != before {
			fields = lengthFields(s.best, trust)
		}
		// Everything before a change stays as it was.
		i, _ = slices.BinarySearchFunc(fields, at, lengthField.before)
		if i == len(fields) || fields[i].at != at {
			i--
			continue
		}
		before = s.version
		if s.body(fields, i); s.version != before {
			fields = lengthFields(s.best, trust)
			i, _ = slices.BinarySearchFunc(fields, at+1, lengthField.before)
			i--
		}
	}
}

// binaryBytes reports whether an input has bytes that do not occur in text.
func binaryBytes(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' })
}

// records deletes whole records: a row of records that begin with a field, with
// lengths of one kind.
func (s *search) records(fields []lengthField, first int) {
	f := fields[first]
	if f.next == 0 || first > 0 && slices.ContainsFunc(fields[:first], f.follows) {
		return // not the first of its row
	}
	for _, lead := range slices.Compact([]int{0, f.extra}) {
		var units []span
		for at := f.at - lead; at >= 0 && at+lead+f.width <= len(s.best); {
			size := f.read(s.best[at+lead:])
			end := at + f.width + size + f.extra
			if size < 0 || end > len(s.best) {
				break
			}
			units = append(units, span{at, end})
			at = end
		}
		if len(units) > 1 && s.thin(units, 1, around(fields, first)) {
			return
		}
	}
}

// body deletes bytes after a field, down to single ones unless they contain
// fields of their own. Any part of a record's extra bytes may be between its
// length and what that counts.
func (s *search) body(fields []lengthField, i int) {
	f, outer := fields[i], around(fields, i)
	least := 1
	if i+1 < len(fields) && fields[i+1].at < f.end() {
		least = max(1, f.size/8)
	}
	counted := append(slices.Clone(outer), f)
	for _, lead := range slices.Compact([]int{f.extra, f.extra / 2, 0}) {
		own := &counted[len(outer)]
		units := ones(f.at+f.width+lead, min(f.at+f.width+lead+own.size, len(s.best)))
		if !s.thin(units, least, counted) && len(outer) > 0 {
			s.thin(units, least, counted[len(outer):])
		}
	}
}

// ones returns the bytes of a range as units.
func ones(lo, hi int) []span {
	units := make([]span, max(0, hi-lo))
	for i := range units {
		units[i] = span{lo + i, lo + i + 1}
	}
	return units
}

// thin deletes runs of units, from all of them down to runs of least, and lowers
// the fields accordingly. It soon gives up if nothing can be deleted.
func (s *search) thin(units []span, least int, fields []lengthField) (changed bool) {
	fails := 6
	for size := len(units); size >= least && size > 0; size /= 2 {
		for j := len(units); j > 0 && !s.stopped(); {
			i := max(0, j-size)
			gone := span{units[i].lo, units[j-1].hi}
			if s.cutWithin(gone, fields) {
				for k := j; k < len(units); k++ {
					units[k].lo -= gone.hi - gone.lo
					units[k].hi -= gone.hi - gone.lo
				}
				units, changed = slices.Delete(units, i, j), true
			} else if fails--; fails <= 0 && !changed {
				return false
			}
			j = i
		}
	}
	return changed
}

// cutWithin tries the best input without a range, with all fields, which precede
// it in order, lowered by its length.
func (s *search) cutWithin(gone span, fields []lengthField) bool {
	n := gone.hi - gone.lo
	edits := make([]edit, 0, len(fields)+1)
	for _, f := range fields {
		if f.size < n || f.at+f.width > gone.lo {
			return false
		}
		edits = append(edits, edit{f.at, f.at + f.width, f.bytes(f.size - n)})
	}
	if !s.edit(append(edits, edit{gone.lo, gone.hi, nil})...) {
		return false
	}
	for i := range fields {
		fields[i].size -= n
	}
	return true
}

// lengthField is a number that may be the length of what follows it.
type lengthField struct {
	at, width int
	order     binary.ByteOrder
	size      int
	extra     int // bytes of a record besides its length and what that counts
	next      int // position of the next record's length; 0: it is the last record
	row       int // number of records from this one to the end
	trust     int
}

// end returns where the field's content ends at most.
func (f lengthField) end() int { return f.at + f.width + f.size + f.extra }

// follows reports whether f is the record after before.
func (f lengthField) follows(before lengthField) bool {
	return before.next == f.at && before.width == f.width && before.order == f.order && before.extra == f.extra
}

// read returns the number at the beginning of b; -1 if it is larger than any
// input.
func (f lengthField) read(b []byte) int {
	switch {
	case f.width == 1:
		return int(b[0])
	case f.width == 2:
		return int(f.order.Uint16(b))
	case f.order.Uint32(b) > 1<<30:
		return -1
	}
	return int(f.order.Uint32(b))
}

// bytes encodes another number for the field.
func (f lengthField) bytes(size int) []byte {
	b := make([]byte, 4)
	switch f.width {
	case 1:
		b[0] = byte(size)
	case 2:
		f.order.PutUint16(b, uint16(size))
	case 4:
		f.order.PutUint32(b, uint32(size))
	}
	return b[:f.width]
}

// around returns the fields that surely include a field in their count, from the
// outermost to the innermost.
func around(fields []lengthField, i int) []lengthField {
	var outer []lengthField
	for _, g := range fields[:i] {
		if g.trust == tiles && g.at+g.width <= fields[i].at && g.end() >= fields[i].at+fields[i].width+fields[i].size {
			outer = append(outer, g)
		}
	}
	return outer
}

// Trust in a guess.
const (
	fits  = iota // the number is no larger than what follows
	ends         // it ends where its container ends
	tiles        // and it, or a row of records that it begins, is at the container's beginning
)

// lengthFields guesses the lengths in an input, ordered and without overlaps.
func lengthFields(b []byte, trust int) []lengthField {
	const most = 24
	found := appendFields(nil, b, 0, trust, 0)
	weight := func(f lengthField) int { return f.row * f.width * f.width }
	slices.SortStableFunc(found, func(f, g lengthField) int {
		return cmp.Or(cmp.Compare(g.trust, f.trust), cmp.Compare(weight(g), weight(f)), cmp.Compare(g.size, f.size))
	})
	var chosen []lengthField
	for _, f := range found {
		if len(chosen) < most && !slices.ContainsFunc(chosen, f.excludes) {
			chosen = append(chosen, f)
		}
	}
	slices.SortFunc(chosen, func(f, g lengthField) int { return f.before(g.at) })
	return chosen
}

// excludes reports whether two fields cannot both be lengths: they share bytes,
// or what they count overlaps without one containing the other.
func (f lengthField) excludes(g lengthField) bool {
	if f.at > g.at {
		f, g = g, f
	}
	end := f.at + f.width + f.size
	return g.at < f.at+f.width || g.at < end && g.at+g.width+g.size > end
}

// before orders fields by position.
func (f lengthField) before(at int) int { return cmp.Compare(f.at, at) }

// kinds are the encodings of lengths, with how many bytes a record may have
// besides its length and what that counts: tags, types, checksums.
var kinds = []struct {
	width  int
	order  binary.ByteOrder
	extras []int
}{
	{4, binary.LittleEndian, []int{0, 1, 2, 4, 8, 12}},
	{4, binary.BigEndian, []int{0, 1, 2, 4, 8, 12}},
	{2, binary.LittleEndian, []int{0, 1, 2, 4}},
	{2, binary.BigEndian, []int{0, 1, 2, 4}},
	{1, binary.LittleEndian, []int{0, 1, 2}},
}

// appendFields appends the fields of b, which begins at from in the input, and
// those in the bodies of fields that it trusts.
func appendFields(found []lengthField, b []byte, from, trust, depth int) []lengthField {
	const deepest = 6
	first := len(found)
	for _, kind := range kinds {
		for _, extra := range kind.extras {
			found = appendKind(found, b, lengthField{width: kind.width, order: kind.order, extra: extra}, trust)
		}
	}
	for i := range found[first:] {
		f := &found[first+i]
		if f.trust == tiles && f.size > 2 && depth < deepest {
			lo := f.at + f.width
			found = appendFields(found, b[lo:min(lo+f.size, len(b))], lo+from, max(trust, tiles), depth+1)
			f = &found[first+i]
		}
		f.at += from
		if f.next > 0 {
			f.next += from
		}
	}
	return found
}

// appendKind appends the fields of one kind. It works from the end, so that it
// knows for every position how many records follow each other from there to the
// end.
func appendKind(found []lengthField, b []byte, f lengthField, trust int) []lengthField {
	const header = 32
	row := make([]int, len(b)+1)
	mine := len(found)
	for f.at = len(b) - f.width; f.at >= 0; f.at-- {
		f.size, f.next, f.trust, f.row = f.read(b[f.at:]), 0, fits, 1
		end := f.at + f.width + f.size
		if f.size < 0 || end > len(b) {
			continue
		}
		switch next := end + f.extra; {
		case next >= len(b): // the extra bytes may be before the length
			row[f.at] = 1
			if end == len(b) && f.extra > 0 && f.width > 1 {
				continue // the same as without extra bytes
			}
			if next == len(b) || end == len(b) {
				f.trust = ends
			}
		case row[next] > 0:
			row[f.at] = row[next] + 1
			f.trust, f.next, f.row = ends, next, row[f.at]
		case f.extra > 0:
			continue // the same as without extra bytes
		}
		if f.size > 0 && (f.width > 1 || f.trust > fits || b[f.at] < ' ') {
			found = append(found, f)
		}
	}
	// A row that begins at the beginning is not a coincidence.
	start := -1
	for i := len(found) - 1; i >= mine; i-- {
		f := &found[i]
		if start < 0 && f.trust == ends && f.at <= header && (f.row > 1 || f.width > 1 || f.at == 0) || f.at == start {
			f.trust, start = tiles, f.next
		}
	}
	kept := slices.DeleteFunc(found[mine:], func(f lengthField) bool { return f.trust < trust })
	return found[:mine+len(kept)]
}
