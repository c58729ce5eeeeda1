package similarity

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Lexical is the measure without a model: the cosine of weighted counts of
// stems, of neighbouring pairs of them and of groups of three to five letters.
// The commonest words of English have little weight; small numbers are the same
// in words and in digits; markup, case and punctuation do not count. It knows no
// synonyms, so a paraphrase in different words scores low: see calibration.go
// for how often that matters.
type Lexical struct{}

// Name implements [Measure]. Any change of the numbers needs another name.
func (Lexical) Name() string { return "lexical-v1" }

// Score implements [Measure]; it is from 0 to 1 and has no error.
func (Lexical) Score(_ context.Context, a, b string) (float64, error) {
	return cosine(features(a), features(b)), nil
}

// Weights of the parts of a word: as a whole, as a neighbour, and all its groups
// of letters together.
const (
	pairWeight  = 0.3
	groupWeight = 0.6
	// commonWeight is what a common word weighs; others weigh 1.
	commonWeight = 0.12
)

// feature is a part of a text with its weight.
type feature struct {
	key    string
	weight float64
}

// features returns a text's features, sorted by key, so that sums over them have
// one order and are equal everywhere.
func features(text string) []feature {
	sums := make(map[string]float64)
	last, lastWeight := "", 0.0
	for _, w := range words(text) {
		weight := 1.0
		if common[w] {
			weight = commonWeight
		}
		s := stem(w)
		sums["w "+s] += weight
		if last != "" {
			sums["p "+last+" "+s] += pairWeight * math.Sqrt(weight*lastWeight)
		}
		last, lastWeight = s, weight
		groups := letterGroups(s)
		for _, g := range groups {
			sums["g "+g] += groupWeight * weight / math.Sqrt(float64(len(groups)))
		}
	}
	list := make([]feature, 0, len(sums))
	for k, v := range sums {
		if v > 1 {
			v = 1 + math.Log(v) // repetitions count, but less than proportionally
		}
		list = append(list, feature{k, v})
	}
	slices.SortFunc(list, func(a, b feature) int { return strings.Compare(a.key, b.key) })
	return list
}

func cosine(a, b []feature) float64 {
	if len(a) == 0 || len(b) == 0 {
		if len(a) == len(b) {
			return 1
		}
		return 0
	}
	var dot, aa, bb float64
	for _, f := range a {
		aa += f.weight * f.weight
	}
	for _, f := range b {
		bb += f.weight * f.weight
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := strings.Compare(a[i].key, b[j].key); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			dot += a[i].weight * b[j].weight
			i, j = i+1, j+1
		}
	}
	return min(dot/math.Sqrt(aa*bb), 1)
}

// words returns a text's words in lower case and without variants of accents:
// runs of letters and digits. In a script without spaces each letter is a word.
func words(text string) []string {
	var list []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			w := word.String()
			if n, ok := numbers[w]; ok {
				w = n
			}
			list = append(list, w)
			word.Reset()
		}
	}
	for _, r := range norm.NFKC.String(strings.ToLower(text)) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			word.WriteRune(r)
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			word.WriteRune(r)
		case r == '\'' || r == '’': // "we'll" is one word, "it's" too
		default:
			flush()
		}
	}
	flush()
	return list
}

// stem cuts the commonest endings of English words. It need not be right: it
// only has to map forms of one word together more often than different words.
func stem(w string) string {
	for _, ending := range [...]string{"ations", "ation", "ments", "ment", "ingly", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s", "e"} {
		if s, ok := strings.CutSuffix(w, ending); ok && len(s) >= 3 {
			if len(s) >= 4 && s[len(s)-1] == s[len(s)-2] { // "stopped"
				s = s[:len(s)-1]
			}
			return s
		}
	}
	return w
}

// letterGroups returns the groups of 3 to 5 letters of a word with its ends
// marked.
func letterGroups(w string) []string {
	runes := []rune("^" + w + "$")
	var list []string
	for n := 3; n <= 5; n++ {
		for i := 0; i+n <= len(runes); i++ {
			list = append(list, string(runes[i:i+n]))
		}
	}
	return list
}

// common are words that say little about the meaning of a text. Words of
// negation are not among them, since they say much.
var common = set(`a about after again all also am an and any are as at be because been before being but by can could
did do does doing done else for from get gets give given go goes going got had has have having he her here hers him his
how i if im in into is it its itself just let like made make may me might more most much must my of off ok okay on once
one only or other our ours out over own please same say says shall she should so some such sure than thank thanks that
thats the their theirs them then there these they this those through to too under until up upon us very was we well were
what when where which while who whom whose why will with would you your yours youre were ill well hello hi dear course
certainly glad happy help asking anything`)

func set(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}

// numbers maps small numbers in words to digits, and forms of negation to one.
var numbers = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "first": "1st", "second": "2nd", "third": "3rd",
	"cannot": "not", "cant": "not", "couldnt": "not", "dont": "not", "doesnt": "not", "didnt": "not", "wont": "not",
	"isnt": "not", "arent": "not", "wasnt": "not", "havent": "not", "unable": "not", "no": "not", "never": "not",
}
