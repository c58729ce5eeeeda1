package textop

import (
	"slices"
	"strings"
)

// Third returns the operators of the third edition. Those of [Extended] stay the
// same, and so do the documents that draw them.
func Third() []Operator { return added(3) }

// Edition3 returns all operators, including those of the third edition, in which some
// of the first serve prompt injection as well.
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

// letterings write each Latin letter in another form; letters without one stay.
var letterings = []struct {
	id, purpose, origin string
	from, to            []rune
}{
	{"ipa", "Write words in symbols of the International Phonetic Alphabet that resemble their letters.", "phonetic spelling; PyRIT and promptfoo converters",
		[]rune("abcdefghijklmnopqrstuvwxyz"), []rune("ɑʙɕɖəɸɢʜɪʝƙʟɱɴɔƥʠʀʂʈʊʋʍχʏʐ")},
	{"arabizi", "Write words with the digits that Arabic chat spelling uses for sounds, where a letter has one.", "Arabizi; low-resource scripts (arXiv 2310.02446)",
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
			return d.eachWord(1, func(out []byte, word string) []byte {
				return cipherWide(out, strings.ToLower(word), func(r rune) rune {
					if at := slices.Index(a.from, r); at >= 0 {
						return a.to[at]
					}
					return r
				})
			})
		}})
	}
	swap := meta("op_lex_rare_words", "Replace common words with rarer synonyms.", byShare, "word swaps by frequency; TextAttack WordSwap")
	swap.Risk = Low
	list = append(list, builtin{meta: swap, apply: func(d *draft) string {
		return d.eachWord(1, func(out []byte, word string) []byte {
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
	foreign := meta("op_lex_dictionary", "Replace common words one for one with Spanish, German, French or Esperanto ones from a dictionary; other words and the grammar stay.",
		byShare, "translation attacks (arXiv 2310.02446), without a model")
	list = append(list, builtin{meta: foreign, apply: func(d *draft) string {
		at := d.index("language", len(languages))
		return d.eachWord(1, func(out []byte, word string) []byte {
			core := strings.TrimRight(word, ".,;:!?")
			known, ok := dictionary[strings.ToLower(core)]
			if !ok {
				return append(out, word...)
			}
			return append(append(out, known[at]...), word[len(core):]...)
		})
	}})
	code := meta("op_cipher_bijection", "Substitute letters by a code that the prompt explains, so that only a reader who applies it sees the text.",
		"5, 10, 15, 20 or all 26 letters.", "bijection learning (arXiv 2410.01294)")
	code.Grows, code.Inverse = "letters", "swap the letters back by the key of the trace; in lower case"
	return append(list, builtin{meta: code, apply: bijection})
}

// bijection puts a code before the text: the letters that it changes, each with its
// replacement.
func bijection(d *draft) string {
	n := min(5*d.strength+d.strength/5, 26)
	d.note("letters", n)
	key, order := []byte("abcdefghijklmnopqrstuvwxyz"), make([]int, 26)
	for i := range order {
		order[i] = i
	}
	d.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	out := append(d.out(), "Code:"...)
	for i, at := range order[:n] { // a cycle, so that none stays
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

// eachWord rewrites a share of the words with f. It ignores words of fewer than least
// bytes; with 0, it also flips a coin for blanks at the end of the text.
func (d *draft) eachWord(least int, f func(out []byte, word string) []byte) string {
	c, out := d.coin(d.share()), d.out()
	words(d.text, func(blanks, word string) {
		if out = append(out, blanks...); len(word) >= least && c.flip() {
			out = f(out, word)
			return
		}
		out = append(out, word...)
	})
	return d.done(out)
}

// rarer maps common English words to rarer ones.
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

// languages are the languages of [dictionary], by position in its entries.
var languages = []string{"es", "de", "fr", "eo"}

// dictionary maps common English words to other languages, each in its most usual
// sense, so that a reader of that language understands the sentence.
var dictionary = func() map[string][]string {
	m := map[string][]string{}
	for entry := range strings.FieldsSeq(`please=por_favor/bitte/s'il_vous_plaît/bonvolu say=di/sage/dis/diru tell=cuenta/erzähle/raconte/rakontu
		show=muestra/zeige/montre/montru give=da/gib/donne/donu write=escribe/schreibe/écris/skribu read=lee/lies/lis/legu
		repeat=repite/wiederhole/répète/ripetu ignore=ignora/ignoriere/ignore/ignoru answer=responde/antworte/réponds/respondu
		what=qué/was/que/kio which=cuál/welches/lequel/kiu where=dónde/wo/où/kie who=quién/wer/qui/kiu how=cómo/wie/comment/kiel
		the=el/das/le/la a=un/ein/un/iu is=es/ist/est/estas are=son/sind/sont/estas and=y/und/et/kaj or=o/oder/ou/aŭ not=no/nicht/pas/ne
		in=en/in/dans/en of=de/von/de/de to=a/zu/à/al for=para/für/pour/por with=con/mit/avec/kun without=sin/ohne/sans/sen
		that=que/das/que/tio this=este/dies/ceci/tio you=tú/du/tu/vi your=tu/dein/ton/via my=mi/mein/mon/mia me=me/mir/moi/min
		word=palabra/Wort/mot/vorto words=palabras/Wörter/mots/vortoj secret=secreta/geheim/secret/sekreta password=contraseña/Passwort/mot_de_passe/pasvorto
		key=clave/Schlüssel/clé/ŝlosilo rule=regla/Regel/règle/regulo rules=reglas/Regeln/règles/reguloj instruction=instrucción/Anweisung/instruction/instrukcio
		instructions=instrucciones/Anweisungen/instructions/instrukcioj question=pregunta/Frage/question/demando name=nombre/Name/nom/nomo number=número/Zahl/nombre/nombro
		bus=autobús/Bus/bus/buso house=casa/Haus/maison/domo old=viejo/alt/vieux/malnova new=nuevo/neu/nouveau/nova hidden=oculto/versteckt/caché/kaŝita
		first=primero/erste/premier/unua last=último/letzte/dernier/lasta all=todo/alles/tout/ĉio goes=va/fährt/va/iras stands=está/steht/est/staras`) {
		word, list, _ := strings.Cut(entry, "=")
		m[word] = strings.Split(strings.ReplaceAll(list, "_", " "), "/")
	}
	return m
}()
