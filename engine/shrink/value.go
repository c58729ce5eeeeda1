package shrink

import "strconv"

// values tries trivial values in the place of strings and words, and tags without
// their attributes.
func (s *search) values() {
	if !maybeText(s.best) {
		return
	}
	for lo := 0; lo < len(s.best) && !s.stopped(); {
		t := scan(s.best, lo)
		switch {
		case t.kind == quoted:
			lo = s.emptied(t.span)
		case t.kind == word:
			lo = s.replaced(t.span, "0", "a", "null")
		case t.kind == opener && len(t.name) > 1:
			lo = s.replaced(t.span, t.name+">")
		case t.kind == mark && len(t.name) > 1:
			lo = s.replaced(t.span, t.name+"/>")
		default:
			lo = t.hi
		}
	}
}

// replaced tries values for a range until one holds, and returns the end of the
// range.
func (s *search) replaced(at span, values ...string) int {
	for _, v := range values {
		if s.edit(edit{at.lo, at.hi, []byte(v)}) {
			return at.lo + len(v)
		}
	}
	return at.hi
}

// emptied makes a string empty and then, if that holds, something shorter; a
// string whose content matters may work without its quotes.
func (s *search) emptied(at span) int {
	quote := string(s.best[at.lo])
	if at.hi-at.lo == 2 {
		return s.replaced(at, "0")
	}
	if s.edit(edit{at.lo, at.hi, []byte(quote + quote)}) {
		return s.replaced(span{at.lo, at.lo + 2}, "0")
	}
	if s.edit(edit{at.lo, at.lo + 1, nil}, edit{at.hi - 1, at.hi, nil}) {
		return at.hi - 2
	}
	return at.hi
}

// numbers lowers decimal numbers.
func (s *search) numbers() {
	for lo := 0; lo < len(s.best) && !s.stopped(); {
		switch {
		case !letter(s.best[lo]):
			lo++
		case !digit(s.best[lo]):
			lo = skip(s.best, lo, letter)
		default:
			lo = s.number(lo)
		}
	}
}

// number lowers the number at lo and returns its end.
func (s *search) number(lo int) int {
	whole := skip(s.best, lo, digit)
	full := fraction(s.best, whole)
	if full-lo > 1 {
		for _, v := range []string{"0", "1"} {
			if s.edit(edit{lo, full, []byte(v)}) {
				return lo + 1
			}
		}
	}
	if full > whole && !s.cut(whole, full) {
		return full
	}
	const most = 18 // digits that surely fit
	if whole-lo > most || s.best[lo] == '0' {
		return whole
	}
	text := string(s.best[lo:whole])
	high, _ := strconv.ParseInt(text, 10, 64) // at most 18 digits: cannot fail
	end := whole
	set := func(n int64) bool {
		v := strconv.AppendInt(nil, n, 10)
		if !s.edit(edit{lo, end, v}) {
			return false
		}
		end = lo + len(v)
		return true
	}
	// As with bytes: one step down shows whether a search is worth its tests.
	if high < 2 || !set(high-1) {
		return end
	}
	for low, high := int64(0), high-1; high-low > 1; {
		mid := low + (high-low)/2
		if set(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return end
}

// fraction returns the end of the fraction and exponent after digits that end at
// whole.
func fraction(b []byte, whole int) int {
	end := whole
	if end < len(b) && b[end] == '.' {
		if n := skip(b, end+1, digit); n > end+1 {
			end = n
		}
	}
	if end < len(b) && (b[end] == 'e' || b[end] == 'E') {
		sign := end + 1
		if sign < len(b) && (b[sign] == '+' || b[sign] == '-') {
			sign++
		}
		if n := skip(b, sign, digit); n > sign {
			end = n
		}
	}
	return end
}

// names replaces a word that occurs several times, such as the name in both ends
// of an element, by a short name at all places at once.
func (s *search) names() {
	if !maybeText(s.best) {
		return
	}
	order, places := repeated(s.best)
	for _, w := range order {
		for _, name := range []string{"a", "b", "c"} {
			edits := places[w]
			for i := range edits {
				edits[i].with = []byte(name)
			}
			if len(edits) > 1 && s.edit(edits...) {
				_, places = repeated(s.best) // the others have moved
				break
			}
		}
	}
}

// repeated finds the words that occur in a text more than once, in the order of
// their second occurrence, and where they occur.
func repeated(b []byte) (order []string, places map[string][]edit) {
	places = map[string][]edit{}
	for lo := 0; lo < len(b); {
		hi := max(lo+1, skip(b, lo, letter))
		if letter(b[lo]) {
			w := string(b[lo:hi])
			places[w] = append(places[w], edit{lo, hi, nil})
			if len(places[w]) == 2 {
				order = append(order, w)
			}
		}
		lo = hi
	}
	return order, places
}
