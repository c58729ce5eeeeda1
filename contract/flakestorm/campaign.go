package flakestorm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/mutation"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/score"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Campaign is a compiled configuration.
type Campaign struct {
	id      campaign.Identity
	cfg     *config.Config
	file    string
	source  []byte // the document's text
	targets Targets
	getenv  func(string) (string, bool)
	strict  bool
	seed    int64
	phases  []string
	chosen  bool // the user asked for these phases
	chaotic bool // the mutation phase is under chaos, too
	// profiles are the profiles of chaos that the user added to those of the document.
	profiles []string

	agent      agentcall.Plan
	reach      reach
	chaos      injection // of the chaos phase
	scenarios  []injection
	invariants []config.Invariant // of the contract
	runs       int                // per cell
	sequences  []*score.Sequence  // by invariant; nil: every run must hold
	sessions   []session
	mutations  []mutation.Mutation
	written    *mutation.Request // what an LLM writes; nil: the mutations are already written
	asked      []string          // the prompts that need a baseline
	known      []item            // the cases of the main round that are known in advance
	rules      []ruleAt
	schemas    map[string]*verify.Schema
	secrets    []string                  // what the agent gets
	hidden     *secret.Redactor          // removes them from what models and reports get; nil: there are none
	users      map[string]agentcall.Plan // the models that play users, by the file that a prompt names

	// Points say where each fault reaches the agent.
	Points []Point

	listReplies bool // the summary lists what was said in each case
}

// Point is a place where a fault reaches the agent.
type Point struct{ Scenario, Fault, What, Where string }

// ruleAt is a fault of the campaign and its scenario.
type ruleAt struct {
	scenario string
	rule     fault.Rule
}

// addRules numbers the rules of a scenario.
func (c *Campaign) addRules(j injection) injection {
	j.first = len(c.rules)
	for _, r := range j.all() {
		c.rules = append(c.rules, ruleAt{j.name, r})
	}
	return j
}

// payload describes a case completely: it executes the same way in any state.
type payload struct {
	Phase     string `json:"phase"`
	Prompt    int    `json:"prompt,omitempty"`
	Scenario  int    `json:"scenario,omitempty"`
	Invariant int    `json:"invariant,omitempty"`
	Run       int    `json:"run,omitempty"`
	Session   int    `json:"session,omitempty"`
	Rule      int    `json:"rule,omitempty"`
	// Before is the number of cases of the same phase that come before this one. It is only set if
	// the section chaos has faults that strike after some calls: over that section's phase, these
	// continue to count, one call for each earlier case. Cells count from their own start.
	Before   int                `json:"before,omitempty"`
	Mutation *mutation.Mutation `json:"mutation,omitempty"`
	// Check is a built-in check that found something, Subject is what it is about, and Of is the
	// case. For an unhealthy baseline there is no case.
	Check   string   `json:"check,omitempty"`
	Subject string   `json:"subject,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Of      *payload `json:"of,omitempty"`
	Sample  *sample  `json:"sample,omitempty"` // the result of a sampled cell
	Only    *masked  `json:"only,omitempty"`   // the only invariant to check; nil: all
	// Baselines are the replies that behavior_unchanged compares with, by prompt.
	Baselines map[string]baseline `json:"baselines,omitempty"`
}

// baseline is a reply without chaos, or the reason why there is none.
type baseline struct {
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
}

const (
	phaseBaseline = "baseline"
	phaseAudit    = "audit"
	phaseCheck    = "check" // a built-in check that found something
)

func (p payload) encode() []byte {
	b, _ := json.Marshal(p) // strings and numbers cannot fail
	return b
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Planned returns how many cases the campaign plans.
func (c *Campaign) Planned() int64 {
	n := len(c.known) + len(c.asked)
	if c.written != nil {
		n += min(c.written.Count*len(c.written.Prompts), c.written.Limit)
	}
	return int64(n)
}

// Traits implements [campaign.WithTraits]. Only verdicts are compared: an agent may use other words
// for the same thing, and still hold or break its invariants.
func (c *Campaign) Traits() campaign.Traits {
	return campaign.Traits{
		Planned: c.Planned(), Roughly: c.roughly(), Exclusive: c.exclusive(), Comparable: campaign.CompareVerdict,
		Prompts: true, Records: c.records(), Gauge: gauge,
	}
}

// roughly says how exact the number of planned cases is: more may follow, see [Campaign.last], and
// a model may write fewer mutations than it is asked for.
func (c *Campaign) roughly() string {
	switch {
	case c.written != nil:
		return "about"
	case c.checksOn() || c.strict || len(c.invariants)+len(c.invariantsOutsideMatrix()) > 1 || slices.ContainsFunc(c.sequences, func(q *score.Sequence) bool { return q != nil }):
		return "at least"
	}
	return ""
}

// exclusive reports whether only one lane may call the agent: all lanes share it, and its memory is
// cleared between cells. Probe may find that the agent has a memory.
func (c *Campaign) exclusive() bool {
	if c.agent.System != nil {
		return c.agent.System.Exclusive()
	}
	return c.sharesAgent() && (c.agent.Reset.URL != "" || c.agent.Reset.Renew || c.agent.Start != nil && c.watches())
}

// sharesAgent reports whether all lanes call the same agent.
func (c *Campaign) sharesAgent() bool { return c.agent.System == nil && !c.agent.OwnProcess() }

// item is a case of the main round, without its payload.
type item struct {
	phase   string
	a, b, n int
}

// items lists the cases of the main round that are known in advance.
func (c *Campaign) items() []item {
	var list []item
	for i := range c.mutations {
		list = append(list, item{phase: PhaseMutation, a: i})
	}
	if c.chaos.name != "" && slices.Contains(c.phases, PhaseChaos) {
		for i := range c.cfg.Prompts {
			list = append(list, item{phase: PhaseChaos, a: i})
		}
	}
	for s := range c.scenarios {
		for v := range c.invariants {
			list = append(list, c.cell(s, v)...)
		}
	}
	for i := range c.sessions {
		list = append(list, item{phase: PhaseReplay, a: i})
	}
	return list
}

// CaseName implements [campaign.Namer]. Mutations that an LLM writes come after everything that is
// known in advance. A follow-up with its payload has the name of the case that it examines again.
func (c *Campaign) CaseName(s *state, at campaign.Case) string {
	i := int(at.Index)
	if n := len(c.asked) + len(s.items); i >= n && len(at.Payload) > 0 {
		var p payload
		if json.Unmarshal(at.Payload, &p) == nil && c.inRange(&p) == nil {
			return c.followed(&p)
		}
	}
	if i < len(c.asked) {
		return "baseline of " + shortened(c.asked[i])
	}
	if i -= len(c.asked); i >= len(c.known) {
		if c.written != nil && i-len(c.known) < len(s.mutations) {
			return mutationName(&s.mutations[i-len(c.known)])
		}
		if c.written == nil {
			return fmt.Sprintf("case %d after those that were planned", i-len(c.known)+1)
		}
		return fmt.Sprintf("mutation %d that the model wrote", i-len(c.known)+1)
	}
	return c.itemName(c.mutations, c.known[i])
}

func (c *Campaign) itemName(mutations []mutation.Mutation, it item) string {
	switch it.phase {
	case PhaseMutation:
		return mutationName(&mutations[it.a])
	case PhaseChaos:
		return "chaos, " + shortened(c.cfg.Prompts[it.a].Text)
	case PhaseContract:
		name := fmt.Sprintf("%s in %s", c.invariants[it.a].ID, c.scenarios[it.b].name)
		if c.runs > 1 {
			name += fmt.Sprintf(", run %d", it.n+1)
		}
		return name
	default:
		return "replay of " + c.sessions[it.a].label()
	}
}

// followed returns the name of the case that a follow-up examines again; "": none.
func (c *Campaign) followed(p *payload) string {
	if p.Of != nil {
		p = p.Of
	}
	switch p.Phase {
	case PhaseMutation:
		return mutationName(p.Mutation)
	case phaseRate:
		return c.itemName(nil, item{phase: PhaseContract, a: p.Invariant, b: p.Scenario})
	case phaseCheck: // any case without faults stands for it
		if i := slices.IndexFunc(c.known, func(it item) bool { return !c.struck(it.phase, it.b) }); i >= 0 {
			return c.itemName(c.mutations, c.known[i])
		}
		return ""
	case phaseAudit:
		return ""
	}
	return c.itemName(nil, item{phase: p.Phase, a: p.Prompt + p.Invariant + p.Session, b: p.Scenario}) // only one of the three is not 0
}

// struck reports whether cases of a phase meet faults that are not part of the campaign's own
// chaos.
func (c *Campaign) struck(phase string, scenario int) bool {
	return phase == PhaseContract && c.scenarios[scenario].active.any || phase == PhaseReplay
}

func mutationName(m *mutation.Mutation) string {
	return fmt.Sprintf("%s of %s, %s", config.DisplayName(m.Type), shortened(m.Original), m.ID)
}

// cell returns the runs of one cell. A cell that does not apply, or that is judged on all its runs
// together, is a single case.
func (c *Campaign) cell(s, v int) []item {
	inv := &c.invariants[v]
	n := c.runs
	if verify.Aggregate(inv) || !c.scenarios[s].active.applies(inv.When) {
		n = 1
	}
	list := make([]item, n)
	for i := range list {
		list[i] = item{phase: PhaseContract, a: v, b: s, n: i}
	}
	return list
}

// Round implements [campaign.Campaign]: baselines, then all tests, then further runs of cells whose
// rate is not clear yet, then everything that is known only once all others have run.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	switch s.round {
	case 0:
		return campaign.Round{Len: int64(len(c.asked)), At: func(i int64) []byte {
			return payload{Phase: phaseBaseline, Prompt: int(i)}.encode()
		}}, true
	case 1:
		return campaign.Round{Len: int64(len(s.items) - s.from), At: func(i int64) []byte { return c.payload(s, s.items[s.from+int(i)]).encode() }}, true
	case 2:
		last := c.last(s)
		return campaign.Round{Len: int64(len(last)), At: func(i int64) []byte { return last[i].encode() }}, len(last) > 0
	}
	return campaign.Round{}, false
}

// payload returns a case of the main round with everything that it needs.
func (c *Campaign) payload(s *state, it item) payload {
	p := payload{Phase: it.phase}
	switch it.phase {
	case PhaseMutation:
		p.Mutation = &s.mutations[it.a]
		if c.chaotic {
			p.Before = c.chaosCallsBefore(it.a)
		}
		p.Baselines = s.compared(c.invariantsOutsideMatrix(), p.Mutation.Original)
	case PhaseChaos:
		p.Prompt, p.Before = it.a, c.chaosCallsBefore(it.a)
		p.Baselines = s.compared(c.invariantsOutsideMatrix(), c.cfg.Prompts[it.a].Text)
	case PhaseContract:
		p.Invariant, p.Scenario, p.Run = it.a, it.b, it.n
		inv := &c.invariants[it.a]
		p.Baselines = s.compared(c.invariants[it.a:it.a+1], c.prompts(inv)...)
	case PhaseReplay:
		p.Session = it.a
	}
	return p
}

// chaosCallsBefore returns how many calls the section chaos counts before a case that comes after
// that many others.
func (c *Campaign) chaosCallsBefore(cases int) int {
	for _, r := range c.chaos.all() {
		if r.AfterCalls > 1 {
			return cases
		}
	}
	return 0
}

// prompts returns the prompts of a cell.
func (c *Campaign) prompts(v *config.Invariant) []string {
	if len(v.Probes) > 0 {
		return v.Probes
	}
	return seq.Map(c.cfg.Prompts, func(p config.Prompt) string { return p.Text })
}

// Input implements [campaign.Inputter]: the payload from the round is the input.
func (c *Campaign) Input(_ context.Context, _ *state, at campaign.Case) []byte { return at.Payload }

// Fold implements [campaign.Campaign].
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := s.clone()
	base := int64(-1)
	for at, o := range results {
		if base < 0 {
			base = at.Index
		}
		next.add(c, s.round, int(at.Index-base), &o)
	}
	if s.round != 1 || !c.sampleOn(next) {
		next.round++
	}
	if next.round == 1 && len(next.items) == 0 {
		next.round++
	}
	return next
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(*campaign.Cache) campaign.Session[*state] { return &shared{c: c} }

var (
	_ campaign.Campaign[*state]   = (*Campaign)(nil)
	_ campaign.Namer[*state]      = (*Campaign)(nil)
	_ campaign.WithTraits         = (*Campaign)(nil)
	_ campaign.Inputter[*state]   = (*Campaign)(nil)
	_ campaign.Adopter            = (*Campaign)(nil)
	_ campaign.Reducer            = (*Campaign)(nil)
	_ campaign.Promoter           = (*Campaign)(nil)
	_ campaign.Describer[*state]  = (*Campaign)(nil)
	_ campaign.Refiner            = (*Campaign)(nil)
	_ campaign.Summarizer[*state] = (*Campaign)(nil)
)
