package flakestorm

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/engine/judge"
)

// A model may ask for a call that its agent refuses in code: no request follows, and the call never
// happened. A tool that works without requests looks the same. A control without faults tells the
// two apart: if the tool works by requests, its calls are seen there.

// doubt is an invariant that is broken only if calls without a request really happened.
type doubt struct {
	turn  int
	where place
	v     *config.Invariant
	r     verify.Result
	least campaign.Severity
	trace judge.Trace
}

// doubtful reports whether an invariant that failed holds without such calls. If so, it is decided
// at the end of the case whether they happened.
func (t *trial) doubtful(u *turn, where place, v *config.Invariant, r verify.Result, least campaign.Severity) bool {
	if t.cell.faults == nil || t.p.Phase == PhaseReplay || ruleOf(v) == nil {
		return false
	}
	report := t.cell.report()
	d := doubt{t.cell.place(u), where, v, r, least, t.cell.trace(&report, u.First)}
	if !d.holdsWithout(func(string) bool { return true }) {
		return false
	}
	t.doubts = append(t.doubts, d)
	u.Checks[len(u.Checks)-1].Passed, u.Checks[len(u.Checks)-1].Reason = true, "holds: the model asked for a call that the agent did not make"
	return true
}

// ruleOf returns what an invariant demands of the trace; nil: nothing.
func ruleOf(v *config.Invariant) *judge.Rule {
	if v.Type == "tool_not_called" && !v.Negate {
		return &judge.Rule{Event: judge.Pattern{Kind: judge.Tool, Name: v.Tool}, AtMost: new(int)}
	}
	return v.Trace
}

func (d *doubt) holdsWithout(tools func(string) bool) bool {
	verdict, _, err := ruleOf(d.v).Judge(d.trace.WithoutUnsent(tools))
	return err == nil && verdict != judge.Unknown && (verdict == judge.Pass) != d.v.Negate
}

// settle asks the case's prompts without faults if an invariant is in doubt, to learn which tools
// work by requests.
func (t *trial) settle(ctx context.Context) error {
	if len(t.doubts) == 0 {
		return nil
	}
	cl, err := t.x.enter(ctx, setting{name: "control requests"})
	if err != nil {
		return err
	}
	defer cl.leave()
	for _, prompt := range t.plainPrompts() {
		if _, err := cl.askPrompt(ctx, prompt, prompt, nil); err != nil {
			return err
		}
	}
	report := cl.report()
	calm := cl.trace(&report, -1)
	sent := calm.CarriedOut()
	for _, d := range t.doubts {
		if d.holdsWithout(func(name string) bool { return sent[name] }) {
			continue
		}
		u := &t.cell.turns[d.turn]
		i := slices.IndexFunc(u.Checks, func(k checked) bool { return k.ID == d.v.ID && k.Type == d.v.Type })
		u.Checks[i].Passed, u.Checks[i].Reason = false, d.r.Reason
		t.breaks(u, d.where, d.v, d.r, d.least)
	}
	return nil
}

// plainPrompts returns the golden prompts of a case as the document has them.
func (t *trial) plainPrompts() []string {
	switch t.p.Phase {
	case PhaseContract:
		return t.x.c.prompts(&t.x.c.invariants[t.p.Invariant])
	case PhaseMutation:
		return []string{t.p.Mutation.Original}
	case PhaseChaos:
		return []string{t.x.c.cfg.Prompts[t.p.Prompt].Text}
	}
	return nil
}
