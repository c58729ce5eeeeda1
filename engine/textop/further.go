package textop

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spelled are alphabets in which letters are words, between blanks; a word of the
// text ends in a slash.
var spelled = []struct {
	id, name, origin string
	words            []string // of a to z and 0 to 9
}{
	{"morse", "Morse code", "garak and PyRIT MorseConverter; promptfoo morse", strings.Fields(
		".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. " +
			"----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.")},
	{"nato", "the NATO spelling alphabet", "PyRIT NatoConverter", strings.Fields(
		"Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu " +
			"Zero One Two Three Four Five Six Seven Eight Nine")},
	{"numbers", "the numbers of letters in the alphabet", "bijection learning (arXiv 2410.01294)", strings.Fields(
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 n0 n1 n2 n3 n4 n5 n6 n7 n8 n9")},
}

// spellings write every letter and digit as a word. Letters of other scripts stay;
// other characters and the case of letters are lost.
func spellings() []builtin {
	var list []builtin
	for _, s := range spelled {
		list = append(list, builtin{
			meta: Meta{
				ID: "op_spell_" + s.id, BucketTags: tags(PromptInjection, InputRobustness), SurfaceTags: prose(), Risk: Medium,
				Purpose:     "Spell the letters and digits of the text in " + s.name + ", to see whether a filter reads what the model can.",
				StrengthDoc: "1 and 2: the code alone; 3: with a line that names it; 4 and 5: with a line that asks to decode and answer.",
				Origin:      s.origin, Inverse: "decode, given the frame of the trace; without case and marks",
			},
			apply: func(d *draft) string {
				out := d.out()
				if d.strength >= 3 {
					out = append(out, frame(d.strength, d.index("frame", len(naming)), s.name)...)
				}
				start, coded := len(out), false
				for _, word := range strings.FieldsFunc(strings.ToLower(norm.NFC.String(d.text)), func(r rune) bool { return place(r) < 0 && !unspelled(r) }) {
					if len(out) > start {
						out = append(out, " /"...)
					}
					stays := false
					for _, r := range word {
						at := place(r)
						if len(out) > start && !(stays && at < 0) {
							out = append(out, ' ')
						}
						if stays = at < 0; stays {
							out = utf8.AppendRune(out, r)
						} else {
							out, coded = append(out, s.words[at]...), true
						}
					}
				}
				if !coded {
					return d.skip("no_letters")
				}
				return d.done(out)
			},
		})
	}
	return list
}

// place returns the position of a letter or digit in an alphabet; -1: it is
// neither.
func place(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return int(r - 'a')
	case r >= '0' && r <= '9':
		return 26 + int(r-'0')
	}
	return -1
}

// unspelled reports whether a character is part of a word that no alphabet can
// spell.
func unspelled(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

func retrievals() []builtin {
	return []builtin{
		{meta: Meta{
			ID: "op_rag_keyword_stuffing", BucketTags: tags(VectorWeakness, Poisoning), SurfaceTags: on(RAGContext), Risk: Medium,
			Purpose:     "Repeat words of the text many times, so that a search ranks it first.",
			StrengthDoc: "4, 8, 16, 32 or 64 repeated words.",
			Grows:       "keywords", Origin: "PoisonedRAG (arXiv 2402.07867); search-engine spam",
		}, apply: func(d *draft) string {
			n := 2 << d.strength
			d.note("keywords", n)
			var list []string
			words(d.text, func(_, word string) {
				if len(word) > 3 && len(list) < 256 {
					list = append(list, word)
				}
			})
			if len(list) == 0 {
				return d.skip("no_keywords")
			}
			sep := d.oneOf([]string{" ", ", ", "; ", " | ", "\n"})
			out := d.out()
			front := d.rng.Index(2) == 0
			if !front {
				out = append(append(out, d.text...), '\n')
			}
			for range n {
				out = append(append(out, d.oneOf(list)...), sep...)
			}
			if front {
				out = append(append(out, '\n'), d.text...)
			}
			return d.done(out)
		}},
	}
}
