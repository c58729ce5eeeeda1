package operator

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// executor makes children on one lane.
type executor struct {
	c      *Campaign
	shared *session
	host   pyhost.Operators
	lane   *mutator.Lane
	oracle *oracleLane
	system *systemLane
	writer sut.System // the attacker; nil until it is asked
	rater  sut.System // the rating model; nil until it is asked
	at     campaign.Lane
	cold   bool // the lane is cold: passing cases show their child too
}

// Executor implements [campaign.Session].
func (s *session) Executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
	c := s.c
	x := &executor{c: c, shared: s, cold: lane.Cold, at: lane}
	var err error
	if x.host, err = c.plugins.Open(ctx); err != nil {
		return nil, err
	}
	if c.oracle != "" {
		if x.oracle, err = c.openOracle(ctx, lane); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	if c.plan != nil {
		if x.system, err = c.openSystem(ctx, lane); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	x.lane = c.base.NewLane(x.host)
	return x, nil
}

// Notes reports how the cases ran.
func (x *executor) Notes() []string {
	var notes []string
	if x.host != nil {
		notes = append(notes, x.host.Notes()...)
	}
	if x.oracle != nil {
		notes = append(notes, x.oracle.runner.Notes()...)
	}
	if x.system != nil {
		notes = append(notes, x.system.system.Notes()...)
	}
	return notes
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	var errs []error
	if x.host != nil {
		errs = append(errs, x.host.Close())
	}
	if x.oracle != nil {
		errs = append(errs, x.oracle.Close())
	}
	if x.system != nil {
		errs = append(errs, x.system.Close())
	}
	for _, s := range []sut.System{x.writer, x.rater} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// Batch implements [campaign.Batcher]: batches seed several generators at once and apply Python
// operators together.
func (x *executor) Batch() (aim time.Duration, most int64) { return 20 * time.Millisecond, 1024 }

// ExecuteBatch implements [campaign.Batcher].
func (x *executor) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (busy time.Duration, err error) {
	return 0, x.run(ctx, s.(*state), cases, each)
}

// Execute implements [campaign.Executor].
func (x *executor) Execute(ctx context.Context, s *state, at campaign.Case) (campaign.Outcome, error) {
	var out campaign.Outcome
	err := x.run(ctx, s, []campaign.Case{at}, func(_ campaign.Case, o campaign.Outcome) error {
		out = o
		return nil
	})
	return out, err
}

// run makes the children of cases; only single cases have payloads.
func (x *executor) run(ctx context.Context, s *state, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) error {
	if len(cases) > 0 && cases[0].Payload == nil && s.attacker != nil && s.attacker.phase != sending {
		return x.write(ctx, s, cases, each)
	}
	m := s.m
	jobs := make([]mutator.Job, len(cases))
	for i, at := range cases {
		if at.Payload == nil {
			_, jobs[i] = x.c.job(s, at.Index)
			continue
		}
		var err error
		if m, jobs[i], err = x.c.decodeRecipe(at.Payload); err != nil {
			return err
		}
	}
	x.lane.Use(m)
	other := &repeater{
		wants: func(at int) bool { return elsewhere(cases[at], jobs[at]) },
		make: func(jobs []mutator.Job, yield func(*mutator.Child) error) error {
			return x.shared.make(ctx, m, jobs, yield)
		},
	}
	i := 0
	err := makeChildren(ctx, x.lane, jobs, other, func(child *mutator.Child) error {
		at := cases[i]
		i++
		if at.Payload != nil {
			keepTurns(at.Payload, child)
		}
		o := x.c.outcome(child)
		if x.cold && len(o.Evidence) == 0 {
			o.Evidence = evidence(child)
		}
		if x.c.verdicts != nil {
			x.c.recorded(child, &o)
		}
		if f, _ := decodeFacts(o.Data); at.Payload == nil && x.c.rejectSeen(s, &f, &o) {
			return each(at, o)
		}
		if x.oracle != nil && child.Status == textop.OK {
			if err := x.oracle.judge(ctx, at.Index, child, &o); err != nil {
				return err
			}
		}
		if x.system != nil && child.Status == textop.OK {
			if err := x.system.judge(ctx, child, onlyJudge(at.Payload), &o); err != nil {
				return err
			}
		}
		return each(at, o)
	})
	if ctx.Err() != nil { // a call may still be running in the lane
		x.lane = x.c.base.NewLane(x.host)
	}
	return err
}

// weight orders breaches: the most severe one identifies the case.
func weight(kind string) campaign.Severity {
	switch kind {
	case mutator.BreachFault, breachRepeat:
		return campaign.SeverityHigh
	case mutator.BreachRandom, mutator.BreachResult:
		return campaign.SeverityMedium
	}
	return campaign.SeverityLow
}

// digits matches what differs between equal breaches: lengths, counts and quoted texts.
var digits = regexp.MustCompile(`\d+|"(?:[^"\\]|\\.)*"`)

// outcome judges a child as such.
func (c *Campaign) outcome(child *mutator.Child) campaign.Outcome {
	f := facts{status: child.Status, applied: slices.Clone(child.Applied)}
	if child.Status == textop.OK {
		f.print = mutator.FingerprintOf(child.Text)
	}
	o := campaign.Outcome{Verdict: campaign.VerdictPass}
	if child.Status != textop.OK {
		o.Verdict = campaign.VerdictSkip
	}
	if len(child.Breaches) > 0 {
		worst := slices.MaxFunc(child.Breaches, func(a, b mutator.Breach) int { return cmp.Compare(weight(a.Kind), weight(b.Kind)) })
		id := c.base.Registry().Entries()[worst.Op].Meta.ID
		sum := sha256.Sum256([]byte(child.Seed.Text))
		o.Verdict, o.Severity, o.Kind = campaign.VerdictFail, weight(worst.Kind), worst.Kind
		place := ""
		if worst.At.Line > 0 {
			place = fmt.Sprintf("%s:%d", filepath.Base(worst.At.File), worst.At.Line)
		}
		text := digits.ReplaceAllStringFunc(worst.Text, func(s string) string {
			if strings.HasPrefix(s, `"`) {
				return `"..."`
			}
			return "N"
		})
		o.Title = id + ": " + diag.FirstLine(strings.TrimSpace(worst.Text))
		if place != "" {
			o.Title = place + ": " + o.Title
		}
		o.Signature = strings.Join([]string{id, worst.Kind, place, text}, "\n")
		o.Cause = []string{id, worst.Kind}
		o.Input = hex.EncodeToString(sum[:])
		o.Evidence = append(evidence(child), campaign.Attachment{Name: "breaches", Data: c.breachList(child)})
	}
	o.Data = f.encode()
	return o
}

func evidence(child *mutator.Child) []campaign.Attachment {
	list := []campaign.Attachment{{Name: "child", Data: mutator.AppendChild(nil, child)}, {Name: "seed", Data: []byte(child.Seed.Text)}}
	if child.Seed.Goal != "" {
		list = append(list, campaign.Attachment{Name: "goal", Data: []byte(child.Seed.Goal)})
	}
	return list
}

// breachList lists the breaches of a child, one per line with its place.
func (c *Campaign) breachList(child *mutator.Child) []byte {
	var b bytes.Buffer
	for _, x := range child.Breaches {
		id := c.base.Registry().Entries()[x.Op].Meta.ID
		at := "built in"
		if x.At.File != "" {
			at = x.At.String()
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", id, x.Kind, at, strings.ReplaceAll(x.Text, "\n", " "))
	}
	return b.Bytes()
}

// One in repeatEvery children of lanes with Python operators is made twice: any difference does not
// come from the generator alone.
const repeatEvery = 8

// breachRepeat is the kind of a child that cannot be reproduced.
const breachRepeat = "nondeterministic"

// repeater makes children once more somewhere else; wants selects them by their index.
type repeater struct {
	wants func(at int) bool
	make  func(jobs []mutator.Job, yield func(*mutator.Child) error) error
}

// makeChildren is [mutator.Lane.Make] that makes some children twice, in the lane and, if operators in Python
// take part in them, also where other says (nil: nowhere). It adds a breach if they differ.
func makeChildren(ctx context.Context, lane *mutator.Lane, jobs []mutator.Job, other *repeater, yield func(*mutator.Child) error) error {
	if !lane.Remote() {
		return makeLane(ctx, lane, jobs, yield)
	}
	var twice, elsewhere []mutator.Job
	wanted := make(map[mutator.Job]bool)
	for i, j := range jobs {
		wanted[j] = other != nil && other.wants(i)
		if wanted[j] || len(jobs) == 1 || mutator.FingerprintOf(j.ID).Exact%repeatEvery == 0 {
			twice = append(twice, j)
		}
	}
	earlier := make(map[mutator.Job][][]string, len(twice))
	keep := func(c *mutator.Child) error {
		earlier[c.Job] = append(earlier[c.Job], stepLines(c))
		return nil
	}
	err := makeLane(ctx, lane, twice, func(c *mutator.Child) error {
		python := func(a mutator.Applied) bool { return lane.Registry().Entries()[a.Op].Kind == mutator.Python }
		if wanted[c.Job] && slices.ContainsFunc(c.Applied, python) {
			elsewhere = append(elsewhere, c.Job)
		}
		return keep(c)
	})
	if err != nil {
		return err
	}
	if len(elsewhere) > 0 {
		if err := other.make(elsewhere, keep); err != nil {
			return err
		}
	}
	return makeLane(ctx, lane, jobs, func(c *mutator.Child) error {
		for _, before := range earlier[c.Job] {
			if now := stepLines(c); !slices.Equal(before, now) {
				differs(lane.Registry(), c, before, now)
				break
			}
		}
		return yield(c)
	})
}

// stepLines are the steps of a child, each with a hash of the text after it.
func stepLines(c *mutator.Child) []string {
	lines := make([]string, len(c.Steps))
	for i := range c.Steps {
		lines[i] = fmt.Sprintf("%s %x", mutator.AppendStep(nil, &c.Steps[i]), c.Applied[i].After)
	}
	return lines
}

// differs blames a Python operator for a child that came out differently: the operator of the first
// differing step, or the last one before it, which may have drawn other numbers.
func differs(r *mutator.Registry, c *mutator.Child, before, now []string) {
	at := 0
	for at < min(len(before), len(now))-1 && before[at] == now[at] {
		at++
	}
	for ; at >= 0; at-- {
		if e := &r.Entries()[c.Applied[at].Op]; e.Kind == mutator.Python {
			c.Breaches = append(c.Breaches, mutator.Breach{
				Op: c.Applied[at].Op, Step: at, Kind: breachRepeat, At: e.Source,
				Text: "gives another result for the same text, context and generator (OC-5.3)",
			})
			return
		}
	}
}

// grace is how long to wait for an uninterruptible call after the run has ended. A call that takes
// longer is abandoned: the limits of operators end it.
const grace = 250 * time.Millisecond

// untilCancelled calls fn, and stops waiting for it soon after the context has ended. After that,
// whatever fn uses must not be used again.
func untilCancelled(ctx context.Context, fn func() error) error {
	if ctx.Done() == nil {
		return fn()
	}
	if err := ctx.Err(); err != nil {
		return err // the previous call returned in time
	}
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return ctx.Err()
	}
}

// interpreted reports whether a registry has operators whose calls cannot be interrupted.
func interpreted(r *mutator.Registry) bool {
	return slices.ContainsFunc(r.Entries(), func(e mutator.Entry) bool { return e.Kind == mutator.Starlark })
}

// makeLane is [mutator.Lane.Make] that ends soon after the context. After that the lane must not be
// used again. It calls yield on the calling goroutine.
func makeLane(ctx context.Context, lane *mutator.Lane, jobs []mutator.Job, yield func(*mutator.Child) error) error {
	if ctx.Done() == nil || !interpreted(lane.Registry()) {
		return lane.Make(ctx, jobs, yield)
	}
	children, taken := make(chan *mutator.Child), make(chan error)
	done := make(chan error, 1)
	go func() {
		done <- lane.Make(ctx, jobs, func(c *mutator.Child) error {
			select {
			case children <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
			return <-taken
		})
	}()
	for {
		select {
		case c := <-children:
			taken <- yield(c)
		case err := <-done:
			return err
		case <-ctx.Done():
			return untilCancelled(ctx, func() error { return <-done })
		}
	}
}
