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

	mu   sync.Mutex
	page *pageRun  // of setup; nil: it has not run, or failed
	set  *settings // with what setup gives to the cases
	err  error     // of setup
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

// leave closes a lane. With the last one goes the session; what setup has made is
// the caller's then.
func (s *sessions) leave(c *Campaign) *pageRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.open[c]; x != nil {
		if x.lanes--; x.lanes == 0 {
			delete(s.open, c)
			return x.page
		}
	}
	return nil
}

// ownText is the document as its cases see it.
func (d *document) ownText() *fileText {
	t := &fileText{invalid: !utf8.Valid(d.text)}
	if !t.invalid {
		t.text = speclang.StringValue(unixLines(string(d.text)))
	}
	return t
}
