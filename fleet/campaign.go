package fleet

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// remote is a campaign whose cases the fleet executes. Otherwise it behaves as the inner campaign.
type remote struct {
	inner       campaign.Any
	coordinator *Coordinator
	k           int
}

// Wrap returns the run's campaign k with lanes that hand cases to workers.
func (c *Coordinator) Wrap(k int, inner campaign.Any) campaign.Any {
	return remote{inner, c, k}
}

// remoteState is a state of the inner campaign and the way for a worker to reach it.
type remoteState struct {
	inner  any
	link   chainLink
	parent *remoteState // the preceding state; nil once this one is published
	base   int64        // index of the next round's first case

	mu   sync.Mutex
	name string // "": workers cannot reach it yet
}

// publish publishes the way to the state for workers and returns the state's name.
func (s *remoteState) publish(ctx context.Context, c *Coordinator) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name != "" {
		return s.name, nil
	}
	if s.parent != nil {
		var err error
		if s.link.Parent, err = s.parent.publish(ctx, c); err != nil {
			return "", err
		}
	}
	name, data, err := s.link.pack()
	if err == nil {
		err = c.link.put(name, data)
	}
	if err != nil {
		return "", fmt.Errorf("tell workers of round %d: %w", s.link.Round, err)
	}
	s.name, s.link.Log, s.parent = name, nil, nil
	return name, nil
}

// before returns the state before the round whose results are folded.
func (r remote) before(s any) *remoteState { return s.(*remoteState) }

// Traits implements [campaign.WithTraits].
func (r remote) Traits() campaign.Traits {
	t := campaign.TraitsOf(r.inner)
	t.Elsewhere = true
	return t
}

// Unwrap implements [campaign.Wrapper].
func (r remote) Unwrap() any { return r.inner }

func (r remote) Identity() campaign.Identity { return r.inner.Identity() }

// Probe makes a worker touch the target, because only workers' machines may have it.
func (r remote) Probe(ctx context.Context) (campaign.Facts, error) {
	t := &ticket{coordinator: r.coordinator, lease: lease{Campaign: r.k, Probe: true}, lo: 0, wanted: make([]bool, 1)}
	t.wanted[0], t.left = true, 1
	if _, err := t.await(ctx, nil); err != nil {
		return campaign.Facts{}, err
	}
	return t.facts, nil
}

func (r remote) Start(f campaign.Facts) any {
	return &remoteState{inner: r.inner.Start(f), link: chainLink{Facts: &f}}
}

func (r remote) Round(s any) (campaign.Round, bool) { return r.inner.Round(r.before(s).inner) }

// Fold folds the results and keeps what workers need to do the same.
func (r remote) Fold(s any, results iter.Seq2[campaign.Case, campaign.Outcome]) any {
	old := r.before(s)
	next := &remoteState{parent: old, base: old.base, link: chainLink{Round: old.link.Round + 1}}
	next.inner = r.inner.Fold(old.inner, counted(logResults(results, &next.link.Log), &next.base))
	if campaign.TraitsOf(r.inner).Closes { // the round after a cut round starts after all of its indices
		round, _ := r.inner.Round(old.inner)
		next.base = old.base + round.Len
	}
	return next
}

func counted(results iter.Seq2[campaign.Case, campaign.Outcome], n *int64) iter.Seq2[campaign.Case, campaign.Outcome] {
	return func(yield func(campaign.Case, campaign.Outcome) bool) {
		on := true
		for c, o := range results {
			*n++
			if on {
				on = yield(c, o)
			}
		}
	}
}

func (r remote) Open(*campaign.Cache) campaign.Session[any] {
	return campaign.Separate[any](func(_ context.Context, lane campaign.Lane) (campaign.Executor[any], error) {
		return &remoteLane{r: r, cold: lane.Cold}, nil
	})
}

// The optional interfaces whose methods take the state.

// CaseNames implements the interface that [campaign.NamesOf] looks for.
func (r remote) CaseNames(s any) func(campaign.Case) string {
	return campaign.NamesOf(r.inner, r.before(s).inner)
}

// Group implements [campaign.Grouper].
func (r remote) Group(s any, o campaign.Outcome) string {
	if g, ok := campaign.As[campaign.Grouper[any]](r.inner); ok {
		return g.Group(r.before(s).inner, o)
	}
	return ""
}

// Describe implements [campaign.Describer].
func (r remote) Describe(s any, c campaign.Case, o campaign.Outcome, smallest []byte) []campaign.Exhibit {
	if d, ok := campaign.As[campaign.Describer[any]](r.inner); ok {
		return d.Describe(r.before(s).inner, c, o, smallest)
	}
	return nil
}

// Input implements [campaign.Inputter].
func (r remote) Input(ctx context.Context, s any, c campaign.Case) []byte {
	if d, ok := campaign.As[campaign.Inputter[any]](r.inner); ok {
		return d.Input(ctx, r.before(s).inner, c)
	}
	return c.Payload
}

// Materialize implements [campaign.Materializer].
func (r remote) Materialize(ctx context.Context, s any, c campaign.Case) (string, error) {
	if d, ok := campaign.As[campaign.Materializer[any]](r.inner); ok {
		return d.Materialize(ctx, r.before(s).inner, c)
	}
	return "", diag.Refused("%s cases cannot be written out as files", r.Identity().Contract)
}

// Summarize implements [campaign.Summarizer].
func (r remote) Summarize(s any) campaign.Summary {
	if d, ok := campaign.As[campaign.Summarizer[any]](r.inner); ok {
		return d.Summarize(r.before(s).inner)
	}
	return campaign.Summary{}
}

// Figures implements [campaign.Figurer].
func (r remote) Figures(s any) []campaign.Figure {
	if d, ok := campaign.As[campaign.Figurer[any]](r.inner); ok {
		return d.Figures(r.before(s).inner)
	}
	return nil
}

// leaseAim is how long a lease should keep a worker busy, and leaseMost how many cases it may have.
const (
	leaseAim  = 500 * time.Millisecond
	leaseMost = 1 << 15
)

// remoteLane is one lease in flight.
type remoteLane struct {
	r    remote
	cold bool
}

// Batch implements [campaign.Batcher].
func (l *remoteLane) Batch() (time.Duration, int64) { return leaseAim, leaseMost }

// ExecuteBatch implements [campaign.Batcher].
func (l *remoteLane) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	st := l.r.before(s)
	name, err := st.publish(ctx, l.r.coordinator)
	if err != nil {
		return 0, err
	}
	t := &ticket{
		coordinator: l.r.coordinator, lo: cases[0].Index, left: len(cases),
		lease: lease{Campaign: l.r.k, Cold: l.cold, State: name, Round: cases[0].Round, Base: st.base},
	}
	t.dispute = func(index int64, first, second campaign.Outcome) {
		i, _ := slices.BinarySearchFunc(cases, index, func(c campaign.Case, at int64) int { return cmp.Compare(c.Index, at) })
		d := campaign.Dispute{Case: campaign.Case{Round: cases[i].Round, Index: index}, First: first, Second: second}
		if in, ok := campaign.As[campaign.Inputter[any]](l.r.inner); ok {
			d.Input = in.Input(ctx, st.inner, cases[i])
		}
		l.r.coordinator.disputed(l.r.k, d)
	}
	t.wanted = make([]bool, cases[len(cases)-1].Index-t.lo+1)
	for _, c := range cases {
		t.wanted[c.Index-t.lo] = true
	}
	t.picked = l.r.coordinator.pick(cases)
	busy, err := t.await(ctx, func(index int64, o campaign.Outcome) error {
		return each(campaign.Case{Round: cases[0].Round, Index: index}, o)
	})
	if err == nil {
		err = l.recheck(ctx, st, t, cases)
	}
	return busy, err
}

// Execute implements [campaign.Executor] for one case, which may not belong to the round.
func (l *remoteLane) Execute(ctx context.Context, s any, c campaign.Case) (campaign.Outcome, error) {
	name, err := l.r.before(s).publish(ctx, l.r.coordinator)
	if err != nil {
		return campaign.Outcome{}, err
	}
	t := &ticket{
		coordinator: l.r.coordinator, lo: c.Index, left: 1, wanted: []bool{true},
		lease: lease{Campaign: l.r.k, Cold: l.cold, State: name, Round: c.Round, Explicit: &explicit{c.Index, c.Payload}},
	}
	var out campaign.Outcome
	_, err = t.await(ctx, func(_ int64, o campaign.Outcome) error {
		out = o
		return nil
	})
	return out, err
}

// Notes returns how the workers ran the cases.
func (l *remoteLane) Notes() []string { return l.r.coordinator.notes() }

func (l *remoteLane) Close() error { return nil }
