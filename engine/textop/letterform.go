package textop

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/engine/seq"
)

// style is a run of code points with another form of the Latin letters or digits. A
// zero start means that the style does not have these.
type style struct {
	name                string
	upper, lower, digit rune
}

// styles of the block of mathematical alphanumerics without holes, and other complete
// ones.
var styles = []style{
	{"bold", 0x1d400, 0x1d41a, 0x1d7ce}, {"bold_italic", 0x1d468, 0x1d482, 0}, {"bold_script", 0x1d4d0, 0x1d4ea, 0},
	{"bold_fraktur", 0x1d56c, 0x1d586, 0}, {"sans", 0x1d5a0, 0x1d5ba, 0x1d7e2}, {"sans_bold", 0x1d5d4, 0x1d5ee, 0x1d7ec},
	{"sans_italic", 0x1d608, 0x1d622, 0}, {"sans_bold_italic", 0x1d63c, 0x1d656, 0}, {"monospace", 0x1d670, 0x1d68a, 0x1d7f6},
}

var (
	circled  = []style{{"circled", 0x24b6, 0x24d0, 0}, {"negative_circled", 0x1f150, 0x1f150, 0}, {"squared", 0x1f130, 0x1f130, 0}, {"negative_squared", 0x1f170, 0x1f170, 0}, {"parenthesized", 0x1f110, 0x249c, 0}}
	fullform = []style{{"fullwidth", 0xff21, 0xff41, 0xff10}}
)

// in returns r in the style, or r.
func (s *style) in(r rune) rune {
	switch {
	case s.upper > 0 && r >= 'A' && r <= 'Z':
		return s.upper + r - 'A'
	case s.lower > 0 && r >= 'a' && r <= 'z':
		return s.lower + r - 'a'
	case s.digit > 0 && r >= '0' && r <= '9':
		return s.digit + r - '0'
	}
	return r
}

func letterforms() []builtin {
	obfuscation := tags(PromptInjection, InputRobustness)
	byShare := "5, 15, 35, 65 or 100 percent of the words."
	op := func(id, purpose, strength, origin, grows string, apply func(d *draft) string) builtin {
		return builtin{meta: Meta{
			ID: "op_uni_" + id, BucketTags: obfuscation, SurfaceTags: anywhere(), Risk: Medium,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: grows,
		}, apply: apply}
	}
	styled := func(list []style) func(d *draft) string {
		names := seq.Map(list, func(s style) string { return s.name })
		return func(d *draft) string {
			name := d.choice("style", names)
			at := slices.Index(names, name)
			return d.eachWord(0, func(out []byte, word string) []byte { return cipherWide(out, word, list[at].in) })
		}
	}
	withStyle := func(b builtin, list []style) builtin {
		spec := ParamSpec{Name: "style", Kind: "choice", Doc: "the form of the letters"}
		for _, s := range list {
			spec.Choices = append(spec.Choices, s.name)
		}
		b.meta.Params = append(b.meta.Params, spec)
		return b
	}
	return []builtin{
		withStyle(op("math_letters", "Write words in mathematical letters, which people read and filters do not.", byShare, "PyRIT converters; garak probes.encoding", "percent", styled(styles)), styles),
		withStyle(op("circled_letters", "Write words in circled, squared or parenthesised letters.", byShare, "PyRIT UnicodeSubstitution and its kind", "percent", styled(circled)), circled),
		withStyle(op("fullwidth", "Write words in full-width letters, as in East Asian typesetting.", byShare, "PyRIT converters; common filter bypass", "percent", styled(fullform)), fullform),
		op("superscript", "Write letters and digits as superscripts.", byShare, "PyRIT SuperscriptConverter; promptfoo", "percent", func(d *draft) string {
			return d.eachWord(0, func(out []byte, word string) []byte {
				return cipherWide(out, word, raise)
			})
		}),
		op("diacritics", "Add accents to letters.", "5, 15, 35, 65 or 100 percent of the Latin letters.", "PyRIT DiacriticConverter", "percent", func(d *draft) string {
			accent := rune(0x300 + d.index("accent", 16))
			return d.mark(d.share(), func(dst []byte) []byte { return utf8.AppendRune(dst, accent) })
		}),
		op("zalgo", "Stack combining marks on letters.", "up to 1, 2, 4, 8 or 16 marks on each letter.", "PyRIT ZalgoConverter", "marks", func(d *draft) string {
			most := d.edits()
			d.note("marks", most)
			return d.mark(100, func(dst []byte) []byte {
				// One word of the generator decides the marks of one letter.
				w := d.rng.Uint32()
				for range 1 + int(w>>28)%most {
					w = w*1664525 + 1013904223
					mark := byte(w >> 24 % 0x6f) // U+0300 to U+036E
					dst = append(dst, 0xcc+mark>>6, 0x80|mark&63)
				}
				return dst
			})
		}),
		op("decompose", "Decompose accented letters and Hangul syllables, which look the same afterwards (normal form D).", "5, 15, 35, 65 or 100 percent of the words.", "Unicode UAX #15; garak badchars (arXiv 2106.09898)", "percent", func(d *draft) string {
			return d.eachWord(0, func(out []byte, word string) []byte {
				if ascii(word) {
					return append(out, word...)
				}
				return norm.NFD.AppendString(out, word)
			})
		}),
		op("compatibility", "Replace characters with compatibility forms: ligatures, half-width kana, numbers in one character.", "5, 15, 35, 65 or 100 percent of the places.", "Unicode UAX #15, normal form KC", "percent", compatibility),
		op("hangul_jamo", "Write Hangul syllables as separate letters, as they are typed.", "5, 15, 35, 65 or 100 percent of the syllables.", "transliteration attacks; Unicode chapter 3.12", "percent", hangulJamo),
		op("regional_letters", "Write words in regional indicator letters, of which flags are made.", byShare, "PyRIT emoji converters; promptfoo emoji", "percent", func(d *draft) string {
			return d.eachWord(0, func(out []byte, word string) []byte {
				for i := range len(word) {
					if isLetter(word[i]) {
						// A zero-width space keeps two letters from becoming a flag.
						out = append(utf8.AppendRune(out, 0x1f1e6+rune(word[i]|0x20-'a')), "\u200b"...)
					} else {
						out = append(out, word[i])
					}
				}
				return out
			})
		}),
	}
}

// cipherWide is cipherText for a map from ASCII to other characters.
func cipherWide(dst []byte, text string, f func(rune) rune) []byte {
	for _, r := range text {
		dst = utf8.AppendRune(dst, f(r))
	}
	return dst
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// raised are the superscripts of a to z.
var raised = []rune("ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ")

func raise(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return raised[r-'a']
	case r >= 'A' && r <= 'Z':
		return raised[r-'A']
	case r == '1':
		return '¹'
	case r == '2' || r == '3':
		return '²' + r - '2'
	case r >= '0' && r <= '9':
		return '⁰' + r - '0'
	}
	return r
}

// mark copies the text and calls f after a share of the Latin letters, where marks can
// follow.
func (d *draft) mark(percent int, f func(dst []byte) []byte) string {
	c, out := d.coin(percent), d.out()
	for i := range len(d.text) {
		b := d.text[i]
		out = append(out, b)
		if isLetter(b) && c.flip() {
			out = f(out)
		}
	}
	return d.done(out)
}

// ligatures are pairs and triples of characters that Unicode has as one.
var ligatures = []struct{ plain, one string }{
	{"ffi", "ﬃ"}, {"ffl", "ﬄ"}, {"ff", "ﬀ"}, {"fi", "ﬁ"}, {"fl", "ﬂ"}, {"st", "ﬆ"}, {"ij", "ĳ"}, {"lj", "ǉ"}, {"nj", "ǌ"}, {"dz", "ǳ"}, {"ii", "ⅱ"},
	{"10", "⑩"}, {"12", "⑫"}, {"1", "①"}, {"2", "②"}, {"3", "③"}, {"4", "④"}, {"5", "⑤"}, {"6", "⑥"}, {"7", "⑦"}, {"8", "⑧"}, {"9", "⑨"},
	{"...", "…"}, {"!!", "‼"}, {"?!", "⁈"}, {"??", "⁇"}, {"no", "№"}, {"tel", "℡"}, {"kg", "㎏"}, {"cm", "㎝"}, {"pm", "㏘"}, {"am", "㏂"}, {"hz", "㎐"}, {"in", "㏌"}, {"a/c", "℀"}, {"oz", "㏆"},
	{"e", "ｅ"}, {"t", "ｔ"}, {"s", "ｓ"}, {"h", "ℎ"}, {"l", "ℓ"}, {"i", "ⅰ"}, {"v", "ⅴ"}, {"x", "ⅹ"}, {"c", "ⅽ"}, {"d", "ⅾ"}, {"m", "ⅿ"},
	{"ア", "ｱ"}, {"イ", "ｲ"}, {"ウ", "ｳ"}, {"ス", "ｽ"}, {"ト", "ﾄ"}, {"ン", "ﾝ"}, {"ル", "ﾙ"}, {"가", "㈎"}, {"나", "㈏"}, {"다", "㈐"}, {"日", "㊐"}, {"月", "㊊"}, {"一", "㊀"}, {"لا", "ﻻ"}, {"ا", "ﺍ"},
}

// ligaturesBy are the ligatures by the first byte of their plain form, longest first.
var ligaturesBy = func() (by [256][]int) {
	for i, l := range ligatures {
		by[l.plain[0]] = append(by[l.plain[0]], i)
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b int) int { return len(ligatures[b].plain) - len(ligatures[a].plain) })
	}
	return by
}()

func compatibility(d *draft) string {
	c, out := d.coin(d.share()), d.out()
	for i := 0; i < len(d.text); {
		n := 0
		for _, k := range ligaturesBy[d.text[i]] {
			l := &ligatures[k]
			if strings.HasPrefix(d.text[i:], l.plain) && boundary(d.text, i+len(l.plain)) {
				if c.flip() {
					out = append(out, l.one...)
					n = len(l.plain)
				}
				break
			}
		}
		if n == 0 {
			out = append(out, d.text[i])
			n = 1
		}
		i += n
	}
	return d.done(out)
}

// The letters of Hangul in the order of the syllable block.
var (
	jamoLead  = []rune("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")
	jamoVowel = []rune("ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ")
	jamoTail  = []rune("ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
)

func hangulJamo(d *draft) string {
	c, out := d.coin(d.share()), d.out()
	for i, r := range d.text {
		if r < 0xac00 || r > 0xd7a3 || !boundary(d.text, i+3) || !c.flip() {
			out = utf8.AppendRune(out, r)
			continue
		}
		n := int(r - 0xac00)
		out = utf8.AppendRune(out, jamoLead[n/588])
		out = utf8.AppendRune(out, jamoVowel[n%588/28])
		if t := n % 28; t > 0 {
			out = utf8.AppendRune(out, jamoTail[t-1])
		}
	}
	return d.done(out)
}
