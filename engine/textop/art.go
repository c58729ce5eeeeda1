package textop

import "strconv"

// glyphs are the capital letters, five rows of five dots each.
var glyphs = [26][5]byte{
	{0b01110, 0b10001, 0b11111, 0b10001, 0b10001}, // A
	{0b11110, 0b10001, 0b11110, 0b10001, 0b11110}, // B
	{0b01111, 0b10000, 0b10000, 0b10000, 0b01111}, // C
	{0b11110, 0b10001, 0b10001, 0b10001, 0b11110}, // D
	{0b11111, 0b10000, 0b11110, 0b10000, 0b11111}, // E
	{0b11111, 0b10000, 0b11110, 0b10000, 0b10000}, // F
	{0b01111, 0b10000, 0b10011, 0b10001, 0b01111}, // G
	{0b10001, 0b10001, 0b11111, 0b10001, 0b10001}, // H
	{0b11111, 0b00100, 0b00100, 0b00100, 0b11111}, // I
	{0b00111, 0b00010, 0b00010, 0b10010, 0b01100}, // J
	{0b10001, 0b10010, 0b11100, 0b10010, 0b10001}, // K
	{0b10000, 0b10000, 0b10000, 0b10000, 0b11111}, // L
	{0b10001, 0b11011, 0b10101, 0b10001, 0b10001}, // M
	{0b10001, 0b11001, 0b10101, 0b10011, 0b10001}, // N
	{0b01110, 0b10001, 0b10001, 0b10001, 0b01110}, // O
	{0b11110, 0b10001, 0b11110, 0b10000, 0b10000}, // P
	{0b01110, 0b10001, 0b10101, 0b10010, 0b01101}, // Q
	{0b11110, 0b10001, 0b11110, 0b10010, 0b10001}, // R
	{0b01111, 0b10000, 0b01110, 0b00001, 0b11110}, // S
	{0b11111, 0b00100, 0b00100, 0b00100, 0b00100}, // T
	{0b10001, 0b10001, 0b10001, 0b10001, 0b01110}, // U
	{0b10001, 0b10001, 0b10001, 0b01010, 0b00100}, // V
	{0b10001, 0b10001, 0b10101, 0b11011, 0b10001}, // W
	{0b10001, 0b01010, 0b00100, 0b01010, 0b10001}, // X
	{0b10001, 0b01010, 0b00100, 0b00100, 0b00100}, // Y
	{0b11111, 0b00010, 0b00100, 0b01000, 0b11111}, // Z
}

// inks are the characters that a letter can be drawn with.
const inks = "#*@$%X+=oO8&"

// asciiArt draws words of Latin letters and leaves gaps in the text.
func asciiArt(d *draft) string {
	spots := d.latinWords(d.strength, 3, 16)
	if len(spots) == 0 {
		return d.skip("no_latin_word")
	}
	ink := inks[d.rng.Index(len(inks))]
	out, from := append(d.out(), d.oneOf(artHeads)...), 0
	for k, at := range spots {
		word := latinWord(d.text[at:])
		out = append(append(out, d.text[from:at]...), "[WORD "...)
		out = append(strconv.AppendInt(out, int64(k+1), 10), ']')
		from = at + len(word)
	}
	out = append(append(out, d.text[from:]...), '\n')
	for k, at := range spots {
		word := latinWord(d.text[at:])
		out = append(out, "\nWORD "...)
		out = append(strconv.AppendInt(out, int64(k+1), 10), '\n')
		for row := range 5 {
			for i := range len(word) {
				dots := glyphs[word[i]|0x20-'a'][row]
				for bit := 4; bit >= 0; bit-- {
					if dots>>bit&1 == 1 {
						out = append(out, ink)
					} else {
						out = append(out, ' ')
					}
				}
				out = append(out, ' ')
			}
			out = append(out, '\n')
		}
	}
	return d.done(out)
}

var artHeads = []string{
	"Read the drawn words, put them into the gaps, and answer:\n", "The gaps below stand for words in large letters.\n", "Solve the picture puzzle first:\n",
	"Some words are drawn under the text.\n", "Replace each [WORD n] by the word drawn for it.\n", "Banner text follows.\n",
}

// fillGaps removes words from the text and lists them below it.
func fillGaps(d *draft) string {
	spots := d.latinWords(d.edits(), 2, 64)
	if len(spots) == 0 {
		return d.skip("no_latin_word")
	}
	open, shut := "[", "]"
	if d.rng.Index(2) == 1 {
		open, shut = "__", "__"
	}
	name := d.oneOf([]string{"gap", "x", "slot", "word", "MASK", "blank"})
	out, from := d.out(), 0
	for k, at := range spots {
		out = append(append(append(out, d.text[from:at]...), open...), name...)
		out = append(strconv.AppendInt(out, int64(k+1), 10), shut...)
		from = at + len(latinWord(d.text[at:]))
	}
	out = append(append(append(out, d.text[from:]...), "\n\n"...), d.oneOf([]string{"Where:", "With these values:", "Legend:", "Put in:", "Definitions:"})...)
	for k, at := range spots {
		out = append(append(out, '\n'), name...)
		out = append(strconv.AppendInt(out, int64(k+1), 10), " = "...)
		out = append(out, latinWord(d.text[at:])...)
	}
	return d.done(out)
}

// latinWords draws up to n words of least to most Latin letters and returns
// where they begin, in order.
func (d *draft) latinWords(n, least, most int) []int {
	spots := d.sitesOf(n, isLetter)
	kept := spots[:0]
	for _, at := range spots {
		for at > 0 && isLetter(d.text[at-1]) {
			at--
		}
		if w := latinWord(d.text[at:]); len(w) >= least && len(w) <= most && boundary(d.text, at) && boundary(d.text, at+len(w)) && (len(kept) == 0 || kept[len(kept)-1] < at) {
			kept = append(kept, at)
		}
	}
	return kept
}

// latinWord returns the run of Latin letters at the beginning of a text.
func latinWord(text string) string {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	return text[:n]
}
