package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// maxKept bounds what one cell remembers of events, exchanges, calls and notes each, so
// that an agent that never stops calling does not fill the memory.
const maxKept = 10_000

// maxEarlier and maxEarlierBody bound the answers that are remembered for repetition:
// number of tools, and bytes.
const (
	maxEarlier     = 64
	maxEarlierBody = 1 << 20
)

// Ledger is the chaos of one running cell: it counts calls, decides which faults strike
// them, and keeps the report. It is safe for concurrent use.
type Ledger struct {
	plan  Plan
	clock func() time.Duration

	mu      sync.Mutex
	calls   int
	rules   []ruleState
	given   []bool // of the recorded responses
	first   map[string]Reply
	seen    map[string]bool   // tool calls by the ID that the LLM gave them
	own     map[string]bool   // best names of calls, as [plainName] returns them
	wanted  string            // the only tool that the LLM's last answer asked for; "": none, or several
	open    map[int]*openCall // calls without an answer, by number
	report  Report
	dropped int
}

// openCall is a call that has no answer yet.
type openCall struct {
	*Decision
	Exchange
}

// ruleState is the state of a rule in this cell.
type ruleState struct {
	Rule
	tally    Tally
	struck   int            // how often it was due and not hidden
	subjects map[string]int // calls by the name of what was called
}

// NewLedger makes the ledger of a cell. clock returns the time since the cell began.
// The error joins what is wrong with each rule.
func NewLedger(p Plan, clock func() time.Duration) (*Ledger, error) {
	l := &Ledger{plan: p, clock: clock, given: make([]bool, len(p.Recorded)), first: map[string]Reply{}, seen: map[string]bool{}, own: map[string]bool{}, open: map[int]*openCall{}}
	var wrong []error
	for i, r := range p.Rules {
		if r.ID == "" {
			r.ID = fmt.Sprintf("%s_faults[%d]", r.Layer, i)
		}
		if err := r.Check(); err != nil {
			wrong = append(wrong, err)
		}
		l.rules = append(l.rules, ruleState{Rule: r.Filled(), tally: Tally{Rule: r.ID}, subjects: map[string]int{}})
	}
	for _, name := range p.Own {
		l.own[plainName(name)] = true
	}
	return l, errors.Join(wrong...)
}

// Plan returns the plan that the ledger was made from.
func (l *Ledger) Plan() *Plan { return &l.plan }

// Decision is what happens to one call.
type Decision struct {
	Number int // of the call in the cell, from 1
	Call   Call
	// Strikes are the faults in the order in which they apply. At most one, the last,
	// is final: it answers instead of the server.
	Strikes []Strike
	// Recorded answers instead of the server, before the strikes; nil: none.
	Recorded *Recorded
	// Refused means that the call must not reach the server, since it was not recorded.
	Refused bool
	fired   []string // rules whose fault reached the agent
}

// Strike is a rule that strikes a call.
type Strike struct {
	Rule  Rule
	Nth   int // how often the rule has struck, from 1
	index int
}

// Final reports whether the fault ends a call without the server's answer.
func (s *Strike) Final() bool {
	switch s.Rule.Mode {
	case Timeout, Error, Malformed, Malicious, Reset, RateLimit, PartialWrite, BrokenCall, UnknownCall, CutCall, Refuses, TooLong:
		return true
	}
	return false
}

// Final returns the strike that ends the call; nil: the server answers.
func (d *Decision) Final() *Strike {
	if n := len(d.Strikes); n > 0 && d.Strikes[n-1].Final() {
		return &d.Strikes[n-1]
	}
	return nil
}

// Find returns the first strike of one of the modes; nil: there is none.
func (d *Decision) Find(modes ...Mode) *Strike {
	for i := range d.Strikes {
		if slices.Contains(modes, d.Strikes[i].Rule.Mode) {
			return &d.Strikes[i]
		}
	}
	return nil
}

// spares reports whether a rule about effects applies to every tool, but the call has
// no effect: an agent that fails to look something up does not get as far as the
// effect.
func (l *Ledger) spares(r *Rule, c *Call) bool {
	if l.plan.Harmless == nil || r.MatchURL != "" || !slices.Contains([]Mode{ReplyLost, Twice, Late, PartialWrite}, r.Mode) {
		return false
	}
	name := c.Name()
	if r.Tool != "" && r.Tool != "*" { // the name that the model used may look something up first
		return !MatchName(r.Tool, l.namesFor(r.Tool, c)) && l.plan.Harmless(c.Method, "")
	}
	return l.plan.Harmless(c.Method, name[strings.LastIndexAny(name, ".:")+1:])
}

// Decide decides what happens to a call, and counts it.
func (l *Ledger) Decide(c Call) *Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if c.Kind == ToolCall {
		c.Wanted = l.wanted
	}
	if (c.Kind == ToolCall || c.Kind == MCPCall) && len(l.own) < maxKept {
		l.own[plainName(c.Name())] = true
	}
	d := &Decision{Number: l.calls, Call: c}
	var due []Strike
	for i := range l.rules {
		r := &l.rules[i]
		if l.matches(&r.Rule, &c) && !l.spares(&r.Rule, &c) && r.due(l.plan.Seed, l.plan.Before, i, &c) {
			due = append(due, Strike{Rule: r.Rule, Nth: r.struck + 1, index: i})
		}
	}
	due = l.stillVisible(d, due)
	for _, s := range due {
		l.rules[s.index].struck++
	}
	d.Strikes = due
	l.recorded(d)
	return d
}

// due counts a call and reports whether the rule's trigger is met.
func (r *ruleState) due(seed uint64, before, index int, c *Call) bool {
	r.tally.Considered++
	subject := plainName(c.Name())
	if subject == "" {
		subject, _, _ = strings.Cut(c.URL, "?")
	}
	r.subjects[subject]++
	switch {
	case before+r.tally.Considered < r.AfterCalls, r.Times > 0 && r.struck >= r.Times:
		return false
	case len(r.Calls) > 0 && !slices.Contains(r.Calls, r.tally.Considered):
		return false
	case r.Probability == nil:
		return true
	}
	return chance(seed, index, r.ID, subject, r.subjects[subject]) < *r.Probability
}

// chance returns a number in [0, 1) that depends only on its arguments: FNV-1a of the
// words, mixed by the finalizer of SplitMix64.
func chance(seed uint64, index int, rule, subject string, nth int) float64 {
	h := uint64(0xcbf29ce484222325) ^ seed
	for _, b := range fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d", index, rule, subject, nth) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return float64(splitmix.Finish(h)>>11) / (1 << 53)
}

// stillVisible drops the strikes without a visible effect: those after a final one,
// those that shape an answer that a final one prevents, and texts that a later text
// replaces.
func (l *Ledger) stillVisible(d *Decision, due []Strike) []Strike {
	end := slices.IndexFunc(due, func(s Strike) bool { return s.Final() })
	text := -1
	for i, s := range due {
		if s.Rule.Mode == Empty || s.Rule.Mode == Garbage {
			text = i
		}
	}
	var kept []Strike
	for i, s := range due {
		by := -1
		switch {
		case end >= 0 && (i > end || i < end && s.Rule.Mode != Slow):
			by = end
		case end < 0 && i < text && s.shapesText():
			by = text
		}
		if by < 0 {
			kept = append(kept, s)
			continue
		}
		l.miss(d, &s, "hidden by "+due[by].Rule.ID)
	}
	return kept
}

func (s *Strike) shapesText() bool {
	return slices.Contains([]Mode{Empty, Garbage, Truncated, Drift}, s.Rule.Mode)
}

// Fired records that a fault reached the agent, and what it saw.
func (l *Ledger) Fired(d *Decision, s *Strike, change string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules[s.index].tally.Fired++
	d.fired = append(d.fired, s.Rule.ID)
	l.event(Event{Call: d.Number, Rule: s.Rule.ID, Mode: s.Rule.Mode, Target: d.Call.Name(), Change: change})
}

// Missed records that a fault was due and could not be injected, and why.
func (l *Ledger) Missed(d *Decision, s *Strike, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.miss(d, s, why)
}

func (l *Ledger) miss(d *Decision, s *Strike, why string) {
	t := &l.rules[s.index].tally
	if !slices.Contains(t.Missed, why) && len(t.Missed) < 20 {
		t.Missed = append(t.Missed, why)
	}
	l.event(Event{Call: d.Number, Rule: s.Rule.ID, Mode: s.Rule.Mode, Target: d.Call.Name(), Change: why, Missed: true})
}

// Replayed records that a call got its recorded answer, or was refused.
func (l *Ledger) Replayed(d *Decision, change string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.event(Event{Call: d.Number, Target: d.Call.Name(), Change: change})
}

func (l *Ledger) event(e Event) {
	e.At = l.clock()
	keep(l, &l.report.Events, e)
}

func keep[T any](l *Ledger, list *[]T, v T) {
	if len(*list) >= maxKept {
		l.dropped++
		return
	}
	*list = append(*list, v)
}

// Earlier returns the first answer of a tool in this cell. If there is none, the answer
// of the current call becomes it.
func (l *Ledger) Earlier(c Call, now Reply) (Reply, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := plainName(c.Name())
	r, ok := l.first[key]
	if !ok && len(l.first) < maxEarlier && len(now.Body) <= maxEarlierBody {
		l.first[key] = now
	}
	return r, ok
}

// Repeats reports whether any rule may need [Ledger.Earlier], since answers need not be
// remembered otherwise.
func (l *Ledger) Repeats(c Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.rules, func(r ruleState) bool { return r.Mode == Stale && l.matches(&r.Rule, &c) })
}

// Note adds something that readers of the report must know, once.
func (l *Ledger) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.report.Notes, text) {
		keep(l, &l.report.Notes, text)
	}
}

// Began records a call until [Ledger.Exchanged] has its answer, since an agent may
// continue without one.
func (l *Ledger) Began(d *Decision, e Exchange) {
	e.Error = "no answer"
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plan.Sink == nil && len(l.open) < maxKept {
		l.open[d.Number] = &openCall{d, e}
	}
}

// Exchanged records a call with its answer.
func (l *Ledger) Exchanged(d *Decision, e Exchange) {
	l.mask(&e)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, d.Number)
	e.of(d)
	if l.plan.Sink != nil {
		l.plan.Sink(e)
		return
	}
	keep(l, &l.report.Exchanges, e)
}

// mask notes whether a call leaks a secret, and redacts it.
func (l *Ledger) mask(e *Exchange) {
	e.Leaks = e.leaks(l.plan.Secrets)
	e.redact()
}

func (e *Exchange) of(d *Decision) {
	e.Call, e.Kind, e.Tool, e.Names, e.Faults = d.Number, d.Call.Kind, d.Call.Name(), d.Call.Names, d.fired
}

// Saw records calls of tools; each call with an ID is recorded once. A call that an LLM
// has requested and that was seen on the wire is one call: it gets the arguments that
// the LLM gave.
func (l *Ledger) Saw(calls ...SeenCall) {
	if l.plan.Sink != nil {
		return // there may be any number of them
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range calls {
		if c.ID != "" && l.seen[c.ID] {
			continue
		}
		l.seen[c.ID] = c.ID != ""
		if i := slices.IndexFunc(l.report.ToolCalls, func(e SeenCall) bool {
			return c.Source == SeenInChat && e.Source != SeenInChat && e.ID == "" && plainName(e.Tool) == plainName(c.Tool)
		}); i >= 0 {
			l.report.ToolCalls[i].ID, l.report.ToolCalls[i].Arguments = c.ID, c.Arguments
			continue
		}
		keep(l, &l.report.ToolCalls, c)
	}
}

// Wants remembers the tools that an LLM's answer requests.
func (l *Ledger) Wants(tools []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted = ""; len(tools) > 0 && !slices.ContainsFunc(tools, func(t string) bool { return t != tools[0] }) {
		l.wanted = tools[0]
	}
}

// NamesTools reports whether a rule or a recorded answer is for a tool by its name.
func (p *Plan) NamesTools() bool {
	return len(p.Recorded) > 0 || slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Tool != "" && r.Tool != "*" })
}

// Used adds the tokens that an LLM counted in an answer to a call, of which the agent got the whole
// or a part. An answer that counts none was paid for all the same, unless a fault changed its text
// or delayed it until the agent left.
func (l *Ledger) Used(d *Decision, status int, whole bool, input, output int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := slices.ContainsFunc(d.Strikes, func(s Strike) bool {
		return slices.Contains(d.fired, s.Rule.ID) && s.Rule.Layer != Context && (!whole || !slices.Contains([]Mode{Slow, Bandwidth, WrongType}, s.Rule.Mode))
	})
	if input+output == 0 && status > 0 && status < 400 && !changed {
		l.report.Uncounted++
	}
	l.report.InputTokens += input
	l.report.OutputTokens += output
}

// Report returns what has happened so far, with secrets redacted.
func (l *Ledger) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.report
	r.Tallies = nil
	for _, s := range l.rules {
		t := s.tally
		t.Missed = slices.Clone(t.Missed)
		r.Tallies = append(r.Tallies, t)
	}
	r.Events, r.ToolCalls, r.Notes = slices.Clone(r.Events), slices.Clone(r.ToolCalls), slices.Clone(r.Notes)
	r.Exchanges = slices.Clone(r.Exchanges)
	for _, c := range l.open {
		e := c.Exchange
		l.mask(&e)
		e.of(c.Decision)
		r.Exchanges = append(r.Exchanges, e)
	}
	slices.SortStableFunc(r.Exchanges, func(a, b Exchange) int { return a.Call - b.Call })
	for i := range r.ToolCalls {
		r.ToolCalls[i].Arguments = Redact(r.ToolCalls[i].Arguments)
	}
	for i, rec := range l.plan.Recorded {
		if !l.given[i] {
			r.Unused = append(r.Unused, rec.Tool)
		}
	}
	if l.dropped > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("further entries dropped: %d", l.dropped))
	}
	return r
}
