package flakestorm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

func (k *Contract) matrixCommand() campaign.Command {
	var f flakeFlags
	var output string
	return f.running(campaign.Command{
		Use:     "run",
		Summary: "Run the matrix: every invariant in every scenario",
		Example: `  thresh flakestorm contract run
  thresh flakestorm contract run --runs-per-cell 10 -o matrix.html`,
	}, func(fs campaign.Flags) {
		fs.StringVarP(&output, "output", "o", "", "write the report as an HTML `FILE`")
	}, func(ctx context.Context, d campaign.Desk, _ []string) error {
		if output != "" {
			f.o.Reports = append(f.o.Reports, "html="+output)
		}
		r, err := f.phases(ctx, d, PhaseContract)
		if err != nil {
			return err
		}
		idleLine(d, &r.tally)
		m := r.tally.Contract
		if m == nil {
			return f.flakeExit(r)
		}
		fmt.Fprintf(d.Out(), "Cells: %d of %d held\n", m.CellsPassed, m.Cells)
		fmt.Fprintf(d.Out(), "Contract resilience score: %s\n", score.Percent(m.Score/100))
		word := "yes"
		switch {
		case !m.Passed():
			word = "no: a critical invariant failed"
		case r.tally.criticalUnknown():
			word = "unknown: a critical invariant could not be judged"
		case m.CellsPassed < m.Cells && (!f.given("min-score")):
			word = "yes: no critical invariant failed (without --min-score, the exit code covers all cells)"
		case m.CellsPassed < m.Cells:
			word = "yes: no critical invariant failed"
		}
		fmt.Fprintf(d.Out(), "Passed: %s\n", word)
		return f.flakeExit(r, m.Score/100)
	})
}

func (k *Contract) validateCommand() campaign.Command {
	var path string
	c := campaign.Command{
		Use:     "validate",
		Summary: "Check the configuration, and list where each fault is injected",
		Example: "  thresh flakestorm contract validate\n  thresh flakestorm contract validate --config tests/flakestorm.yaml",
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			x, err := k.compiled(ctx, d, path, true)
			if err != nil {
				return err
			}
			fmt.Fprintf(d.Out(), "%s: valid, %s\n", path, x.Traits().Cases())
			if len(x.Points) == 0 {
				return nil
			}
			w := tabwriter.NewWriter(d.Out(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SCENARIO\tFAULT\tWHAT\tINJECTED INTO")
			for _, p := range x.Points {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", diag.Printable(p.Scenario), p.Fault, p.What, p.Where)
			}
			if err := w.Flush(); err != nil {
				return diag.Environment("writing the list: %w", err)
			}
			return nil
		},
	}
	c.Files = configFiles()
	c.Flags = func(fs campaign.Flags) {
		registerConfig(fs, &path)
	}
	return c
}

func (k *Contract) scoreCommand() campaign.Command {
	var f flakeFlags
	return f.running(campaign.Command{
		Use:     "score",
		Summary: "Run the matrix and print its score alone, 0 to 100",
		Example: "  thresh flakestorm contract score --config tests/flakestorm.yaml",
	}, nil, func(ctx context.Context, d campaign.Desk, _ []string) error {
		f.o.Silent = true
		r, err := f.phases(ctx, d, PhaseContract)
		if err != nil {
			return err
		}
		lateWarnings(d, f.config, r.rec.Warnings)
		m := r.tally.Contract
		if m == nil && slices.ContainsFunc(r.tally.Cells, func(x CellTally) bool { return x.Untested }) {
			return diag.Environment("no cell of the matrix was exercised: nothing that its invariants check occurred")
		}
		if m == nil && len(r.tally.Idle) > 0 {
			return diag.Environment("no cell of the matrix was exercised: no fault fired in %s", strings.Join(r.tally.Idle, ", "))
		}
		if m == nil {
			return diag.Environment("no cell of the matrix has a result")
		}
		fmt.Fprintf(d.Out(), "%.2f\n", m.Score)
		return f.flakeExit(r, m.Score/100)
	})
}

// lateWarnings shows the warnings of a run whose report is not printed. Those about a line of its
// document have already been shown.
func lateWarnings(d campaign.Desk, path string, list []string) {
	for _, w := range list {
		if rest, ok := strings.CutPrefix(w, path+":"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			continue
		}
		if !strings.HasPrefix(w, "Warning: ") {
			w = "warning: " + w
		}
		fmt.Fprintln(d.Err(), diag.Printable(w))
	}
}
