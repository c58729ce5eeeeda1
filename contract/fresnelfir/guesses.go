package fresnelfir

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/walk"
)

// guessing is how many traversals test what a document marks as guessed.
const guessing = 200

// guesses returns everything that a document marks as guessed, in the order of the text.
func guesses(d *ir.Document, src *ir.Source) (list []ir.Guess) {
	for _, b := range d.Bindings.Actions {
		list = append(list, b.Guesses...)
	}
	for _, f := range d.Functions {
		if f.Guess != nil {
			list = append(list, *f.Guess)
		}
	}
	slices.SortFunc(list, func(x, y ir.Guess) int {
		a, b := src.Pos(x.Pos), src.Pos(y.Pos)
		return cmp.Or(a.Line-b.Line, a.Col-b.Col)
	})
	return list
}

// tried is what traversals have shown about a document's guesses.
type tried struct {
	calls    map[string]int64  // by action: number of allowed calls
	refusals map[string]int64  // by action: number of calls that were not allowed
	against  map[string]string // by claim and its subject: the failure that contradicts it
}

func claimKey(claim, of string) string { return claim + " " + of }

// Guesses implements [campaign.Guesser].
func (c *Campaign) Guesses(ctx context.Context) []campaign.Guess {
	list := guesses(c.plan.doc, c.src)
	if len(list) == 0 || c.plan.doc.Capsule != nil {
		return nil
	}
	untried := ""
	switch {
	case c.module == nil:
		untried = "there is no system to try it on"
	case c.parallel:
		untried = "actors call at the same time"
	case c.system != nil && c.system.URL != "" && len(c.system.Command) == 0 && !c.touch:
		untried = "the system runs elsewhere, and check does not call it without --" + optWrites
	}
	x := tried{calls: map[string]int64{}, refusals: map[string]int64{}, against: map[string]string{}}
	if untried == "" {
		if err := c.try(ctx, &x); err != nil {
			untried = err.Error()
		}
	}
	var out diag.List
	for i := range list {
		g := &list[i]
		about := fmt.Sprintf("%s of %s (guessed: %s)", g.Claim, g.Of, g.Why)
		why, n := x.contradiction(list, g), x.support(c.plan.doc, g)
		switch {
		case why != "":
			out = append(out, c.src.Report(diag.Warning, g.Place, "guess", "contradicted: "+about+": "+why, ""))
		case untried != "":
			out = append(out, c.src.Report(diag.Note, g.Place, "guess", "never tried: "+about+": "+untried, ""))
		case n == 0:
			out = append(out, c.src.Report(diag.Note, g.Place, "guess", fmt.Sprintf("never tried in %d traversals: %s", guessing, about), ""))
		default:
			out = append(out, c.src.Report(diag.Note, g.Place, "guess", fmt.Sprintf("supported by %s: %s", diag.Plural(n, "call"), about), ""))
		}
	}
	unaddressed(c.path, out)
	told := make([]campaign.Guess, len(list))
	for i, g := range list {
		if out[i].Level == diag.Note {
			out[i].Source = "" // no change is needed
		}
		told[i] = campaign.Guess{Of: g.Of, Claim: g.Claim, Against: x.contradiction(list, &g), Said: out[i]}
	}
	return told
}

// try runs the first traversals of the campaign.
func (c *Campaign) try(ctx context.Context, into *tried) error {
	facts, err := c.Probe(ctx)
	if err != nil {
		return err
	}
	x, err := campaign.Solo(ctx, c, campaign.Lane{Cold: true})
	if err != nil {
		return err
	}
	defer x.Close()
	s := c.Start(facts)
	for next := int64(0); next < guessing; {
		r, more := c.Round(s)
		if !more {
			break
		}
		var failed error
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for range min(r.Len, guessing-next) {
				at := campaign.Case{Index: next}
				var o campaign.Outcome
				if o, failed = x.Execute(ctx, s, at); failed != nil {
					return
				}
				next++
				into.add(c.plan, &o)
				if !yield(at, o) {
					return
				}
			}
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

// add notes what a traversal shows.
func (x *tried) add(p *plan, o *campaign.Outcome) {
	var t tally
	t.decode(o.Data)
	for i, e := range t.events {
		switch {
		case e.kind == eventNode && p.grammar.Nodes[e.node].Kind == walk.Call:
			x.calls[p.program.Actions()[p.grammar.Nodes[e.node].Action].Name] += int64(t.counts[i])
		case e.kind == eventAttempt:
			x.refusals[p.program.Actions()[e.node].Name] += int64(t.counts[i])
		}
	}
	if o.Verdict == campaign.VerdictFail {
		x.blame(o)
	}
}

// blame notes which claims a failure contradicts.
func (x *tried) blame(o *campaign.Outcome) {
	cause := o.Cause[0]
	_, after, observed := strings.Cut(cause, "after ")
	after = strings.TrimPrefix(strings.TrimPrefix(after, "refusing "), "a second ")
	var claims []string
	switch {
	case observed: // the subject is the observer's name
		claims = []string{claimKey("models", o.Signature), claimKey("effect", after)}
		if strings.Contains(cause, "refusing") {
			claims = append(claims, claimKey("requires", after))
		}
		if strings.Contains(cause, "a second") {
			claims = append(claims, claimKey("idempotent", after))
		}
	case strings.Contains(cause, "idempotent") || strings.Contains(cause, "called twice"):
		claims = []string{claimKey("idempotent", o.Signature)}
	case strings.Contains(cause, "mutates nothing"), cause == "answers otherwise":
		claims = []string{claimKey("mutates", o.Signature)}
	case cause == "returns":
		claims = []string{claimKey("answer", o.Signature)}
	case cause == "refused":
		claims = []string{claimKey("requires", o.Signature), claimKey("call", o.Signature)}
	case cause == "not refused":
		claims = []string{claimKey("requires", o.Signature)}
	default: // a crash, a call that does not end, an answer of another type
		claims = []string{claimKey("requires", o.Signature), claimKey("returns", o.Signature), claimKey("models", o.Signature)}
	}
	for _, k := range claims {
		if x.against[k] == "" {
			x.against[k] = o.Title
		}
	}
}

// contradiction returns the failure that contradicts a guess; "": none. If the system refuses what
// the model allows, that contradicts every guess about the call, unless the document also guesses
// when the call is allowed.
func (x *tried) contradiction(list []ir.Guess, g *ir.Guess) string {
	why := x.against[claimKey(g.Claim, g.Of)]
	if why == "" && g.Claim != "models" && !slices.ContainsFunc(list, func(y ir.Guess) bool { return y.Of == g.Of && y.Claim == "requires" }) {
		why = x.against[claimKey("call", g.Of)]
	}
	return why
}

// doubted returns the guesses that a difference of the model and the system contradicts.
func (c *Campaign) doubted(o *campaign.Outcome) []ir.Guess {
	if o.Kind != kindDiscrepancy || len(o.Cause) == 0 {
		return nil
	}
	list := guesses(c.plan.doc, c.src)
	x := tried{against: map[string]string{}}
	x.blame(o)
	return slices.DeleteFunc(slices.Clone(list), func(g ir.Guess) bool { return x.contradiction(list, &g) == "" })
}

// Refine implements [campaign.Refiner]. What contradicts a guess about a module says as much about
// the guess: drafts conclude them from some calls of the same module.
func (c *Campaign) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	if c.system == nil && len(c.doubted(&o)) > 0 {
		return title + " (a guess)", campaign.SeverityLow
	}
	return title, severity
}

// doubts shows the guesses that a finding contradicts.
func (c *Campaign) doubts(o *campaign.Outcome) []campaign.Exhibit {
	lines := seq.Map(c.doubted(o), func(g ir.Guess) string { return fmt.Sprintf("%s of %s: %s", g.Claim, g.Of, g.Why) })
	if len(lines) == 0 {
		return nil
	}
	return []campaign.Exhibit{campaign.TextExhibit("The model only guesses", strings.Join(append(lines, "If a guess is wrong, correct the model."), "\n"))}
}

// support counts the calls that could have contradicted a guess.
func (x *tried) support(d *ir.Document, g *ir.Guess) int64 {
	switch g.Claim {
	case "effect": // an effect shows only in observers or answers
		for _, f := range d.Functions {
			if d.Pair(f) != nil {
				return x.calls[g.Of]
			}
		}
		for _, b := range d.Bindings.Actions {
			if b.Answer != nil {
				return x.calls[g.Of]
			}
		}
		return 0
	case "models":
		n := int64(0)
		for _, calls := range x.calls {
			n += calls
		}
		return n
	case "requires":
		return x.calls[g.Of] + x.refusals[g.Of]
	}
	return x.calls[g.Of]
}
