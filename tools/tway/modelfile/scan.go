package modelfile

import (
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// maxNesting limits nested parentheses and negations.
const maxNesting = 200

// scanner reads the text of constraints.
type scanner struct {
	*reader
	text   string
	at     int
	place  func(at int) diag.Pos
	failed bool // this constraint has a fault
	depth  int
}

// fail reports a fault, once per constraint: what follows cannot be trusted.
func (s *scanner) fail(at int, code, message, hint string) {
	if !s.failed {
		s.wrong(s.place(at), code, message, hint)
	}
	s.failed = true
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// accept skips white space, and then text if that comes next.
func (s *scanner) accept(text string) bool {
	s.space()
	if strings.HasPrefix(s.text[s.at:], text) {
		s.at += len(text)
		return true
	}
	return false
}

// word skips white space, and then a keyword, in any case, if it comes next as a whole word.
func (s *scanner) word(text string) bool {
	s.space()
	end := s.at + len(text)
	if end > len(s.text) || !strings.EqualFold(s.text[s.at:end], text) || end < len(s.text) && isWord(s.text[end]) {
		return false
	}
	s.at = end
	return true
}

func isWord(b byte) bool {
	return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b >= 0x80
}

// next is the next word or character, for a message.
func (s *scanner) next() string {
	s.space()
	if s.at >= len(s.text) {
		return "the end"
	}
	end := s.at + 1
	if isWord(s.text[s.at]) {
		for end < len(s.text) && isWord(s.text[end]) {
			end++
		}
	}
	return quote(s.text[s.at:end])
}

// relation reads a comparison operator.
func (s *scanner) relation() (relation, bool) {
	for _, r := range relations {
		if s.accept(r.text) {
			return r.relation, true
		}
	}
	return relation{}, false
}

// until reads up to the byte end and skips it. It removes backslashes before quotes, brackets and
// backslashes.
func (s *scanner) until(end byte) (string, bool) {
	var b strings.Builder
	for ; s.at < len(s.text) && s.text[s.at] != '\n'; s.at++ {
		c := s.text[s.at]
		if c == end {
			s.at++
			return b.String(), true
		}
		if c == '\\' && s.at+1 < len(s.text) && strings.IndexByte(`\"]`, s.text[s.at+1]) >= 0 {
			s.at++
			c = s.text[s.at]
		}
		b.WriteByte(c)
	}
	return "", false
}
