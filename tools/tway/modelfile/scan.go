package modelfile

import (
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// maxNesting bounds parentheses and negations within each other.
const maxNesting = 200

// scanner is the text of constraints that is being read.
type scanner struct {
	*reader
	text   string
	at     int
	place  func(at int) diag.Pos
	failed bool // something was wrong in this constraint
	depth  int
}

// fail says what is wrong at a place, once for each constraint: what follows
// cannot be trusted.
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

// accept skips space, and then text if it comes next.
func (s *scanner) accept(text string) bool {
	s.space()
	if strings.HasPrefix(s.text[s.at:], text) {
		s.at += len(text)
		return true
	}
	return false
}

// word skips space, and then a keyword, in any case, if it comes next and ends
// there.
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

// next is what comes next, for a message.
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

// relation skips a comparison.
func (s *scanner) relation() (relation, bool) {
	for _, r := range relations {
		if s.accept(r.text) {
			return r.relation, true
		}
	}
	return relation{}, false
}

// until reads up to the byte end, which is skipped, with backslashes taken out
// before quotes, brackets and backslashes.
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
