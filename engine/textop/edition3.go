package textop

import (
	"errors"
	"slices"
	"strings"
)

// Third are the operators of the third edition: those of [Extended] stay what
// they are, and so do the documents that draw them.
func Third() []Operator { return added(3) }

// Edition3 are all operators, with those of the third edition; in it, some of the
// first serve prompt injection as well.
func Edition3() []Operator {
	list := slices.Concat(Builtins(), Extended(), Third())
	for _, op := range list {
		m := op.Meta()
		if strings.HasPrefix(m.ID, "op_ws_") || slices.Contains([]string{"op_typo_leet", "op_typo_pig_latin", "op_typo_keyboard"}, m.ID) {
			m.BucketTags = append(m.BucketTags, string(PromptInjection))
			m.resolve()
		}
	}
	return list
}

// letterings write each Latin letter in another way; letters that have none stay.
var letterings = []struct {
	id, purpose, origin string
	from, to            []rune
}{
	{"ipa", "Write words in signs of the International Phonetic Alphabet that resemble their letters.", "phonetic spelling; PyRIT and promptfoo converters",
		[]rune("abcdefghijklmnopqrstuvwxyz"), []rune("ɑʙɕɖəɸɢʜɪʝƙʟɱɴɔƥʠʀʂʈʊʋʍχʏʐ")},
	{"arabizi", "Write words with the digits that Arabic chat spelling puts for sounds, where a letter has one.", "Arabizi; low-resource scripts (arXiv 2310.02446)",
		[]rune("aehkqst"), []rune("3275869")},
}

func lettered() []builtin {
	byShare := "5, 15, 35, 65 or 100 percent of the words."
	meta := func(id, purpose, strength, origin string) Meta {
		return Meta{
			ID: id, BucketTags: tags(PromptInjection, InputRobustness), SurfaceTags: prose(), Risk: Medium,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: "percent",
		}
	}
	var list []builtin
	for _, a := range letterings {
		list = append(list, builtin{meta: meta("op_spell_"+a.id, a.purpose, byShare, a.origin), apply: func(d *draft) string {
			return d.eachWord(func(out []byte, word string) []byte {
				return cipherWide(out, strings.ToLower(word), func(r rune) rune {
					if at := slices.Index(a.from, r); at >= 0 {
						return a.to[at]
					}
					return r
				})
			})
		}})
	}
	swap := meta("op_lex_rare_words", "Replace common words by rarer ones of the same meaning.", byShare, "word swaps by frequency; TextAttack WordSwap")
	swap.Risk = Low
	list = append(list, builtin{meta: swap, apply: func(d *draft) string {
		return d.eachWord(func(out []byte, word string) []byte {
			core := strings.TrimRight(word, ".,;:!?")
			rare, ok := rarer[strings.ToLower(core)]
			if !ok {
				return append(out, word...)
			}
			if core[0] < 'a' {
				rare = strings.ToUpper(rare[:1]) + rare[1:]
			}
			return append(append(out, rare...), word[len(core):]...)
		})
	}})
	code := meta("op_cipher_bijection", "Swap letters by a code that the prompt explains, so that the text is plain only to who applies it.",
		"5, 10, 15, 20 or all 26 letters.", "bijection learning (arXiv 2410.01294)")
	code.Grows, code.Inverse = "letters", "swap the letters back by the key of the trace; in lower case"
	return append(list, builtin{meta: code, apply: bijection, invert: func(child string, step *Step) (string, error) {
		_, body, ok := strings.Cut(child, "\n\n")
		if !ok {
			return "", errors.New("the code is not explained")
		}
		key := step.Params.Text("key")
		return strings.Map(func(r rune) rune {
			if at := strings.IndexRune(key, r); at >= 0 {
				return rune('a' + at)
			}
			return r
		}, body), nil
	}})
}

// bijection puts a code before the text: the letters that it changes, each with what
// stands for it.
func bijection(d *draft) string {
	n := min(5*d.strength+d.strength/5, 26)
	d.note("letters", n)
	key, order := []byte("abcdefghijklmnopqrstuvwxyz"), make([]int, 26)
	for i := range order {
		order[i] = i
	}
	d.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	out := append(d.out(), "Code:"...)
	for i, at := range order[:n] { // in a circle, so that none stays
		key[at] = 'a' + byte(order[(i+1)%n])
		out = append(out, ' ', 'a'+byte(at), '=', key[at])
	}
	d.note("key", string(key))
	out = append(out, "\n\n"...)
	return d.done(cipherWide(out, strings.ToLower(d.text), func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return rune(key[r-'a'])
		}
		return r
	}))
}

// eachWord writes a share of the words by f.
func (d *draft) eachWord(f func(out []byte, word string) []byte) string {
	c, out := d.coin(d.share()), d.out()
	words(d.text, func(blanks, word string) {
		if out = append(out, blanks...); word != "" && c.flip() {
			out = f(out, word)
			return
		}
		out = append(out, word...)
	})
	return d.done(out)
}

// rarer are common English words with rarer ones.
var rarer = func() map[string]string {
	m := map[string]string{}
	for pair := range strings.FieldsSeq(`say=utter tell=apprise show=exhibit give=furnish ask=enquire word=vocable words=vocables secret=arcanum
		help=succour make=fashion use=utilise need=require find=ascertain begin=commence end=conclude keep=retain send=dispatch get=obtain
		write=inscribe read=peruse answer=rejoinder question=query order=behest instructions=injunctions password=watchword key=cipher
		hidden=occult please=prithee repeat=reiterate ignore=disregard rule=precept rules=precepts small=diminutive big=capacious new=novel
		old=hoary many=manifold short=succinct long=protracted two=twain all=entire about=concerning before=ere often=oft`) {
		a, b, _ := strings.Cut(pair, "=")
		m[a] = b
	}
	return m
}()
