package textop

// keyNeighbours are the keys beside each letter on a QWERTY keyboard.
var keyNeighbours = [128]string{
	'q': "wa12", 'w': "qesa23", 'e': "wrsd34", 'r': "etdf45", 't': "ryfg56", 'y': "tugh67", 'u': "yihj78", 'i': "uojk89", 'o': "ipkl90", 'p': "ol0-",
	'a': "qwsz", 's': "awedxz", 'd': "serfcx", 'f': "drtgvc", 'g': "ftyhbv", 'h': "gyujnb", 'j': "huikmn", 'k': "jiolm,", 'l': "kop;.",
	'z': "asx", 'x': "zsdc", 'c': "xdfv", 'v': "cfgb", 'b': "vghn", 'n': "bhjm", 'm': "njk,",
}

// leets are the signs that stand for letters.
var leets = [128]string{
	'a': "4@", 'b': "8", 'c': "(<", 'e': "3", 'g': "96", 'h': "#", 'i': "1!", 'l': "1|", 'o': "0", 's': "5$", 't': "7+", 'x': "%", 'z': "2",
}

func typos() []builtin {
	edits := "1, 2, 4, 8 or 16 edits."
	op := func(id, purpose, strength, origin, grows string, apply func(d *draft) string) builtin {
		return builtin{meta: Meta{
			ID: "op_typo_" + id, BucketTags: tags(InputRobustness), SurfaceTags: anywhere(), Risk: Low,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: grows,
		}, apply: apply}
	}
	return []builtin{
		op("keyboard", "Replace letters with their neighbours on the keyboard.", edits, "TextAttack WordSwapQWERTY; PyRIT converters", "edits", func(d *draft) string {
			return d.replaceLetters(func(out []byte, b byte) []byte {
				near := keyNeighbours[b|0x20]
				return append(out, near[d.rng.Index(len(near))])
			})
		}),
		op("swap", "Swap neighbouring characters.", edits, "PyRIT CharSwapConverter; TextAttack", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				if at < from {
					continue
				}
				mid := clusterEnd(d.text, at)
				if mid >= len(d.text) {
					break
				}
				end := clusterEnd(d.text, mid)
				out = append(append(append(out, d.text[from:at]...), d.text[mid:end]...), d.text[at:mid]...)
				from = end
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("delete", "Leave characters out.", edits, "TextAttack WordSwapRandomCharacterDeletion", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				out = append(out, d.text[from:at]...)
				from = clusterEnd(d.text, at)
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("double", "Repeat keystrokes.", edits, "TextAttack; typing errors", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				end := clusterEnd(d.text, at)
				out = append(out, d.text[from:end]...)
				for range 1 + d.rng.Index(3) {
					out = append(out, d.text[at:end]...)
				}
				from = end
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("insert", "Insert stray letters.", edits, "TextAttack WordSwapRandomCharacterInsertion", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				out = append(append(out, d.text[from:at]...), byte('a'+d.rng.Index(26)))
				from = at
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("leet", "Write letters as digits and symbols (leetspeak).", "5, 15, 35, 65 or 100 percent of the letters that have one.", "promptfoo leetspeak; PyRIT LeetspeakConverter", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			for i := range len(d.text) {
				b := d.text[i]
				if isLetter(b) {
					if signs := leets[b|0x20]; signs != "" && c.flip() && unmarked(d.text, i) {
						b = signs[0]
						if len(signs) > 1 && d.rng.Bits(1) == 1 {
							b = signs[1]
						}
					}
				}
				out = append(out, b)
			}
			return d.done(out)
		}),
		op("vowels", "Remove vowels from words.", "5, 15, 35, 65 or 100 percent of the vowels inside words.", "text-message spelling; PyRIT converters", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			for i := range len(d.text) {
				b := d.text[i]
				if i > 0 && isVowel(b|0x20) && isLetter(d.text[i-1]) && boundary(d.text, i+1) && c.flip() {
					continue
				}
				out = append(out, b)
			}
			return d.done(out)
		}),
		op("pig_latin", "Move the leading consonants of words to their end and add a syllable.", "5, 15, 35, 65 or 100 percent of the Latin words.", "promptfoo piglatin; PyRIT converters", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			words(d.text, func(blanks, word string) {
				out = append(out, blanks...)
				end := 0
				for end < len(word) && isLetter(word[end]) {
					end++
				}
				if end == 0 || !boundary(word, end) || !c.flip() {
					out = append(out, word...)
					return
				}
				at := 0
				for at < end && !isVowel(word[at]|0x20) {
					at++
				}
				out = append(append(out, word[at:end]...), word[:at]...)
				if at == 0 {
					out = append(out, 'w')
				}
				out = append(append(out, "ay"...), word[end:]...)
			})
			return d.done(out)
		}),
		op("punctuation", "Insert punctuation into and between words.", edits, "PyRIT InsertPunctuationConverter", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			signs := []string{".", ",", ";", ":", "!", "?", "-", "_", "'", "\"", "*", "~", "^", "/", "|", "…"}
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				out = append(append(out, d.text[from:at]...), d.oneOf(signs)...)
				from = at
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("separators", "Put a separator between the characters of words.", "5, 15, 35, 65 or 100 percent of the words.", "PyRIT StringJoinConverter, CharacterSpaceConverter", "percent", func(d *draft) string {
			sign := d.choice("sign", []string{"-", ".", "_", " ", "*", "/", "|", "·", "+", "~"})
			return d.eachWord(0, func(out []byte, word string) []byte {
				for i := 0; i < len(word); {
					j := clusterEnd(word, i)
					if i > 0 {
						out = append(out, sign...)
					}
					out = append(out, word[i:j]...)
					i = j
				}
				return out
			})
		}),
		op("split_words", "Split words in two, where a word filter does not expect it.", "1, 2, 4, 8 or 16 places.", "token splitting; TextBugger (arXiv 1812.05271)", "edits", func(d *draft) string {
			n := d.edits()
			d.note("edits", n)
			out, from := d.out(), 0
			for _, at := range d.sites(n) {
				if at == 0 || isBlank(d.text[at]) || isBlank(d.text[at-1]) {
					continue
				}
				out = append(append(out, d.text[from:at]...), ' ')
				from = at
			}
			return d.done(append(out, d.text[from:]...))
		}),
		op("join_words", "Remove spaces between words.", "5, 15, 35, 65 or 100 percent of the spaces.", "TextBugger (arXiv 1812.05271)", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			for i := range len(d.text) {
				if d.text[i] == ' ' && boundary(d.text, i+1) && c.flip() {
					continue
				}
				out = append(out, d.text[i])
			}
			return d.done(out)
		}),
	}
}

// unmarked reports whether the ASCII character at byte i has no mark.
func unmarked(text string, i int) bool {
	return i+1 == len(text) || text[i+1] < 0x80 || boundary(text, i+1)
}

func isVowel(b byte) bool { return b == 'a' || b == 'e' || b == 'i' || b == 'o' || b == 'u' }

// replaceLetters calls f for as many letters as the strength says.
func (d *draft) replaceLetters(f func(out []byte, b byte) []byte) string {
	n := d.edits()
	d.note("edits", n)
	out, from := d.out(), 0
	for _, at := range d.sitesOf(n, isLetter) {
		out = f(append(out, d.text[from:at]...), d.text[at])
		from = at + 1
	}
	return d.done(append(out, d.text[from:]...))
}
