package spectest

import (
	"sync"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/speclang"
)

// session is what the lanes of one campaign share while they are open. A campaign
// itself is not changed once it is compiled.
type session struct {
	lanes int              // that are open
	own   func() *fileText // the document as its cases see it
}

// sessions are those that are open. The zero value has none.
type sessions struct {
	mu   sync.Mutex
	open map[*Campaign]*session
}

// enter opens a lane of a campaign. Call leave when it is closed.
func (s *sessions) enter(c *Campaign) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.open[c]
	if x == nil {
		if s.open == nil {
			s.open = make(map[*Campaign]*session)
		}
		x = &session{own: sync.OnceValue(c.doc.ownText)}
		s.open[c] = x
	}
	x.lanes++
	return x
}

// leave closes a lane. With the last one goes the session.
func (s *sessions) leave(c *Campaign) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.open[c]; x != nil {
		if x.lanes--; x.lanes == 0 {
			delete(s.open, c)
		}
	}
}

// ownText is the document as its cases see it.
func (d *document) ownText() *fileText {
	t := &fileText{invalid: !utf8.Valid(d.text)}
	if !t.invalid {
		t.text = speclang.StringValue(unixLines(string(d.text)))
	}
	return t
}
