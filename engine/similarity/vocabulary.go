package similarity

import "strings"

// common are words that say little about what a text means. Words that deny are
// not among them: they say much.
var common = set(`a about after again all also am an and any are as at be because been before being but by can could
did do does doing done else for from get gets give given go goes going got had has have having he her here hers him his
how i if im in into is it its itself just let like made make may me might more most much must my of off ok okay on once
one only or other our ours out over own please same say says shall she should so some such sure than thank thanks that
thats the their theirs them then there these they this those through to too under until up upon us very was we well were
what when where which while who whom whose why will with would you your yours youre were ill well hello hi dear course
certainly glad happy help asking anything`)

func set(text string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		words[w] = true
	}
	return words
}

// numbers are small numbers in words, and what denies in a few ways.
var numbers = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "first": "1st", "second": "2nd", "third": "3rd",
	"cannot": "not", "cant": "not", "couldnt": "not", "dont": "not", "doesnt": "not", "didnt": "not", "wont": "not",
	"isnt": "not", "arent": "not", "wasnt": "not", "havent": "not", "unable": "not", "no": "not", "never": "not",
}
