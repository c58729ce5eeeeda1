package flakestorm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// shared is what the lanes of a campaign share while they are open.
type shared struct {
	c      *Campaign
	seeing bool // the agent's calls must be seen even if there are no faults
	timing timing

	mu       sync.Mutex
	injector fault.Injector
	told     []string                  // notes of the proxies about cells
	blind    bool                      // cells have ended, and none of them showed a tool call
	called   bool                      // one of them did
	offered  map[string]*verify.Schema // by the text of a tool's schema that a model was offered; nil: unreadable
	measure  similarity.Measure
}

// Executor implements [campaign.Session].
func (s *shared) Executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
	x, err := s.openJudged(ctx, lane)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Close implements [campaign.Session].
func (s *shared) Close() error {
	var errs []error
	if s.injector != nil {
		errs = append(errs, s.injector.Close())
	}
	if m, ok := s.measure.(io.Closer); ok {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// faults returns the injector of all lanes. The first lane that asks opens it.
func (s *shared) faults(ctx context.Context) (fault.Injector, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.injector == nil {
		// It outlives the context of the lane that happens to be first.
		in, err := s.c.targets.Faults(context.WithoutCancel(ctx))
		if err != nil {
			return nil, diag.Environment("opening the proxy that injects faults: %w", err)
		}
		s.injector = in
	}
	return s.injector, nil
}

// openMeasure opens the measure of similarity once for all lanes.
func (s *shared) openMeasure(ctx context.Context) (similarity.Measure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.measure != nil {
		return s.measure, nil
	}
	c, by := s.c, &s.c.cfg.Similarity
	key, name, ok := config.Key(by.APIKey, c.getenv)
	if !ok {
		return nil, diag.WithHint(diag.Environment("similarity.api_key: the variable %s is not set", name), "export "+name)
	}
	m, err := c.targets.Measures(ctx, by.Measure, by.BaseURL, by.Name, key, c.cfg.Agent.Interpreter)
	if err != nil {
		return nil, diag.Environment("opening the measure of similarity: %w", err)
	}
	s.measure = m
	return m, nil
}

// maxTold is the largest number of notes about cells that are kept.
const maxTold = 50

// keepNotes stores what the proxies say about a cell. This depends on what else was calling at that
// moment, so it is not a fact of the case.
func (s *shared) keepNotes(r *fault.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = s.called || len(r.ToolCalls) > 0
	s.blind = !s.called
	for _, n := range r.Notes {
		n = record.Ports().ReplaceAllString(n, "$1")
		if len(s.told) < maxTold && !slices.Contains(s.told, n) {
			s.told = append(s.told, n)
		}
	}
}

// notes returns what the proxies say.
func (s *shared) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.told)
	if s.injector != nil {
		list = append(s.injector.Notes(), list...)
	}
	if s.blind && s.c.reach.own && s.c.checksOn() {
		list = append(list, "built-in checks of calls had nothing to check: "+noCalls)
	}
	return list
}

// schemaOf returns a function that says how arguments break a schema. text is the schema as it was
// given to the model.
func (x *shared) schemaOf(text string) func(json.RawMessage) string {
	if text == "" {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s, known := x.offered[text]
	if !known {
		if x.offered == nil {
			x.offered = make(map[string]*verify.Schema)
		}
		s, _ = verify.CompileSchema([]byte(text)) // if it cannot be read, nothing breaks it
		x.offered[text] = s
	}
	if s == nil {
		return nil
	}
	return s.Breaks
}
