package operator

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// Budget limits what a run may spend on the system, including re-runs and shrinking. Zero fields
// are no limit.
type Budget struct {
	Calls, Tokens           int64
	Cost                    float64
	InputPrice, OutputPrice float64 // per million tokens
}

// spent counts what calls used.
type spent struct{ calls, in, out int64 }

func (s *spent) add(o spent) { s.calls, s.in, s.out = s.calls+o.calls, s.in+o.in, s.out+o.out }

func (b *Budget) cost(s spent) float64 {
	return (float64(s.in)*b.InputPrice + float64(s.out)*b.OutputPrice) / 1e6
}

// used is the spent fraction of the budget; with several limits, of the one that ends first.
func (b *Budget) used(s spent) float64 {
	part := 0.0
	if b.Calls > 0 {
		part = float64(s.calls) / float64(b.Calls)
	}
	if b.Tokens > 0 {
		part = max(part, float64(s.in+s.out)/float64(b.Tokens))
	}
	if b.Cost > 0 {
		part = max(part, b.cost(s)/b.Cost)
	}
	return part
}

// A fifth of a budget is reserved for repeating findings and shrinking them. Shrinking may use
// three quarters of the reserve.
const (
	forCases  = 0.8
	forShrink = 0.75
)

// firstLook is the number of cases before the cost of a case is known, and unevenness the factor by
// which a case may cost more than earlier ones.
const (
	firstLook  = 8
	unevenness = 1.5
)

// cases is the number of calls available for cases.
func (b *Budget) cases() int64 { return int64(max(float64(b.Calls)*forCases, 1)) }

// allows returns how many cases with so many calls each may run next. Calls are limited exactly;
// other costs are estimated from earlier cases.
func (b *Budget) allows(s spent, want, calls int64) int64 {
	if b.Calls > 0 {
		want = min(want, (b.cases()-s.calls)/max(calls, 1))
	}
	for _, x := range [][2]float64{{float64(b.Tokens), float64(s.in + s.out)}, {b.Cost, b.cost(s)}} {
		switch {
		case x[0] == 0:
		case s.calls == 0:
			want = min(want, firstLook)
		default:
			want = min(want, int64((x[0]*forCases-x[1])/max(x[1]/float64(s.calls)*unevenness*float64(calls), 1e-12)))
		}
	}
	return max(want, 0)
}

// afterwards counts what this process spent on repeated cases.
type afterwards struct {
	mu sync.Mutex
	spent
}

func (a *afterwards) add(o spent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent.add(o)
}

// exceeds reports whether a fraction of the reserve is spent.
func (a *afterwards) exceeds(b *Budget, part float64) bool {
	if b == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.Calls > 0 && a.calls >= int64(float64(b.Calls-b.cases())*part) {
		return true
	}
	return b.used(a.spent) >= (1-forCases)*part
}

// charTokens is the estimated number of characters per token, for systems that do not report usage.
const charTokens = 4

// spentOn is the usage of a call: as reported by the system, or else estimated from the texts'
// lengths.
func spentOn(prompt string, o *sut.Observation) spent {
	if use := usageOf(o); use.Known {
		return spent{1, use.Prompt, use.Completion}
	}
	return spent{1, int64(utf8.RuneCountInString(prompt)+charTokens-1) / charTokens, int64(utf8.RuneCountInString(replyOf(o))+charTokens-1) / charTokens}
}

// usageOf is the token usage that an answer reports.
func usageOf(o *sut.Observation) agentcall.Tokens {
	for _, n := range valuesOf(o) {
		if _, use := agentcall.Observe(n); use.Known {
			return use
		}
	}
	return agentcall.Tokens{}
}

// budget reads the budget.
func (d *decoder) budget(s *doctree.Section) {
	x := s.Sub("budget")
	if !x.There() {
		return
	}
	b := &Budget{
		Calls: int64(x.Integer("calls")), Tokens: int64(x.Integer("tokens")), Cost: x.Float("cost"),
		InputPrice: x.Float("input_price"), OutputPrice: x.Float("output_price"),
	}
	switch {
	case b.Calls == 0 && b.Tokens == 0 && b.Cost == 0:
		if !x.Given("calls") && !x.Given("tokens") && !x.Given("cost") {
			d.Fail(x.Pos(), "no-effect", "budget", "has no effect: it names none of calls, tokens and cost")
		}
		return
	case b.Cost > 0 && b.InputPrice+b.OutputPrice == 0:
		x.Missing("input_price", "cost is counted by input_price and output_price, per million tokens")
	}
	for _, key := range []string{"input_price", "output_price"} {
		if n := x.Node(key); n != nil && !x.Given("cost") {
			d.Fail(n.Pos, "no-effect", x.At(key), "has no effect without cost")
		}
	}
	d.spec.Budget = b
}

// perCase is the maximum number of calls of a case.
func (c *Campaign) perCase() int64 {
	calls := int64(1)
	if c.talks() {
		calls = textop.MaxTurns
	}
	for _, j := range c.spec.Judges {
		if j.Model != "" {
			calls++
		}
	}
	return calls
}

// overspent describes what did not run because of the budget; "" if everything ran.
func (c *Campaign) overspent(s *state) string {
	b := c.spec.Budget
	if b == nil || !s.ended {
		return ""
	}
	text := fmt.Sprintf("the budget ended the run after %d of %d children: %s, about %d tokens", s.tally.made, c.planned(), diag.Plural(s.spent.calls, "call"), s.spent.in+s.spent.out)
	if b.Cost > 0 {
		text += fmt.Sprintf(", a cost of %.4f", b.cost(s.spent))
	}
	return text + "; a fifth is kept for running findings again and making them smaller"
}
