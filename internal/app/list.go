package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

func (a *application) listCommand() *cobra.Command {
	var dir string
	var q store.RunQuery
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List stored runs, newest first",
		Long: `List prints one line for each stored run. STATUS is done, running, interrupted
(thresh run --resume RUN goes on with it) or error; VERDICT is pass, fail or error.`,
		Example: `  thresh list
  thresh list --verdict fail --limit 5
  thresh list --json | jq -r '.[].run_id'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			runs, err := st.Runs(q)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(runs)
			}
			if len(runs) == 0 {
				fmt.Fprintln(a.io.Err, "no runs in "+dir)
				return nil
			}
			w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "RUN\tSTATUS\tVERDICT\tCASES\tFINDINGS\tSTARTED\tCAMPAIGNS")
			for _, r := range runs {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.RunID, r.Status, orDash(r.Verdict), thousands(r.Cases.Run), r.Findings,
					r.Created.Local().Format(time.DateTime), printable(clipText(strings.Join(r.Campaigns, ", "), 60)))
			}
			return w.Flush()
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&q.Limit, "limit", 50, "at most so many")
	c.Flags().IntVar(&q.Offset, "offset", 0, "pass over the newest so many")
	c.Flags().StringVar(&q.Contract, "contract", "", "only runs of this format")
	c.Flags().StringVar(&q.Verdict, "verdict", "", "only runs with this verdict (pass, fail, error)")
	c.Flags().StringVar(&q.Text, "search", "", "only runs whose campaigns or findings hold this text")
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of a table")
	return c
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *application) gcCommand() *cobra.Command {
	var dir string
	var keep int
	var dry bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove old runs and what only they needed",
		Long: `Gc removes all runs but the newest --keep, and the stored contents that no
remaining run mentions. A run that is being written is never removed.`,
		Example: `  thresh gc --keep 20
  thresh gc --keep 20 --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if keep < 0 {
				return usagef("--keep must not be negative, got %d", keep)
			}
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			res, err := st.GC(keep, dry)
			if err != nil {
				return err
			}
			verb := "removed"
			if dry {
				verb = "would remove"
			}
			fmt.Fprintf(a.io.Out, "%s %s and %s, %s\n", verb, plural(int64(len(res.Runs)), "run"), plural(int64(res.Blobs), "blob"), plural(res.Bytes, "byte"))
			return nil
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&keep, "keep", 0, "keep the newest so many runs")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	_ = c.MarkFlagRequired("keep")
	return c
}

// showComparison prints a comparison for people.
func (a *application) showComparison(c store.Comparison) {
	out := a.io.Out
	fmt.Fprintf(out, "%s -> %s: %d new, %d fixed, %d still failing\n", c.A, c.B, len(c.New), len(c.Fixed), len(c.StillFailing))
	line := func(word string, f campaign.Finding, more string) {
		fmt.Fprintf(out, "  %-14s %s  %-8s %s%s\n", word, f.ID, f.Severity, printable(f.Title), more)
	}
	for _, f := range c.New {
		line("new", f, "")
	}
	for _, f := range c.Fixed {
		line("fixed", f, "")
	}
	for _, x := range c.StillFailing {
		line("still failing", x.B, fmt.Sprintf(" (%d -> %d cases)", x.A.Cases, x.B.Cases))
	}
	for _, f := range c.NotRun {
		line("not run", f, "")
	}
	a.showScores(c)
	for _, d := range c.Differences {
		fmt.Fprintln(out, "  note: "+printable(d))
	}
}

// shownCells is how many cells that changed are listed for people.
const shownCells = 40

// showScores prints how scores, their parts and the cells of matrices changed.
func (a *application) showScores(c store.Comparison) {
	figure := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.3f", *v)
	}
	for _, s := range c.Scores {
		name, change := "score of "+printable(s.Campaign), ""
		if s.Part != "" {
			name = "  " + printable(s.Part)
		}
		if s.A != nil && s.B != nil && *s.A != *s.B {
			change = fmt.Sprintf(" (%+.3f)", *s.B-*s.A)
		}
		if s.OtherParts {
			change = " (made of other parts)"
		}
		fmt.Fprintf(a.io.Out, "  %s: %s -> %s%s\n", name, figure(s.A), figure(s.B), change)
	}
	rate := func(m *campaign.MatrixCell) string {
		if m == nil || m.Total == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", m.Hits, m.Total)
	}
	for i, x := range c.Cells {
		if i == shownCells {
			fmt.Fprintf(a.io.Out, "  and %s more; --json has all\n", plural(int64(len(c.Cells)-i), "cell"))
			break
		}
		word := "worse"
		switch {
		case x.A == nil || x.B == nil || x.A.Total == 0 || x.B.Total == 0:
			word = "other"
		case x.Better():
			word = "better"
		}
		fmt.Fprintf(a.io.Out, "  %-14s %s in %s: %s -> %s\n", "cell "+word, printable(x.Row), printable(x.Column), rate(x.A), rate(x.B))
	}
}

func (a *application) compareCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs: findings new, fixed and still failing, scores, cells",
		Long: `Compare says what changed from run A to run B. Runs are named by id, a unique
beginning of one, "latest" or "latest~1".

A finding of A is fixed if B ran the case that first showed it and found nothing
of the kind; if B did not come to that case, it is "not run". Of campaigns that end in a score,
Compare shows how it and its parts changed, and which cells of their matrices did.

Exit codes: 0 nothing new in B, 1 B has findings that A has not.`,
		Example: `  thresh compare latest~1 latest`,
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			cmp, err := st.Compare(args[0], args[1])
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				if err := enc.Encode(cmp); err != nil {
					return err
				}
			} else {
				a.showComparison(cmp)
			}
			if len(cmp.New) > 0 {
				return exitError(1)
			}
			return nil
		},
	}
	registerStore(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of text")
	return c
}
