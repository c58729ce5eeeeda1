package spectest

import (
	"context"
	"errors"
	"sync"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// session is what the lanes of a campaign share while they are open.
type session struct {
	c     *Campaign
	cache *campaign.Cache
	own   func() *fileText // the document as its cases see it

	mu   sync.Mutex
	page *pageRun  // of setup; nil: it has not run, or failed
	set  *settings // with what setup gives to the cases
	err  error     // of setup
}

// Executor implements [campaign.Session].
func (s *session) Executor(_ context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
	x, err := s.executor(lane)
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (s *session) executor(lane campaign.Lane) (*executor, error) {
	p, err := locate(s.c.doc.path, s.c.set.root)
	if err != nil {
		return nil, err
	}
	return &executor{c: s.c, set: s.c.set, lane: lane, place: p, session: s, unit: -1, eval: newEvaluator()}, nil
}

// Close implements [campaign.Session]: it undoes what setup has done.
func (s *session) Close() error {
	if s.page == nil {
		return nil
	}
	x, err := s.executor(campaign.Lane{Of: 1})
	if err != nil {
		return errors.Join(err, s.page.close())
	}
	x.set = s.set
	return errors.Join(x.tearDown(s.page), x.Close())
}

// ownText is the document as its cases see it.
func (d *document) ownText() *fileText {
	t := &fileText{invalid: !utf8.Valid(d.text)}
	if !t.invalid {
		t.text = speclang.StringValue(unixLines(string(d.text)))
	}
	return t
}
