package flakestorm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// place is where a case is in the document.
type place struct {
	phase string
	part  string // the scenario, the type of mutation or the session
	owner string // the invariant of a contract's cell
}

// key tells findings of different places apart.
func (p place) key() string {
	switch p.phase {
	case PhaseContract:
		return p.phase + "|" + p.owner + "|" + p.part
	case PhaseMutation, PhaseReplay:
		return p.phase + "|" + p.part
	}
	return p.phase
}

// judge checks what the agent did. The first of the most severe checks that fail decides the
// outcome. It is as severe as its invariant, but not less than least.
func (t *trial) judge(ctx context.Context, u *turn, where place, list []config.Invariant, least campaign.Severity, b baseline) error {
	if t.p.Only != nil {
		list = slices.DeleteFunc(slices.Clone(list), func(v config.Invariant) bool { return nameOf(&v) != t.p.Only.Name || v.Type != t.p.Only.Type })
	}
	if !u.Reply.OK() || u.replaced {
		return t.judgeUnanswered(ctx, u, where, list, least, b)
	}
	for i := range list {
		if err := t.runCheck(ctx, u, where, &list[i], least, b); err != nil {
			return err
		}
	}
	return nil
}

// runCheck makes one check.
func (t *trial) runCheck(ctx context.Context, u *turn, where place, v *config.Invariant, least campaign.Severity, b baseline) error {
	r, err := t.check(ctx, v, u, b)
	if err != nil {
		return err
	}
	u.Checks = append(u.Checks, checked{ID: v.ID, Type: v.Type, Passed: r.Passed, Reason: r.Reason, Measure: r.Measure})
	if r.Inapplicable {
		return nil
	}
	t.checked++
	t.mention(v)
	if !r.Passed && !t.doubtful(u, where, v, r, least) {
		t.breaks(u, where, v, r, least)
	}
	return nil
}

// breaks adds a check that failed.
func (t *trial) breaks(u *turn, where place, v *config.Invariant, r verify.Result, least campaign.Severity) {
	severity := max(least, severityOf(v.Severity))
	t.broken = append(t.broken, masked{Name: nameOf(v), Type: v.Type, Reason: r.Reason, Severity: severity})
	if t.out.Verdict == campaign.VerdictPass || severity > t.out.Severity {
		t.broke(u, v, where, r, severity)
	}
}

// nameOf returns an invariant's id, or its type if it has none.
func nameOf(v *config.Invariant) string {
	if v.ID == "" {
		return v.Type
	}
	return v.ID
}

// broke sets the outcome for an invariant that does not hold.
func (t *trial) broke(u *turn, v *config.Invariant, where place, r verify.Result, severity campaign.Severity) {
	t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, severity, brokenInvariant
	t.out.Title = fmt.Sprintf("%s: %s: %s", t.what, nameOf(v), r.Reason)
	if u.Injected != "" {
		t.out.Title += "; injected into the agent's reply: " + u.Injected
	}
	t.out.Signature = fmt.Sprintf("%s|%s|%s", where.key(), nameOf(v), v.Type)
	t.out.Cause = []string{v.Type}
	t.failed, t.failedIn, t.note.reason, t.reply = v, u.First, r.Reason, u.Reply.Text
	if t.turn = t.cell.place(u) + 1; t.turn == len(t.cell.turns) {
		t.turn = 0
	}
}

func (t *trial) check(ctx context.Context, v *config.Invariant, u *turn, b baseline) (verify.Result, error) {
	if v.Trace != nil {
		return t.ruled(v, u)
	}
	with := v.Baseline
	if auto(v) {
		if b.Why != "" {
			asked := u.Prompt
			if t.p.Mutation != nil {
				asked = t.p.Mutation.Original
			}
			return verify.Result{}, fmt.Errorf("%s has nothing to compare with: no baseline of %s: %s", v.Type, shortened(asked), b.Why)
		}
		with = b.Text
	}
	return t.x.checker.Check(ctx, v, &u.observe, with)
}

// ruled judges what happened since the conversation of a turn began.
func (t *trial) ruled(v *config.Invariant, u *turn) (verify.Result, error) {
	if v.Filter != nil {
		if hit, err := v.Filter.Search(u.Prompt); err == nil && !hit {
			return verify.Result{Passed: true, Reason: "does not apply: the prompt does not match prompt_filter", Inapplicable: true}, nil
		}
	}
	var r fault.Report
	if t.cell.faults != nil {
		r = t.cell.report()
	}
	verdict, why, err := v.Trace.Judge(t.cell.trace(&r, u.First))
	switch {
	case err != nil:
		return verify.Result{}, fmt.Errorf("%s: judging the trace: %w", v.Path, err)
	case verdict == judge.Unknown:
		return verify.Result{}, fmt.Errorf("%s: %s", v.Path, why)
	}
	return verify.Result{Passed: (verdict == judge.Pass) != v.Negate, Reason: why}, nil
}

// judgeUnanswered judges a call that the agent itself did not answer. Without an answer, nothing
// that must be said holds, and nothing that must not be said is broken. If Thresh injected a
// failure in place of the answer, the agent had no part in it, and what must not be said is not
// checked. A failure of the agent's own is a finding whatever is checked.
func (t *trial) judgeUnanswered(ctx context.Context, u *turn, where place, list []config.Invariant, least campaign.Severity, b baseline) error {
	worst, quiet := least, 0
	var broken *config.Invariant
	for i := range list {
		v := &list[i]
		if v.Trace != nil && u.Injected == "" { // what it did still counts
			if err := t.runCheck(ctx, u, where, v, least, b); err != nil {
				return err
			}
			continue
		}
		if keptBySilence(v) && !outlasted(v, u) {
			quiet++
			u.Checks = append(u.Checks, checked{ID: v.ID, Type: v.Type, Passed: true, Reason: "not broken: there is no reply of the agent"})
			continue
		}
		if broken == nil || severityOf(v.Severity) > severityOf(broken.Severity) {
			broken = v
		}
	}
	if broken != nil {
		worst = max(least, severityOf(broken.Severity))
	}
	switch {
	case t.out.Verdict == campaign.VerdictFail: // because of what it did
	case u.Injected == "":
		if broken == nil {
			worst = max(least, campaign.SeverityMedium)
			t.note.Silent = quiet > 0
		}
		t.unanswered(u, where, worst)
	case broken == nil:
		t.inapplicable(injectedFailure + u.Injected)
	case u.Reply.OK():
		for i := range list {
			if !keptBySilence(&list[i]) {
				if err := t.runCheck(ctx, u, where, &list[i], least, b); err != nil {
					return err
				}
			}
		}
		if t.out.Verdict == campaign.VerdictPass { // because of what Thresh injected
			t.inapplicable(injectedFailure + u.Injected)
		}
	default:
		t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, worst, "injected-failure"
		t.out.Title = t.what + ": " + injectedFailure + u.Injected
		where.owner = "*"
		t.out.Signature = where.key() + "|injected"
		t.out.Cause = []string{"injected"}
		u.Checks = append(u.Checks, checked{ID: broken.ID, Type: broken.Type, Reason: "no reply: " + u.Injected})
	}
	return nil
}

// injectedFailure says whose failure it is.
const injectedFailure = "injected failure in place of the agent's reply: "

// keptBySilence reports whether an invariant is about what must not be said, done or spent: it
// holds without a reply.
func keptBySilence(v *config.Invariant) bool {
	switch v.Type {
	case "excludes_pii", "refusal_check", "latency", "tokens", "cost", "trace":
		return true
	case "excludes_pattern", "not_contains", "tool_not_called":
		return !v.Negate
	}
	return v.Negate && slices.Contains([]string{"contains", "contains_any", "regex", "refusal", "tool_called", "tool_arguments"}, v.Type)
}

// outlasted reports whether an agent that gave no answer took longer than a limit on a single call
// allows.
func outlasted(v *config.Invariant, u *turn) bool {
	return v.Type == "latency" && !verify.Aggregate(v) && u.Injected == "" && u.Reply.End == agentcall.TimedOut &&
		float64(u.Reply.Latency) > v.MaxMS*float64(time.Millisecond)
}

// unanswered sets the outcome of a call without an answer: it never passes, whatever is checked. It
// is one finding of its scenario, whichever invariants were to be checked.
func (t *trial) unanswered(u *turn, where place, severity campaign.Severity) {
	where.owner = "*"
	t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, severity, "agent-"+strings.ReplaceAll(string(u.Reply.End), " ", "-")
	t.note.reason = fmt.Sprintf("the agent gave no answer: %s: %s", u.Reply.End, cut(folderless(&u.Reply), 160))
	t.out.Title = t.what + ": " + t.note.reason
	t.out.Signature = fmt.Sprintf("%s|no answer|%s", where.key(), u.Reply.End)
	t.out.Cause = []string{"no answer", string(u.Reply.End)}
	u.Checks = append(u.Checks, checked{Type: "agent_error", Reason: u.Reply.Error})
}

// folders matches the folders of the file in an exception's location.
var folders = lazy.Pattern(`^(?:/[^/\s:]+)*/([^/\s:]+:\d+:)`)

// folderless says why there is no answer, without the folders of this machine.
func folderless(r *agentcall.Reply) string {
	line := diag.FirstLine(r.Error)
	if r.End == agentcall.Raised {
		line = folders().ReplaceAllString(line, "$1")
	}
	return line
}

// control asks a failed case again without faults and with the original golden prompt. A failure
// that occurs there as well is one finding, not one for each scenario and each type of mutation.
func (t *trial) control(ctx context.Context) error {
	silence := t.failed == nil
	if t.out.Verdict != campaign.VerdictFail || t.cell == nil || t.out.Kind == "injected-failure" || silence && t.note.reason == "" {
		return nil
	}
	v := t.failed
	if !silence && !(activity{}).applies(v.When) {
		return nil // it is only for faults
	}
	prompts := t.plainPrompts()
	if prompts == nil {
		return nil
	}
	if !t.plain() {
		again, err := t.failsPlainly(ctx, prompts)
		if err != nil || !again {
			return err
		}
	}
	if silence {
		t.out.Title = "also without faults: " + t.note.reason
		t.out.Signature = "no answer" + withoutFaults + t.out.Cause[1]
		return nil
	}
	part := "contract"
	if t.p.Phase != PhaseContract && !(v.Prompted && t.x.c.cfg.Contract != nil) {
		part = "run"
	}
	t.out.Title = fmt.Sprintf("%s: also without faults: %s", nameOf(v), t.note.reason)
	t.out.Signature = part + withoutFaults + nameOf(v) + "|" + v.Type
	return nil
}

// failsPlainly asks prompts in a cell without faults and reports whether the same check fails
// there, or there is no answer there either.
func (t *trial) failsPlainly(ctx context.Context, prompts []string) (bool, error) {
	cl, err := t.x.enter(ctx, setting{name: "control " + strings.Join(prompts, "\x00")})
	if err != nil {
		return false, err
	}
	defer cl.leave()
	plain := &trial{x: t.x, p: t.p, what: t.what, cell: cl}
	for _, prompt := range prompts {
		u, err := cl.askPrompt(ctx, prompt, prompt, nil)
		if err != nil {
			return false, err
		}
		if t.failed == nil || !u.Reply.OK() {
			if !u.Reply.OK() {
				return t.failed == nil, nil
			}
			continue
		}
		if verify.Aggregate(t.failed) {
			return false, nil // it is about all runs together and cannot be checked on one
		}
		r, err := plain.check(ctx, t.failed, u, t.p.Baselines[prompt])
		if err != nil {
			return false, nil //nolint:nilerr // a check that cannot be made shows nothing
		}
		if !r.Passed {
			return true, nil
		}
	}
	return false, nil
}

// maxBeside is the largest number of cases that are listed in which an invariant failed beside
// another one.
const maxBeside = 20

// alsoIn lists the other scenarios in which the invariant of a failing cell failed and, for an
// invariant that was checked alone, the cases in which it failed.
func (c *Campaign) alsoIn(s *state, at campaign.Case, o *campaign.Outcome) []campaign.Exhibit {
	i := int(at.Index) - len(c.asked)
	if s != nil && i >= len(s.items) && o.Kind == brokenInvariant {
		var names []string
		for _, k := range s.besideAnother(o.Signature) {
			names = append(names, c.itemName(s.mutations, s.items[k]))
		}
		if n := len(names); n > 0 {
			text := strings.Join(names[:min(n, maxBeside)], "\n")
			if n > maxBeside {
				text += fmt.Sprintf("\nand %d more", n-maxBeside)
			}
			return []campaign.Exhibit{campaign.TextExhibit("Cases in which it fails beside a more severe or earlier invariant", text)}
		}
	}
	if s == nil || o.Verdict != campaign.VerdictFail || i < 0 || i >= len(s.items) || i >= len(s.results) || s.items[i].phase != PhaseContract {
		return nil
	}
	var names []string
	for k, it := range s.items {
		if it.phase != PhaseContract || it.a != s.items[i].a || s.results[k] != failed {
			continue
		}
		if name := c.scenarios[it.b].name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return []campaign.Exhibit{campaign.TextExhibit("Scenarios in which it fails", strings.Join(names, "\n"))}
}

// A case makes one finding, that of the most severe invariant that fails. An invariant that fails
// but makes no finding in any case is checked alone in the last round, so that a known or accepted
// finding does not hide it.

// brokenInvariant is the kind of a case in which an invariant failed.
const brokenInvariant = "broken-invariant"

// masked is an invariant that failed in a case whose finding is about another one.
type masked struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Reason   string            `json:"reason"`
	Severity campaign.Severity `json:"severity"`
	items    []int             // of the main round, in which it failed
}

// otherwise notes the invariants that failed beside the one that decided the outcome. During a run,
// a case that checks a single invariant is a finding even if the invariant holds now: a finding
// that does not reproduce.
func (t *trial) otherwise() {
	if p := t.p.Only; p != nil && t.out.Verdict == campaign.VerdictPass && !t.x.lane.Cold {
		t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, p.Severity, brokenInvariant
		t.out.Title = t.what + ": " + p.Name + ": " + p.Reason
		t.out.Signature, t.out.Cause = t.p.Phase+"|"+p.Name+"|"+p.Type, []string{p.Type}
	}
	for _, b := range t.broken {
		same := func(x masked) bool { return x.Name == b.Name && x.Type == b.Type }
		if t.failed != nil && same(masked{Name: nameOf(t.failed), Type: t.failed.Type}) || slices.ContainsFunc(t.note.Masked, same) {
			continue
		}
		t.note.Masked = append(t.note.Masked, b)
	}
}

// keepMasked stores the cases of each of them.
func (s *state) keepMasked(item int, n *note) {
	for _, b := range n.Masked {
		i := slices.IndexFunc(s.masked, func(x masked) bool { return x.Name == b.Name && x.Type == b.Type })
		if i < 0 {
			i, s.masked = len(s.masked), append(s.masked, b)
		}
		s.masked[i].items = append(s.masked[i].items, item)
	}
}

// besideAnother returns the cases of the main round in which an invariant failed that was checked
// alone in the last round.
func (s *state) besideAnother(signature string) []int {
	for _, b := range s.masked {
		if strings.HasSuffix(signature, b.suffix()) {
			return b.items
		}
	}
	return nil
}

// suffix returns the end of the signature of its finding.
func (b *masked) suffix() string { return "|" + b.Name + "|" + b.Type }

// alone returns the cases of the last round for invariants without a finding.
func (c *Campaign) alone(s *state) (list []payload) {
	for _, b := range s.masked {
		if !slices.ContainsFunc(s.weaknesses, func(w weakness) bool { return strings.HasSuffix(w.signature, b.suffix()) }) {
			p := c.payload(s, s.items[b.items[0]])
			p.Only = &b
			list = append(list, p)
		}
	}
	return list
}
