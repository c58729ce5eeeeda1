package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

// Campaign calls the operations of a system. Its first round makes the usual call of every
// operation. Its second makes calls with one special or wrong argument, except for operations whose
// usual calls all crashed, or hung. Its third makes calls with several special arguments, for
// operations that have not crashed.
type Campaign struct {
	id     campaign.Identity
	open   sut.Opener
	plan   *sut.Plan
	writes bool
	seed   uint64
}

// combined is how many calls of an operation have several special arguments.
const combined = 100

// input is one case.
type input struct {
	Operation string          `json:"operation"`
	About     string          `json:"about"`
	Valid     bool            `json:"valid"`
	Mixed     bool            `json:"mixed,omitempty"` // several arguments are special
	Args      json.RawMessage `json:"args"`
	Before    []earlier       `json:"before,omitempty"` // calls that must not change the answer, or that yield arguments
	Take      []take          `json:"take,omitempty"`
	Gone      bool            `json:"gone,omitempty"` // the last earlier call deleted what this call is about
	// Moved says that the last earlier call changed what this call shows, and that the call before
	// it showed that too.
	Moved bool   `json:"moved,omitempty"`
	Later bool   `json:"later,omitempty"` // the earlier calls create what this call shows
	Check string `json:"check,omitempty"` // how the answer is checked
}

// state is what is known between rounds.
type state struct {
	ops      []sut.Operation
	round    int
	first    int64             // cases before this round
	failed   map[string]bool   // operations that are no longer called
	faulty   map[string]bool   // operations without calls that combine special arguments
	hung     map[string]bool   // operation and argument whose special values took too long
	skipped  map[string]int    // by operation or argument: number of calls that were not made
	usual    map[string]bool   // failures of usual calls
	accepted []input           // invalid inputs that were accepted
	refused  map[string]string // operations that have accepted no valid call, with the reason of the last refusal
	taken    map[string]bool   // operations that have accepted a valid call
	plans    [][][]byte
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Traits implements [campaign.WithTraits].
func (c *Campaign) Traits() campaign.Traits {
	return campaign.Traits{Exclusive: c.alone(), Gauge: gauge, Once: once}
}

// alone reports whether one worker makes all calls: nothing else may change what a case of several
// calls is about.
func (c *Campaign) alone() bool {
	return c.plan.Exclusive() || c.plan.Shared() && (c.writes || c.plan.Kind == sut.MCP)
}

// once prevents repeating a call that ended a system which nobody restarts.
func once(_ campaign.Case, o *campaign.Outcome) string {
	if string(o.Data) == ended {
		return "it would end the system once more"
	}
	return ""
}

// Probe opens the system and lists its operations. It names those that will not be called.
func (c *Campaign) Probe(ctx context.Context) (f campaign.Facts, err error) {
	x, err := c.open(ctx, c.plan, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	called, left, warnings := c.callable(x.Operations())
	f.Warnings = warnings
	if len(left) > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s not called, as they may change or delete something: %s; --%s calls them",
			diag.Plural(len(left), "operation"), strings.Join(left, ", "), optWrites))
	}
	f.Data, err = json.Marshal(called)
	if err != nil {
		return f, fmt.Errorf("keep the operations of %s: %w", c.plan.Name, err)
	}
	return f, nil
}

// onlyIfAsked reports whether an operation is called only on request.
func (c *Campaign) onlyIfAsked(o *sut.Operation) bool {
	if c.writes {
		return false
	}
	return o.Destroys || c.plan.Kind == sut.HTTP && o.Method != "GET" && o.Method != "HEAD"
}

// Start implements [campaign.Campaign].
func (c *Campaign) Start(f campaign.Facts) *state {
	s := &state{failed: make(map[string]bool), faulty: make(map[string]bool), hung: make(map[string]bool), skipped: make(map[string]int), usual: make(map[string]bool), refused: make(map[string]string)}
	if json.Unmarshal(f.Data, &s.ops) != nil {
		return s
	}
	var lists [3][][][]byte
	var all []usage
	examples := quoted(s.ops)
	for i := range s.ops {
		o := &s.ops[i]
		schema, err := schemagen.New(c.withExamples(o, examples))
		if err != nil {
			continue // not called, as Probe has reported
		}
		var mine [3][][]byte
		kept := usage{op: o}
		for n, in := range schema.Inputs(combined, c.seed) {
			if !sendable(o, &in) {
				continue
			}
			one := input{Operation: o.Name, About: in.About, Valid: in.Valid, Mixed: in.Mixed, Args: in.Value}
			text, err := json.Marshal(one)
			if err != nil {
				continue
			}
			round := 1
			switch {
			case n == 0 || in.About == "required alone":
				round = 0
			case in.Mixed:
				round = 2
			}
			mine[round] = append(mine[round], text)
			if in.Valid && round < len(kept.valid) {
				kept.valid[round] = append(kept.valid[round], one)
			}
		}
		if len(kept.valid[0])+len(kept.valid[1]) == 0 {
			s.refused[o.Name] = "no valid input could be made"
		}
		all = append(all, kept)
		for r := range lists {
			lists[r] = append(lists[r], mine[r])
		}
	}
	usual, special := c.chains(all)
	for i, list := range special { // for tools, drop direct calls whose arguments a chained case also sends
		same := func(direct []byte) bool {
			var in, chained input
			return json.Unmarshal(direct, &in) == nil && slices.ContainsFunc(list, func(p []byte) bool {
				return json.Unmarshal(p, &chained) == nil && bytes.Equal(chained.Args, in.Args)
			})
		}
		if all[i].op.Method == "" {
			lists[1][i] = slices.DeleteFunc(lists[1][i], same)
		}
	}
	lists[0], lists[1] = append(lists[0], usual...), append(lists[1], special...)
	leaks := c.leaks(all)
	if c.anew() {
		for i, l := range leaks { // after calls that need no start of the system
			lists[1][i] = slices.Insert(lists[1][i], min(40, len(lists[1][i])), l...)
		}
		leaks = nil
	}
	s.plans = append(s.plans, interleave(lists[0]))
	for k, alone := range interleave(leaks) {
		if k < alternated {
			s.plans = append(s.plans, [][]byte{alone}) // as the only case, because nothing else may call meanwhile
		}
	}
	s.plans = slices.AppendSeq(s.plans, slices.Chunk(interleave(lists[1]), portion))
	s.plans = append(s.plans, interleave(lists[2]))
	return s
}

// portion is how many calls with a special argument are made before an argument whose values took
// too long is dropped.
const portion = 100

// interleave takes one element of each list in turn, so that even a run that is cut calls every
// operation.
func interleave(lists [][][]byte) (all [][]byte) {
	for i := 0; ; i++ {
		more := false
		for _, l := range lists {
			if i < len(l) {
				all, more = append(all, l[i]), true
			}
		}
		if !more {
			return all
		}
	}
}

// Round implements [campaign.Campaign].
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	if s.round >= len(s.plans) {
		return campaign.Round{}, false
	}
	list := s.cases()
	return campaign.Round{Len: int64(len(list)), At: func(i int64) []byte { return list[i] }}, true
}

// cases returns the cases of the round.
func (s *state) cases() [][]byte {
	return slices.DeleteFunc(slices.Clone(s.plans[s.round]), func(p []byte) bool { return s.reasonToSkip(p) != "" })
}

// reasonToSkip names the operation or argument because of whose failures a call is skipped.
func (s *state) reasonToSkip(payload []byte) string {
	if s.round == 0 || len(s.failed)+len(s.faulty) == 0 {
		return ""
	}
	var in input
	_ = json.Unmarshal(payload, &in) // written by this package
	switch about := subject(&in); {
	case s.failed[in.Operation]:
		return in.Operation
	case s.hung[in.Operation+" "+about]:
		return fmt.Sprintf("%s (values of %s)", in.Operation, about)
	case s.round == len(s.plans)-1 && s.faulty[in.Operation]:
		return in.Operation + " (combinations)"
	}
	return ""
}

// Fold implements [campaign.Campaign].
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := *s
	list := s.cases()
	next.round++
	next.first += int64(len(list))
	next.failed, next.faulty, next.hung = maps.Clone(s.failed), maps.Clone(s.faulty), maps.Clone(s.hung)
	next.accepted = slices.Clip(s.accepted)
	next.usual = maps.Clone(s.usual)
	next.skipped = maps.Clone(s.skipped)
	for _, p := range s.plans[s.round] {
		if what := s.reasonToSkip(p); what != "" {
			next.skipped[what]++
		}
	}
	next.refused, next.taken = make(map[string]string), make(map[string]bool)
	maps.Copy(next.refused, s.refused)
	maps.Copy(next.taken, s.taken)
	held, fell := make(map[string]bool), make(map[string]bool)
	for k, out := range results {
		var in input
		if at := k.Index - s.first; at < 0 || at >= int64(len(list)) || json.Unmarshal(list[at], &in) != nil {
			continue
		}
		failed := out.Verdict == campaign.VerdictFail && out.Kind != kindLeak
		if failed && (string(out.Data) == ended || out.Kind == campaign.KindEndedLater) && len(out.Cause) > 1 {
			in.Operation = out.Cause[1] // an earlier call of the case may have ended the system
		}
		long := out.Kind == kindTimeout || out.Kind == kindFlood // such a call takes as long as the limit allows
		switch {
		case failed && served(out.Kind):
			held[in.Operation] = true
		case failed && s.round > 0:
			next.faulty[in.Operation] = true
			if about := subject(&in); long && about != "" {
				next.hung[in.Operation+" "+about] = true
			}
		case failed && long:
			next.failed[in.Operation] = true
		case failed:
			fell[in.Operation], next.usual[out.Title] = true, true
		default:
			held[in.Operation] = true
		}
		if in.leaks() { // such a case says nothing about what the operation accepts
			continue
		}
		if why, no := strings.CutPrefix(string(out.Data), refused); !no && in.Valid {
			next.taken[in.Operation] = true
			delete(next.refused, in.Operation)
		} else if no && !next.taken[in.Operation] {
			next.refused[in.Operation] = why
		}
		if string(out.Data) == accepted && !failed {
			next.accepted = append(next.accepted, in)
		}
	}
	for name := range fell {
		if !held[name] { // varying single arguments would show nothing new
			next.failed[name] = true
		}
	}
	return &next
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(*campaign.Cache) campaign.Session[*state] {
	since := new(atomic.Int64)
	return campaign.Separate[*state](func(ctx context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
		return c.openLane(ctx, lane, since)
	})
}

func (c *Campaign) openLane(ctx context.Context, lane campaign.Lane, since *atomic.Int64) (campaign.Executor[*state], error) {
	x, err := c.open(ctx, c.plan, sut.Worker{Index: lane.Index, Of: lane.Of, Cold: lane.Cold})
	if err != nil {
		return nil, err
	}
	return &executor{c: c, x: x, lane: lane, since: since}, nil
}

type executor struct {
	c      *Campaign
	x      sut.System
	lane   campaign.Lane
	since  *atomic.Int64 // of all lanes: the case since which the system has not answered, plus 1; 0: it answers
	silent int           // number of calls in a row that did not reach the system
}

// patience is how many calls in a row may fail to reach a system that runs elsewhere before the run
// stops calling it: all tries of one case.
const patience = 4

// call makes a call. It notes since when the system has not answered.
func (e *executor) call(ctx context.Context, k campaign.Case, x sut.System, c sut.Call) (sut.Observation, error) {
	o, err := x.Call(ctx, c)
	switch {
	case err != nil:
		return o, err
	case o.End != sut.Unreachable:
		e.silent = 0
		if e.since.Store(0); o.Ended != "" {
			e.since.Store(k.Index + 1)
		}
		return o, nil
	}
	e.silent++
	e.since.CompareAndSwap(0, k.Index+1)
	if e.silent >= patience && len(e.c.plan.Command) == 0 && o.Status == 0 {
		return o, &campaign.GoneError{Err: fmt.Errorf("the system no longer answers since case %d; start it again", e.since.Load()-1)}
	}
	return o, campaign.Transient("the system %s is unreachable: %s", e.c.plan.Name, o.Why)
}

// endedBefore is the outcome of an earlier call of a case that ended the system.
type endedBefore struct{ out campaign.Outcome }

func (*endedBefore) Error() string { return ended }

// last returns an error if an earlier call of a case ended the system. Other failures of earlier
// calls belong to other cases.
func last(s *state, in *input, call earlier, o *sut.Observation) error {
	op, ok := sut.Find(s.ops, call.Operation)
	if o.Ended == "" || !ok {
		return nil
	}
	about, _ := strings.CutSuffix(in.About, ofBefore(call.Operation))
	if about == in.About {
		about = ""
	}
	return &endedBefore{judge(s, op, &input{Operation: call.Operation, About: about, Valid: true, Args: call.Args}, o)}
}

// Close implements [campaign.Executor].
func (e *executor) Close() error { return e.x.Close() }

// Execute implements [campaign.Executor].
func (e *executor) Execute(ctx context.Context, s *state, k campaign.Case) (campaign.Outcome, error) {
	var in input
	if err := json.Unmarshal(k.Payload, &in); err != nil {
		return campaign.Outcome{}, fmt.Errorf("the case is none of a system's: %w", err)
	}
	op, ok := sut.Find(s.ops, in.Operation)
	if !ok {
		return campaign.Outcome{}, fmt.Errorf("the system %s has no operation %q any more", e.c.plan.Name, in.Operation)
	}
	out, err := e.execute(ctx, s, k, op, &in)
	if before, ok := errors.AsType[*endedBefore](err); ok {
		return before.out, nil
	}
	return out, err
}

func (e *executor) execute(ctx context.Context, s *state, k campaign.Case, op *sut.Operation, in *input) (campaign.Outcome, error) {
	if in.leaks() {
		return e.executeLeak(ctx, s, k, op, in)
	}
	if err := e.x.Reset(ctx); err != nil {
		return campaign.Outcome{}, err
	}
	named, before, err := e.follow(ctx, s, k, in)
	if errors.Is(err, errNothing) {
		if op.Method != "" || strings.HasSuffix(in.About, ofBefore(in.Before[len(in.Before)-1].Operation)) {
			return nothing(), nil
		}
		named, err = arguments(in.Args) // no other case calls a tool with these arguments
	}
	if err != nil {
		return campaign.Outcome{}, err
	}
	o, err := e.call(ctx, k, e.x, sut.Call{Operation: in.Operation, Named: named})
	if err != nil {
		return campaign.Outcome{}, err
	}
	out := judge(s, op, in, &o)
	if out.Verdict == 0 || slices.Contains([]string{kindAnswer, kindType, kindHeader, kindStatus}, out.Kind) { // comparing says more
		if compared := compare(s, op, in, before, &o); compared.Verdict != 0 {
			return compared, nil
		}
	}
	return out, nil
}
