package textop

import "sort"

// alphabet is a run of code points that a cipher rotates.
type alphabet struct{ first, size rune }

// alphabets are the letters and digits that ciphers know besides those of
// ASCII, which have a faster way, in order. A run contains only letters or
// digits, and only conjoining jamo of one kind, so that no mark loses its base
// and no syllable its form. The list is written out here instead of derived
// from Unicode's tables, so that children stay the same when these grow.
var alphabets = [...]alphabet{
	// Latin
	{0xc0, 23}, {0xd8, 7}, {0xdf, 24}, {0xf8, 8}, {0x100, 128}, {0x180, 208},
	// Greek
	{0x388, 3}, {'Α', 17}, {'Σ', 9}, {'ά', 4}, {'α', 25}, {'ϊ', 5},
	// Cyrillic
	{'Ѐ', 16}, {'А', 32}, {'а', 32}, {'ѐ', 16}, {0x48a, 118}, {0x500, 48},
	// Armenian, Hebrew, Arabic
	{0x531, 38}, {0x561, 38}, {'א', 27}, {'ء', 26}, {'ف', 10}, {'٠', 10}, {0x671, 99}, {'۰', 10},
	// Devanagari, Bengali, Gurmukhi, Gujarati, Odia
	{'अ', 53}, {'०', 10}, {0x985, 8}, {0x995, 20}, {0x9aa, 7}, {0x9b6, 4}, {'০', 10}, {0xa15, 20}, {0xa66, 10},
	{0xa95, 20}, {0xaaa, 7}, {0xae6, 10}, {0xb15, 20}, {0xb66, 10},
	// Tamil, Telugu, Kannada, Malayalam, Sinhala
	{0xb85, 6}, {0xb8e, 3}, {0xb92, 4}, {0xb99, 2}, {0xb9e, 2}, {0xba3, 2}, {0xba8, 3}, {0xbae, 12}, {0xbe6, 10},
	{0xc15, 20}, {0xc2a, 16}, {0xc66, 10}, {0xc95, 20}, {0xcaa, 10}, {0xce6, 10}, {0xd0e, 3}, {0xd12, 41}, {0xd66, 10}, {0xd9a, 24},
	// Thai, Lao's digits, Burmese, Georgian
	{0xe01, 46}, {0xe40, 5}, {0xe50, 10}, {0xed0, 10}, {0x1000, 42}, {0x1040, 10}, {0x10a0, 38}, {0x10d0, 43},
	// Hangul: leading consonants, vowels, trailing consonants
	{0x1100, 19}, {0x1161, 21}, {0x11a8, 27},
	// Ethiopic, Cherokee, Khmer, Mongolian, further Latin
	{0x1200, 73}, {0x1260, 41}, {0x12d8, 57}, {0x1318, 67}, {0x13a0, 86}, {0x1780, 52}, {0x17e0, 10}, {0x1820, 89}, {0x1e00, 256},
	// Kana, Bopomofo, compatibility jamo, Han, Hangul syllables
	{'ぁ', 86}, {'ァ', 90}, {0x3105, 43}, {0x3131, 51}, {0x3400, 6592}, {'一', 20992}, {'가', 11172},
	// full and half width, mathematical, further Han
	{'０', 10}, {'Ａ', 26}, {'ａ', 26}, {0xff66, 56}, {0x1d400, 85}, {0x1d456, 71}, {0x1d4d0, 54}, {0x1d552, 340}, {0x1d7ce, 50}, {0x20000, 42720},
}

// alphabetOf finds the run that a code point is in.
func alphabetOf(r rune) (alphabet, bool) {
	switch {
	case r < alphabets[0].first:
		if r >= '0' && r <= '9' {
			return alphabet{'0', 10}, true
		}
		return alphabet{}, false
	case r >= '가' && r < '가'+11172:
		return alphabet{'가', 11172}, true
	case r >= '一' && r < '一'+20992:
		return alphabet{'一', 20992}, true
	}
	i := sort.Search(len(alphabets), func(i int) bool { return alphabets[i].first > r }) - 1
	if a := alphabets[i]; r < a.first+a.size {
		return a, true
	}
	return alphabet{}, false
}

// share scales a shift of 26 places, for Latin letters, to the size of the
// alphabet: ROT13 is ROT5 for digits. Only shift 0 becomes 0.
func (a alphabet) share(shift int) rune {
	if shift == 0 {
		return 0
	}
	return max(1, a.size*rune(shift)/26)
}

// turn shifts a letter or a digit by a share of its alphabet. Other characters
// stay.
func turn(r rune, shift int) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+rune(shift))%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+rune(shift))%26
	}
	if a, ok := alphabetOf(r); ok {
		return a.first + (r-a.first+a.share(shift))%a.size
	}
	return r
}

// atbash mirrors an alphabet: the first letter becomes the last.
func atbash(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + 'z' - r
	case r >= 'A' && r <= 'Z':
		return 'A' + 'Z' - r
	}
	if a, ok := alphabetOf(r); ok {
		return a.first + a.size - 1 - (r - a.first)
	}
	return r
}
