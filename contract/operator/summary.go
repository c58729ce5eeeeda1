package operator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/score"
	"github.com/thresh-dev/thresh/engine/textop"
)

// summary is the campaign's own summary.
func (c *Campaign) summary(s *state) []campaign.Exhibit {
	t := s.tally
	list := []campaign.Exhibit{c.childrenTable(s)}
	if m, ok := c.operatorMatrix(t); ok {
		list = append(list, m)
	}
	if m, ok := c.kindMatrix(t); ok {
		list = append(list, m)
	}
	if len(t.points) > 1 {
		list = append(list, campaign.SeriesExhibit("Distinct children", "children made", "distinct children", campaign.Line{Name: "distinct", Points: t.points}))
	}
	if e, ok := c.skewTable(t); ok {
		list = append(list, e)
	}
	if e, ok := c.learnedTable(s); ok {
		list = append(list, e)
	}
	list = append(list, c.attackSummary(s)...)
	if e, ok := c.verdictMatrix(t); ok {
		list = append(list, e)
	}
	return list
}

// childrenTable shows figures about all children.
func (c *Campaign) childrenTable(s *state) campaign.Exhibit {
	t := s.tally
	byOp := make(map[int]int64)
	for a, n := range t.applied {
		byOp[a.op] += n.ok
	}
	var counts []int64
	used := 0
	for _, n := range byOp {
		counts = append(counts, n)
		if n > 0 {
			used++
		}
	}
	slices.Sort(counts) // the sum of floats depends on the order
	bits, normal := mutator.Entropy(counts)
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	rows := [][]string{
		{"seeds", n(int64(len(c.units)))},
		{"children wanted", n(c.planned())},
		{"children made", n(t.made)},
		{"made in place of duplicates and skipped ones", n(s.more)},
		{"distinct", n(t.novelty.Distinct())},
		{"equal to an earlier child of the seed", n(t.novelty.Same)},
		{"near an earlier child of the seed", n(t.novelty.Near)},
		{"unique ratio", fmt.Sprintf("%.4f", t.novelty.UniqueRatio())},
		{"SKIPPED", n(t.children[textop.Skipped])},
		{"INVALID", n(t.children[textop.Invalid])},
		{"operators used", fmt.Sprintf("%d of %d", used, len(c.base.Registry().Entries()))},
		{"entropy of operators", fmt.Sprintf("%.3f bits, %.3f of the most", bits, normal)},
	}
	e := campaign.TableExhibit("Children", []string{"figure", "value"}, rows)
	e.Table.Numeric = []bool{false, true}
	return e
}

// operatorMatrix shows how often operators were applied successfully, by bucket.
func (c *Campaign) operatorMatrix(t *tally) (campaign.Exhibit, bool) {
	return countMatrix("Applications that gave a child, by operator and bucket", t.applied, func(a application) (int, textop.Bucket) { return a.op, a.bucket },
		func(op int) string { return c.base.Registry().Entries()[op].Meta.ID }, BucketLabel)
}

// kindMatrix shows the number of children made, by bucket and surface.
func (c *Campaign) kindMatrix(t *tally) (campaign.Exhibit, bool) {
	return countMatrix("Children made, by bucket and surface", t.kinds, func(k kind) (textop.Bucket, textop.Surface) { return k.bucket, k.surface },
		BucketLabel, func(s textop.Surface) string { return orAny(string(s)) })
}

// countMatrix shows counts by two properties.
func countMatrix[K comparable, R, C cmp.Ordered](title string, counts map[K]statusCount, at func(K) (R, C), row func(R) string, column func(C) string) (campaign.Exhibit, bool) {
	columns, cells := map[C]bool{}, map[R]map[C]statusCount{}
	for k, n := range counts {
		r, c := at(k)
		if cells[r] == nil {
			cells[r] = map[C]statusCount{}
		}
		columns[c], cells[r][c] = true, n
	}
	m := campaign.Matrix{Measures: campaign.OfCounts}
	sorted := slices.Sorted(maps.Keys(columns))
	for _, c := range sorted {
		m.Columns = append(m.Columns, column(c))
	}
	for _, r := range slices.Sorted(maps.Keys(cells)) {
		m.Rows = append(m.Rows, row(r))
		var list []campaign.MatrixCell
		for _, c := range sorted {
			n := cells[r][c]
			list = append(list, cell(n.ok, n.total()))
		}
		m.Cells = append(m.Cells, list)
	}
	return campaign.Exhibit{Kind: "matrix", Title: title, Matrix: &m}, len(m.Rows) > 0
}

// skewTable lists the operators with most and fewest children.
func (c *Campaign) skewTable(t *tally) (campaign.Exhibit, bool) {
	type share struct {
		op int
		statusCount
	}
	sums := make(map[int]statusCount)
	total := int64(0)
	for a, n := range t.applied {
		s := sums[a.op]
		s.ok, s.skipped, s.invalid = s.ok+n.ok, s.skipped+n.skipped, s.invalid+n.invalid
		sums[a.op] = s
		total += n.ok
	}
	var list []share
	for op, n := range sums {
		list = append(list, share{op, n})
	}
	slices.SortFunc(list, func(a, b share) int {
		if d := cmp.Compare(b.ok, a.ok); d != 0 {
			return d
		}
		return cmp.Compare(a.op, b.op)
	})
	var rows [][]string
	for _, s := range list {
		share := 0.0
		if total > 0 {
			share = float64(s.ok) / float64(total)
		}
		rows = append(rows, []string{
			c.base.Registry().Entries()[s.op].Meta.ID, strconv.FormatInt(s.ok, 10), score.Percent(share),
			strconv.FormatInt(s.skipped, 10), strconv.FormatInt(s.invalid, 10),
		})
	}
	e := campaign.TableExhibit("Operators", []string{"operator", "OK", "share", "SKIPPED", "INVALID"}, rows)
	e.Table.Numeric = []bool{false, true, true, true, true}
	return e, len(rows) > 0
}

// learnedTable shows what a learning policy has learned.
func (c *Campaign) learnedTable(s *state) (campaign.Exhibit, bool) {
	if !c.spec.Policy.Learns() {
		return campaign.Exhibit{}, false
	}
	var rows [][]string
	for _, a := range s.learnt.Arms() {
		n, mean := s.learnt.Mean(a)
		rows = append(rows, []string{a.Op, BucketLabel(textop.Bucket(a.Bucket)), strconv.FormatInt(n, 10), fmt.Sprintf("%.4f", mean)})
	}
	e := campaign.TableExhibit("Learned by "+string(c.spec.Policy), []string{"operator", "bucket", "applications", "mean reward"}, rows)
	e.Table.Numeric = []bool{false, false, true, true}
	return e, len(rows) > 0
}

// verdictMatrix shows how often the system under test failed, by operator.
func (c *Campaign) verdictMatrix(t *tally) (campaign.Exhibit, bool) {
	fails, totals := make(map[int]int64), make(map[int]int64)
	for k, n := range t.verdicts {
		totals[k.op] += n
		if k.judgement == mutator.Fail {
			fails[k.op] += n
		}
	}
	var ops []int
	for op := range totals {
		ops = append(ops, op)
	}
	// The weakest places come first, because a report may be cut.
	slices.SortFunc(ops, func(a, b int) int {
		return cmp.Or(cmp.Compare(cell(fails[b], totals[b]).Low, cell(fails[a], totals[a]).Low), cmp.Compare(a, b))
	})
	m := campaign.Matrix{Columns: []string{"FAIL"}, Measures: c.measures()}
	for _, op := range ops {
		m.Rows = append(m.Rows, c.base.Registry().Entries()[op].Meta.ID)
		m.Cells = append(m.Cells, []campaign.MatrixCell{cell(fails[op], totals[op])})
	}
	return campaign.Exhibit{Kind: "matrix", Title: "Verdicts FAIL, by operator", Brief: true, Matrix: &m}, len(ops) > 0
}

// cell is a rate with its 95 % interval by Wilson's score.
func cell(hits, total int64) campaign.MatrixCell {
	c := campaign.MatrixCell{Hits: hits, Total: total}
	if total == 0 {
		return c
	}
	c.Low, c.High = score.Wilson(int(hits), int(total))
	return c
}

// BucketLabel returns a readable bucket name: its concept and its number in the 2025 edition, as
// reports tag it, or in the newest edition that has it: "disclosure (LLM02:2025)".
func BucketLabel(b textop.Bucket) string {
	if b == "" {
		return "(any)"
	}
	for _, c := range textop.Concepts() {
		if c.Bucket != b {
			continue
		}
		numbers := slices.DeleteFunc(c.IDs(), func(id string) bool { return !strings.Contains(id, ":") }) // others are techniques of ATLAS
		if c.LLM2025 > 0 {
			numbers = slices.DeleteFunc(numbers, func(id string) bool { return !strings.HasSuffix(id, ":2025") })
		}
		if n := len(numbers); n > 0 {
			return string(b) + " (" + numbers[n-1] + ")"
		}
	}
	return string(b)
}

// Summarize implements [campaign.Summarizer].
func (c *Campaign) Summarize(s *state) campaign.Summary {
	return campaign.Summary{Exhibits: c.summary(s), Warnings: c.warnings(s), Void: c.nothingTried(s), Replaced: c.replaced(s),
		Examples: func(ctx context.Context) []campaign.Exhibit { return c.examples(ctx, s) }}
}

// warnings lists what nobody has judged: that is not a pass.
func (c *Campaign) warnings(s *state) []string {
	var list []string
	if text := c.overspent(s); text != "" {
		list = append(list, text)
	}
	list = append(list, append(s.hidden(), c.unseen(s)...)...)
	if c.plan != nil && s.tally.judged > 0 && !s.spoke {
		list = append(list, "every reply of the system "+c.plan.Name+" was empty: its judges had nothing to look at")
	}
	t := s.tally
	if n := t.novelty.Distinct(); c.fewTexts(s) {
		list = append(list, fmt.Sprintf("only %d of %d children are distinct texts: the operators that serve the seeds make no others", n, c.planned()))
	}
	if c.verdicts == nil {
		return list
	}
	if n := t.stale; n > 0 {
		text := fmt.Sprintf("%s on texts that the children no longer have: not counted", diag.Plural(n, "verdict"))
		if t.missed > 0 {
			text += fmt.Sprintf(", %d of them FAIL", t.missed)
		}
		list = append(list, text)
	}
	if n := int64(len(c.verdicts)) - t.met; n > 0 {
		list = append(list, fmt.Sprintf("%d of %s in %s on children that this run did not make", n, diag.Plural(len(c.verdicts), "verdict"), c.spec.Verdicts))
	}
	return list
}

// fewTexts reports whether most children repeat others although they could be replaced: a run that
// holds has tried less than was asked for.
func (c *Campaign) fewTexts(s *state) bool {
	n := &s.tally.novelty
	return c.spec.Duplicates != KeepDuplicates && s.search == nil && s.attacker == nil && !s.ended && n.Total >= c.planned() && 2*n.Distinct() < c.planned()
}

// skipReason is why no prompt was sent or judged.
func skipReason(_ campaign.Case, o *campaign.Outcome) string {
	switch f, _ := decodeFacts(o.Data); {
	case f.same:
		return "the system was already sent this text"
	case isWritten(o.Data):
		return "the attacker wrote no prompt"
	case f.status == textop.Invalid:
		return "an operator failed"
	case f.status == textop.OK:
		return "no verdict on the child counts"
	}
	return "no operator that was drawn applies to the seed"
}

// nothingTried says why the run tested nothing; "" if it did.
func (c *Campaign) nothingTried(s *state) string {
	if s.attacker != nil && len(s.attacker.nodes) == 0 && !s.ended {
		return "the attacker wrote no prompt: nothing was sent, so nothing was tested"
	}
	if t := s.tally; t.made > 0 && t.children[textop.Skipped] == t.made {
		return "no operator was applicable to any seed: no child was made, so nothing was tested"
	}
	if c.verdicts != nil && s.tally.judged == 0 {
		return "no PASS or FAIL in " + c.spec.Verdicts + " counts for a child of this run: nothing was judged"
	}
	return ""
}
