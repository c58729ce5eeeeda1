package campaign

import (
	"context"
	"iter"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Identity says what decides the cases of a campaign. Two campaigns with equal
// identities have the same cases, and the same outcomes on the same target.
type Identity struct {
	Contract string `json:"contract"` // name of the contract, such as "fuzzspec"
	Name     string `json:"name"`     // the document's own name for the campaign
	Digest   string `json:"digest"`   // hex SHA-256 over spec, seeds, modules and options
}

// Case is one independent unit of work. Its Index identifies a case of a round.
// Payload is an explicit input: for a case outside the rounds, such as a minimized
// one, and for contracts that make their cases in advance.
type Case struct {
	Round   int    `json:"round"`             // 0-based round that the case belongs to
	Index   int64  `json:"index"`             // 0-based number in the campaign, over all rounds
	Payload []byte `json:"payload,omitempty"` // in the contract's own encoding; nil: the index decides
}

// Round is a set of independent cases. They are made on demand, so a round of a
// million cases takes no memory.
type Round struct {
	Len int64
	// At returns the payload of case i of this round (0 <= i < Len). It must be pure
	// and safe for concurrent use. Nil: no case has a payload.
	At func(i int64) []byte
}

// Payload returns the payload of case i of the round.
func (r Round) Payload(i int64) []byte {
	if r.At == nil {
		return nil
	}
	return r.At(i)
}

// Facts is what a campaign learned about its target before the first round. Data
// is in the contract's own encoding. It is stored, so that a resumed run and
// workers on other machines start from the same state.
type Facts struct {
	Data     []byte   `json:"data,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // shown to the user and stored with the run
	// Exclusive: only one worker may call the target, see [Traits].
	Exclusive bool `json:"exclusive,omitempty"`
}

// Lane is one worker's place in a run.
type Lane struct {
	Index int // 0-based worker number
	Of    int // number of workers
	// Cold asks for execution without accelerators and without state shared between
	// cases, which defines the right result. Findings are confirmed cold.
	Cold bool
}

// Executor runs cases on one lane. Only one goroutine uses it at a time.
type Executor[S any] interface {
	// Execute runs a case on the target. The outcome depends on state and case
	// alone. An error means that the environment failed: the case gets verdict
	// [VerdictError] and the campaign continues. An error that wraps
	// [*TransientError] makes the run execute the case again first, one that wraps
	// [*RedoError] restarts the campaign, and one that wraps [*FatalError] ends it.
	Execute(ctx context.Context, state S, c Case) (Outcome, error)
	// Close frees the lane's processes, folders and connections.
	Close() error
}

// Settler is implemented by executors that run a series of cases faster after
// preparing the calling goroutine. Only that goroutine calls Execute until it has
// called leave.
type Settler interface{ Settle() (leave func()) }

// Batcher is implemented by executors that take many cases at once, such as
// those that send them to another machine.
type Batcher interface {
	// Batch returns how long a batch should keep the target busy, and how many
	// cases it may have.
	Batch() (aim time.Duration, most int64)
	// ExecuteBatch executes cases of one round and calls each for every outcome, in
	// any order, on the calling goroutine; an error from each ends the batch. It
	// returns how long the target was busy, without the time the batch waited for a
	// worker. Errors mean what those of Execute mean. After an error that ends only
	// the batch, the cases without an outcome are executed one by one.
	ExecuteBatch(ctx context.Context, state any, cases []Case, each func(Case, Outcome) error) (busy time.Duration, err error)
}

// Campaign is a compiled document. S is the contract's own state between rounds.
// Once Round or Execute has seen a state, nothing changes it.
type Campaign[S any] interface {
	Identity() Identity
	// Probe calls the target once. An error means that the target cannot be run at
	// all (exit code 3).
	Probe(ctx context.Context) (Facts, error)
	Start(Facts) S
	// Round returns the next round; false means that the campaign is over.
	Round(S) (Round, bool)
	// Open begins a session, which may reuse what is in the run's cache; nil: there
	// is no cache. Whatever takes time or may fail is opened with the executors.
	Open(*Cache) Session[S]
	// Fold adds the round's results to the state, in case order. The sequence ends
	// early if the run does (--cases, --time, --fail-fast); see [Traits].Closes.
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

// Wrapper is a campaign or an executor around another one, which [As] searches
// too. A wrapper with a state of its own implements the optional interfaces that
// take a state.
type Wrapper interface{ Unwrap() any }

// Unwrap implements [Wrapper].
func (e erased[S]) Unwrap() any { return e.inner }

// As returns a campaign or an executor as the optional interface T, also through
// [Erase] and other wrappers.
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

// WithTraits is implemented by campaigns whose [Traits] are not the zero value.
type WithTraits interface{ Traits() Traits }

// Traits are what a run must know about a campaign before its first case. With
// the zero value, cases may be executed anywhere, by any number of workers and any
// number of times, with the same result, and are counted as they come.
type Traits struct {
	// Planned is the number of cases in all rounds; 0: unknown, cases are counted
	// round by round.
	Planned int64
	// Roughly is "at least", "at most" or "about" if another number of cases than
	// Planned may run, for example because what is found asks for more.
	Roughly string
	// Exclusive: only one worker on any machine may call the target, for example
	// because it is an agent whose memory cannot be reset.
	Exclusive bool
	// Early: the cases of the first round do not need [Campaign.Probe], and may be
	// executed beside those of other campaigns.
	Early bool
	// Elsewhere: the cases are executed in other processes than the one that writes
	// the run, so they cannot kill it.
	Elsewhere bool
	// Closes: if --cases or --time ends the run early, closing rounds follow: those of
	// the state that Fold returns for the shortened sequence, which may be empty. They
	// leave no trace if the run is resumed with more cases.
	Closes bool
	// Comparable says which parts of two executions of a case must be equal.
	Comparable Comparison
	// Once returns why a case must not be executed again merely to confirm a finding
	// or to compare, for example because it changes something outside; "": it may be
	// executed again. Nil: all cases may.
	Once func(Case, *Outcome) string
	// Prompts: the cases send prompts, which hit logs list.
	Prompts bool
	// Records selects the cases whose evidence is stored, besides the first of each
	// finding.
	Records Recording
	// SkipReason returns why a case was skipped, for people. Nil: the title of the
	// outcome is the reason. (The title is part of the run's digest.)
	SkipReason func(Case, *Outcome) string
	// Gauge returns the size of the case that a payload encodes and the unit of that
	// size in the singular, such as "step" or "character"; an empty unit means that
	// the case has no size. Nil: a payload is what the system is sent, and is shown.
	// Otherwise a payload is an internal encoding, which is never shown; the exhibits
	// of [Describer] show the case.
	Gauge func(ctx context.Context, payload []byte) (size int64, unit string)
}

// TraitsOf returns the traits of a campaign, with Once set.
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

// Namer is implemented by campaigns whose documents name their cases. Reports list
// such cases one by one. To ask for names, use [NamesOf].
type Namer[S any] interface {
	// CaseName returns the document's name for a case. Any state of the campaign will
	// do.
	CaseName(state S, c Case) string
}

// NamesOf returns a function that gives the document's name for a case of c; nil
// if the document does not name its cases.
func NamesOf(c Any, state any) func(Case) string {
	if n, ok := As[interface {
		CaseNames(state any) func(Case) string
	}](c); ok {
		return n.CaseNames(state)
	}
	return nil
}

// CaseNames implements [NamesOf].
func (e erased[S]) CaseNames(s any) func(Case) string {
	if n, ok := As[Namer[S]](e.inner); ok {
		return func(c Case) string { return n.CaseName(s.(S), c) }
	}
	return nil
}

// Describer is implemented by campaigns that can show a case to people.
type Describer[S any] interface {
	// Describe returns exhibits for a case and for minimized, the payload of its
	// smallest reproducer; nil: there is none. It must be pure. It is called for
	// failing cases, and for passing ones that were run again or whose evidence is
	// stored.
	Describe(state S, c Case, out Outcome, minimized []byte) []Exhibit
}

// Refiner is implemented by campaigns that can say more about a finding once there
// is evidence, which facts do not include.
type Refiner interface {
	// Refine returns the title and the severity of a finding, given an outcome of one
	// of its cases with evidence.
	Refine(title string, severity Severity, out Outcome) (string, Severity)
}

// Inputter is implemented by campaigns whose cases have an input that can be
// written down. Input returns the explicit payload of a case of a round; a case
// with that payload executes the same way in any state. If Input must call the
// system, its calls end with ctx, and it then returns nil.
type Inputter[S any] interface {
	Input(ctx context.Context, state S, c Case) []byte
}

// Reducer is implemented by campaigns whose failing cases can be minimized.
type Reducer interface {
	// Reduce looks for a smaller payload for which test returns true. It calls test
	// with candidates until it is done or test returns an error (budget spent,
	// cancelled), and returns the smallest payload that passed. It must not be random.
	// If it tried to remove each part until none could go, the payload is 1-minimal
	// (unless a test returned an error), and parts names the parts in the singular,
	// such as "byte".
	Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (smallest []byte, parts string)
}

// File is a file that a campaign or contract writes.
type File struct {
	Name string // slash-separated, relative
	Data []byte
	Exec bool
}

// Promoter is implemented by campaigns that can turn a finding into a regression
// test: documents of the same contract that fail until the bug is fixed.
type Promoter interface {
	// Promote returns the files of the test, which will be in dir, an absolute path.
	// It gets the payloads of several cases of the finding, the smallest first; a test
	// of the first is enough.
	Promote(ctx context.Context, f Finding, payloads [][]byte, dir string) ([]File, error)
}

// Materializer is implemented by campaigns that can write a case as files, in the
// layout that users of the format know.
type Materializer[S any] interface {
	// Materialize executes the case again and returns the folder it wrote.
	Materialize(ctx context.Context, state S, c Case) (dir string, err error)
}

// Summarizer is implemented by campaigns that have a score, exhibits or warnings
// about all of their cases together.
type Summarizer[S any] interface {
	// Summarize is called with the state after the last case. It must be pure.
	Summarize(S) Summary
}

// Summary is what a campaign reports once its cases have run. The zero value
// reports nothing.
type Summary struct {
	Score    *float64    // from 0 to 1; nil: the campaign has no score
	Interval *[2]float64 // the 95 % interval of the score; nil: the score is exact
	Parts    []ScorePart // the score is their weighted mean
	Exhibits []Exhibit
	// Examples returns exhibits that have to execute something; nil: none. A run that
	// has ended does not call it.
	Examples func(context.Context) []Exhibit
	// Warnings name parts of the document that had no effect, such as a fault that
	// never fired. They are shown and stored with the run.
	Warnings []string
	Advice   []string // what the user may want to try next; nothing is wrong
	// Void says why the cases tested nothing, which makes the run an error unless
	// empty campaigns are allowed.
	Void string
	// Replaced counts cases that passed or were skipped but do not count, such as
	// duplicates, because others were run in their place.
	Replaced Counts
}

// Figurer is implemented by campaigns that measure progress by more than cases,
// such as by code that was reached. Its numbers are shown during the run and
// stored with it.
type Figurer[S any] interface{ Figures(S) []Figure }

// Disputer is implemented by campaigns that execute some cases twice to compare.
// Disputes returns some of the cases whose outcomes differed, in any order, and
// how many there were. The run reports them as a finding of kind
// [KindNondeterminism].
type Disputer interface {
	Disputes() (list []Dispute, all int64)
}

// Dispute is a case with two different outcomes. The first one counts.
type Dispute struct {
	Case          Case
	Input         []byte  // the explicit payload, by [Inputter]; nil: there is none
	First, Second Outcome // without evidence
}

// KindNondeterminism is the kind of the finding that equal cases had different
// outcomes.
const KindNondeterminism = "nondeterminism"

// An erased campaign forwards the optional interfaces that take an S.

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
	return "", diag.Refused("%s cases cannot be written out as files", e.Identity().Contract)
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
