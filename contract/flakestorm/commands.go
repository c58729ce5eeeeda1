package flakestorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// Commands implements [campaign.Commander].
func (k *Contract) Commands() []campaign.Command {
	return []campaign.Command{{
		Use:     "flakestorm",
		Summary: "flakestorm v1 and v2: the format's own commands",
		Long: `The commands of flakestorm. Each makes a run that is stored and can be replayed,
like those of thresh run.

Exit codes: 0 all held, 1 something failed, 2 the configuration was refused, 3 the
agent or the environment failed. With --min-score, failures are accepted down to
that score; a critical invariant that fails is exit code 1 whatever the score.`,
		Commands: []campaign.Command{
			k.initCommand(), k.verifyCommand(), k.runCommand(),
			{Use: "contract", Summary: "Run, check or score the contract matrix", Commands: []campaign.Command{
				k.matrixCommand(), k.validateCommand(), k.scoreCommand(),
			}},
			k.chaosCommand(),
			{Use: "replay", Summary: "Run, export or record sessions", Commands: []campaign.Command{
				k.replayCommand(), exportCommand(), k.recordCommand(),
			}},
			k.ciCommand(), historyCommand(),
		},
	}, k.tapeCommand()}
}

// flakeFlags holds what the commands that run a configuration have in common.
type flakeFlags struct {
	o        campaign.Order
	config   string
	minScore float64
	given    func(flag string) bool
	own      string // file for a report in flakestorm's own form; "": none
}

// hiddenOptions lists the options of the format that are not flags under their own names: the
// commands set them.
func hiddenOptions() []string {
	return []string{OptPhase, OptReplay, OptOnly, OptChaos, OptProfile, "resume"}
}

func registerConfig(fs campaign.Flags, path *string) {
	fs.StringVarP(path, "config", "c", "flakestorm.yaml", "the configuration `FILE`")
}

// running returns a command that runs the configuration and has flags of its own.
func (f *flakeFlags) running(c campaign.Command, flags func(campaign.Flags), run func(ctx context.Context, d campaign.Desk, args []string) error) campaign.Command {
	c.Runs, c.Options, c.Declared, c.Hidden, c.Files = true, true, true, hiddenOptions(), configFiles()
	c.Flags = func(fs campaign.Flags) {
		f.given = fs.Changed
		registerConfig(fs, &f.config)
		fs.Float64Var(&f.minScore, "min-score", 0, "accept failures as long as the score, 0 to 1, is not below this")
		if flags != nil {
			flags(fs)
		}
	}
	c.Run = func(ctx context.Context, d campaign.Desk, args []string) error {
		f.o = d.Order()
		return run(ctx, d, args)
	}
	return c
}

// configFiles returns the flags that name a configuration.
func configFiles() map[string][]string { return map[string][]string{"config": {"yaml", "yml"}} }

// configuration reads the document.
func configuration(d campaign.Desk, path string) (campaign.Spec, error) {
	doc, err := d.Document(path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, diag.WithHint(diag.Refused("the configuration %s is not found", path), "thresh flakestorm init writes a starter")
	}
	if err != nil {
		return doc, diag.Refused("reading the configuration %s: %s", path, diag.Reason(err))
	}
	return doc, nil
}

// flakeResult is a run of a configuration with its result.
type flakeResult struct {
	rec   campaign.Record
	tally Tally
	err   error
}

// phases runs some phases of the configuration, or all of them, and reports the run as thresh run
// does.
func (f *flakeFlags) phases(ctx context.Context, d campaign.Desk, phases ...string) (flakeResult, error) {
	var r flakeResult
	if f.minScore < 0 || f.minScore > 1 {
		return r, diag.Refused("--min-score must be from 0 to 1, got %g", f.minScore)
	}
	doc, err := configuration(d, f.config)
	if err != nil {
		return r, err
	}
	for _, p := range phases {
		f.o.Set(OptPhase, p)
	}
	f.o.Docs = []campaign.Spec{doc}
	if r.rec, r.err = d.Run(ctx, f.o); r.rec.RunID == "" {
		return r, r.err
	}
	r.tally, err = f.tally(ctx, d, r.rec)
	// The caller decides the exit code, unless the run did not finish.
	unfinished := d.Report(r.rec, r.err)
	var code diag.ExitError
	if unfinished != nil && (!errors.As(unfinished, &code) || r.err != nil || !r.rec.Complete) {
		return r, unfinished // the more serious of the two
	}
	return r, err
}

// tally adds up a stored run. If a report in flakestorm's own form is wanted, it also writes that.
func (f *flakeFlags) tally(ctx context.Context, d campaign.Desk, rec campaign.Record) (Tally, error) {
	var t Tally
	stored, err := d.Stored(ctx, rec.RunID)
	if err != nil {
		return t, err
	}
	defer stored.Close()
	list, err := stored.Campaigns(ctx)
	if err != nil {
		return t, err
	}
	for i, x := range list {
		if k, ok := campaign.As[*Campaign](x); ok {
			state, err := stored.State(x, i)
			if err != nil {
				return t, err
			}
			if f.own != "" {
				err = ownReport(d, f.own, k.OwnReport(state, rec, stored.Cases(i)))
			}
			return k.Tally(state), err
		}
	}
	return t, diag.Refused("run %s is not one of a flakestorm configuration", rec.RunID)
}

func ownReport(d campaign.Desk, file string, r OwnReport) error {
	return d.Write(file, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	})
}

// flakeExit turns a result into an exit code. scores are compared with --min-score; if there are
// none, nothing that has a score was run.
func (f *flakeFlags) flakeExit(r flakeResult, scores ...float64) error {
	if r.rec.Verdict == "error" || !r.rec.Complete {
		return r.rec.Exit()
	}
	if r.tally.CriticalFailed() || f.o.Strict && len(r.tally.Idle) > 0 {
		return diag.ExitError(diag.ExitFindings)
	}
	if !f.given("min-score") {
		return r.rec.Exit()
	}
	for _, s := range scores {
		if s < f.minScore {
			return diag.ExitError(diag.ExitFindings)
		}
	}
	if len(scores) == 0 {
		return diag.ExitError(diag.ExitFindings) // nothing has a score
	}
	if slices.ContainsFunc(r.rec.Campaigns, func(c campaign.CampaignRecord) bool { return c.Cases.Error > 0 }) {
		return diag.ExitError(diag.ExitEnvironment) // a low score is accepted, a case without a result is not
	}
	return nil
}

// phaseLine prints a score for people.
func phaseLine(w io.Writer, name string, of float64, ran bool, more string) {
	if !ran {
		return
	}
	fmt.Fprintf(w, "%s: %s%s\n", name, score.Percent(of), more)
}

func criticalNote(t *Tally) string {
	if t.CriticalFailed() {
		return " (FAIL: a critical invariant failed)"
	}
	return ""
}

// idleLine lists what was not exercised.
func idleLine(d campaign.Desk, t *Tally) {
	if len(t.Idle) > 0 {
		fmt.Fprintf(d.Out(), "n/a, as no fault fired: %s\n", strings.Join(t.Idle, ", "))
	}
}

// flakeScores prints the scores of the phases.
func flakeScores(d campaign.Desk, t *Tally) {
	phaseLine(d.Out(), "Robustness score", t.Mutation.Score, t.Mutation.Scored, "")
	phaseLine(d.Out(), "Chaos resilience score", t.Chaos.Score, t.Chaos.Scored, "")
	idleLine(d, t)
	if t.Contract != nil {
		phaseLine(d.Out(), "Contract resilience score", t.Contract.Score/100, true, criticalNote(t))
	}
	phaseLine(d.Out(), "Replay score", t.Replay.Score, t.Replay.Scored, "")
}

// output adds the report that the configuration or --output asks for.
func (f *flakeFlags) output(ctx context.Context, d campaign.Desk, output string) error {
	cfg, err := flakeConfig(ctx, d, f.config)
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
			f.o.Reports = append(f.o.Reports, output+"="+file)
		}
		if err := d.MakeFolder(cfg.Output.Path); err != nil {
			return err
		}
		fmt.Fprintf(d.Err(), "report: %s\n", file)
		return nil
	}
	return diag.Refused("--output must be html, json or terminal, got %q", output)
}

// flakeConfig reads what commands need to know in advance. Compiling reports its errors.
func flakeConfig(ctx context.Context, d campaign.Desk, path string) (*config.Config, error) {
	doc, err := configuration(d, path)
	if err != nil {
		return nil, err
	}
	cfg, list := config.Decode(path, doc.Data, config.Options{Getenv: os.LookupEnv})
	if list.HasErrors() {
		if _, _, err := d.Compile(ctx, []campaign.Spec{doc}, d.Settings()); err != nil {
			return nil, err // the same error, without secrets
		}
		return nil, list
	}
	return cfg, nil
}

// compiled compiles the configuration for a command that runs no campaign.
func (*Contract) compiled(ctx context.Context, d campaign.Desk, path string, check bool) (*Campaign, error) {
	doc, err := configuration(d, path)
	if err != nil {
		return nil, err
	}
	set := d.Settings()
	set.Check = check
	list, doubts, err := d.Compile(ctx, []campaign.Spec{doc}, set)
	if err != nil {
		return nil, err
	}
	d.Warn(doubts)
	for _, x := range list {
		if c, ok := campaign.As[*Campaign](x); ok {
			return c, nil
		}
	}
	return nil, diag.Refused("%s holds nothing to run", path)
}
