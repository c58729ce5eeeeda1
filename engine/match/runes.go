package match

import (
	"slices"
	"sync"
	"unicode"
)

// interval is the characters from lo to hi, both included.
type interval struct{ lo, hi rune }

// runeSet is a set of characters: intervals in order, none touching the next.
type runeSet []interval

func single(r rune) runeSet { return runeSet{{r, r}} }

// only returns the character of a set that holds one.
func (s runeSet) only() (rune, bool) {
	if len(s) == 1 && s[0].lo == s[0].hi {
		return s[0].lo, true
	}
	return 0, false
}

func (s runeSet) has(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(i interval, r rune) int {
		switch {
		case i.hi < r:
			return -1
		case i.lo > r:
			return 1
		}
		return 0
	})
	return found
}

// normal makes a set from intervals in any order.
func normal(list []interval) runeSet {
	slices.SortFunc(list, func(a, b interval) int { return int(a.lo) - int(b.lo) })
	var out runeSet
	for _, i := range list {
		if n := len(out); n > 0 && i.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, i.hi)
		} else {
			out = append(out, i)
		}
	}
	return out
}

// union merges two sets, which are in order.
func (s runeSet) union(o runeSet) runeSet {
	out := make(runeSet, 0, len(s)+len(o))
	for len(s)+len(o) > 0 {
		from := &s
		if len(s) == 0 || len(o) > 0 && o[0].lo < s[0].lo {
			from = &o
		}
		i := (*from)[0]
		*from = (*from)[1:]
		if n := len(out); n > 0 && i.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, i.hi)
		} else {
			out = append(out, i)
		}
	}
	return out
}

func (s runeSet) complement() runeSet {
	var out runeSet
	next := rune(0)
	for _, i := range s {
		if next < i.lo {
			out = append(out, interval{next, i.lo - 1})
		}
		next = i.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, interval{next, unicode.MaxRune})
	}
	return out
}

func (s runeSet) minus(o runeSet) runeSet {
	return s.complement().union(o).complement()
}

func ofTables(tables ...*unicode.RangeTable) runeSet {
	var list []interval
	for _, t := range tables {
		for _, r := range t.R16 {
			list = appendStride(list, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			list = appendStride(list, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normal(list)
}

func appendStride(list []interval, lo, hi, stride rune) []interval {
	if stride == 1 {
		return append(list, interval{lo, hi})
	}
	for r := lo; r <= hi; r += stride {
		list = append(list, interval{r, r})
	}
	return list
}

// The categories of escapes as Python has them: \w is str.isalnum and the
// underscore, \d is str.isdecimal, \s is str.isspace.
var (
	wordSet = sync.OnceValue(func() runeSet {
		return ofTables(unicode.L, unicode.N).union(single('_'))
	})
	digitSet      = sync.OnceValue(func() runeSet { return ofTables(unicode.Nd) })
	spaceSet      = runeSet{{'\t', '\r'}, {0x1c, ' '}, {0x85, 0x85}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	asciiWordSet  = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	asciiDigitSet = runeSet{{'0', '9'}}
	asciiSpaceSet = runeSet{{'\t', '\r'}, {' ', ' '}}
)

// folding is how re.IGNORECASE folds characters. A character c matches the
// pattern's p if both have the same simple lower case, or if these lower-case
// letters have the same upper case, like s and ſ.
type folding struct {
	cased   []rune          // every character that is not alone in its class
	classes map[rune][]rune // each of them to the members of its class
}

var unicodeFolding = sync.OnceValue(func() *folding {
	lowers := make(map[rune][]rune) // lower case to the characters that have it
	seen := make(map[rune]bool)
	see := func(r rune) {
		if !seen[r] {
			seen[r] = true
			lowers[unicode.ToLower(r)] = append(lowers[unicode.ToLower(r)], r)
		}
	}
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			see(r)
			see(unicode.ToLower(r))
		}
	}
	// Lower-case letters of equal upper case. Three pairs are equal only in
	// their full upper case, which is more than one character.
	uppers := make(map[rune][]rune)
	for _, same := range [...][2]rune{{0x390, 0x1fd3}, {0x3b0, 0x1fe3}, {0xfb05, 0xfb06}} {
		see(same[0])
		see(same[1])
		uppers[-same[0]] = same[:]
	}
	for l := range lowers {
		uppers[unicode.ToUpper(l)] = append(uppers[unicode.ToUpper(l)], l)
	}
	f := &folding{classes: make(map[rune][]rune)}
	equal := make(map[rune][]rune)
	for _, group := range uppers {
		for _, l := range group {
			equal[l] = append(equal[l], group...)
		}
	}
	for l, members := range lowers {
		var class []rune
		for _, e := range equal[l] {
			class = append(class, lowers[e]...)
		}
		slices.Sort(class)
		class = slices.Compact(class)
		if len(class) < 2 {
			continue
		}
		for _, m := range members {
			f.cased = append(f.cased, m)
			f.classes[m] = class
		}
	}
	slices.Sort(f.cased)
	return f
})

// foldCase adds every character that matches one of the set when case is
// ignored; in ASCII mode only A-Z and a-z have a case.
func (s runeSet) foldCase(ascii bool) runeSet {
	extra := slices.Clone(s)
	if ascii {
		const shift = 'a' - 'A'
		for r := rune('a'); r <= 'z'; r++ {
			if s.has(r) || s.has(r-shift) {
				extra = append(extra, interval{r, r}, interval{r - shift, r - shift})
			}
		}
		return normal(extra)
	}
	f := unicodeFolding()
	for _, i := range s {
		from, _ := slices.BinarySearch(f.cased, i.lo)
		for _, r := range f.cased[from:] {
			if r > i.hi {
				break
			}
			for _, m := range f.classes[r] {
				extra = append(extra, interval{m, m})
			}
		}
	}
	return normal(extra)
}
