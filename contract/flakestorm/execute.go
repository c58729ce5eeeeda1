package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// trial is a case that is being run: what is asked, and the result.
type trial struct {
	x      *executor
	p      payload
	what   string // the case, for display
	cell   *cell
	report fault.Report
	out    campaign.Outcome
	note   note

	checked int               // number of checks made
	broken  []masked          // invariants whose checks failed
	failed  *config.Invariant // the invariant that decided the outcome; nil: there was no answer, or none failed
	reply   string            // the reply that made it fail
	// failedIn is the first turn of the conversation in which it failed.
	failedIn int
	shown    *trial   // for a sampled cell, the run that shows it
	calls    []string // for a replay, see [record.Trace]
	turn     int      // the turn that the finding is about, from 1; 0: the last
	doubts   []doubt
}

// Execute implements [campaign.Executor].
func (x *executor) Execute(ctx context.Context, s *state, at campaign.Case) (campaign.Outcome, error) {
	var p payload
	data := at.Payload
	if data == nil {
		return campaign.Outcome{}, fmt.Errorf("%s: case %d has no payload", x.c.id.Name, at.Index)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return campaign.Outcome{}, fmt.Errorf("reading the payload of case %d: %w", at.Index, err)
	}
	if err := x.c.inRange(&p); err != nil {
		return campaign.Outcome{}, fmt.Errorf("case %d: %w", at.Index, err)
	}
	x.recalled, x.own = s.known.Recalled, s.known.Own
	sum := sha256.Sum256(data)
	t := &trial{x: x, p: p}
	t.out.Input = hex.EncodeToString(sum[:])
	start := time.Now()
	if p.Of != nil {
		t.p = *p.Of // the case in which a check found something
	}
	err := t.run(ctx, s)
	if t.cell != nil {
		t.report = t.cell.leave()
		t.tally()
	}
	if err == nil {
		err = t.settle(ctx)
	}
	switch {
	case err != nil:
	case p.Of != nil:
		t.showsAgain(&p)
	case t.shown != nil:
		t.cell, t.report, t.turn = t.shown.cell, t.shown.report, t.shown.turn
	case x.c.sampledBy(p.Phase, p.Invariant) != nil:
		t.inspect()
		t.allow()
	default:
		t.inspect()
		t.otherwise()
		err = t.control(ctx)
	}
	if err != nil {
		return campaign.Outcome{}, err
	}
	t.finish()
	t.out.Elapsed = time.Since(start)
	return t.out, nil
}

// inRange checks a payload that comes from outside.
func (c *Campaign) inRange(p *payload) error {
	in := func(i, n int) bool { return i >= 0 && i < n }
	var ok bool
	switch p.Phase {
	case phaseBaseline:
		ok = in(p.Prompt, len(c.asked))
	case PhaseMutation:
		ok = p.Mutation != nil && p.Before >= 0
	case PhaseChaos:
		ok = in(p.Prompt, len(c.cfg.Prompts)) && p.Before >= 0
	case PhaseContract:
		ok = in(p.Invariant, len(c.invariants)) && in(p.Scenario, len(c.scenarios))
	case phaseRate:
		ok = in(p.Invariant, len(c.invariants)) && in(p.Scenario, len(c.scenarios)) && p.Sample != nil && c.sequences[p.Invariant] != nil
	case PhaseReplay:
		ok = in(p.Session, len(c.sessions))
	case phaseAudit:
		ok = in(p.Rule, len(c.rules)) || p.Subject != ""
	case phaseCheck:
		ok = p.Of == nil && p.Check == judge.UnhealthyBaseline || p.Of != nil && p.Of.Of == nil && c.inRange(p.Of) == nil
	}
	if !ok {
		return fmt.Errorf("the campaign has no such case: phase %q", p.Phase)
	}
	return nil
}

func (t *trial) run(ctx context.Context, s *state) error {
	switch t.p.Phase {
	case phaseBaseline:
		return t.baseline(ctx)
	case PhaseMutation:
		return t.mutation(ctx)
	case PhaseChaos:
		return t.chaos(ctx)
	case PhaseContract:
		return t.contract(ctx)
	case PhaseReplay:
		return t.replay(ctx)
	case phaseCheck:
		return t.unhealthy(ctx)
	case phaseRate:
		return t.rate(ctx)
	}
	t.audit(s)
	return nil
}

func (t *trial) enter(ctx context.Context, s setting) (err error) {
	t.note.First = s.j.first
	t.cell, err = t.x.enter(ctx, s)
	return err
}

// baseline asks without chaos and stores the reply.
func (t *trial) baseline(ctx context.Context) error {
	prompt := t.x.c.asked[t.p.Prompt]
	t.what = "the baseline of " + shortened(prompt)
	if err := t.enter(ctx, setting{name: "baseline " + prompt}); err != nil {
		return err
	}
	u, err := t.cell.askPrompt(ctx, prompt, prompt, nil)
	if err != nil {
		return err
	}
	if !u.Reply.OK() {
		t.note.Why = u.Reply.Error
		t.unanswered(u, place{phase: phaseBaseline}, campaign.SeverityMedium)
		return nil
	}
	text := u.Reply.Text
	if len(text) > 64<<10 {
		text = strings.ToValidUTF8(text[:64<<10], "")
	}
	t.note.Baseline = &text
	return nil
}

// mutation asks a variant of a golden prompt.
func (t *trial) mutation(ctx context.Context) error {
	m := t.p.Mutation
	t.what = fmt.Sprintf("%s of %s", config.DisplayName(m.Type), shortened(m.Original))
	s := setting{name: "mutation " + m.ID}
	if t.x.c.chaotic {
		s.j, s.before = t.x.c.chaos, t.p.Before
	}
	if err := t.enter(ctx, s); err != nil {
		return err
	}
	u, err := t.cell.askPrompt(ctx, m.Original, m.Text, m.Wire)
	if err != nil {
		return err
	}
	if m.Wire != nil && u.Reply.End == agentcall.Refused && u.Reply.Status >= 400 && u.Reply.Status < 500 {
		// A server may refuse a malformed request. That is neither an answer to judge nor a
		// failure.
		t.out.Verdict, t.out.Kind = campaign.VerdictSkip, "refused-request"
		t.out.Title = fmt.Sprintf("the request, %s, was refused with status %d", m.How, u.Reply.Status)
		return nil
	}
	if p := t.x.c.conversationFor(m.Original); p != nil && u.script > 0 && u.script < len(p.Script()) {
		t.inapplicable("not applicable: the conversation ended before the turn that was changed")
		return nil
	}
	where := place{phase: PhaseMutation, part: m.Type}
	if err := t.judge(ctx, u, where, t.x.c.cfg.Invariants, campaign.SeverityNote, t.p.Baselines[m.Original]); err != nil {
		return err
	}
	return t.filtered(u, t.expected(ctx, u, where, m.Original, t.p.Baselines[m.Original]))
}

// chaos asks an unchanged golden prompt under the document's faults.
func (t *trial) chaos(ctx context.Context) error {
	prompt := t.x.c.cfg.Prompts[t.p.Prompt].Text
	t.what = "chaos, " + shortened(prompt)
	if err := t.enter(ctx, setting{j: t.x.c.chaos, name: "chaos " + prompt, before: t.p.Before}); err != nil {
		return err
	}
	u, err := t.cell.askPrompt(ctx, prompt, prompt, nil)
	if err != nil {
		return err
	}
	where := place{phase: PhaseChaos}
	if err := t.judge(ctx, u, where, t.x.c.cfg.Invariants, campaign.SeverityNote, t.p.Baselines[prompt]); err != nil {
		return err
	}
	return t.filtered(u, t.expected(ctx, u, where, prompt, t.p.Baselines[prompt]))
}

// contract runs one cell: all its prompts, one after the other, judged by its one invariant.
func (t *trial) contract(ctx context.Context) error {
	c := t.x.c
	v, j := &c.invariants[t.p.Invariant], c.scenarios[t.p.Scenario]
	t.what = fmt.Sprintf("%s in %s", v.ID, j.name)
	if !j.active.applies(v.When) {
		t.inapplicable(fmt.Sprintf("not applicable (when: %s)", v.When))
		return nil
	}
	where := place{phase: PhaseContract, part: j.name, owner: v.ID}
	if verify.Aggregate(v) {
		return t.percentile(ctx, v, j, where)
	}
	if err := t.enter(ctx, setting{j: j, name: cellName(v, &j, t.p.Run)}); err != nil {
		return err
	}
	for _, prompt := range c.prompts(v) {
		u, err := t.cell.askPrompt(ctx, prompt, prompt, nil)
		if err != nil {
			return err
		}
		if v.Turn > 0 && u.Reply.OK() {
			if u = t.cell.scripted(u, v.Turn); u == nil {
				continue // the conversation took another course
			}
		}
		if err := t.judge(ctx, u, where, c.invariants[t.p.Invariant:t.p.Invariant+1], campaign.SeverityNote, t.p.Baselines[prompt]); err != nil {
			return err
		}
		if t.out.Verdict != campaign.VerdictPass {
			return nil
		}
	}
	if t.checked == 0 {
		t.inapplicable("not applicable (prompt_filter, or the conversation went another way)")
	}
	return nil
}

// filtered skips a case whose checks are all for other prompts: that none of them failed means
// nothing.
func (t *trial) filtered(u *turn, err error) error {
	if err == nil && t.out.Verdict == campaign.VerdictPass && t.checked == 0 && len(u.Checks) > 0 {
		t.inapplicable("not applicable (prompt_filter)")
	}
	return err
}

// inapplicable sets the outcome of a case that has nothing to check.
func (t *trial) inapplicable(why string) {
	t.out.Verdict, t.out.Kind = campaign.VerdictSkip, "not-applicable"
	t.out.Title = t.what + ": " + why
}

// cellName decides the seed of a run of a cell. It consists of names, so that a document that
// contains only this cell gets the same seed.
func cellName(v *config.Invariant, j *injection, run int) string {
	return fmt.Sprintf("cell %s\x00%s\x00%d", v.ID, j.name, run)
}

// percentile judges all runs of a cell together.
func (t *trial) percentile(ctx context.Context, v *config.Invariant, j injection, where place) error {
	if err := t.enter(ctx, setting{j: j, name: cellName(v, &j, 0)}); err != nil {
		return err
	}
	var replies []verify.Reply
	var last *turn
	for range t.x.c.runs {
		for _, prompt := range t.x.c.prompts(v) {
			u, err := t.cell.askPrompt(ctx, prompt, prompt, nil)
			if err != nil {
				return err
			}
			if !u.Reply.OK() || u.replaced {
				return t.judge(ctx, u, where, []config.Invariant{*v}, campaign.SeverityNote, baseline{})
			}
			replies, last = append(replies, u.observe), u
		}
	}
	r, err := t.x.checker.CheckAll(v, replies)
	if err != nil {
		return err
	}
	last.Checks = append(last.Checks, checked{ID: v.ID, Type: v.Type, Passed: r.Passed, Reason: r.Reason, Measure: r.Measure})
	if !r.Passed {
		t.broke(last, v, where, r, severityOf(v.Severity))
	}
	return nil
}

// replay asks what a recorded session had asked, and answers the agent's tools as they had been
// answered then.
func (t *trial) replay(ctx context.Context) error {
	s := &t.x.c.sessions[t.p.Session]
	t.what = replayName(s)
	if err := t.enter(ctx, setting{name: "replay " + s.ID, recorded: s.recorded}); err != nil {
		return err
	}
	u, err := t.cell.askAgent(ctx, s.Input, nil, s.history(&t.x.c.agent))
	if err != nil {
		return err
	}
	if err := t.judge(ctx, u, place{phase: PhaseReplay, part: s.ID}, s.checks, campaign.SeverityHigh, baseline{}); err != nil || t.cell.faults == nil || len(s.Trace) == 0 {
		return err
	}
	made := t.cell.report().Exchanges
	t.calls = record.Trace(made)
	at := firstDifference(s.Trace, t.calls)
	if named := record.Trace(record.ByAddress(made)); at >= 0 {
		if k := firstDifference(s.Trace, named); k < 0 || k > at {
			t.calls, at = named, k
		}
	}
	if at >= 0 && s.Model == config.ModelRecorded {
		step := func(list []string) string { return cut(append(list[:len(list):len(list)], "nothing more")[at], 120) }
		why := fmt.Sprintf("departs from the recording at call %d: %s, where %s was recorded", at+1, step(t.calls), step(s.Trace))
		if t.out.Verdict == campaign.VerdictPass {
			t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, campaign.SeverityMedium, departed
			t.out.Title = t.what + ": " + why
			t.out.Signature, t.out.Cause = "replay|"+s.ID+"|"+departed, []string{departed}
		} else { // the departure may be the reason for the failure
			t.out.Title += "; " + why
			t.note.reason += "; " + why
		}
	}
	if len(t.calls) == 0 {
		t.calls = []string{"no call"}
	}
	return nil
}

// departed is the kind of a replay in which the model gave its recorded replies, but the agent made
// other calls.
const departed = "departed"

// firstDifference returns the first index at which two traces differ; -1: they are equal.
func firstDifference(old, now []string) int {
	for i := range max(len(old), len(now)) {
		if i >= len(old) || i >= len(now) || old[i] != now[i] {
			return i
		}
	}
	return -1
}

// audit reports, under --strict, a fault that never fired or an invariant that was not tested.
func (t *trial) audit(s *state) {
	t.out.Verdict, t.out.Severity = campaign.VerdictFail, campaign.SeverityLow
	if t.p.Subject != "" {
		t.out.Kind, t.out.Title, t.out.Signature = "not-tested", t.p.Subject+": "+t.p.Reason, "audit|"+t.p.Subject
		return
	}
	var f fired
	if t.p.Rule < len(s.fired) {
		f = s.fired[t.p.Rule]
	}
	r := t.x.c.rules[t.p.Rule]
	t.out.Kind = "never-fired"
	t.out.Title = t.x.c.idleText(t.p.Rule, f, s)
	t.out.Signature = "audit|" + r.scenario + "|" + r.rule.ID
}

// tally counts the faults of the case.
func (t *trial) tally() {
	missed := false
	for _, y := range t.report.Tallies {
		t.note.Fired = append(t.note.Fired, [2]int{y.Considered, y.Fired})
		why := strings.Join(y.Missed, "; ")
		t.note.Missed = append(t.note.Missed, why)
		missed = missed || why != ""
		if r := t.note.First + len(t.note.Fired) - 1; y.Considered == 0 && r < len(t.x.c.rules) && t.x.c.rules[r].rule.Layer == fault.Tool {
			trace := t.cell.trace(&t.report, -1)
			t.note.Occurred = trace.Occurred()
		}
	}
	if !missed {
		t.note.Missed = nil
	}
	t.note.Unused = slices.Compact(slices.Sorted(slices.Values(t.report.Unused)))
	t.x.shared.keepNotes(&t.report)
}

// finish adds facts and evidence to the outcome.
func (t *trial) finish() {
	if t.x.c.listReplies && t.cell != nil && t.p.Phase != phaseCheck && t.p.Phase != phaseRate {
		t.note.Said = t.replies()
	}
	if len(t.note.Said)+len(t.note.Fired)+len(t.note.Unused) > 0 || t.note.Baseline != nil || t.note.Why != "" || t.note.Silent || len(t.note.Found)+len(t.note.Sick) > 0 || t.note.Ailing || t.note.Failing != "" || len(t.note.Mentions)+len(t.note.Masked) > 0 {
		t.out.Data, _ = json.Marshal(t.note) // strings and numbers cannot fail
	}
	if t.cell != nil {
		// Runs examine a few cases on cold lanes: these include everything.
		t.out.Evidence = t.evidence(t.out.Verdict == campaign.VerdictFail || t.out.Kind == failingRun || t.x.lane.Cold)
	}
}

// severityOf returns the severity of a finding for the contract's word. An unknown word is as
// severe as low.
func severityOf(s string) campaign.Severity {
	switch s {
	case "critical":
		return campaign.SeverityCritical
	case "high":
		return campaign.SeverityHigh
	case "medium":
		return campaign.SeverityMedium
	}
	return campaign.SeverityLow
}

func shortened(s string) string {
	return fmt.Sprintf("%q", diag.Runes(strings.Join(strings.Fields(s), " "), 60))
}
