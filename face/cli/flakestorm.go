package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// flakestormCommand is the verbs that users of flakestorm know.
func (a *application) flakestormCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "flakestorm",
		Short: "flakestorm v1 and v2: the commands that its users know",
		Long: `The commands that users of flakestorm know, on top of thresh run: each is one
run, kept and replayable like any other.

Exit codes: 0 all held, 1 something failed, 2 the configuration was refused, 3 the
agent or the environment failed. With --min-score, failures are accepted down to
that score; a critical invariant that fails is exit code 1 whatever the score.`,
	}
	contract := &cobra.Command{Use: "contract", Short: "The contract matrix: every invariant in every scenario"}
	contract.AddCommand(a.flakeContractRun(), a.flakeContractValidate(), a.flakeContractScore())
	replay := &cobra.Command{Use: "replay", Short: "Recorded sessions: run, export, record"}
	replay.AddCommand(a.flakeReplayRun(), a.flakeReplayExport(), a.flakeReplayRecord())
	c.AddCommand(a.flakeInit(), a.flakeVerify(), a.flakeRun(), contract, a.flakeChaos(), replay, a.flakeCI(), a.flakeHistory())
	return c
}

// flakeFlags are what the commands have in common.
type flakeFlags struct {
	runFlags
	config   string
	minScore float64
	minGiven func() bool
	own      string // file for a report in flakestorm's own shape; "": none
}

// register adds the flags. The options of the format are flags of the verbs
// that have them by name; the others set them.
func (f *flakeFlags) register(a *application, c *cobra.Command) {
	f.runFlags.register(c, []campaign.Contract{a.flakestorm()})
	for _, name := range []string{flakestorm.OptPhase, flakestorm.OptReplay, flakestorm.OptOnly, flakestorm.OptChaos, flakestorm.OptProfile, "resume"} {
		_ = c.Flags().MarkHidden(name) // a flag that was just registered
	}
	registerConfig(c, &f.config)
}

func registerConfig(c *cobra.Command, path *string) {
	c.Flags().StringVarP(path, "config", "c", "flakestorm.yaml", "the configuration `FILE`")
	_ = c.MarkFlagFilename("config", "yaml", "yml")
}

func (f *flakeFlags) registerMinScore(c *cobra.Command) {
	c.Flags().Float64Var(&f.minScore, "min-score", 0, "accept failures as long as the score, 0 to 1, is not below this")
	f.minGiven = func() bool { return c.Flags().Changed("min-score") }
}

// flakestorm is the front door.
func (a *application) flakestorm() *flakestorm.Contract {
	c, _ := a.app.Contract("flakestorm")
	k, _ := c.(*flakestorm.Contract) // which the list of built-in contracts has
	return k
}

// flakeDocument reads the configuration.
func (a *application) flakeDocument(path string) (app.Document, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return app.Document{}, diag.WithHint(diag.Refused("the configuration %s is not found", path), "thresh flakestorm init writes one to begin with")
	}
	if err != nil {
		return app.Document{}, diag.Refused("reading the configuration %s: %s", path, app.Reason(err))
	}
	return app.Document{Spec: campaign.Spec{Path: path, Data: data}, Contract: a.flakestorm()}, nil
}

// flakeResult is a run of a configuration with what it came to.
type flakeResult struct {
	rec   campaign.Record
	tally flakestorm.Tally
	err   error
}

// flakeExecute runs some phases of the configuration, or all.
func (a *application) flakeExecute(ctx context.Context, f *flakeFlags, phases ...string) (flakeResult, error) {
	var r flakeResult
	if err := a.prepare(&f.runFlags); err != nil {
		return r, err
	}
	if f.minScore < 0 || f.minScore > 1 {
		return r, usagef("--min-score must be from 0 to 1, got %g", f.minScore)
	}
	d, err := a.flakeDocument(f.config)
	if err != nil {
		return r, err
	}
	for _, p := range phases {
		f.options.set(flakestorm.OptPhase, p)
	}
	r.rec, r.err = a.execute(ctx, []app.Document{d}, &f.runFlags)
	if r.rec.RunID == "" {
		return r, r.err
	}
	r.tally, err = a.flakeTally(ctx, f, r.rec)
	return r, err
}

// flakePhases runs some phases of the configuration, or all, and reports the run
// as thresh run does.
func (a *application) flakePhases(ctx context.Context, f *flakeFlags, phases ...string) (flakeResult, error) {
	r, err := a.flakeExecute(ctx, f, phases...)
	if r.rec.RunID == "" {
		return r, err
	}
	if unfinished := a.finish(r, f); unfinished != nil {
		return r, unfinished // the grave thing to tell
	}
	return r, err
}

// flakeTally adds up a stored run, and writes the report in flakestorm's own
// shape if one is wanted.
func (a *application) flakeTally(ctx context.Context, f *flakeFlags, rec campaign.Record) (flakestorm.Tally, error) {
	var t flakestorm.Tally
	st, err := a.app.ExistingStore(f.store)
	if err != nil {
		return t, err
	}
	defer st.Close()
	j, err := st.OpenJournal(rec.RunID)
	if err != nil {
		return t, err
	}
	defer j.Close()
	c, _, _, err := a.app.Stored(ctx, st.Blob, j.Manifest())
	if err != nil {
		return t, err
	}
	for i, x := range c.Campaigns {
		if k, ok := campaign.As[*flakestorm.Campaign](x); ok {
			state, err := lastState(x, i, j)
			if err != nil {
				return t, err
			}
			if f.own != "" {
				err = a.ownReport(f.own, k.OwnReport(state, rec, casesOf(j, i)))
			}
			return k.Tally(state), err
		}
	}
	return t, diag.Refused("run %s is not one of a flakestorm configuration", rec.RunID)
}

// casesOf are the outcomes of stored campaign k with their evidence.
func casesOf(j *store.Journal, k int) iter.Seq2[campaign.Case, campaign.Outcome] {
	return func(yield func(campaign.Case, campaign.Outcome) bool) {
		for e := range run.Cases(j, k) {
			if !yield(e.Case, e.Outcome) {
				return
			}
		}
	}
}

func (a *application) ownReport(file string, r flakestorm.OwnReport) error {
	return a.output(file, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	})
}

// lastState is the state of stored campaign k after its last outcome.
func lastState(c campaign.Any, k int, j *store.Journal) (any, error) {
	state, err := run.FirstState(c, k, j)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull(run.Outcomes(j, k))
	defer stop()
	for {
		round, ok := c.Round(state)
		if !ok {
			return state, nil
		}
		ended := false
		state = c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for range round.Len {
				e, ok := next()
				if !ok {
					ended = true
					return
				}
				if !yield(e.Case, e.Outcome) {
					return
				}
			}
		})
		if ended {
			return state, nil
		}
	}
}

// flakeExit turns a result into an exit code. score is what --min-score is
// held against; nil: nothing of the kind was run.
func (f *flakeFlags) flakeExit(r flakeResult, scores ...float64) error {
	if r.rec.Verdict == "error" || !r.rec.Complete {
		return verdictExit(r.rec)
	}
	if r.tally.CriticalFailed() || f.strict && len(r.tally.Idle) > 0 {
		return exitError(diag.ExitFindings)
	}
	if f.minGiven == nil || !f.minGiven() {
		return verdictExit(r.rec)
	}
	for _, s := range scores {
		if s < f.minScore {
			return exitError(diag.ExitFindings)
		}
	}
	if len(scores) == 0 {
		return exitError(diag.ExitFindings) // nothing that a score could be made of
	}
	return nil
}

// quietly is the application with nothing on standard output.
func (a *application) quietly() *application {
	io2 := *a.io
	io2.Out = io.Discard
	b := *a
	b.io = &io2
	return &b
}

// finish reports the run as thresh run does; the exit code is for the caller
// unless the run did not come to its end.
func (a *application) finish(r flakeResult, f *flakeFlags) error {
	err := a.close(r.rec, &f.runFlags, r.err)
	var code exitError
	if errors.As(err, &code) && r.err == nil && r.rec.Complete {
		return nil
	}
	return err
}

// phaseLine is a score for people.
func phaseLine(w io.Writer, name string, score float64, ran bool, more string) {
	if !ran {
		return
	}
	fmt.Fprintf(w, "%s: %.1f%%%s\n", name, 100*score, more)
}

func criticalNote(t *flakestorm.Tally) string {
	if t.CriticalFailed() {
		return " (FAIL: a critical invariant failed)"
	}
	return ""
}

// idleLine names what was not exercised.
func (a *application) idleLine(t *flakestorm.Tally) {
	if len(t.Idle) > 0 {
		fmt.Fprintf(a.io.Out, "n/a, as no fault fired: %s\n", strings.Join(t.Idle, ", "))
	}
}

// flakeScores prints what phases came to.
func (a *application) flakeScores(t *flakestorm.Tally) {
	phaseLine(a.io.Out, "Robustness score", t.Mutation.Score, t.Mutation.Scored, "")
	phaseLine(a.io.Out, "Chaos resilience score", t.Chaos.Score, t.Chaos.Scored, "")
	a.idleLine(t)
	if t.Contract != nil {
		phaseLine(a.io.Out, "Contract resilience score", t.Contract.Score/100, true, criticalNote(t))
	}
	phaseLine(a.io.Out, "Replay score", t.Replay.Score, t.Replay.Scored, "")
}

// flakeOutput adds the report that the configuration or --output asks for.
func (a *application) flakeOutput(f *flakeFlags, output string) error {
	cfg, err := a.flakeConfig(f.config)
	if err != nil {
		return err
	}
	if output == "" {
		output = cfg.Output.Format
	}
	switch output {
	case "terminal":
		return nil
	case "html", "json":
		now := time.Now()
		name := strings.NewReplacer("{date}", now.Format("20060102"), "{time}", now.Format("150405"), "{timestamp}", now.Format("20060102-150405")).Replace(cfg.Output.Filename)
		file := filepath.Join(cfg.Output.Path, name+"."+output)
		if output == "json" {
			f.own = file
		} else {
			f.reports = append(f.reports, output+"="+file)
		}
		if err := os.MkdirAll(cfg.Output.Path, 0o755); err != nil {
			return diag.Environment("making the folder for reports: %w", err)
		}
		fmt.Fprintf(a.io.Err, "report: %s\n", file)
		return nil
	}
	return usagef("--output must be html, json or terminal, got %q", output)
}

// flakeConfig reads what verbs need to know beforehand; its faults are told by
// compiling.
func (a *application) flakeConfig(path string) (*config.Config, error) {
	d, err := a.flakeDocument(path)
	if err != nil {
		return nil, err
	}
	cfg, list := config.Decode(path, d.Data, config.Options{Getenv: os.LookupEnv})
	if list.HasErrors() {
		return nil, list
	}
	return cfg, nil
}

// flakeCampaign compiles the configuration for a verb that runs no campaign.
func (a *application) flakeCampaign(ctx context.Context, path string, check bool, options map[string][]string) (*flakestorm.Campaign, error) {
	d, err := a.flakeDocument(path)
	if err != nil {
		return nil, err
	}
	set := app.NewBundle().Fill(campaign.Settings{Check: check, Options: options})
	list, diags := d.Contract.Compile(ctx, d.Spec, set)
	if diags.HasErrors() {
		return nil, diags
	}
	a.warn(diags)
	for _, x := range list {
		if k, ok := campaign.As[*flakestorm.Campaign](x); ok {
			return k, nil
		}
	}
	return nil, diag.Refused("%s holds nothing to run", path)
}
