package textop

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// lookalikes are characters that look like an ASCII letter or digit in common
// typefaces, from the confusables of Unicode Technical Standard 39, and a few
// more that people confuse.
var lookalikes = [128]string{
	'a': "аɑα", 'b': "ЬƄᖯ", 'c': "сϲⅽ", 'd': "ԁⅾᑯ", 'e': "еҽ℮", 'f': "ſẝք", 'g': "ɡցƍ", 'h': "һհᏂ", 'i': "іⅰı",
	'j': "јϳյ", 'k': "кκĸ", 'l': "ӏⅼǀ", 'm': "ⅿмṃ", 'n': "ոռη", 'o': "оοօ", 'p': "рρ⍴", 'q': "ԛգզ", 'r': "гᴦⲅ",
	's': "ѕꜱƽ", 't': "тτᴛ", 'u': "υսᴜ", 'v': "νѵⅴ", 'w': "ԝѡա", 'x': "хⅹᕁ", 'y': "уүγ", 'z': "ᴢʐż",
	'A': "АΑᎪ", 'B': "ВΒᏴ", 'C': "СϹⅭ", 'D': "ⅮᎠᗞ", 'E': "ЕΕᎬ", 'F': "ϜҒᖴ", 'G': "ԌᏀꓖ", 'H': "НΗᎻ", 'I': "ІΙⅠ",
	'J': "ЈᎫꓙ", 'K': "КΚK", 'L': "ⅬᏞꓡ", 'M': "МΜⅯ", 'N': "ΝⲚꓠ", 'O': "ОΟՕ", 'P': "РΡᏢ", 'Q': "ԚⵕႭ", 'R': "ᎡƦꓣ",
	'S': "ЅՏᏚ", 'T': "ТΤᎢ", 'U': "Սሀꓴ", 'V': "ѴⅤᏙ", 'W': "ԜᎳꓪ", 'X': "ХΧⅩ", 'Y': "ΥҮⲨ", 'Z': "ΖᏃꓜ",
	'0': "Οо߀", '1': "ӏІ𝟏", '2': "Ƨշᒿ", '3': "ЗƷЭ", '4': "Ꮞ𝟒५", '5': "Ƽ𝟓", '6': "бᏮ", '7': "𝟕７", '8': "Ȣ৪", '9': "৭ⳋ",
}

// foreign are look-alikes of letters beyond ASCII: Cyrillic, Greek, kana and
// ideographs, jamo, Arabic.
var foreign = map[rune]string{
	'а': "aα", 'е': "e℮", 'о': "oο", 'р': "pρ", 'с': "cϲ", 'у': "yү", 'х': "xⅹ", 'і': "iⅰ", 'ј': "jϳ", 'ѕ': "sꜱ", 'в': "ʙ", 'к': "κĸ", 'м': "ⅿ", 'т': "τᴛ", 'н': "ʜ",
	'А': "AΑ", 'В': "BΒ", 'Е': "EΕ", 'К': "KΚ", 'М': "MΜ", 'Н': "HΗ", 'О': "OΟ", 'Р': "PΡ", 'С': "CϹ", 'Т': "TΤ", 'Х': "XΧ", 'З': "3Ʒ",
	'α': "aа", 'ο': "oо", 'ν': "vѵ", 'ρ': "pр", 'υ': "uս", 'κ': "кĸ", 'τ': "тᴛ", 'γ': "yү", 'η': "ոn", 'ι': "іı",
	'Α': "AА", 'Β': "BВ", 'Ε': "EЕ", 'Ζ': "ZᏃ", 'Η': "HН", 'Ι': "IІ", 'Κ': "KК", 'Μ': "MМ", 'Ν': "NⲚ", 'Ο': "OО", 'Ρ': "PР", 'Τ': "TТ", 'Υ': "YҮ", 'Χ': "XХ",
	'カ': "力", 'ロ': "口", 'エ': "工", 'タ': "夕", 'ト': "卜", 'ハ': "八", 'ニ': "二", 'ヘ': "へ", 'へ': "ヘ", 'り': "リ", 'リ': "り", 'ー': "一", '一': "ー", '口': "ロ", '二': "ニ", '八': "ハ", '力': "カ", '工': "エ",
	'ㄱ': "ᄀ", 'ㅡ': "ー一", 'ㅣ': "｜丨", 'ㅇ': "○o", 'ㅁ': "口ロ",
	'ي': "یى", 'ى': "یي", 'ک': "ك", 'ك': "ک", 'ه': "ە", 'ا': "أٱ", '٠': "۰", '١': "۱", '٢': "۲", '٣': "۳",
}

// lookalike returns the characters that look like r, or "".
func lookalike(r rune) string {
	if r < utf8.RuneSelf {
		return lookalikes[r]
	}
	return foreign[r]
}

// nth returns character n of a short text.
func nth(s string, n int) rune {
	for _, r := range s {
		if n == 0 {
			return r
		}
		n--
	}
	return utf8.RuneError
}

func confusables() []builtin {
	obfuscation := tags(PromptInjection, InputRobustness)
	return []builtin{
		{meta: Meta{
			ID: "op_lex_homoglyph_injection", BucketTags: tags(PromptInjection), SurfaceTags: on(PromptText), Risk: Medium,
			Purpose:     "Replace a few letters with look-alikes and insert a few invisible characters.",
			StrengthDoc: "strength + 1 edits in all, of which strength - 1 are replacements where letters allow.",
			Grows:       "budget", Origin: "the original mutation engine of this contract, version 0.2, whose order of draws it keeps",
		}, apply: homoglyphInjection},
		{meta: Meta{
			ID: "op_uni_confusable", BucketTags: obfuscation, SurfaceTags: anywhere(), Risk: Medium,
			Purpose:     "Replace a share of the letters with look-alikes from other scripts, to get past filters that compare characters.",
			StrengthDoc: "5, 15, 35, 65 or 100 percent of the letters that have look-alikes.",
			Grows:       "percent", Origin: "Unicode TR39; PyRIT UnicodeConfusableConverter; garak smuggling",
		}, apply: func(d *draft) string {
			c := d.coin(d.share())
			out := d.out()
			for i := 0; i < len(d.text); {
				r, n := rune(d.text[i]), 1
				if r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(d.text[i:])
				}
				if like := lookalike(r); like != "" && c.flip() {
					out = utf8.AppendRune(out, nth(like, d.rng.Index(utf8.RuneCountInString(like))))
				} else {
					out = append(out, d.text[i:i+n]...)
				}
				i += n
			}
			return d.done(out)
		}},
		{meta: Meta{
			ID: "op_uni_confusable_word", BucketTags: obfuscation, SurfaceTags: anywhere(), Risk: Medium,
			Purpose:     "Write whole words in look-alike letters and leave the others, so that no word mixes scripts.",
			StrengthDoc: "5, 15, 35, 65 or 100 percent of the words.",
			Grows:       "percent", Origin: "Unicode TR39, whole-script confusables; garak badchars (arXiv 2106.09898)",
		}, apply: func(d *draft) string {
			return d.eachWord(0, func(out []byte, word string) []byte {
				column := d.rng.Index(3)
				for _, r := range word {
					if like := lookalike(r); like != "" {
						r = nth(like, min(column, utf8.RuneCountInString(like)-1))
					}
					out = utf8.AppendRune(out, r)
				}
				return out
			})
		}},
	}
}

// homoglyphs are the replacements of homoglyphInjection, in the order of its
// choices. Vectors show those of H, I, a, c, e, i, o and p, and that s and y
// have some; the others are ours.
var homoglyphs = [128]string{
	'A': "АΑ", 'B': "ВΒ", 'C': "С", 'E': "ЕΕ", 'H': "ΗН", 'I': "І", 'J': "Ј", 'K': "КΚ", 'M': "МΜ", 'N': "Ν", 'O': "ОΟ", 'P': "РΡ", 'S': "Ѕ", 'T': "ТΤ", 'X': "ХΧ", 'Y': "ΥҮ",
	'a': "а", 'c': "сϲ", 'e': "е℮", 'i': "і", 'j': "ј", 'o': "оο", 'p': "р", 's': "ѕ", 'x': "х", 'y': "у",
}

// homoglyphEdit is an edit in a trace, where it is an array of these three
// values.
type homoglyphEdit struct {
	kind   string
	at     int
	detail string
}

// homoglyphInjection draws as the original does: a shuffle of the replaceable
// letters, a choice for each that is replaced, then for every insertion a choice
// of character and a position from 1 to the current length. It inserts anywhere,
// even inside an emoji.
func homoglyphInjection(d *draft) string {
	text := make([]rune, 0, d.points+d.strength+1)
	for _, r := range d.text {
		text = append(text, r)
	}
	budget := min(len(text), d.strength+1)
	replace := min(budget, d.strength-1)
	candidates := d.spots[:0]
	for i, r := range text {
		if r < utf8.RuneSelf && homoglyphs[r] != "" {
			candidates = append(candidates, i)
		}
	}
	d.spots = candidates
	edits := make([]homoglyphEdit, 0, budget)
	if len(candidates) > 0 && replace > 0 {
		d.rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
		for _, at := range candidates[:min(replace, len(candidates))] {
			from := text[at]
			text[at] = nth(homoglyphs[from], d.rng.Index(utf8.RuneCountInString(homoglyphs[from])))
			edits = append(edits, homoglyphEdit{"homoglyph_replace", at, string(from) + "->" + string(text[at])})
		}
	}
	replaced := len(edits)
	for range budget - replace {
		z := d.rng.Index(3)
		at := int(d.rng.Range(1, int64(len(text))+1))
		text = slices.Insert(text, at, rune(0x200b+z)) // zero-width space, non-joiner or joiner
		edits = append(edits, homoglyphEdit{"zw_insert", at, [...]string{`'\u200b'`, `'\u200c'`, `'\u200d'`}[z]})
	}
	d.note("mode", "homoglyph_or_zwsp")
	if len(edits) == 0 {
		// The original names the reason before the mode.
		d.params = d.params[:1]
		d.note("reason", ReasonNoChange)
		d.note("mode", "homoglyph_or_zwsp")
		return d.text
	}
	// The original's registry sorts the list of edits.
	slices.SortFunc(edits, func(a, b homoglyphEdit) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.detail, b.detail), cmp.Compare(a.at, b.at))
	})
	d.note("budget", budget)
	d.note("replaced", replaced)
	d.note("inserted", len(edits)-replaced)
	applied := make([]any, len(edits))
	for i, e := range edits {
		applied[i] = []any{e.kind, e.at, e.detail}
	}
	d.note("applied", applied)
	return string(text)
}
