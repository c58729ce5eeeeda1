package flakestorm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/mutation"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// state is what a campaign knows between rounds.
type state struct {
	round     int
	known     known
	mutations []mutation.Mutation
	items     []item
	baselines map[string]baseline
	// results are indexed like items: the main round and the rounds of further samples.
	results []result
	from    int // index of the first item of the current round
	samples map[cellAt]sample
	// weaknesses are the ways in which cases failed. replies are what was said in each case, if the
	// user asked for that.
	weaknesses []weakness
	replies    map[int][]said
	covered    []coverage     // checks that failing runs of sampled cells also report
	fired      []fired        // by rule of the campaign
	found      []problem      // by built-in checks, the first of each kind
	ailing     bool           // every call of some tool or model failed in a case without faults
	weakened   map[string]int // how many variants of a prompt had such calls
	sick       []string       // the tools and models all of whose calls fail
	// mentions are the calls and faults that invariants name. occurred is what happened.
	mentions []mention
	occurred map[judge.Kind][]string
	masked   []masked // invariants that failed where another one made the finding
	// unused lists sessions with recorded responses that no tool asked for.
	unused []string
}

// known is what was learned before the first round.
type known struct {
	Stateful  bool                `json:"stateful,omitempty"`
	Measure   string              `json:"measure,omitempty"`
	Mutations []mutation.Mutation `json:"mutations,omitempty"` // written by an LLM
	Ailing    bool                `json:"ailing,omitempty"`    // every call of some name failed for the first prompt
	Recalled  string              `json:"recalled,omitempty"`  // which mutations come from earlier runs; "": none
	// Own are the names that the calls for the first prompt have as their own, see [fault.Plan].
	Own []string `json:"own,omitempty"`
}

// result is the result of a case.
type result uint8

const (
	untried result = iota
	passed
	failed
	inapplicable
	broken // no result: the environment failed
)

// fired is how often a fault was considered and struck.
type fired struct {
	Considered, Fired int64
	Missed            string
}

// Start implements [campaign.Campaign].
func (c *Campaign) Start(f campaign.Facts) *state {
	s := &state{baselines: make(map[string]baseline), samples: make(map[cellAt]sample), replies: make(map[int][]said), occurred: make(map[judge.Kind][]string), mutations: c.mutations}
	if len(f.Data) > 0 {
		// This is what Probe encoded. If it is anything else, nothing is known and the campaign has
		// no mutations, which is reported as vacuous.
		_ = json.Unmarshal(f.Data, &s.known)
	}
	s.items = slices.Clip(c.known)
	if c.written != nil {
		s.mutations = s.known.Mutations
		for i := range s.mutations {
			s.items = append(s.items, item{phase: PhaseMutation, a: i})
		}
	}
	s.ailing = s.known.Ailing
	s.results = make([]result, len(s.items))
	s.fired = make([]fired, len(c.rules))
	if len(c.asked) == 0 {
		s.round = 1
	}
	return s
}

func (s *state) clone() *state {
	next := *s
	next.baselines = maps.Clone(s.baselines)
	next.results, next.items = slices.Clone(s.results), slices.Clip(s.items)
	next.weaknesses, next.replies = slices.Clone(s.weaknesses), maps.Clone(s.replies)
	next.samples, next.covered = maps.Clone(s.samples), slices.Clone(s.covered)
	next.fired = slices.Clone(s.fired)
	next.found, next.weakened = slices.Clone(s.found), maps.Clone(s.weakened)
	next.mentions, next.occurred = slices.Clone(s.mentions), maps.Clone(s.occurred)
	next.unused, next.masked = slices.Clone(s.unused), slices.Clone(s.masked)
	for i := range next.masked {
		next.masked[i].items = slices.Clip(next.masked[i].items)
	}
	return &next
}

// note is what an outcome passes to Fold.
type note struct {
	First    int      `json:"first,omitempty"` // number of the first rule
	Fired    [][2]int `json:"fired,omitempty"` // considered and fired, by rule
	Missed   []string `json:"missed,omitempty"`
	Baseline *string  `json:"baseline,omitempty"`
	Why      string   `json:"why,omitempty"`
	Unused   []string `json:"unused,omitempty"` // tools whose recorded responses were not asked for
	// Silent says that there was no answer, and that this broke none of the invariants to be
	// checked: this is a finding, but not a failure of the invariant.
	Silent bool `json:"silent,omitempty"`
	// Failing is why a run of a sampled cell did not hold.
	Failing string `json:"failing,omitempty"`
	// Found is what built-in checks found. Ailing says that every call of some name failed in a
	// case without faults. Sick lists the names all of whose calls do.
	Found  []problem `json:"found,omitempty"`
	Ailing bool      `json:"ailing,omitempty"`
	Sick   []string  `json:"sick,omitempty"`

	Masked   []masked                `json:"masked,omitempty"`
	Mentions []mention               `json:"mentions,omitempty"`
	Occurred map[judge.Kind][]string `json:"occurred,omitempty"`

	Said []said `json:"said,omitempty"` // if the user asked for replies

	reason string // why the case failed
}

// add adds an outcome of a round.
func (s *state) add(c *Campaign, round, i int, o *campaign.Outcome) {
	var n note
	if len(o.Data) > 0 && json.Unmarshal(o.Data, &n) != nil {
		return // not an outcome of this campaign
	}
	if round == 1 {
		i += s.from
	}
	switch {
	case round == 0 && i < len(c.asked):
		b := baseline{Why: n.Why}
		if n.Baseline != nil {
			b.Text = *n.Baseline
		} else if b.Why == "" {
			b.Why = o.Title
		}
		s.baselines[c.asked[i]] = b
	case round == 2:
		s.sick = append(s.sick, n.Sick...)
		if (o.Kind == "rate" || o.Kind == brokenInvariant) && o.Verdict == campaign.VerdictFail {
			s.weak(o, max(1, len(s.besideAnother(o.Signature))))
		}
	case round == 1 && i < len(s.results):
		if len(n.Unused) > 0 && s.items[i].phase == PhaseReplay {
			s.unused = append(s.unused, fmt.Sprintf("replay of %s: the agent did not use everything that was recorded: responses of %s are left",
				c.sessions[s.items[i].a].label(), strings.Join(n.Unused, ", ")))
		}
		s.results[i] = map[campaign.Verdict]result{
			campaign.VerdictPass: passed, campaign.VerdictFail: failed, campaign.VerdictSkip: inapplicable, campaign.VerdictError: broken,
		}[o.Verdict]
		if n.Failing != "" {
			s.results[i] = failed
		}
		if it := s.items[i]; c.sampledBy(it.phase, it.a) != nil {
			s.run(it, s.results[i], &n)
		}
		if o.Verdict == campaign.VerdictFail {
			s.weak(o, 1)
			s.uncover(o, &n)
		}
		s.keepNote(i, &n)
		s.keepMasked(i, &n)
		s.remember(&n)
		if len(n.Said) > 0 {
			s.replies[i] = n.Said
		}
		if n.Silent {
			s.results[i] = inapplicable
		}
		for k, f := range n.Fired {
			if r := n.First + k; r < len(s.fired) {
				s.fired[r].Considered += int64(f[0])
				s.fired[r].Fired += int64(f[1])
			}
		}
		for k, why := range n.Missed {
			if r := n.First + k; r < len(s.fired) && why != "" {
				s.fired[r].Missed = why
			}
		}
	}
}

// compared returns the baselines with which invariants compare replies to prompts.
func (s *state) compared(list []config.Invariant, prompts ...string) map[string]baseline {
	if !slices.ContainsFunc(list, func(v config.Invariant) bool { return auto(&v) }) {
		return nil
	}
	out := make(map[string]baseline)
	for _, p := range prompts {
		b, ok := s.baselines[p]
		if !ok {
			b.Why = "no baseline was taken"
		}
		out[p] = b
	}
	return out
}

// auto reports whether an invariant compares with a run without chaos.
func auto(v *config.Invariant) bool {
	return v.Type == "behavior_unchanged" && (v.Baseline == "" || v.Baseline == "auto")
}

// baselines lists the prompts that are first asked without chaos.
func (b *builder) baselines() {
	seen := make(map[string]bool)
	ask := func(prompts ...string) {
		for _, p := range prompts {
			if !seen[p] {
				seen[p] = true
				b.c.asked = append(b.c.asked, p)
			}
		}
	}
	golden := b.c.prompts(&config.Invariant{})
	plain := len(b.c.mutations) > 0 || b.c.written != nil || b.c.chaos.name != "" && slices.Contains(b.c.phases, PhaseChaos)
	for _, v := range b.c.invariantsOutsideMatrix() {
		if auto(&v) && plain {
			ask(golden...)
		}
	}
	for i := range b.c.invariants {
		if v := &b.c.invariants[i]; auto(v) {
			ask(b.c.prompts(v)...)
		}
	}
}

// idle reports whether there are faults to inject and none of them has fired.
func (s *state) idle(j *injection) bool {
	n := len(j.rules) + len(j.reply)
	for i := j.first; i < j.first+n && i < len(s.fired); i++ {
		if s.fired[i].Fired > 0 {
			return false
		}
	}
	return n > 0
}

// idle returns the faults that never fired.
func (c *Campaign) idle(s *state) []int {
	var list []int
	for i, f := range s.fired {
		if f.Fired == 0 {
			list = append(list, i)
		}
	}
	return list
}

// idleText says that a fault never fired, and why if this is known.
func (c *Campaign) idleText(rule int, f fired, s *state) string {
	r := c.rules[rule]
	text := fmt.Sprintf("%s: fault %s (%s %s) never fired", r.scenario, r.rule.ID, r.rule.Layer, r.rule.Mode)
	switch {
	case f.Missed != "":
		return text + ": " + f.Missed
	case f.Considered == 0:
		seen := s.occurred[judge.Request]
		if meant := slices.DeleteFunc(slices.Clone(seen), func(name string) bool { return !fault.MatchName(cmp.Or(r.rule.Tool, "*"), []string{name}) }); r.rule.Layer == fault.Tool && r.rule.MatchURL == "" && len(meant) > 0 {
			return text + ": its cases made no call that matches it, although others called " + diag.Runes(strings.Join(meant, ", "), 160)
		}
		if r.rule.Layer == fault.Tool && len(seen) > 0 {
			return text + ": no call of the agent matched it; those seen: " + diag.Runes(strings.Join(seen, ", "), 160) + c.gatewayHint(&r.rule)
		}
		return text + ": no call of the agent matched it" + c.gatewayHint(&r.rule)
	}
	return text + ", although " + diag.Plural(f.Considered, "call") + " matched it"
}

// gatewayHint says how to reach the calls of an agent whose process Thresh starts and that ignores
// the variables that name the proxy.
func (c *Campaign) gatewayHint(r *fault.Rule) string {
	a := &c.cfg.Agent
	at := reachOf(a)
	switch {
	case !at.own || at.mcp:
	case r.Layer == fault.LLM && a.LLMGateway == "":
		return "; if the agent's client of its LLM ignores HTTP_PROXY, as those in Go and Ruby do for servers on this machine, name the LLM's address in agent.llm_gateway and give the agent {gateway:llm} in its place"
	case r.Layer == fault.Tool && len(a.Gateways) == 0 && (!at.python || r.MatchURL != ""):
		return "; if the agent's HTTP client ignores HTTP_PROXY, as those in Go and Ruby do for servers on this machine, name the tool's address in agent.tool_gateways and give the agent {gateway:NAME} in its place"
	}
	return ""
}
