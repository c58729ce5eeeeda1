package campaign

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Identity says what decides the cases of a campaign. Two campaigns with equal
// identities have the same cases, and the same outcomes on the same target.
type Identity struct {
	Contract string `json:"contract"` // name of the contract, such as "fuzzspec"
	Name     string `json:"name"`     // the document's own name for the campaign
	Digest   string `json:"digest"`   // hex SHA-256 over spec, seeds, modules and options
}

// Case is one independent unit of work. Index alone tells a case of a round
// apart; Payload carries an explicit input, for a case that a round does not
// hold (a shrunk one) or for contracts that make their cases up front.
type Case struct {
	Round   int    `json:"round"`             // 0-based round that the case belongs to
	Index   int64  `json:"index"`             // 0-based place in the campaign, counted over all rounds
	Payload []byte `json:"payload,omitempty"` // the contract's own encoding; nil: the index decides
}

// Round is a bag of independent cases, made on demand so that a round of a
// million cases takes no memory.
type Round struct {
	Len int64
	// At returns the payload of case i of this round (0 <= i < Len). A nil At
	// means that no case has one. It must be pure and safe for concurrent use.
	At func(i int64) []byte
}

// Payload returns the payload of case i of the round.
func (r Round) Payload(i int64) []byte {
	if r.At == nil {
		return nil
	}
	return r.At(i)
}

// Facts is what a campaign learned of its target before the first round. Data
// is the contract's own encoding; it is journalled, so that a resumed run and
// a worker elsewhere start from the same state.
type Facts struct {
	Data     []byte   `json:"data,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // shown to the user and kept with the run
	// Exclusive: one worker alone may call the target, see [Constraints].
	Exclusive bool `json:"exclusive,omitempty"`
}

// Lane is one worker's place in a run.
type Lane struct {
	Index int // 0-based worker number
	Of    int // number of workers
	// Cold asks for execution by the definition of truth: no accelerator, no
	// state shared between cases. Findings are confirmed cold.
	Cold bool
}

// Executor runs cases on one lane. It is used by one goroutine at a time.
type Executor[S any] interface {
	// Execute touches the target. The outcome depends on state and case alone.
	// An error means that the environment failed: the case gets verdict
	// [VerdictError] and the campaign goes on. One that wraps [*TransientError]
	// asks for the case to be executed again first. One that wraps [*RedoError]
	// restarts the campaign. One that wraps [*FatalError] ends it: nothing more
	// can be run.
	Execute(ctx context.Context, state S, c Case) (Outcome, error)
	// Close frees what the lane holds: processes, folders, connections.
	Close() error
}

// Settler is implemented by executors that run a stretch of cases faster if
// they may prepare the calling goroutine for it. That goroutine alone calls
// Execute until it has called leave.
type Settler interface{ Settle() (leave func()) }

// Batcher is implemented by executors that take many cases at once, such as
// those that hand them to another machine.
type Batcher interface {
	// Batch says how long a batch should keep the target busy, and how many
	// cases it may have at most.
	Batch() (aim time.Duration, most int64)
	// ExecuteBatch executes cases of one round and calls each for every one that
	// has an outcome, in any order, on the calling goroutine; an error of each
	// ends the batch. It returns how long the target was busy, without waits for
	// somebody to take the batch. Errors mean what those of Execute mean: after
	// one that ends nothing but the batch, the cases that have no outcome yet are
	// executed one by one.
	ExecuteBatch(ctx context.Context, state any, cases []Case, each func(Case, Outcome) error) (busy time.Duration, err error)
}

// Campaign is a compiled document. S is the contract's own state between
// rounds; it is never changed in place once Round or Execute have seen it.
type Campaign[S any] interface {
	Identity() Identity
	// Probe touches the target once. An error means that the target cannot be
	// run at all (exit code 3).
	Probe(ctx context.Context) (Facts, error)
	Start(Facts) S
	// Round returns the next round; false means that the campaign is over.
	Round(S) (Round, bool)
	// Open begins a session, which may go on with what is in the cache of the run,
	// nil for none. What costs time or may fail is opened with the executors.
	Open(*Cache) Session[S]
	// Fold consumes the round's results in case order. The sequence may end
	// early when a run is cut (--cases, --time, --fail-fast).
	Fold(S, iter.Seq2[Case, Outcome]) S
}

// Any is a campaign whose state type is hidden, as package run handles them.
type Any = Campaign[any]

// Erase hides the state type of c. Optional interfaces of c ([Reducer],
// [Describer], [Promoter], [WithTraits]) stay reachable by [As].
func Erase[S any](c Campaign[S]) Any { return erased[S]{c} }

type erased[S any] struct{ inner Campaign[S] }

func (e erased[S]) Identity() Identity                       { return e.inner.Identity() }
func (e erased[S]) Probe(ctx context.Context) (Facts, error) { return e.inner.Probe(ctx) }
func (e erased[S]) Start(f Facts) any                        { return e.inner.Start(f) }
func (e erased[S]) Round(s any) (Round, bool)                { return e.inner.Round(s.(S)) }
func (e erased[S]) Fold(s any, r iter.Seq2[Case, Outcome]) any {
	return e.inner.Fold(s.(S), r)
}

func (e erased[S]) Open(cache *Cache) Session[any] { return erasedSession[S]{e.inner.Open(cache)} }

// Wrapper is a campaign or an executor around another one; [As] looks through
// it. One whose state is not that of the inner campaign implements the optional
// interfaces that mention the state itself.
type Wrapper interface{ Unwrap() any }

// Unwrap implements [Wrapper].
func (e erased[S]) Unwrap() any { return e.inner }

// As finds an optional interface T on a campaign or an executor, also behind
// [Erase].
func As[T any](c any) (T, bool) {
	for c != nil {
		if t, ok := c.(T); ok {
			return t, true
		}
		w, ok := c.(Wrapper)
		if !ok {
			break
		}
		c = w.Unwrap()
	}
	var none T
	return none, false
}

// RedoError asks the run to start the campaign again with Lane.Cold set: what
// an accelerator said was found to be untrue. Outcomes so far are dropped.
type RedoError struct{ Reason string }

func (e *RedoError) Error() string { return "campaign must be run again cold: " + e.Reason }

// FatalError ends a campaign: the environment is broken for every case.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FatalError) Unwrap() error { return e.Err }

// Fatal formats a [*FatalError].
func Fatal(format string, args ...any) error { return &FatalError{fmt.Errorf(format, args...)} }

// TransientError says that the environment failed for this one call and may
// not for the next: a timeout, a refused connection, a busy server. The run
// executes the case again, a few times with growing pauses, before it gets
// verdict [VerdictError]. Only what may be sent twice is reported this way.
type TransientError struct{ Err error }

func (e *TransientError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TransientError) Unwrap() error { return e.Err }

// Transient formats a [*TransientError].
func Transient(format string, args ...any) error {
	return &TransientError{fmt.Errorf(format, args...)}
}

// IsTransient reports whether err asks for the case to be executed again.
func IsTransient(err error) bool {
	var t *TransientError
	return errors.As(err, &t)
}

// IsRedo reports whether err asks for a cold restart, and why.
func IsRedo(err error) (string, bool) {
	if r, ok := errors.AsType[*RedoError](err); ok {
		return r.Reason, true
	}
	return "", false
}

// IsFatal reports whether err ends the campaign.
func IsFatal(err error) bool {
	var f *FatalError
	return errors.As(err, &f)
}

// WithTraits is implemented by campaigns of which a run has to know more than the
// zero value of [Traits].
type WithTraits interface{ Traits() Traits }

// Traits are what a run has to know of a campaign before its first case. The zero
// value is a campaign whose cases may be executed anywhere, by any number of
// workers and any number of times, with the same result, and are counted as they
// come.
type Traits struct {
	// Planned is how many cases the campaign plans in all; 0: they are counted round
	// by round.
	Planned int64
	// Exclusive: one worker alone may call the target, here or on any machine, such
	// as an agent with a memory that cannot be reset between two who talk to it.
	Exclusive bool
	// Early: the cases of the first round need neither [Campaign.Probe] nor what it
	// finds, and may be executed beside those of other campaigns.
	Early bool
	// Elsewhere: other processes than the one that writes the run execute the
	// cases, so it cannot die of them.
	Elsewhere bool
	// Comparable is how far two executions of a case can be compared.
	Comparable Comparison
	// Once returns why a case that had an outcome must not be executed again only to
	// confirm a finding or to compare: it changes what it reaches. "": it may be; nil:
	// all may be.
	Once func(Case, *Outcome) string
	// Prompts: the cases send prompts, which hit logs list.
	Prompts bool
	// Records is of which cases evidence is kept, beside the first of each finding.
	Records Recording
	// SkipReason is why a case was skipped, for people; nil: the title of its outcome,
	// which is part of a run's digest, gives the reason.
	SkipReason func(Case, *Outcome) string
	// Gauge is the size of the case that a payload encodes, in the unit that people
	// count it in, in the singular: "step", "character". An empty unit means that the
	// case has no size. Nil: payloads are what the system is sent; others are an
	// encoding of the campaign's own, of which the exhibits of [Describer] show the
	// case, and the bytes are shown to nobody.
	Gauge func(ctx context.Context, payload []byte) (size int64, unit string)
}

// TraitsOf are the traits of a campaign.
func TraitsOf(c any) Traits {
	var out Traits
	if x, ok := As[WithTraits](c); ok {
		out = x.Traits()
	}
	if out.Once == nil {
		out.Once = func(Case, *Outcome) string { return "" }
	}
	return out
}

// Namer is implemented by campaigns whose documents name their cases: reports
// list such cases one by one. Use [NamesOf].
type Namer[S any] interface {
	// CaseName is what the document calls a case. The state may be any from
	// [Campaign.Start] on.
	CaseName(state S, c Case) string
}

// NamesOf is how the document of a campaign calls its cases; nil if it gives them no
// names.
func NamesOf(c Any, state any) func(Case) string {
	if n, ok := As[interface {
		CaseNames(state any) func(Case) string
	}](c); ok {
		return n.CaseNames(state)
	}
	return nil
}

// CaseNames is what [NamesOf] asks.
func (e erased[S]) CaseNames(s any) func(Case) string {
	if n, ok := As[Namer[S]](e.inner); ok {
		return func(c Case) string { return n.CaseName(s.(S), c) }
	}
	return nil
}

// Describer is implemented by campaigns that can show a case to people.
type Describer[S any] interface {
	// Describe returns exhibits for a failing case, and for its smallest
	// reproducer when there is one (nil otherwise). It must be pure. Cases that
	// held are shown too if they were run again, or if their evidence is kept.
	Describe(state S, c Case, out Outcome, minimized []byte) []Exhibit
}

// Refiner is implemented by campaigns that know more of a finding than the facts
// of its outcome once there is evidence, as when its case was run again.
type Refiner interface {
	// Refine returns the line and the severity of a finding of which out is an
	// outcome with its evidence.
	Refine(title string, severity Severity, out Outcome) (string, Severity)
}

// Inputter is implemented by campaigns whose cases have an input that can be
// written down: Input turns a case of a round into its explicit payload. A case
// with that payload executes the same way in any state. Where that takes calls of the
// system they end with ctx, and the input is nil.
type Inputter[S any] interface {
	Input(ctx context.Context, state S, c Case) []byte
}

// Reducer is implemented by campaigns whose failing cases can be made smaller.
type Reducer interface {
	// Reduce looks for a smaller payload for which test holds. It calls test
	// with candidates until it is done or test returns an error (budget spent,
	// cancelled), and returns the smallest payload that held. It must draw no
	// randomness. If it took parts away one by one until none could go, so that the
	// payload is 1-minimal unless a test returned an error, parts names them in the
	// singular, such as "byte".
	Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (smallest []byte, parts string)
}

// File is a named content, for what a campaign writes out.
type File struct {
	Name string // slash-separated, relative
	Data []byte
	Exec bool
}

// Promoter is implemented by campaigns that can turn a finding into a
// regression test: documents of the same contract that fail while the fault is
// there and pass once it is gone. dir is the absolute folder they will be in.
type Promoter interface {
	// Promote is given different cases of the finding, the smallest first. A test
	// of that one will do.
	Promote(ctx context.Context, f Finding, payloads [][]byte, dir string) ([]File, error)
}

// Materializer is implemented by campaigns that can write a case out as files,
// the way users of the format know it.
type Materializer[S any] interface {
	// Materialize executes the case again and returns the folder it wrote.
	Materialize(ctx context.Context, state S, c Case) (dir string, err error)
}

// Summarizer is implemented by campaigns that have something to say of themselves
// as a whole.
type Summarizer[S any] interface {
	// Summarize is called with the state after the last case. It must be pure.
	Summarize(S) Summary
}

// Summary is what a campaign says of itself once its cases have run. The zero
// value says nothing.
type Summary struct {
	Score    *float64    // from 0 to 1; nil: the campaign has no score
	Interval *[2]float64 // the 95 % interval of the score; nil: it is no estimate
	Parts    []ScorePart // what the score is the mean of
	Exhibits []Exhibit
	// Examples are exhibits that execute something of the document; nil: none.
	// A run that is over goes without them.
	Examples func(context.Context) []Exhibit
	// Warnings name what of the document had no effect: a fault that never fired,
	// a check that was never made. They are shown and kept with the run.
	Warnings []string
	Advice   []string // what the user may want to try next; nothing is wrong
	// Void is why the cases showed nothing: the run is an error then, unless that
	// is asked for.
	Void string
	// Replaced are cases that passed or were skipped and do not count, since others
	// were run in their place: duplicates, say.
	Replaced Counts
}

// Figurer is implemented by campaigns with numbers that show how far they have
// come beside cases, such as code that was reached. They are shown while the run
// goes and kept with it.
type Figurer[S any] interface{ Figures(S) []Figure }

// Disputer is implemented by campaigns that may execute a case more than once
// and then compare: Disputes returns the cases that came out differently (a few
// of them, by no order) and how many there were. The run makes a finding of
// kind [KindNondeterminism] of them.
type Disputer interface {
	Disputes() (list []Dispute, all int64)
}

// Dispute is a case with two answers. The first is the one that counts.
type Dispute struct {
	Case          Case
	Input         []byte  // the explicit input, as [Inputter] gives it; nil if the index is all there is
	First, Second Outcome // without evidence
}

// KindNondeterminism is the kind of a finding that says that the target gives
// different answers to equal cases.
const KindNondeterminism = "nondeterminism"

// The erased campaign forwards the optional interfaces that mention S.

// Describe implements [Describer] for an erased campaign.
func (e erased[S]) Describe(s any, c Case, out Outcome, minimized []byte) []Exhibit {
	if d, ok := As[Describer[S]](e.inner); ok {
		return d.Describe(s.(S), c, out, minimized)
	}
	return nil
}

// Input implements [Inputter] for an erased campaign.
func (e erased[S]) Input(ctx context.Context, s any, c Case) []byte {
	if c.Payload != nil {
		return c.Payload
	}
	if d, ok := As[Inputter[S]](e.inner); ok {
		return d.Input(ctx, s.(S), c)
	}
	return nil
}

// Materialize implements [Materializer] for an erased campaign.
func (e erased[S]) Materialize(ctx context.Context, s any, c Case) (string, error) {
	if d, ok := As[Materializer[S]](e.inner); ok {
		return d.Materialize(ctx, s.(S), c)
	}
	return "", fmt.Errorf("%s cases cannot be written out as files", e.Identity().Contract)
}

// Summarize implements [Summarizer] for an erased campaign.
func (e erased[S]) Summarize(s any) Summary {
	if d, ok := As[Summarizer[S]](e.inner); ok {
		return d.Summarize(s.(S))
	}
	return Summary{}
}

// Figures implements [Figurer] for an erased campaign.
func (e erased[S]) Figures(s any) []Figure {
	if d, ok := As[Figurer[S]](e.inner); ok {
		return d.Figures(s.(S))
	}
	return nil
}
