package spectest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// executor runs cases on one lane. It opens what a type of case needs when the first case of that
// type runs.
type executor struct {
	c    *Campaign
	lane campaign.Lane
	*place
	eval *evaluator
	set  *settings // of the campaign, with the variables from setup

	session  *session
	step     *stepper                   // asks before each block and case; nil: nobody asks
	mended   func(*Case, *Failure) bool // reports whether a failed case of a chain would hold with the proposals; nil: none are made
	unit     int                        // the unit decoded last
	read     int                        // bytes decoded since memory was last released
	decoded  []decoded
	commands map[laneKind]*commandLane
	python   pyhost.Commander
	skipped  []string // skipped blocks of the last page, with the reason
	told     []string // notes that the host already gave in earlier campaigns
	http     exchange.Client
	jar      int // number of the current cookie jar
	systems  map[*sut.Plan]sut.System
	slot     slot               // of the running case
	files    *filesLimit        // of the running command or page; nil: none
	chain    map[*sut.Plan]bool // systems already reset for the running chain; nil: no chain runs
}

// maxEvidence is the number of bytes that a failing case keeps of each output.
const maxEvidence = 64 << 10

// evidence is the evidence of a case, in display order.
type evidence []campaign.Attachment

func (e *evidence) add(name string, data []byte) {
	if len(data) > 0 {
		*e = append(*e, campaign.Attachment{Name: name, Data: append([]byte(nil), data[:min(len(data), maxEvidence)]...)})
	}
}

// Execute implements [campaign.Executor].
func (x *executor) Execute(ctx context.Context, _ *state, at campaign.Case) (campaign.Outcome, error) {
	if at.Index < 0 || at.Index >= int64(len(x.c.slots)) {
		return campaign.Outcome{}, fmt.Errorf("%s has no case %d", x.c.name, at.Index)
	}
	if err := x.setUp(ctx); err != nil {
		return campaign.Outcome{}, err
	}
	c := x.caseAt(at.Index)
	start := time.Now()
	f, notes, err := x.attempt(ctx, c)
	tries, retries := 1, x.c.set.retries
	if x.lane.Cold || x.c.set.expect || c.fault != nil {
		retries = 0 // a confirmation runs once, and a case that cannot change is not retried
	}
	first, seen := f, notes
	for ; err == nil && f != nil && tries <= retries; tries++ {
		f, notes, err = x.attempt(ctx, c)
	}
	if err != nil {
		return campaign.Outcome{}, err
	}
	held := f == nil && first != nil
	if held {
		f, notes = first, seen
	}
	f, notes = hide(x.set.hidden, f, notes)
	var o campaign.Outcome
	if held {
		o = x.flaky(c, f)
	} else {
		o = x.outcome(c, f)
	}
	o.Elapsed = time.Since(start)
	if o.Verdict == campaign.VerdictFail {
		o.Evidence = f.evidence(notes)
	}
	return o, nil
}

// evidence puts the failure's own evidence before the notes of its case.
func (f *Failure) evidence(notes evidence) evidence {
	if f == nil {
		return notes
	}
	var own evidence
	for _, n := range []struct {
		name string
		text *string
	}{{stepsNote, f.steps}, {"expected", f.expected}, {"because", &f.Saw}, {"actual", f.actual}} {
		if n.text != nil && (*n.text != "" || n.text != &f.Saw) {
			own = append(own, campaign.Attachment{Name: n.name, Data: []byte(clipped(*n.text, maxEvidence))})
		}
	}
	if text := f.beyond(maxEvidence); text != "" {
		own = append(own, campaign.Attachment{Name: beyondNote, Data: []byte(text)})
	}
	if len(f.more) > 0 {
		own = append(own, campaign.Attachment{Name: besideNote, Data: besideJSON(f.more)})
	}
	return append(own, notes...)
}

// caseAt returns a case of the campaign and decodes it if necessary.
func (x *executor) caseAt(i int64) *Case {
	s := x.c.slots[i]
	if x.slot = s; x.c.chains[s] != nil {
		return x.c.chains[s].c
	}
	if held := x.c.held[s.unit]; held != nil && x.set == x.c.set {
		return held[s.item].c
	}
	if int(s.unit) != x.unit {
		x.unit, x.decoded = int(s.unit), x.c.doc.decodeUnit(int(s.unit), x.set)
		if x.read += x.c.doc.size(x.unit); x.read > pieceSize {
			x.read = 0
			x.c.doc.release()
		}
	}
	return x.decoded[s.item].c
}

// attempt runs a case once. An error means that the environment failed.
func (x *executor) attempt(ctx context.Context, c *Case) (*Failure, evidence, error) {
	x.eval.subjects = nil
	f, notes, err := x.tryOnce(ctx, c)
	got, lacks := x.captured(c)
	if f == nil && x.chain == nil { // no later case needs them, but they must exist
		f = firstOf(lacks)
	}
	if f != nil && f.Line == 0 { // it failed before any assertion
		at := c.about
		if f.Op == "exit_code" && c.cli != nil {
			at = c.cli.exitAt
		}
		f.Line, f.Col = at.Line, at.Col
	}
	f, notes = hide(got.redactor(true), f, notes)
	return f, notes, err
}

// captured returns the values that a case captures, whether or not it held, and the failures of
// those it cannot find.
func (x *executor) captured(c *Case) (got variables, lacks []*Failure) {
	got = variables{}
	for i := 0; i < len(c.captures) && x.eval.subjects != nil; i++ {
		if g, f := c.captures[i].lookUp(c.Type, x.eval.subjects); f != nil {
			lacks = append(lacks, f)
		} else {
			got[c.captures[i].name] = g
		}
	}
	return got, lacks
}

func (x *executor) tryOnce(ctx context.Context, c *Case) (*Failure, evidence, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	switch {
	case c.skip != "":
		return nil, nil, nil
	case c.fault != nil:
		return c.fault, nil, nil
	case c.text != nil:
		s, f := x.readText(c)
		if f != nil {
			return f, nil, nil
		}
		return x.eval.judge(c, s), nil, nil
	case c.cli != nil:
		return x.runCLI(ctx, c)
	case c.http != nil:
		return x.callUntil(ctx, c)
	case c.system != nil:
		return x.callSystem(ctx, c)
	case c.steps != nil:
		return x.runChain(ctx, c)
	case c.page != nil:
		_, skipped, f, err := x.runPage(ctx, c)
		x.skipped = skipped
		return f, nil, err
	}
	return nil, nil, fmt.Errorf("%s: the case %s has no type", x.c.name, c.ID)
}

// result is what conformance reports say of a case; it is kept in outcomes.
type result struct {
	*Failure
	Line int `json:"block"` // first line of the case's block
	// Skipped says why blocks of a page were not run.
	Skipped []string `json:"skipped,omitempty"`
}

// outcome is the outcome of a case.
func (x *executor) outcome(c *Case, f *Failure) campaign.Outcome {
	if x.c.set.expect {
		return x.judgeExpectation(c, f)
	}
	switch {
	case f != nil:
		return x.failed(c, f, f.Category, f.summary())
	case c.page != nil && len(x.skipped) > 0:
		o := campaign.Outcome{}
		if len(x.skipped) == c.page.blocks() {
			o.Verdict = campaign.VerdictSkip
		}
		o.Data, _ = json.Marshal(result{Line: c.From, Skipped: x.skipped}) // strings and a number
		return o
	case c.skip != "":
		return campaign.Outcome{Verdict: campaign.VerdictSkip}
	}
	return campaign.Outcome{}
}

func (x *executor) failed(c *Case, f *Failure, kind, what string) campaign.Outcome {
	if f != nil && f.Step != "" {
		c = &Case{ID: f.Step, From: c.From, page: c.page}
	}
	o := campaign.Outcome{
		Verdict: campaign.VerdictFail, Severity: campaign.SeverityMedium, Kind: kind,
		Title:     fmt.Sprintf("%s:%d %s: %s", x.c.name, x.line(c, f), c.label(), what),
		Signature: fmt.Sprintf("%s|%d|%s", c.ID, c.From, f.Path), Cause: []string{strings.TrimSpace(f.Target + " " + f.Op)},
	}
	if c.ID != "" {
		o.Signature = c.ID + "|" + f.Path // does not change when lines are added or removed above
	}
	if n := x.c.repeats[x.slot]; n > 0 {
		o.Signature += fmt.Sprintf("|%d", n)
	}
	r := result{Line: c.From}
	if f != nil {
		kept := *f
		kept.Saw, r.Failure = "", &kept // it is evidence, since it may differ between equal runs
	}
	if c.page != nil {
		r.Skipped = x.skipped
	}
	o.Data, _ = json.Marshal(r) // strings and numbers
	return o
}

// line is the line to show a reader: of the failure, or of the block.
func (x *executor) line(c *Case, f *Failure) int {
	if f != nil && f.Line > 0 {
		return f.Line
	}
	return c.From
}

// flaky is the outcome of a case that failed at first and held on a retry.
func (x *executor) flaky(c *Case, first *Failure) campaign.Outcome {
	o := x.failed(c, first, "flaky", "held when it was tried again, after: "+first.summary())
	o.Severity = campaign.SeverityLow
	return o
}

// summary describes a failure in one line.
func (f *Failure) summary() string {
	switch {
	case f.Want != "" && f.Category == Assertion:
		return clipped("expected "+f.Want, 300)
	case f.Path != "" && f.Target != "":
		return clipped(fmt.Sprintf("%s: %s %s: %s", f.Category, f.Target, f.Op, f.detail()), 300)
	}
	head := diag.FirstLine(f.detail())
	return clipped(f.Category+": "+head, 300)
}

// detail is the message without its location.
func (f *Failure) detail() string {
	for _, end := range []string{" op=" + f.Op + "] ", " assert_path=" + f.Path + "] "} {
		if _, detail, found := strings.Cut(f.Message, end); found {
			return detail
		}
	}
	return f.Message
}

// Notes reports how the cases ran.
func (x *executor) Notes() []string {
	var notes []string
	for _, s := range x.systems {
		notes = append(notes, s.Notes()...)
	}
	if slices.Sort(notes); x.python != nil {
		return append(notes, slices.DeleteFunc(x.python.Notes(), func(n string) bool { return slices.Contains(x.told, n) })...)
	}
	return notes
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	var errs []error
	x.c.doc.release()
	for kind, l := range x.commands {
		errs = append(errs, x.session.cache.Put(kind.cacheKey(x.lane.Cold), l))
	}
	if x.python != nil {
		errs = append(errs, x.session.cache.Put(x.pythonKey(), x.python))
	}
	for p, s := range x.systems {
		if key := x.systemKey(p); key != "" {
			errs = append(errs, x.session.cache.Put(key, s))
		} else {
			errs = append(errs, s.Close())
		}
	}
	if x.http != nil {
		errs = append(errs, x.http.Close())
	}
	return errors.Join(errs...)
}

// session holds what the lanes of a campaign share.
type session struct {
	c     *Campaign
	cache *campaign.Cache
	own   func() *fileText // the document as its cases see it

	mu   sync.Mutex
	page *pageRun  // the setup run; nil: it has not run, or failed
	set  *settings // with the variables from setup
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

// Close implements [campaign.Session]: it undoes the setup.
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
