package fresnelfir

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
)

// Summarize implements [campaign.Summarizer].
func (c *Campaign) Summarize(s *state) campaign.Summary {
	return campaign.Summary{Exhibits: c.exhibits(s), Warnings: c.warnings(s)}
}

// exhibits returns what was covered, which properties were tested, and the directives given.
func (c *Campaign) exhibits(s *state) []campaign.Exhibit {
	var calls [][]string
	for _, t := range c.transitions(s) {
		calls = append(calls, []string{t.Name, t.Status, strconv.FormatInt(t.Hits, 10), t.Why})
	}
	list := []campaign.Exhibit{c.overview(s), table("Coverage of the protocols", []string{"target", "status", "hits", "why"}, calls)}
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

// table returns a table, without its last column if that is empty.
func table(title string, columns []string, rows [][]string) campaign.Exhibit {
	last := len(columns) - 1
	if !slices.ContainsFunc(rows, func(r []string) bool { return r[last] != "" }) {
		columns = columns[:last]
		for i := range rows {
			rows[i] = rows[i][:last]
		}
	}
	return campaign.TableExhibit(title, columns, rows)
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
		{"branches, once for each state of the model", fmt.Sprint(states)},
		{"dead ends: no branch was open", fmt.Sprint(dead)},
		{"walks that were cut: refs too deep, or loops without actions", fmt.Sprint(s.cut)},
	}
	if n := s.moves + s.idled; n > 0 {
		rows = append(rows, []string{"moves of the model alone, in searches", fmt.Sprint(n)})
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

// shownCombinations limits the rows of the table of inputs.
const shownCombinations = 500

// combinations lists the combinations to cover. With paired, it omits pairs, which have a matrix.
func (c *Campaign) combinations(s *state, paired bool) [][]string {
	var rows [][]string
	more := 0
	for i, t := range c.plan.space.targets {
		switch {
		case paired && len(t.params) == 2:
		case len(rows) == shownCombinations:
			more++
		default:
			x := c.combination(s, i)
			rows = append(rows, []string{x.Name, x.Status, x.Why})
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
			times = "never: " + c.untested(i)
		}
		rows = append(rows, []string{c.plan.program.Property(i), times})
	}
	return rows
}

// untested says why a property was never tested.
func (c *Campaign) untested(property int) string {
	if c.module == nil && c.plan.program.Observes(property) {
		return "it asks the module, and there is none"
	}
	return "it does not apply to this run"
}

// shownWarnings limits the properties that get a warning each.
const shownWarnings = 10

// warnings names the properties that were never tested. A capsule gets none, because one traversal
// need not test every property.
func (c *Campaign) warnings(s *state) []string {
	if c.plan.doc.Capsule != nil {
		return nil
	}
	var list []string
	for i, n := range s.tried {
		if n == 0 {
			list = append(list, fmt.Sprintf("the property %s was never tested: %s", c.plan.program.Property(i), c.untested(i)))
		}
	}
	if more := len(list) - shownWarnings; more > 0 {
		list = append(list[:shownWarnings], fmt.Sprintf("and %d more that were never tested", more))
	}
	return list
}

// shownDirectives is how many of the last directives are listed.
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
