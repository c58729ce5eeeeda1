package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// revived is a stored campaign, compiled again and ready to execute cases.
type revived struct {
	campaign campaign.Any
	index    int
	state    any
	exec     campaign.Executor[any]
	journal  *store.Journal
}

// revive compiles the campaign of a stored run that has the contract and name
// again and opens a cold lane for it; without a name the run must have one.
func (a *application) revive(ctx context.Context, st *store.Store, runID, contract, name string) (*revived, error) {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return nil, err
	}
	c, _, changed, err := a.stored(ctx, st.Blob, j.Manifest())
	if err != nil {
		j.Close()
		return nil, err
	}
	for _, p := range changed {
		fmt.Fprintf(a.io.Err, "note: %s is not what it was in run %s\n", p, runID)
	}
	for k, x := range c.campaigns {
		id := x.Identity()
		if name != "" && (id.Contract != contract || id.Name != name) {
			continue
		}
		if name == "" && len(c.campaigns) > 1 {
			j.Close()
			return nil, diag.Refused("run %s has %d campaigns; name a finding", runID, len(c.campaigns))
		}
		state, err := run.FirstState(x, k, j)
		if err != nil {
			j.Close()
			return nil, err
		}
		exec, err := x.Open(ctx, campaign.Lane{Of: 1, Cold: true})
		if err != nil {
			j.Close()
			return nil, diag.Environment("starting the target: %w", err)
		}
		return &revived{campaign: x, index: k, state: state, exec: exec, journal: j}, nil
	}
	j.Close()
	return nil, diag.Refused("run %s has no campaign %q", runID, name)
}

func (r *revived) close() error {
	err := r.exec.Close()
	if jerr := r.journal.Close(); err == nil {
		err = jerr
	}
	return err
}

// payload is the smallest input that is kept for a finding.
func payload(st *store.Store, f campaign.Finding) (campaign.Case, error) {
	if len(f.Samples) == 0 {
		return campaign.Case{}, fmt.Errorf("finding %s keeps no case", f.ID)
	}
	c, blob := f.Samples[0].Case, f.Samples[0].Blob
	if f.Minimized != nil && f.Minimized.Verified {
		blob = f.Minimized.Blob
	}
	if blob == "" {
		return c, nil
	}
	data, err := st.Blob(blob)
	if err != nil {
		return c, fmt.Errorf("reading the input of finding %s back: %w", f.ID, err)
	}
	if data == nil {
		data = []byte{}
	}
	c.Payload = data
	return c, nil
}

func (a *application) replayCommand() *cobra.Command {
	var dir string
	var times int
	c := &cobra.Command{
		Use:   "replay FINDING|RUN#CASE",
		Short: "Run a finding, or any case, again",
		Long: `Replay runs the smallest reproducer of a stored finding again, by the document,
seeds and settings that were kept with its run and the program as it is now.

FINDING is a finding id (of the newest run that has it), or RUN/FINDING.
RUN#CASE runs one case of a run by its index, and shows what the format shows of
it, also if it holds; the run must have one campaign.

Exit codes: 1 it fails (again), 0 it does not (any longer), 3 it could not be run.`,
		Example: `  thresh replay F-3fa9c1d2e0
  thresh replay F-3fa9c1d2e0 --times 10
  thresh replay latest#17`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if times < 1 {
				return usagef("--times must be at least 1, got %d", times)
			}
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			return a.replay(c.Context(), st, args[0], times)
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVarP(&times, "times", "n", 1, "run it so often (a flaky finding gets at least 10)")
	return c
}

func (a *application) replay(ctx context.Context, st *store.Store, what string, times int) error {
	if runID, index, ok := strings.Cut(what, "#"); ok {
		return a.replayCase(ctx, st, runID, index)
	}
	_, f, conf, err := a.confirm(ctx, st, what, times)
	if err != nil {
		return err
	}
	if conf.Rerun.Same > 0 {
		fmt.Fprintf(a.io.Out, "%s shows again (%d of %d): %s\n", f.ID, conf.Rerun.Same, conf.Rerun.Tried, printable(f.Title))
		return exitError(diag.ExitFindings)
	}
	fmt.Fprintf(a.io.Out, "%s no longer shows (%d of %d): %s\n", f.ID, conf.Rerun.Same, conf.Rerun.Tried, printable(f.Title))
	if len(conf.Observed) > 0 {
		fmt.Fprintf(a.io.Out, "the case fails in another way now: %s\n", printable(conf.Outcome.Title))
	}
	return nil
}

// confirm runs the smallest reproducer of a stored finding again: so often, and
// one that is flaky at least ten times.
func (a *application) confirm(ctx context.Context, st *store.Store, what string, times int) (rec campaign.Record, f campaign.Finding, conf triage.Confirmation, err error) {
	if rec, f, err = st.Finding(what); err != nil {
		return rec, f, conf, err
	}
	r, err := a.revive(ctx, st, rec.RunID, f.Contract, f.Campaign)
	if err != nil {
		return rec, f, conf, err
	}
	defer r.close()
	at, err := payload(st, f)
	if err != nil {
		return rec, f, conf, err
	}
	if f.Flaky {
		times = max(times, 10)
	}
	exec := func(ctx context.Context, c campaign.Case) (campaign.Outcome, error) {
		return r.exec.Execute(ctx, r.state, c)
	}
	if conf, err = triage.Confirm(ctx, exec, f.Contract, at, f.Fingerprint, times); err != nil {
		return rec, f, conf, diag.Environment("running case %d again: %w", at.Index, err)
	}
	return rec, f, conf, nil
}

// replayCase runs one case of a run of one campaign again, and tells all that
// its format shows of it.
func (a *application) replayCase(ctx context.Context, st *store.Store, runID, index string) error {
	n, err := caseIndex(index)
	if err != nil {
		return err
	}
	id, err := st.ResolveRun(runID)
	if err != nil {
		return err
	}
	o, shown, err := a.runCase(ctx, st, id, "", "", n)
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

// runCase runs one case of a stored campaign again, with what its format shows
// of it; without a name the run must have one campaign.
func (a *application) runCase(ctx context.Context, st *store.Store, runID, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error) {
	r, err := a.revive(ctx, st, runID, contract, name)
	if err != nil {
		return campaign.Outcome{}, nil, err
	}
	defer r.close()
	c, state, err := run.CaseAt(r.campaign, r.index, r.journal, index)
	if err != nil {
		return campaign.Outcome{}, nil, diag.Refused("%w", err)
	}
	o, err := r.exec.Execute(ctx, state, c)
	if err != nil {
		return campaign.Outcome{}, nil, diag.Environment("running case %d: %w", index, err)
	}
	var shown []campaign.Exhibit
	if d, ok := campaign.As[campaign.Describer[any]](r.campaign); ok {
		shown = d.Describe(state, c, o, nil)
	}
	return o, shown, nil
}

func (a *application) shrinkCommand() *cobra.Command {
	var dir string
	var budget int
	c := &cobra.Command{
		Use:   "shrink FINDING",
		Short: "Spend more executions on making a finding's reproducer smaller",
		Long: `Shrink goes on from the smallest reproducer that is kept of a finding. What it
finds is verified and replaces it in the stored run.`,
		Example: `  thresh shrink F-3fa9c1d2e0 --budget 20000`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if budget < 1 {
				return usagef("--budget must be at least 1, got %d", budget)
			}
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			return a.shrink(c.Context(), st, args[0], budget)
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&budget, "budget", 5000, "executions to spend at most")
	return c
}

func (a *application) shrink(ctx context.Context, st *store.Store, what string, budget int) error {
	rec, f, err := st.Finding(what)
	if err != nil {
		return err
	}
	if f.Kind == campaign.KindNondeterminism {
		return diag.Refused("%s says that equal cases get different answers; no single one shows it, so none can be made smaller", f.ID)
	}
	r, err := a.revive(ctx, st, rec.RunID, f.Contract, f.Campaign)
	if err != nil {
		return err
	}
	defer r.close()
	reducer, ok := campaign.As[campaign.Reducer](r.campaign)
	if !ok {
		return diag.Refused("%s findings cannot be made smaller", f.Contract)
	}
	c, err := payload(st, f)
	if err != nil {
		return err
	}
	exec := func(ctx context.Context, c campaign.Case) (campaign.Outcome, error) {
		return r.exec.Execute(ctx, r.state, c)
	}
	before := len(c.Payload)
	red, err := triage.Reduce(ctx, reducer, exec, f.Contract, f.Fingerprint, c, budget, 0)
	if err != nil {
		return diag.Environment("making %s smaller: %w", f.ID, err)
	}
	if !red.Verified {
		fmt.Fprintf(a.io.Out, "%s does not show any longer: nothing was changed\n", f.ID)
		return nil
	}
	if err := run.SaveMinimized(st, rec, f, c, red, r.campaign, r.state); err != nil {
		return err
	}
	fmt.Fprintf(a.io.Out, "%s: %s -> %s bytes in %s executions\n", f.ID, thousands(int64(before)), thousands(int64(len(red.Payload))), thousands(int64(red.Tries)))
	return nil
}
