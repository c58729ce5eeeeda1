package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) flakeContractRun() *cobra.Command {
	var f flakeFlags
	var output string
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the matrix: every invariant in every scenario, each by itself",
		Example: `  thresh flakestorm contract run
  thresh flakestorm contract run --runs-per-cell 10 -o matrix.html`,
		Args: cobra.NoArgs,
	}
	f.register(a, c)
	f.registerMinScore(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write the report as an HTML `FILE`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if output != "" {
			f.reports = append(f.reports, "html="+output)
		}
		r, err := a.flakePhases(c.Context(), &f, flakestorm.PhaseContract)
		if err != nil {
			return err
		}
		a.idleLine(&r.tally)
		m := r.tally.Contract
		if m == nil {
			return f.flakeExit(r)
		}
		fmt.Fprintf(a.io.Out, "Cells: %d of %d held\n", m.CellsPassed, m.Cells)
		fmt.Fprintf(a.io.Out, "Contract resilience score: %.1f%%\n", m.Score)
		word := "yes"
		switch {
		case !m.Passed():
			word = "no: a critical invariant failed"
		case m.CellsPassed < m.Cells && (f.minGiven == nil || !f.minGiven()):
			word = "yes: no critical invariant failed (without --min-score the exit code tells of all cells)"
		case m.CellsPassed < m.Cells:
			word = "yes: no critical invariant failed"
		}
		fmt.Fprintf(a.io.Out, "Passed: %s\n", word)
		return f.flakeExit(r, m.Score/100)
	}
	return c
}

func (a *application) flakeContractValidate() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:     "validate",
		Short:   "Say all that is wrong with the configuration, and where each fault is injected",
		Example: "  thresh flakestorm contract validate\n  thresh flakestorm contract validate --config tests/flakestorm.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := a.flakeCampaign(c.Context(), path, true, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.io.Out, "%s: valid, %s\n", path, diag.Plural(k.Planned(), "case"))
			if len(k.Points) == 0 {
				return nil
			}
			w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SCENARIO\tFAULT\tWHAT\tINJECTED INTO")
			for _, p := range k.Points {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", printable(p.Scenario), p.Fault, p.What, p.Where)
			}
			if err := w.Flush(); err != nil {
				return diag.Environment("writing the list: %w", err)
			}
			return nil
		},
	}
	registerConfig(c, &path)
	return c
}

func (a *application) flakeContractScore() *cobra.Command {
	var f flakeFlags
	c := &cobra.Command{
		Use:     "score",
		Short:   "Run the matrix and print its score alone, 0 to 100",
		Example: "  thresh flakestorm contract score --config tests/flakestorm.yaml",
		Args:    cobra.NoArgs,
	}
	f.register(a, c)
	f.registerMinScore(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		r, err := a.quietly().flakePhases(c.Context(), &f, flakestorm.PhaseContract)
		if err != nil {
			return err
		}
		a.lateWarnings(f.config, r.rec.Warnings)
		m := r.tally.Contract
		if m == nil && len(r.tally.Idle) > 0 {
			return diag.Environment("no cell of the matrix was exercised: no fault fired in %s", strings.Join(r.tally.Idle, ", "))
		}
		if m == nil {
			return diag.Environment("no cell of the matrix has a result")
		}
		fmt.Fprintf(a.io.Out, "%.2f\n", m.Score)
		return f.flakeExit(r, m.Score/100)
	}
	return c
}

// lateWarnings shows what is doubtful about a run whose report is not printed.
// What is doubtful about its document, at a line of it, was shown before.
func (a *application) lateWarnings(path string, list []string) {
	for _, w := range list {
		if rest, ok := strings.CutPrefix(w, path+":"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			continue
		}
		if !strings.HasPrefix(w, "Warning: ") {
			w = "warning: " + w
		}
		fmt.Fprintln(a.io.Err, printable(w))
	}
}
