package fault

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// gibberish is the text of an LLM that has lost its mind.
const gibberish = "\x00\x01\x02 ▓▓▒░ xq#7 \x1b[31m ��� zzkrt 0x1f{{{ \x07 ~~~"

// Text returns the text of an answer after a text fault. For an unchanged text, why
// has the reason.
func (s *Strike) Text(text string) (changed, why string) {
	r := &s.Rule
	switch r.Mode {
	case Empty:
		return "", ""
	case Garbage:
		return gibberish, ""
	case Truncated:
		words := strings.Fields(text)
		if len(words) <= r.MaxTokens {
			return text, fmt.Sprintf("the answer has only %d words", len(words))
		}
		return strings.Join(words[:r.MaxTokens], " "), ""
	case Drift:
		return driftAnswer(r, text)
	}
	return text, string(r.Mode) + " does not change text"
}

func driftAnswer(r *Rule, text string) (changed, why string) {
	switch r.DriftType {
	case DriftFieldRename:
		return renameField(text)
	case DriftFormat:
		return flatten(text)
	case DriftVerbosity:
		return verbosity(text, r.Direction, r.Factor)
	case DriftRefusal:
		return reword(text, refusals, "the answer contains no refusal to reword")
	default:
		return reword(text, tones, "the answer contains none of the phrases whose tone is shifted")
	}
}

// renameField renames one of five keys, the first that occurs, that newer models
// have been seen to rename.
func renameField(text string) (changed, why string) {
	d, err := jsontree.Parse([]byte(text), lenient)
	if err != nil || d.Root.Kind != jsontree.Object {
		return text, "the answer is not a JSON object"
	}
	for i, m := range d.Root.Members {
		if i == 5 {
			break
		}
		name := ""
		switch m.Key {
		case "action":
			name = "tool_name"
		case "tool_name":
			name = "action"
		case "name", "type", "output":
			name = m.Key + "_v2"
		default:
			continue
		}
		end := m.KeyOffset + keyLength(text[m.KeyOffset:])
		return string(spliced([]byte(text), []splice{{m.KeyOffset, end, quoted(name)}})), ""
	}
	return text, "none of the first five keys is action, tool_name, name, type or output"
}

// keyLength returns the length of the JSON string at the beginning of a text.
func keyLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// flatten writes the first ten members of a JSON object as plain text.
func flatten(text string) (changed, why string) {
	d, err := jsontree.Parse([]byte(text), lenient)
	if err != nil || d.Root.Kind != jsontree.Object || len(d.Root.Members) == 0 {
		return text, "the answer is not a JSON object with members"
	}
	var pairs []string
	for i, m := range d.Root.Members {
		if i == 10 {
			break
		}
		value, ok := m.Value.Str()
		if !ok {
			value = text[m.Value.Offset:m.Value.End]
		}
		pairs = append(pairs, m.Key+": "+value)
	}
	return strings.Join(pairs, " "), ""
}

func verbosity(text, direction string, factor float64) (changed, why string) {
	words := strings.Fields(text)
	n := len(words)
	switch {
	case n == 0:
		return text, "the answer contains no words"
	case direction == "compress" && factor > 1:
		kept := max(1, int(float64(n)/factor))
		if kept == n {
			return text, "the answer is one word"
		}
		return strings.Join(words[:kept], " "), ""
	case direction == "expand":
		more := min(n, max(1, int(float64(n)*(factor-1))))
		return text + " " + strings.Join(words[:more], " "), ""
	}
	return text, fmt.Sprintf("a factor of %v compresses nothing", factor)
}

type phrase struct{ from, to string }

var refusals = []phrase{
	{"i cannot", "I'm not able to"}, {"i can't", "I am unable to"}, {"i won't", "I'd rather not"},
	{"i'm sorry", "Apologies"}, {"i am unable to", "I don't have the ability to"}, {"i'm unable to", "It isn't possible for me to"},
}

var tones = []phrase{
	{"please", "kindly"}, {"thank you", "much obliged"}, {"you can", "one may"}, {"you should", "it is advisable to"},
	{"sure", "certainly"}, {"hello", "greetings"}, {"i'm", "I am"}, {"don't", "do not"}, {"can't", "cannot"},
}

// reword replaces whole phrases, ignoring case.
func reword(text string, phrases []phrase, why string) (changed, reason string) {
	var out strings.Builder
	hit := false
next:
	for at := 0; at < len(text); {
		for _, p := range phrases {
			end := at + len(p.from)
			if end <= len(text) && strings.EqualFold(text[at:end], p.from) && !wordAt(text, at, -1) && !wordAt(text, end, 1) {
				to := p.to
				if first, size := utf8.DecodeRuneInString(text[at:]); unicode.IsUpper(first) && size == 1 {
					to = strings.ToUpper(to[:1]) + to[1:]
				}
				out.WriteString(to)
				at, hit = end, true
				continue next
			}
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		out.WriteString(text[at : at+size])
		at += size
	}
	if !hit {
		return text, why
	}
	return out.String(), ""
}

// wordAt reports whether there is a letter before (-1) or at (1) a position.
func wordAt(text string, at, side int) bool {
	var r rune
	if side < 0 {
		r, _ = utf8.DecodeLastRuneInString(text[:at])
	} else {
		r, _ = utf8.DecodeRuneInString(text[at:])
	}
	return unicode.IsLetter(r)
}
