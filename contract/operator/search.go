package operator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/redteam"
	"github.com/thresh-dev/thresh/engine/textop"
)

// searchState is the state of a searching campaign: what it has learned, what comes next, and which
// texts the system has received. It does not change.
type searchState struct {
	pool  *redteam.Search
	plan  []redteam.Proposal // of the next round; none: the search is over
	index []int32            // number of each child within its unit
	next  []int32            // by unit: number of children so far
	cases int64
	calls int64
	sent  layers
}

// A search learns every searchRound children, but has at most searchRounds rounds.
const (
	searchRound  = 16
	searchRounds = 256
)

// codes are the encodings that models read best, in our judgement.
var codes = []string{
	"op_enc_base64", "op_enc_hex", "op_cipher_rot13", "op_cipher_reverse", "op_typo_leet", "op_enc_base64url", "op_enc_percent", "op_enc_binary",
	"op_enc_base32", "op_spell_morse", "op_enc_charcode", "op_cipher_atbash", "op_enc_html_entity", "op_enc_ascii85", "op_enc_octal",
}

// links converts the steps of a chain to operator indices.
func links(r *mutator.Registry, chain []Step) []mutator.Link {
	var list []mutator.Link
	for _, x := range chain {
		if at := r.Find(x.Op); at >= 0 {
			list = append(list, mutator.Link{Op: at, Strength: x.Strength})
		}
	}
	return list
}

// steps is the inverse of links.
func (c *Campaign) steps(chain []mutator.Link) []Step {
	list := make([]Step, len(chain))
	for i, l := range chain {
		list[i] = Step{c.base.Registry().Entries()[l.Op].Meta.ID, l.Strength}
	}
	return list
}

func (c *Campaign) startSearch(m *mutator.Mutator) *searchState {
	cfg := &redteam.Config{
		Seed: mutator.FingerprintOf(c.spec.SeedBase.String()).Exact, Units: make([]int, len(c.units)),
		Ops: len(m.Registry().Entries()), Steps: c.spec.Steps, Calls: c.planned(),
	}
	for _, e := range m.Registry().Entries() {
		cfg.Parts = append(cfg.Parts, e.Meta.Grows == "percent")
	}
	known := map[searchKind]int{}
	for i, u := range c.units {
		k := searchKind{meeting(u.seed, c.spec.Constraints.KeepControls), c.spec.Strength}
		if u.seed.Strength != (textop.Range{}) {
			k.strength = u.seed.Strength
		}
		at, ok := known[k]
		if !ok {
			at = len(cfg.Kinds)
			known[k] = at
			ops := slices.DeleteFunc(slices.Clone(m.Operators(k.bucket, k.surface, k.controls)), func(op int) bool { return slices.Contains(m.GivenUp(), op) })
			for _, op := range ops { // operators only for conversations, at all strengths
				if meta := m.Registry().Entries()[op].Meta; k.surface == textop.Conversation && meta.Accepts(k.surface) {
					for strength := k.strength.Min; strength <= k.strength.Max; strength++ {
						cfg.First = append(cfg.First, mutator.Link{Op: op, Strength: strength})
					}
				}
			}
			kind := redteam.Kind{Ops: ops, Least: k.strength.Min, Most: k.strength.Max}
			for _, id := range codes {
				if op := m.Registry().Find(id); slices.Contains(ops, op) {
					kind.Codes = append(kind.Codes, op)
				}
			}
			cfg.Kinds = append(cfg.Kinds, kind)
		}
		cfg.Units[i] = at
	}
	h := &searchState{pool: redteam.New(cfg), next: make([]int32, len(c.units))}
	c.propose(h, spent{})
	return h
}

// searchKind determines what a search may draw for a seed.
type searchKind struct {
	met
	strength textop.Range
}

// propose plans the next round, unless the planned number of calls has been made, or twice as many
// cases: then nothing new turns up. It reports whether the budget ends the search.
func (c *Campaign) propose(h *searchState, s spent) (ended bool) {
	h.plan, h.index = nil, nil
	left := min(c.planned()-h.calls, 2*c.planned()-h.cases)
	size := max(searchRound, c.planned()/searchRounds)
	if c.spec.Rounds > 0 {
		size = max(1, c.planned()/int64(c.spec.Rounds))
	}
	if left <= 0 {
		return false
	}
	n := min(size, left)
	if b := c.spec.Budget; b != nil {
		if n = b.allows(s, n, c.perCase()); n == 0 {
			return true
		}
	}
	h.plan = h.pool.Propose(int(n))
	h.next = slices.Clone(h.next)
	for _, p := range h.plan {
		h.index = append(h.index, h.next[p.Unit])
		h.next[p.Unit]++
	}
	return false
}

// findings collects the results of a round, in case order.
type findings struct {
	of      *searchState
	results []redteam.Result
	texts   map[uint64]struct{}
	calls   int64
}

func (h *searchState) begin() *findings { return &findings{of: h, texts: map[uint64]struct{}{}} }

// add adds the result of a case.
func (x *findings) add(f *facts) {
	p := &x.of.plan[len(x.results)]
	r := redteam.Result{Signal: f.signal}
	for i, a := range f.applied {
		if a.Status == textop.OK && i < len(p.Chain) {
			r.Chain = append(r.Chain, p.Chain[i])
		}
	}
	if f.status == textop.OK && !f.same {
		x.texts[f.print.Exact] = struct{}{}
		x.calls++
	}
	if f.judged {
		v := Verdict{Judgement: f.judgement, Score: f.score}
		r.Asked, r.Won = true, f.judgement == mutator.Fail
		if r.Score = v.reward(); f.score != nil {
			r.Score = max(r.Score, min(max(*f.score, 0), 1))
		}
	}
	x.results = append(x.results, r)
}

func (c *Campaign) nextSearch(s *state, h *searchState, found *findings) *searchState {
	next := &searchState{
		pool: h.pool.Learn(h.plan, found.results), next: h.next, sent: h.sent.push(found.texts),
		cases: h.cases + int64(len(found.results)), calls: h.calls + found.calls,
	}
	if len(found.results) == len(h.plan) { // otherwise the run was interrupted
		s.ended = c.propose(next, s.spent)
	}
	return next
}

// policy replaces the document's policy by that of the option. A search keeps its operators and
// chain length.
func (c *compiler) policy(spec *Spec) {
	p := mutator.Policy(c.set.Get(optPolicy, ""))
	switch {
	case p == "":
		return
	case p != mutator.Uniform && p != mutator.RoundRobin:
		c.report(diag.Error, "option", "", "--policy must be uniform or round-robin, got %q", p)
	case spec.Attacker != nil || spec.Verbatim || spec.Chain != nil:
		c.report(diag.Warning, "idle", "", "--policy has no effect: the document draws no operators")
		return
	}
	spec.Edition3 = spec.Edition3 || spec.Policy == mutator.Search
	spec.Policy, spec.Rounds, spec.Stats, spec.Weights = p, 1, "", nil
	c.part([]byte(p))
}

// layers is a set that grows by one layer per round and shares the rest: a layer holds at least as
// many texts as all smaller ones together, so that there are few.
type layers []map[uint64]struct{}

func (l layers) has(text uint64) bool {
	for _, m := range l {
		if _, ok := m[text]; ok {
			return true
		}
	}
	return false
}

func (l layers) push(more map[uint64]struct{}) layers {
	l = slices.Clone(l)
	for len(l) > 0 && len(l[len(l)-1]) <= len(more) {
		for text := range l[len(l)-1] {
			more[text] = struct{}{}
		}
		l = l[:len(l)-1]
	}
	return append(l, more)
}

// rejectSeen skips a child whose text the system has already received. It reports whether it did.
func (c *Campaign) rejectSeen(s *state, f *facts, o *campaign.Outcome) bool {
	if s.search == nil || f.status != textop.OK || c.spec.Duplicates == KeepDuplicates || !s.search.sent.has(f.print.Exact) {
		return false
	}
	f.more, f.same = true, true
	if o.Data = f.encode(); o.Verdict == campaign.VerdictPass {
		o.Verdict = campaign.VerdictSkip
	}
	return true
}

// secrets are the texts that replies must not contain.
func secrets(judges []Judge) []string {
	var list []string
	for _, j := range judges {
		if j.forbids() {
			list = slices.Concat(list, j.Values, j.Patterns, []string{j.Value, j.Pattern})
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// forbids reports whether a judge names what a reply must not contain.
func (j *Judge) forbids() bool {
	switch j.Type {
	case "excludes_pattern", "not_contains":
		return !j.Negate
	case "contains", "contains_any", "regex":
		return j.Negate
	}
	return false
}

// signalOf is the signal of a reply for a search.
func (c *Campaign) signalOf(child *mutator.Child, reply string) redteam.Signal {
	reply = redteam.Own(child.Text, reply)
	refused, _, _ := (&judge.Demand{Type: "refusal"}).Judge(reply) // a text can always be judged
	return redteam.Look(cmp.Or(child.Seed.Goal, child.Seed.Text), child.Text, reply, refused, c.secrets)
}
