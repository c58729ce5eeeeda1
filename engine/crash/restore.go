package crash

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Restore returns a title for people. It replaces a message that [Mask] masked by the
// message as printed, if one of the outputs has it, except for what differs between equal
// runs: folders, addresses, process ids, clocks.
func Restore(title string, printed ...[]byte) string {
	first := tokenIn(title)
	if first < 0 {
		return title
	}
	var at []int // where the masked message may begin
	for i := range first + 1 {
		if i == 0 || strings.HasSuffix(title[:i], ": ") {
			at = append(at, i)
		}
	}
	for _, out := range printed {
		for _, line := range slices.Backward(bytes.Split(out[max(0, len(out)-64<<10):], []byte("\n"))) {
			said := strings.TrimSpace(string(line[:min(len(line), maxLine)]))
			for k := range said {
				if k > 0 && !strings.HasSuffix(said[:k], ": ") {
					continue
				}
				masked := Mask(said[k:])
				for _, i := range at {
					head, cut := strings.CutSuffix(title[i:], "…")
					if title[i:] == masked || cut && strings.HasPrefix(masked, head) {
						return clip(title[:i]+readableText(said[k:]), 160)
					}
				}
			}
		}
	}
	return elided.Replace(title)
}

// elided replaces tokens whose original text is lost.
var elided = strings.NewReplacer("<str>", `"…"`, "<n>", "…", "<path>", "…", "<raw>", "…", "<time>", "…", "<url>", "…", "<uuid>", "…", "<tmp>", "…", "<run_id>", "…")

// tokenIn returns the position of the first token in a masked text; -1 if it has none.
func tokenIn(s string) int {
	for i := range s {
		if s[i] == '<' && isToken(s[i:]) {
			return i
		}
	}
	return -1
}

// readableText masks like [Mask], but keeps short numbers, quoted words, and the names of
// files without their folders.
func readableText(s string) string {
	m := masker{s: s, plain: true}
	for m.i < len(s) {
		m.step()
	}
	return strings.TrimRight(m.out.String(), " ")
}

// asRead returns what people see in place of a token that stands for s; before is the text
// up to it.
func asRead(tok, s, before string) string {
	switch tok {
	case "<str>":
		_, w := utf8.DecodeRuneInString(s)
		return s[:w] + clip(readableText(s[w:]), 60)
	case "<path>":
		base := s[strings.LastIndexAny(s, `/\`)+1:]
		if tokenIn(Mask(base)) < 0 {
			return base
		}
	case "<n>":
		words := strings.FieldsFunc(before, func(r rune) bool { return r == ' ' || r == '=' || r == ':' || r == '#' || r == '(' || r == '[' })
		named := len(words) > 0 && slices.Contains([]string{"pid", "process", "thread", "tid", "port", "goroutine", "id"}, strings.ToLower(words[len(words)-1]))
		if len(s) <= 7 && strings.Trim(s, "+-.0123456789") == "" && !named {
			return s
		}
	}
	return "…"
}
