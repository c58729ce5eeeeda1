package flakestorm

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
)

// problem is what a built-in check found, and in which case of the main round.
type problem struct {
	Check   string `json:"check"`
	Subject string `json:"subject,omitempty"`
	Reason  string `json:"reason"`
	// Covered says that, in this case, an invariant of the document failed because of it, and that
	// the finding of that invariant names the check.
	Covered bool `json:"covered,omitempty"`
	// Declared says that the document declares what calls of the tool do, under this name or the
	// model's.
	Declared bool `json:"declared,omitempty"`
	item     int
	cases    int
}

// checkOn reports whether a built-in check is on.
func (c *Campaign) checkOn(id string) bool { return !slices.Contains(c.cfg.ChecksOff, id) }

// checksOn reports whether any of the checks that look at calls is on.
func (c *Campaign) checksOn() bool { return len(c.cfg.ChecksOff) < len(judge.Checks()) }

func checkOf(id string) judge.Check {
	list := judge.Checks()
	return list[max(0, slices.IndexFunc(list, func(k judge.Check) bool { return k.ID == id }))]
}

// inspect runs the built-in checks on a case.
func (t *trial) inspect() {
	c := t.x.c
	if t.cell == nil || len(t.cell.turns) == 0 || !c.checksOn() {
		return
	}
	for _, k := range judge.Checks() {
		if !c.checkOn(k.ID) {
			continue
		}
		for _, p := range t.finds(k) {
			q := problem{Check: k.ID, Subject: p.Subject, Reason: p.Reason}
			q.Declared = slices.ContainsFunc(append(p.Asked, p.Subject), func(name string) bool { _, ok := c.cfg.Effects.Of(name); return ok })
			if q.Covered = t.failed != nil && t.out.Verdict == campaign.VerdictFail && t.covers(k.ID, &p); q.Covered {
				t.out.Severity = max(t.out.Severity, severities[k.Weight])
				if !strings.Contains(t.note.reason, k.ID) {
					t.note.reason += " (" + k.ID + ")"
					t.out.Title += " (" + k.ID + ")"
				}
			}
			t.note.Found = append(t.note.Found, q)
		}
	}
	if !c.struck(t.p.Phase, t.p.Scenario) && c.checkOn(judge.UnhealthyBaseline) {
		t.note.Ailing = someAllFailed(judge.HealthOf(t.cell.trace(&t.report, -1)))
	}
}

// spotted is a problem in one conversation of a case.
type spotted struct {
	judge.Problem
	turn  int // last turn of the conversation, from 1
	first int // first turn of the conversation, by its number in the cell
}

// finds runs a check on each conversation of the case.
func (t *trial) finds(k judge.Check) []spotted {
	var list []spotted
	for i := range t.cell.turns {
		if t.cell.turns[i].First != i {
			continue
		}
		last := i
		for j := range t.cell.turns {
			if t.cell.turns[j].First == i {
				last = j
			}
		}
		for _, p := range k.Find(t.cell.trace(&t.report, i)) {
			list = append(list, spotted{p, last + 1, i})
		}
	}
	return list
}

// What invariants say about a reply: what it must not contain, and what it must contain.
var (
	excluding = []string{"excludes_pattern", "not_contains", "refusal_check", "excludes_pii", "llm_judge"}
	demanding = []string{"contains", "contains_any", "regex"}
)

// covers reports whether the invariant that failed says the same as a check: about the same words
// of the reply, or about calls of that tool, how often or with which arguments.
func (t *trial) covers(check string, p *spotted) bool {
	v, subject := t.failed, p.Subject
	excludes := slices.Contains(excluding, v.Type) || v.Negate && slices.Contains(demanding, v.Type)
	if excludes && p.Text != "" {
		excludes = concernsReply(t.note.reason, t.reply, p.Text)
		if v.Type == "excludes_pii" { // whose reason says what kind of data there is, not which words
			none, _, err := (&judge.Demand{Type: v.Type}).Judge(p.Text)
			excludes = err == nil && !none
		}
	}
	excludes = excludes && p.first == t.failedIn // it says nothing about other conversations
	says := excludes || slices.Contains(demanding, v.Type) && p.first == t.failedIn
	r := v.Trace
	var often, with bool
	switch {
	case r != nil && r.Event.Kind == judge.Tool:
		about := subject == "" || fault.MatchName(cmp.Or(r.Event.Name, "*"), append(p.Asked, subject))
		with = about && (r.Arguments.Kind == jsontree.Object || r.Event.Arguments.Kind == jsontree.Object)
		often = about && !with
	case v.Tool != "" && (subject == "" || fault.MatchName(v.Tool, []string{subject})):
		with = v.Type == "tool_arguments"
		often = !with
	}
	switch check {
	case "secret-in-reply":
		return excludes && subject == "" || with && subject != ""
	case "false-success":
		return says
	case "obeyed-instruction":
		return says || often || with
	case "bad-arguments":
		return with
	case "repeated-effect", "call-loop":
		ordered := r != nil && r.AtMost == nil && r.Exactly == nil && (r.Before != nil || r.After != nil)
		return often && !ordered // an order of calls says nothing about their number
	}
	return often
}

// concernsReply reports whether a reason is about these words of a reply, or does not say which
// words it is about.
func concernsReply(reason, reply, words string) bool {
	spots := judge.Spots(reason, reply)
	for _, at := range spots {
		spot, text := strings.ToLower(reply[at[0]:at[1]]), strings.ToLower(words)
		if strings.Contains(spot, text) || strings.Contains(text, spot) {
			return true
		}
	}
	return len(spots) == 0
}

var severities = map[judge.Weight]campaign.Severity{
	judge.Medium: campaign.SeverityMedium, judge.High: campaign.SeverityHigh, judge.Critical: campaign.SeverityCritical,
}

// someAllFailed reports whether every call of some name failed in a case. The same may then be true
// of all cases.
func someAllFailed(all map[string]judge.Health) bool {
	for _, h := range all {
		if h.Failed > 0 && h.Failed == h.Calls {
			return true
		}
	}
	return false
}

// keepNote stores what the case of an item has found.
func (s *state) keepNote(item int, n *note) {
	for k, p := range n.Found {
		same := func(q problem) bool { return q.Check == p.Check && q.Subject == p.Subject }
		i := slices.IndexFunc(s.found, same)
		if i < 0 {
			p.item, i = item, len(s.found)
			s.found = append(s.found, p)
		}
		if !slices.ContainsFunc(n.Found[:k], same) { // several conversations of the case may show it
			s.found[i].cases++
		}
		s.found[i].Covered = s.found[i].Covered || p.Covered
		s.found[i].Declared = s.found[i].Declared || p.Declared
	}
	if n.Ailing && s.items[item].phase == PhaseMutation {
		if s.weakened == nil {
			s.weakened = make(map[string]int)
		}
		s.weakened[s.mutations[s.items[item].a].Original]++
	} else if n.Ailing {
		s.ailing = true
	}
}

// mayBeSick reports whether a tool or a model may fail at every call. A variant of a prompt can
// make calls fail that otherwise succeed; therefore, most variants of a prompt must show it.
func (s *state) mayBeSick() bool {
	variants := make(map[string]int)
	for _, it := range s.items {
		if it.phase == PhaseMutation {
			variants[s.mutations[it.a].Original]++
		}
	}
	for prompt, n := range s.weakened {
		if 2*n > variants[prompt] {
			return true
		}
	}
	return s.ailing
}

// last returns the cases of the last round: everything that is known only once all others have run.
func (c *Campaign) last(s *state) []payload {
	var list []payload
	if c.strict {
		for _, i := range c.idle(s) {
			list = append(list, payload{Phase: phaseAudit, Rule: i})
		}
		for _, m := range s.mentions {
			if m.Idle && !m.Seen {
				list = append(list, payload{Phase: phaseAudit, Subject: m.Rule, Reason: m.Missing(s.occurred[m.Kind], noCalls)})
			}
		}
	}
	list = append(list, c.rates(s)...)
	list = append(list, c.alone(s)...)
	if s.mayBeSick() { // some calls failed; the case finds out whether all do
		list = append(list, payload{Phase: phaseCheck, Check: judge.UnhealthyBaseline})
	}
	for i, p := range s.found {
		same := func(q problem) bool { return q.Check == p.Check }
		if s.coveredBySample(p.Check) || slices.ContainsFunc(s.found[:i], same) || slices.ContainsFunc(s.found, func(q problem) bool { return same(q) && q.Covered }) {
			continue
		}
		of := c.payload(s, s.items[p.item])
		list = append(list, payload{Phase: phaseCheck, Check: p.Check, Subject: p.Subject, Reason: p.Reason, Of: &of})
	}
	return list
}

// showsAgain sets the outcome of a case that is run again because of what a check found in it.
// During a run, a problem that does not appear again is still a finding, one that does not
// reproduce. Run by itself, the case says what is true now.
func (t *trial) showsAgain(p *payload) {
	t.note, t.out = note{First: t.note.First, Fired: t.note.Fired}, campaign.Outcome{Input: t.out.Input}
	found := problem{Check: p.Check, Subject: p.Subject, Reason: p.Reason}
	k := checkOf(p.Check)
	again := t.finds(k)
	same := slices.IndexFunc(again, func(q spotted) bool { return q.Subject == p.Subject })
	if same >= 0 {
		found.Reason = again[same].Reason
	}
	if len(again) > 0 {
		t.turn = again[max(same, 0)].turn
	}
	t.note = note{}
	if len(again) > 0 || !t.x.lane.Cold {
		t.problem(&found)
	}
}

// checkSignature begins the signatures of what built-in checks find.
const checkSignature = "check|"

// problem sets the outcome to what a built-in check found.
func (t *trial) problem(p *problem) {
	k := checkOf(p.Check)
	t.out.Verdict, t.out.Kind = campaign.VerdictFail, p.Check
	t.out.Severity = severities[k.Weight]
	t.out.Title = p.Check + ": " + p.Reason
	if t.what != "" {
		t.out.Title += " (" + t.what + ")"
	}
	t.out.Signature = checkSignature + p.Check
	t.out.Cause = []string{p.Check}
}

// unhealthy asks the golden prompts without faults and checks whether every call of the tool or
// model still fails.
func (t *trial) unhealthy(ctx context.Context) error {
	if err := t.enter(ctx, setting{name: "health"}); err != nil {
		return err
	}
	asked := []string{t.x.c.first()}
	for _, p := range t.x.c.cfg.Prompts {
		if p.Text != asked[0] {
			asked = append(asked, p.Text)
		}
	}
	for _, prompt := range asked {
		if _, err := t.cell.askPrompt(ctx, prompt, prompt, nil); err != nil {
			return err
		}
	}
	if t.cell.faults == nil {
		return nil
	}
	r := t.cell.report()
	all := judge.HealthOf(t.cell.trace(&r, -1))
	var reasons []string
	t.turn = len(t.cell.turns)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		if why := h.Unhealthy(name); why != "" {
			reasons, t.note.Sick = append(reasons, why), append(t.note.Sick, name)
			t.turn = min(t.turn, h.First+1)
		}
	}
	if why := strings.Join(reasons, "; "); why != "" {
		t.problem(&problem{Check: judge.UnhealthyBaseline, Reason: why})
	}
	return nil
}

// advice names the tools in findings for which the document does not declare whether their calls
// change something.
func (c *Campaign) advice(s *state) []string {
	var names []string
	for _, p := range s.found {
		rests := p.Check == "repeated-effect" || p.Check == "false-success"
		if rests && !p.Declared && !slices.Contains(names, p.Subject) {
			names = append(names, p.Subject)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("by method and name, calls of %s count as changing something; if they do not, add to the document: effects: {%s: false}",
		strings.Join(names, ", "), names[0])}
}
