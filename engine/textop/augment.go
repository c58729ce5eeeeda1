package textop

import (
	"unicode"
	"unicode/utf8"
)

// sigmas are the strengths of best-of-N augmentation: the paper uses 0.4.
var sigmas = [...]float64{0.1, 0.2, 0.4, 0.6, 0.8}

// roots are the square roots of the sigmas in percent, cubes their cubes: the
// chances of a shuffled word or capital, and of shifted codes.
var (
	roots = [...]int{32, 45, 63, 77, 89}
	cubes = [...]int{1, 2, 6, 22, 51}
)

func augmentations() []builtin {
	chance := "sigma 0.1, 0.2, 0.4, 0.6 or 0.8; the chance is "
	op := func(id, purpose, strength, origin, grows string, apply func(d *draft) string) builtin {
		return builtin{meta: Meta{
			ID: "op_aug_" + id, BucketTags: tags(PromptInjection, InputRobustness), SurfaceTags: anywhere(), Risk: Low,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: grows,
		}, apply: apply}
	}
	const paper = "Best-of-N Jailbreaking (arXiv 2412.03556)"
	percent := func(d *draft, table [5]int) int {
		p := table[d.strength-1]
		d.note("percent", p)
		return p
	}
	return []builtin{
		op("scramble", "Shuffle the inner letters of words longer than three letters.", chance+"its square root, for each word.", paper, "percent", func(d *draft) string {
			c := d.coin(percent(d, roots))
			return d.done(d.shuffleInner(d.out(), &c))
		}),
		op("capitals", "Swap upper and lower case.", chance+"its square root, for each letter.", paper+"; promptfoo camelcase", "percent", func(d *draft) string {
			c := d.coin(percent(d, roots))
			return d.done(capitals(d.out(), d.text, &c))
		}),
		op("ascii_noise", "Shift printable ASCII characters by one code, up or down.", chance+"its cube, for each character.", paper, "percent", func(d *draft) string {
			c := d.coin(percent(d, cubes))
			return d.done(d.shiftCodes(d.out(), d.text, &c))
		}),
		op("best_of_n", "Scramble, change case and add noise in one step, as best-of-N sampling does.", chance+"as in the three operators that this one joins.", paper, "sigma_percent", func(d *draft) string {
			d.note("sigma_percent", int(sigmas[d.strength-1]*100))
			c := d.coin(roots[d.strength-1])
			d.raw = d.shuffleInner(d.raw[:0], &c)
			c = d.coin(roots[d.strength-1])
			once := string(capitals(d.out(), string(d.raw), &c))
			c = d.coin(cubes[d.strength-1])
			return d.done(d.shiftCodes(d.out(), once, &c))
		}),
		op("case", "Change the case of words: upper, lower, title or alternating.", "5, 15, 35, 65 or 100 percent of the words.", "promptfoo camelcase; PyRIT converters", "percent", func(d *draft) string {
			form := d.choice("form", caseForms)
			return d.eachWord(0, func(out []byte, word string) []byte {
				n := 0
				for _, r := range word {
					upper := form == "upper" || form == "alternating" && n%2 == 1 || form == "title" && n == 0 || form == "last" && n+utf8.RuneLen(r) == len(word)
					if r < utf8.RuneSelf && upper {
						r = rune(toUpper(byte(r)))
					} else if r < utf8.RuneSelf {
						r = rune(toLower(byte(r)))
					} else if r > 0x17f && !unicode.IsUpper(r) && !unicode.IsLower(r) {
						// a script without cases
					} else if upper {
						r = unicode.ToUpper(r)
					} else {
						r = unicode.ToLower(r)
					}
					out = utf8.AppendRune(out, r)
					n++
				}
				return out
			})
		}),
		op("camel_case", "Join words without spaces and capitalise each, as in CamelCase.", "5, 15, 35, 65 or 100 percent of the words.", "promptfoo camelcase", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			words(d.text, func(blanks, word string) {
				if blanks == " " && word != "" && isLetter(word[0]) && c.flip() {
					out = append(append(out, toUpper(word[0])), word[1:]...)
					return
				}
				out = append(append(out, blanks...), word...)
			})
			return d.done(out)
		}),
		op("emphasis", "Wrap words in quotes, asterisks, brackets or tildes.", "5, 15, 35, 65 or 100 percent of the words.", "PyRIT converters; Markdown", "percent", func(d *draft) string {
			pair := d.choice("pair", emphases)
			half := len(pair) / 2
			return d.eachWord(1, func(out []byte, word string) []byte {
				return append(append(append(out, pair[:half]...), word...), pair[half:]...)
			})
		}),
	}
}

var (
	caseForms = []string{"upper", "lower", "title", "alternating", "last"}
	emphases  = []string{"''", `""`, "**", "****", "__", "[]", "()", "{}", "<>", "``", "~~", "~~~~", "[[]]", "{{}}"}
)

func toUpper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - 0x20
	}
	return b
}

func toLower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 0x20
	}
	return b
}

// shuffleInner appends the text with the inner characters of words shuffled.
func (d *draft) shuffleInner(out []byte, c *chance) []byte {
	words(d.text, func(blanks, word string) {
		out = append(out, blanks...)
		start := len(out)
		out = append(out, word...)
		if len(word) <= 3 || !c.flip() {
			return
		}
		if !ascii(word) {
			out = d.shuffleInnerWide(out[:start], word)
			return
		}
		inner := out[start+1 : len(out)-1]
		for i := len(inner) - 1; i > 0; i-- {
			j := d.rng.Index(i + 1)
			inner[i], inner[j] = inner[j], inner[i]
		}
	})
	return out
}

// shuffleInnerWide is scramble for a word of any script.
func (d *draft) shuffleInnerWide(out []byte, word string) []byte {
	ends := d.spots[:0]
	for i := 0; i < len(word); {
		i = clusterEnd(word, i)
		ends = append(ends, i)
	}
	d.spots = ends
	n := len(ends)
	if n <= 3 {
		return append(out, word...)
	}
	order := make([]int, n-2)
	for i := range order {
		order[i] = i + 1
	}
	d.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	out = append(out, word[:ends[0]]...)
	for _, k := range order {
		out = append(out, word[ends[k-1]:ends[k]]...)
	}
	return append(out, word[ends[n-2]:]...)
}

// capitals swaps the case of a share of the letters.
func capitals(out []byte, text string, c *chance) []byte {
	for i := range len(text) {
		b := text[i]
		if isLetter(b) {
			b ^= c.bit() << 5
		}
		out = append(out, b)
	}
	return out
}

// shiftCodes moves a share of the printable characters to a neighbouring code.
func (d *draft) shiftCodes(out []byte, text string, c *chance) []byte {
	for i := range len(text) {
		b := text[i]
		if b > ' ' && b < 0x7f && c.flip() && unmarked(text, i) {
			if b == '!' || b != '~' && d.rng.Bits(1) == 0 {
				b++
			} else {
				b--
			}
		}
		out = append(out, b)
	}
	return out
}
