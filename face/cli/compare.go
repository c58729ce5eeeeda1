package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// showComparison prints a comparison for people.
func (a *application) showComparison(c app.Comparison) {
	out, width := a.io.Out, cmp.Or(a.width(), 1<<16)
	fmt.Fprintf(out, "%s -> %s: %d new, %d fixed, %d still failing%s%s\n", c.A, c.B, len(c.New), len(c.Fixed), len(c.StillFailing), report.NotRun(len(c.NotRun)), report.KnownToOwners(len(c.Known)))
	// Continuation lines are indented to where the first line begins.
	said := func(lead, text string) {
		for _, l := range report.Lines(text, max(width-len(lead), 20)) {
			fmt.Fprintln(out, strings.TrimRight(lead+l, " "))
			lead = strings.Repeat(" ", len(lead))
		}
	}
	if c.Swapped {
		said("  note: ", c.A+" is the older run: the comparison goes from it to "+c.B)
	}
	line := func(word string, f campaign.Finding, more string) {
		said(fmt.Sprintf("  %-14s %s  %-8s ", word, f.ID, f.Severity), f.Title+more)
	}
	for _, f := range c.New {
		line("new", f, "")
	}
	for _, f := range c.Fixed {
		line("fixed", f, "")
	}
	for _, x := range c.StillFailing {
		line("still failing", x.B, fmt.Sprintf(" (%s -> %s)", diag.Number(x.A.Cases), diag.Plural(x.B.Cases, "case")))
	}
	for _, f := range c.NotRun {
		line("not run", f, "")
	}
	for _, k := range c.Known {
		line("known", k.Finding, fmt.Sprintf(" (to %s until %s: %s)", k.Owner, k.Until, k.Note))
	}
	showScores(c, said)
	for _, d := range c.Differences {
		said("  note: ", d)
	}
}

// shownCells is how many changed cells are listed for people.
const shownCells = 40

// showScores prints how scores, their parts and the cells of matrices changed.
func showScores(c app.Comparison, said func(lead, text string)) {
	figure := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return report.Score(*v)
	}
	for _, s := range c.Scores {
		lead, text := "  ", "score of "+s.Campaign+": "
		if s.Part != "" {
			lead, text = "    ", s.Part+": "
		}
		text += figure(s.A) + " -> " + figure(s.B)
		switch {
		case s.OtherParts:
			text += " (made of other parts)"
		case s.A != nil && s.B != nil && *s.A != *s.B:
			text += " (" + report.Moved(*s.A, *s.B) + ")"
		}
		if s.Chance != nil {
			text += ": " + app.ChanceText(s.Chance)
		}
		said(lead, text)
	}
	rate := func(m *campaign.MatrixCell) string {
		if m == nil || m.Total == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", m.Hits, m.Total)
	}
	both, alone := c.CellsOfBoth()
	for i, x := range both {
		if i == shownCells {
			said("  ", fmt.Sprintf("and %s more; --json has all", diag.Plural(len(both)-i, "cell")))
			break
		}
		text := x.Row + " in " + x.Column + ": " + rate(x.A) + " -> " + rate(x.B)
		if x.Chance != nil {
			text += ": " + app.ChanceText(x.Chance)
		}
		said(fmt.Sprintf("  %-14s ", "cell"), text)
	}
	if alone > 0 {
		said("  ", diag.Plural(alone, "cell")+" of one run only; --json has all")
	}
}

func (a *application) compareCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs: new, fixed and remaining findings, and scores",
		Long: `Compare reports what changed from the older of two runs to the newer one, in
whichever order you name them. A run is named by its id, a unique beginning of it,
"latest" or "latest~1".

A finding of the older run is fixed if the newer run had no failure in the case
that first showed it; if it did not run that case, skipped it, had no result for it
or did not exercise it (the fault never fired), the finding is "not run". After an
edit of the document, cases are found by their names; without names, every case
that is not sent again counts as not run. Findings that thresh.known.yaml beside
their document accepts are "known": neither new nor still failing.

For campaigns with a score, Compare shows what changed in the score, its parts and
the cells of the matrix. "worse" and "better" mean that chance does not explain
the difference (Fisher's exact test, p < 0.05, corrected by Holm's method over all
cells; those of whole campaigns apart). A campaign that learns while it runs (a search, ucb1, exp3, an attacker) sends
other prompts to another system, so that its rates say nothing: of those, Compare
tests the prompts that both runs sent (McNemar's exact test).

Exit codes: 0 nothing new, 1 the newer run has findings that the older has not.`,
		Example: `  thresh compare latest~1 latest`,
		Args:    cobra.ExactArgs(2),
		RunE: a.inStore(&dir, func(_ *cobra.Command, st *app.Store, args []string) error {
			changed, err := a.app.Compare(st, args[0], args[1], false)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				if err := enc.Encode(changed); err != nil {
					return err
				}
			} else {
				a.showComparison(changed)
			}
			if len(changed.New) > 0 {
				return exitError(1)
			}
			return nil
		}),
	}
	registerStore(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of text")
	return c
}
