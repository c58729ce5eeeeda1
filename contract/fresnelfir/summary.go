package fresnelfir

import (
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/walk"
)

// Summarize implements [campaign.Summarizer]: what was covered, which
// properties were put to the test, and what was decided on the way.
func (c *Campaign) Summarize(s *state) []campaign.Exhibit {
	list := []campaign.Exhibit{
		c.overview(s),
		campaign.TableExhibit("Coverage of the protocols", []string{"target", "status", "hits"}, c.transitions(s)),
	}
	m, paired := c.pairs(s)
	if paired {
		list = append(list, m)
	}
	if rows := c.combinations(s, paired); len(rows) > 0 {
		list = append(list, campaign.TableExhibit("Coverage of the inputs", []string{"inputs", "status", "why"}, rows))
	}
	if rows := c.properties(s); len(rows) > 0 {
		list = append(list, campaign.TableExhibit("Properties", []string{"property", "put to the test"}, rows))
	}
	list = append(list, c.graph(s))
	if s.curve.len() > 0 {
		list = append(list, campaign.SeriesExhibit("Coverage of the protocols over epochs", "epochs", "% of calls and branches", campaign.Line{Name: "covered", Points: s.byEpoch()}))
	}
	if s.log.len() > 0 {
		list = append(list, campaign.TableExhibit("Directives", []string{"epoch", "directive", "target", "cause"}, directives(s.log.all())))
	}
	return list
}

func (c *Campaign) overview(s *state) campaign.Exhibit {
	hit, total := s.progress(c.plan)
	states := 0
	for e := range s.hits.all() {
		if e.kind == eventBranch {
			states++
		}
	}
	dead := int64(0)
	for _, n := range s.stuck.all() {
		dead += n
	}
	mode := "model_only"
	if c.module != nil {
		mode = "model and module"
	}
	rows := [][]string{
		{"mode", mode},
		{"traversals", fmt.Sprint(s.cases)},
		{"actions", fmt.Sprint(s.actions)},
		{"epochs", fmt.Sprint(s.epoch)},
		{"calls and branches reached", fmt.Sprintf("%d of %d", hit, total)},
		{"branches told apart by the model's state", fmt.Sprint(states)},
		{"dead ends: no branch was open", fmt.Sprint(dead)},
		{"walks that were cut: refs too deep, or loops without actions", fmt.Sprint(s.cut)},
	}
	if c.module != nil {
		rows = append(rows, []string{"points of the module's code reached", fmt.Sprint(s.edgesReached())})
		for a, x := range c.plan.program.Actions() {
			if b := x.Binding; b != nil && b.Rejects != nil {
				rows = append(rows, []string{x.Name + " tried where it is not allowed", fmt.Sprint(s.tries[a])})
			}
		}
	}
	return campaign.TableExhibit("Exploration", []string{"what", "count"}, rows)
}

func status(hits int64) string {
	if hits > 0 {
		return "hit"
	}
	return "pending"
}

// transitions lists every call and every branch with its hits.
func (c *Campaign) transitions(s *state) [][]string {
	var rows [][]string
	for at := range c.plan.nodes {
		n := &c.plan.nodes[at]
		if n.kind == walk.Call {
			hits := s.hits.of(event{kind: eventNode, node: at})
			rows = append(rows, []string{n.id + " " + n.action, status(hits), strconv.FormatInt(hits, 10)})
		}
		for i, b := range n.branches {
			hits := s.branchHits(at, i)
			st := status(hits)
			if b.weight == 0 {
				st = "unreachable"
			}
			rows = append(rows, []string{n.id + "#" + b.id, st, strconv.FormatInt(hits, 10)})
		}
	}
	return rows
}

// shownCombinations bounds the rows of the table of inputs.
const shownCombinations = 500

// combinations lists those that are to be covered; with paired, those alone
// that are no pairs, which their matrix shows.
func (c *Campaign) combinations(s *state, paired bool) [][]string {
	var rows [][]string
	more := 0
	for i, t := range c.plan.space.targets {
		switch {
		case paired && len(t.params) == 2:
		case len(rows) == shownCombinations:
			more++
		case t.unreachable != "":
			rows = append(rows, []string{t.label, "unreachable", t.unreachable})
		case s.reached[i]:
			rows = append(rows, []string{t.label, "hit", ""})
		default:
			rows = append(rows, []string{t.label, "pending", ""})
		}
	}
	if more > 0 {
		rows = append(rows, []string{fmt.Sprintf("and %d more", more), "", ""})
	}
	return rows
}

func (c *Campaign) properties(s *state) [][]string {
	var rows [][]string
	for i, n := range s.tried {
		times := strconv.FormatInt(n, 10)
		if n == 0 {
			times = "never: it says nothing of this run"
		}
		rows = append(rows, []string{c.plan.program.Property(i), times})
	}
	return rows
}

// shownDirectives is how many directives are listed: the last ones.
const shownDirectives = 200

func directives(log []directive) [][]string {
	var rows [][]string
	if n := len(log) - shownDirectives; n > 0 {
		rows = append(rows, []string{"", fmt.Sprintf("%d earlier ones", n), "", ""})
		log = log[n:]
	}
	for _, d := range log {
		rows = append(rows, []string{strconv.Itoa(d.epoch), d.kind, d.target, d.cause})
	}
	return rows
}
