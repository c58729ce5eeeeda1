package operator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/redteam"
	"github.com/thresh-dev/thresh/engine/textop"
)

// attacks counts how often the system failed, for the campaign's summary.
type attacks struct {
	all    rate
	sent   int64              // judged children, including repeated texts
	first  int64              // number sent up to the first success; 0: none
	by     map[[2]string]rate // by property (bucket, messages, seed) and its value
	chains map[string]chain
	points [][2]float64 // judged children, successes
}

type rate struct{ n, wins int64 }

// chain counts the children made by the same operators.
type chain struct {
	rate
	ops  []int
	best *hit
}

// hit is a child that got past the system: how to make it again, and the reply.
type hit struct {
	job   mutator.Job
	m     *mutator.Mutator
	reply string
}

// Limits on what is kept and shown.
const (
	maxKept    = 4096 // chains
	maxShown   = 20   // rows of one kind
	strongest  = 10
	replyBytes = 600

	verbatimChars = 64 << 10 // of a prompt among the strongest
)

func (a *attacks) clone() attacks {
	return attacks{a.all, a.sent, a.first, maps.Clone(a.by), maps.Clone(a.chains), slices.Clip(a.points)}
}

// count adds a judged child. A repeated text spends a call but is not a new attempt, whatever the
// verdict: if only those that fail counted again, the rate would be too high.
func (a *attacks) count(f *facts, job mutator.Job, m *mutator.Mutator, planned int64, again bool) {
	if a.sent++; a.first == 0 && f.judgement == mutator.Fail {
		a.first = a.sent
	}
	if !again {
		a.attempt(f, job, m)
	}
	if step := max(1, planned/maxPoints); a.sent%step == 0 && len(a.points) < 4*maxPoints {
		a.points = append(a.points, [2]float64{float64(a.sent), float64(a.all.wins)})
	}
}

func (a *attacks) attempt(f *facts, job mutator.Job, m *mutator.Mutator) {
	won := int64(0)
	if f.judgement == mutator.Fail {
		won = 1
	}
	add := func(r rate) rate { return rate{r.n + 1, r.wins + won} }
	if a.by == nil {
		a.by, a.chains = map[[2]string]rate{}, map[string]chain{}
	}
	a.all = add(a.all)
	keys := [][2]string{{"seed", job.Seed.ID}, {"bucket", string(job.Seed.Bucket)}}
	if job.Seed.Surface == textop.Conversation {
		keys = append(keys, [2]string{"messages", fmt.Sprint(f.spent.calls - f.asked)})
	}
	for _, k := range keys {
		if _, ok := a.by[k]; ok || len(a.by) < maxKept {
			a.by[k] = add(a.by[k])
		}
	}
	var links []mutator.Link
	for _, x := range f.applied {
		if x.Status == textop.OK {
			links = append(links, mutator.Link{Op: x.Op})
		}
	}
	key := redteam.Key(links)
	if c, ok := a.chains[key]; ok || len(a.chains) < maxKept {
		c.rate = add(c.rate)
		if won > 0 && c.best == nil {
			c.best = &hit{job, m, f.reply}
			for _, l := range links {
				c.ops = append(c.ops, l.Op)
			}
		}
		a.chains[key] = c
	}
}

// attackSummary shows the success rates, the curve and the strongest prompts.
func (c *Campaign) attackSummary(s *state) []campaign.Exhibit {
	a := &s.tally.attacks
	if a.all.n == 0 {
		return nil
	}
	m := campaign.Matrix{Measures: c.measures(), Columns: []string{"success"}, Rows: []string{campaign.RowOfAll}, Cells: [][]campaign.MatrixCell{{cell(a.all.wins, a.all.n)}}}
	for _, what := range []string{"bucket", "messages", "seed"} {
		var keys [][2]string
		for k := range a.by {
			if k[0] == what {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(x, y [2]string) int {
			return cmp.Or(cmp.Compare(a.by[y].wins, a.by[x].wins), cmp.Compare(len(x[1]), len(y[1])), cmp.Compare(x[1], y[1]))
		})
		for _, k := range keys[:min(len(keys), maxShown)] {
			name := k[1]
			if what == "bucket" {
				name = BucketLabel(textop.Bucket(name))
			}
			m.Rows = append(m.Rows, what+" "+name)
			m.Cells = append(m.Cells, []campaign.MatrixCell{cell(a.by[k].wins, a.by[k].n)})
		}
	}
	title := "Attack success rate"
	if a.first > 0 {
		title += fmt.Sprintf(", the first success at judged child %d", a.first)
	}
	if again := a.sent - a.all.n; again > 0 {
		title += fmt.Sprintf(", %s not counted", diag.Plural(int(again), "repeated text"))
	}
	list := []campaign.Exhibit{{Kind: "matrix", Title: title, Brief: true, Matrix: &m}}
	if len(a.points) > 1 {
		curve := campaign.SeriesExhibit("Successes", "children judged", "successes", campaign.Line{Name: "successes", Points: a.points})
		curve.Brief = true
		list = append(list, curve)
	}
	best := slices.SortedFunc(maps.Values(a.chains), func(x, y chain) int {
		return cmp.Or(cmp.Compare(y.lowerBound(), x.lowerBound()), cmp.Compare(len(x.ops), len(y.ops)), slices.Compare(x.ops, y.ops))
	})
	best = slices.DeleteFunc(best, func(x chain) bool { return x.best == nil })
	if len(best) == 0 {
		return list
	}
	rows := campaign.Matrix{Measures: c.measures(), Columns: []string{"success"}}
	for _, x := range best[:min(len(best), maxShown)] {
		rows.Rows = append(rows.Rows, c.chainName(x.ops))
		rows.Cells = append(rows.Cells, []campaign.MatrixCell{cell(x.wins, x.n)})
	}
	title = fmt.Sprintf("Attack success rate by chain: %s succeeded", diag.Plural(len(best), "chain"))
	if len(best) > maxShown {
		title += fmt.Sprintf(", the best %d of them", maxShown)
	}
	list = append(list, campaign.Exhibit{Kind: "matrix", Title: title, Brief: true, Matrix: &rows})
	return append(list, c.strongest(best[:min(len(best), strongest)])...)
}

// measures is what the success rates measure. If replies decide what is sent next, two runs send
// different prompts, and comparing their successes says nothing about the systems.
func (c *Campaign) measures() string {
	switch c.spec.Policy {
	case mutator.Search, mutator.UCB1, mutator.EXP3:
		return campaign.OfGuided
	}
	if c.attacker != nil {
		return campaign.OfGuided
	}
	return campaign.OfFailures
}

// lowerBound is the lower end of the rate's confidence interval.
func (r rate) lowerBound() float64 { return cell(r.wins, r.n).Low }

func (c *Campaign) chainName(ops []int) string {
	var names []string
	if len(ops) == 0 && c.attacker != nil {
		return c.attacker.writer.Name
	}
	if len(ops) == 0 {
		return "no operator"
	}
	for _, op := range ops {
		names = append(names, c.base.Registry().Entries()[op].Meta.ID)
	}
	return strings.Join(names, " + ")
}

// strongest shows one prompt of each chain, made again, with its reply. It shows none if an
// operator runs outside this process.
func (c *Campaign) strongest(best []chain) []campaign.Exhibit {
	if slices.ContainsFunc(c.base.Registry().Entries(), func(e mutator.Entry) bool { return e.New == nil }) {
		return nil
	}
	lane := c.base.NewLane(nil)
	var list []campaign.Exhibit
	for i, x := range best {
		lane.Use(x.best.m)
		// The context is never cancelled and no operator is remote, so there is no error.
		_ = lane.Make(context.Background(), []mutator.Job{x.best.job}, func(child *mutator.Child) error {
			prompt := promptUpTo(verbatimChars, fmt.Sprintf("Strongest prompt %d, %d of %d by %s, child %s", i+1, x.wins, x.n, c.chainName(x.ops), child.ID), child.Text)
			reply := promptExhibit(fmt.Sprintf("Reply to strongest prompt %d", i+1), x.best.reply)
			prompt.Brief, reply.Brief = true, true
			list = append(list, prompt, reply)
			return nil
		})
	}
	return list
}

// numbers are the ids of a bucket in the OWASP list of 2025 and in MITRE ATLAS.
func numbers(b textop.Bucket) []string {
	for _, c := range textop.Concepts() {
		if c.Bucket == b {
			return slices.DeleteFunc(c.IDs(), func(id string) bool { return strings.Contains(id, ":") && !strings.HasSuffix(id, ":2025") })
		}
	}
	return nil
}
