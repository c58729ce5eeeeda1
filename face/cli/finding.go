package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

func (a *application) replayCommand() *cobra.Command {
	var dir string
	var job app.ReplayJob
	c := &cobra.Command{
		Use:   "replay FINDING|RUN#CASE",
		Short: "Run a finding, or any case, again",
		Long: `Replay runs the smallest reproducer of a stored finding again, with the settings
of its run and the current program. If the document, or a file that it names, has
changed since, Replay says so and uses the current document; --as-stored uses the
stored one. --system FILE calls the system in FILE instead of the run's own.

FINDING is a finding id (of the newest run that has it), or RUN/FINDING.
RUN#CASE runs one case of a run by its index and shows it, whether it fails or
not; the run must have one campaign.

Exit codes: 1 it fails, 0 it no longer fails, 3 it could not be run, or the
changed document has no such case.`,
		Example: `  thresh replay F-3fa9c1d2e0
  thresh replay F-3fa9c1d2e0 --times 10
  thresh replay latest#17
  thresh replay F-3fa9c1d2e0 --system staging.system.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if job.Times < 1 {
				return usagef("--times must be at least 1, got %d", job.Times)
			}
			return a.withStore(dir, func(st *app.Store) error { return a.replay(c.Context(), st, args[0], job) })
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVarP(&job.Times, "times", "n", 1, "number of runs (a flaky finding gets at least 10)")
	c.Flags().BoolVar(&job.AsStored, "as-stored", false, "use the stored document even if it has changed since")
	c.Flags().StringVar(&job.System, "system", "", "call the system that `FILE` describes, in place of the run's own")
	return c
}

func (a *application) replay(ctx context.Context, st *app.Store, what string, job app.ReplayJob) error {
	if runID, index, ok := strings.Cut(what, "#"); ok {
		return a.replayCase(ctx, st, runID, index, job.System)
	}
	r, err := a.app.Replay(ctx, st, what, job)
	if err != nil {
		return err
	}
	f := r.Finding
	if r.Rerun.Same > 0 {
		fmt.Fprintf(a.io.Out, "%s shows again (%d of %d): %s\n", f.ID, r.Rerun.Same, r.Rerun.Tried, printable(f.Title))
		if r.Now != "" {
			fmt.Fprintf(a.io.Out, "this time: %s\n", printable(r.Now))
		}
		return exitError(diag.ExitFindings)
	}
	fmt.Fprintf(a.io.Out, "%s no longer shows (%d of %d): %s\n", f.ID, r.Rerun.Same, r.Rerun.Tried, printable(f.Title))
	if r.Now != "" {
		fmt.Fprintf(a.io.Out, "the case now fails differently: %s\n", printable(r.Now))
	}
	return nil
}

// replayCase runs one case again, of a run with a single campaign, and shows everything that its
// format shows about it.
func (a *application) replayCase(ctx context.Context, st *app.Store, runID, index, system string) error {
	n, err := caseIndex(index)
	if err != nil {
		return err
	}
	id, err := st.ResolveRun(runID)
	if err != nil {
		return err
	}
	o, shown, err := a.app.RunCase(ctx, st, id, "", "", n, system)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.io.Out, "case %d: %s", n, o.Verdict)
	if o.Title != "" {
		fmt.Fprintf(a.io.Out, ": %s", printable(o.Title))
	}
	fmt.Fprintln(a.io.Out)
	if err := report.ExhibitsText(a.io.Out, shown, a.reportOptions(st, true)); err != nil {
		return err
	}
	switch o.Verdict {
	case campaign.VerdictFail:
		return exitError(diag.ExitFindings)
	case campaign.VerdictError:
		return exitError(diag.ExitEnvironment)
	}
	return nil
}

func (a *application) shrinkCommand() *cobra.Command {
	var dir string
	var budget int
	c := &cobra.Command{
		Use:   "shrink FINDING",
		Short: "Make the reproducer of a finding smaller",
		Long: `Shrink continues from the smallest stored reproducer of a finding. A smaller one is
verified and replaces it in the stored run.`,
		Example: `  thresh shrink F-3fa9c1d2e0 --budget 20000`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if budget < 1 {
				return usagef("--budget must be at least 1, got %d", budget)
			}
			return a.withStore(dir, func(st *app.Store) error { return a.shrink(c.Context(), st, args[0], budget) })
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&budget, "budget", app.DefaultShrinkVerb, "executions to spend at most")
	return c
}

func (a *application) shrink(ctx context.Context, st *app.Store, what string, budget int) error {
	s, err := a.app.Shrink(ctx, st, what, budget)
	if err != nil {
		return err
	}
	if !s.Still {
		fmt.Fprintf(a.io.Out, "%s no longer fails: nothing was changed\n", s.Finding.ID)
		return nil
	}
	fmt.Fprintf(a.io.Out, "%s: %s -> %s in %s\n", s.Finding.ID, diag.Number(s.Before), diag.Plural(s.After, s.Unit), diag.Plural(int64(s.Tries), "execution"))
	return nil
}
