package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
)

// chainLink is a link in the chain of a campaign's states. The first holds what was learned about
// the target, each further one the outcomes of a round. A link's name is the digest of everything
// up to it, and names the resulting state.
type chainLink struct {
	Parent string          `json:"parent,omitempty"`
	Facts  *campaign.Facts `json:"facts,omitempty"` // in the first link
	Log    []byte          `json:"log,omitempty"`   // outcomes of the round, as entries without evidence
	Round  int             `json:"round"`           // the round that starts in this state
}

func (c chainLink) pack() (name string, data []byte, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", nil, fmt.Errorf("encode a round's log: %w", err)
	}
	return packed("state", text)
}

// logResults returns a sequence that yields the same results and writes them to a log.
func logResults(results iter.Seq2[campaign.Case, campaign.Outcome], log *[]byte) iter.Seq2[campaign.Case, campaign.Outcome] {
	return func(yield func(campaign.Case, campaign.Outcome) bool) {
		on := true
		for c, o := range results {
			bare := o
			bare.Evidence, bare.Elapsed = nil, 0
			*log = appendEntry(*log, c.Index, &bare)
			// The log needs the whole round, even if the contract stops reading.
			if on {
				on = yield(c, o)
			}
		}
	}
}

// states caches a worker's states of one campaign.
type states struct {
	c     campaign.Any
	fetch func(ctx context.Context, name string) ([]byte, error)

	mu    sync.Mutex
	known map[string]any
	order []string // oldest first
}

// keptStates is how many states a worker keeps: the current round's, and some earlier ones for late
// leases.
const keptStates = 4

func newStates(c campaign.Any, fetch func(ctx context.Context, name string) ([]byte, error)) *states {
	return &states{c: c, fetch: fetch, known: make(map[string]any)}
}

// at returns the named state. It fetches and folds the missing links, starting from the newest
// known state.
func (s *states) at(ctx context.Context, name string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []chainLink
	var names []string
	at := name
	var state any
	for {
		if known, ok := s.known[at]; ok {
			state = known
			break
		}
		data, err := s.fetch(ctx, at)
		if err != nil {
			return nil, err
		}
		text, err := unpacked(at, data)
		if err != nil {
			return nil, err
		}
		var l chainLink
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("read the log of a round: %w", err)
		}
		if l.Facts != nil {
			state = s.c.Start(*l.Facts)
			s.cache(at, state)
			break
		}
		missing, names = append(missing, l), append(names, at)
		at = l.Parent
	}
	for i := len(missing) - 1; i >= 0; i-- {
		entries, err := decodeEntries(missing[i].Log)
		if err != nil {
			return nil, fmt.Errorf("read the log of round %d: %w", missing[i].Round-1, err)
		}
		state = s.c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for _, e := range entries {
				if !yield(campaign.Case{Round: missing[i].Round - 1, Index: e.index}, e.outcome) {
					return
				}
			}
		})
		s.cache(names[i], state)
	}
	return state, nil
}

func (s *states) cache(name string, state any) {
	s.known[name] = state
	s.order = append(s.order, name)
	if len(s.order) > keptStates {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
}
