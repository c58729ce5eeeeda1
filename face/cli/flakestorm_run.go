package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

func (a *application) flakeInit() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:     "init [PATH]",
		Short:   "Write a configuration to begin with, which runs as it is",
		Example: "  thresh flakestorm init\n  thresh flakestorm init tests/flakestorm.yaml --force",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := first(args, "flakestorm.yaml")
			if _, err := os.Lstat(path); err == nil && !force {
				return &diag.CodedError{Code: diag.ExitFindings, Err: fmt.Errorf("%s exists; nothing was written", path), Hint: "--force replaces it"}
			}
			file := a.flakestorm().Starter("")[0]
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return diag.Environment("making a folder for %s: %w", path, err)
			}
			if err := app.WriteWhole(path, file.Data, 0o644); err != nil {
				return diag.Environment("writing %s: %s", path, app.Reason(err))
			}
			fmt.Fprintln(a.io.Out, path)
			return nil
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "replace a file that exists")
	return c
}

func (a *application) flakeVerify() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:     "verify",
		Short:   "Check the configuration, and whether agent and model answer",
		Example: "  thresh flakestorm verify\n  thresh flakestorm verify --config tests/flakestorm.yaml",
		Long: `Verify checks the configuration, sends the first golden prompt to the agent and,
if a model is to write the mutations, a word to the model.

Exit codes: 0 all answered, 1 the agent answered with an error, 2 the configuration
was refused, 3 the agent or the model cannot be reached.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.verify(c, path) },
	}
	registerConfig(c, &path)
	return c
}

func (a *application) verify(c *cobra.Command, path string) error {
	k, err := a.flakeCampaign(c.Context(), path, false, nil)
	if err != nil {
		return err
	}
	if k.NeedsModel() {
		if err := k.CheckModel(c.Context()); err != nil {
			return diag.Environment("the model does not answer: %w", err)
		}
		fmt.Fprintln(a.io.Out, "model: answers")
	}
	r, err := k.Check(c.Context())
	switch {
	case err != nil:
		return diag.Environment("the agent cannot be called: %w", err)
	case r.End == agentcall.Unreachable:
		return diag.Environment("the agent cannot be reached: %s", r.Error)
	case !r.OK():
		fmt.Fprintf(a.io.Out, "agent: no answer: %s: %s\n", r.End, printable(r.Error))
		return exitError(diag.ExitFindings)
	}
	fmt.Fprintln(a.io.Out, "agent: answers")
	return nil
}

func (a *application) flakeRun() *cobra.Command {
	var f flakeFlags
	var output string
	var ci, verifyOnly, chaosOnly bool
	c := &cobra.Command{
		Use:   "run",
		Short: "Mutated prompts, and the contract matrix if there is a contract",
		Long: `Run tests the agent with mutations of the golden prompts and, if the configuration
has a contract, with its matrix. Faults of the section chaos act on the mutations
only with --chaos; --chaos-only asks the golden prompts as they are, under chaos.`,
		Example: "  thresh flakestorm run\n  thresh flakestorm run --chaos --chaos-profile api_outage\n  thresh flakestorm run --ci --min-score 0.9 -o json",
		Args:    cobra.NoArgs,
	}
	f.register(a, c)
	f.registerMinScore(c)
	for _, name := range []string{flakestorm.OptChaos, flakestorm.OptProfile} {
		c.Flags().Lookup(name).Hidden = false
	}
	c.Flags().StringVarP(&output, "output", "o", "", "report to write: html, json or terminal (default: as the configuration says)")
	c.Flags().BoolVar(&ci, "ci", false, "for pipelines: no progress")
	c.Flags().BoolVar(&verifyOnly, "verify-only", false, "do what verify does, and no more")
	c.Flags().BoolVar(&chaosOnly, "chaos-only", false, "the golden prompts under chaos, no mutations")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if verifyOnly {
			return a.verify(c, f.config)
		}
		f.quiet = f.quiet || ci
		cfg, err := a.flakeConfig(f.config)
		if err != nil {
			return err
		}
		if err := a.flakeOutput(&f, output); err != nil {
			return err
		}
		phases := []string{flakestorm.PhaseMutation}
		if chaosOnly {
			phases = []string{flakestorm.PhaseChaos}
		} else if cfg.Contract != nil {
			phases = append(phases, flakestorm.PhaseContract)
		}
		r, err := a.flakePhases(c.Context(), &f, phases...)
		if err != nil {
			return err
		}
		a.flakeScores(&r.tally)
		var scores []float64
		if r.tally.Mutation.Scored {
			scores = append(scores, r.tally.Mutation.Score)
		}
		if chaosOnly && r.tally.Chaos.Scored {
			scores = append(scores, r.tally.Chaos.Score)
		}
		return f.flakeExit(r, scores...)
	}
	return c
}

func (a *application) flakeChaos() *cobra.Command {
	var f flakeFlags
	var profile string
	c := &cobra.Command{
		Use:   "chaos",
		Short: "The golden prompts under the configuration's faults, or a profile's",
		Long: `Chaos asks the golden prompts as they are, under the faults of the section chaos
and of the profiles that are named. With neither, the profile is api_outage.

Profiles: ` + strings.Join(config.Profiles(), ", ") + `.`,
		Example: "  thresh flakestorm chaos --profile hostile_tools",
		Args:    cobra.NoArgs,
	}
	f.register(a, c)
	f.registerMinScore(c)
	c.Flags().StringVar(&profile, "profile", "", "a built-in `PROFILE` of faults, beside those of the configuration")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if profile != "" {
			f.options.set(flakestorm.OptProfile, profile)
		}
		r, err := a.flakePhases(c.Context(), &f, flakestorm.PhaseChaos)
		if err != nil {
			return err
		}
		a.flakeScores(&r.tally)
		return f.flakeExit(r, r.tally.Chaos.Score)
	}
	return c
}

func (a *application) flakeCI() *cobra.Command {
	var f flakeFlags
	var output string
	c := &cobra.Command{
		Use:   "ci",
		Short: "Every phase that is configured, with one resilience score",
		Long: `Ci runs every phase that the configuration has (mutation, contract, chaos, replay)
once, and prints the score of each and of the whole.`,
		Example: "  thresh flakestorm ci --min-score 0.9 -o reports",
		Args:    cobra.NoArgs,
	}
	f.register(a, c)
	f.registerMinScore(c)
	c.Flags().StringVarP(&output, "output", "o", "", "folder for the report, or an .html `FILE` (default: output.path of the configuration)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := a.ciReport(&f, output)
		if err != nil {
			return err
		}
		f.reports = append(f.reports, "html="+file)
		r, err := a.flakePhases(c.Context(), &f)
		if err != nil {
			return err
		}
		return a.ciScores(&f, r)
	}
	return c
}

// ciReport is the file of the summary.
func (a *application) ciReport(f *flakeFlags, output string) (string, error) {
	file := output
	if file == "" {
		cfg, err := a.flakeConfig(f.config)
		if err != nil {
			return "", err
		}
		file = cfg.Output.Path
	}
	if !strings.HasSuffix(file, ".html") {
		file = filepath.Join(file, "flakestorm-ci-report.html")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", diag.Environment("making the folder for the report: %w", err)
	}
	return file, nil
}

// ciScores prints the phases and the whole, and decides.
func (a *application) ciScores(f *flakeFlags, r flakeResult) error {
	if !r.tally.Scored {
		return errors.Join(diag.Environment("no phase has a score"), verdictExit(r.rec))
	}
	var scores []float64
	names := map[string]string{"mutation": "Mutation", "contract": "Contract", "chaos": "Chaos", "replay": "Replay"}
	ran := 0
	for _, s := range r.tally.Whole.Shares {
		if s.Ran {
			ran++
		}
	}
	for _, s := range r.tally.Whole.Shares {
		if !s.Ran {
			continue
		}
		scores = append(scores, s.Score)
		fmt.Fprintf(a.io.Out, "[%d/%d] %s: %.1f%%\n", len(scores), ran, names[s.Name], 100*s.Score)
	}
	err := f.flakeExit(r, append(scores, r.tally.Whole.Score)...)
	word := "PASS"
	if err != nil {
		word = "FAIL"
	}
	fmt.Fprintf(a.io.Out, "Overall resilience score: %.1f%% %s%s\n", 100*r.tally.Whole.Score, word, criticalNote(&r.tally))
	for _, name := range r.tally.Whole.Absent {
		if slices.Contains(r.tally.Idle, name) {
			fmt.Fprintf(a.io.Out, "%s: n/a, as no fault fired; its weight was shared out\n", name)
			continue
		}
		fmt.Fprintf(a.io.Out, "%s did not run; its weight was shared out\n", name)
	}
	return err
}
