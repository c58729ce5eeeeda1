package flakestorm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/score"
)

func (k *Contract) initCommand() campaign.Command {
	var force bool
	c := campaign.Command{
		Use:     "init [PATH]",
		Summary: "Write a starter configuration that runs as it is",
		Example: "  thresh flakestorm init\n  thresh flakestorm init tests/flakestorm.yaml --force",
		Most:    1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			path := append(args, "flakestorm.yaml")[0]
			there, err := d.Open(path)
			if err == nil {
				there.Close()
			}
			if !errors.Is(err, fs.ErrNotExist) && !force {
				return &diag.CodedError{Code: diag.ExitFindings, Err: fmt.Errorf("%s exists; nothing was written", path), Hint: "--force replaces it"}
			}
			file := k.Starter("")[0]
			if err := d.MakeFolder(filepath.Dir(path)); err != nil {
				return err
			}
			if err := campaign.WriteFile(d, path, file.Data); err != nil {
				return err
			}
			fmt.Fprintln(d.Out(), path)
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVarP(&force, "force", "f", false, "replace a file that exists")
	}
	return c
}

func (k *Contract) verifyCommand() campaign.Command {
	var path string
	c := campaign.Command{
		Use:     "verify",
		Summary: "Check the configuration, and whether agent and model answer",
		Example: "  thresh flakestorm verify\n  thresh flakestorm verify --config tests/flakestorm.yaml",
		Long: `Verify checks the configuration, sends the first golden prompt to the agent and,
if a model is to write the mutations, a word to the model.

Exit codes: 0 all answered, 1 the agent answered with an error, 2 the configuration
was refused, 3 the agent or the model cannot be reached.`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error { return k.verify(ctx, d, path) },
	}
	c.Files = configFiles()
	c.Flags = func(fs campaign.Flags) {
		registerConfig(fs, &path)
	}
	return c
}

func (k *Contract) verify(ctx context.Context, d campaign.Desk, path string) error {
	x, err := k.compiled(ctx, d, path, false)
	if err != nil {
		return err
	}
	if x.NeedsModel() {
		if err := x.CheckModel(ctx); err != nil {
			return diag.Environment("the model does not answer: %w", err)
		}
		fmt.Fprintln(d.Out(), "model: answers")
	}
	r, err := x.Check(ctx)
	switch {
	case err != nil:
		return diag.Environment("the agent cannot be called: %w", err)
	case r.End == agentcall.Unreachable:
		return diag.Environment("the agent cannot be reached: %s", r.Error)
	case !r.OK():
		fmt.Fprintf(d.Out(), "agent: no answer: %s: %s\n", r.End, diag.Printable(r.Error))
		return diag.ExitError(diag.ExitFindings)
	}
	fmt.Fprintln(d.Out(), "agent: answers")
	return nil
}

func (k *Contract) runCommand() campaign.Command {
	var f flakeFlags
	var output string
	var ci, verifyOnly, chaosOnly bool
	c := f.running(campaign.Command{
		Use:     "run",
		Summary: "Run mutated prompts and, with a contract, its matrix",
		Long: `Run tests the agent with mutations of the golden prompts and, if the configuration
has a contract, with its matrix. Faults of the section chaos act on the mutations
only with --chaos; --chaos-only asks the golden prompts as they are, under chaos.`,
		Example: "  thresh flakestorm run\n  thresh flakestorm run --chaos --chaos-profile api_outage\n  thresh flakestorm run --ci --min-score 0.9 -o json",
	}, func(fs campaign.Flags) {
		fs.StringVarP(&output, "output", "o", "", "report to write: html, json or terminal (default: as the configuration says)")
		fs.BoolVar(&ci, "ci", false, "for pipelines: no progress")
		fs.BoolVar(&verifyOnly, "verify-only", false, "only verify the configuration")
		fs.BoolVar(&chaosOnly, "chaos-only", false, "only the golden prompts under chaos, without mutations")
	}, func(ctx context.Context, d campaign.Desk, _ []string) error {
		if verifyOnly {
			return k.verify(ctx, d, f.config)
		}
		f.o.Quiet = f.o.Quiet || ci
		cfg, err := flakeConfig(ctx, d, f.config)
		if err != nil {
			return err
		}
		if err := f.output(ctx, d, output); err != nil {
			return err
		}
		phases := []string{PhaseMutation}
		if chaosOnly {
			phases = []string{PhaseChaos}
		} else if cfg.Contract != nil {
			phases = append(phases, PhaseContract)
		}
		r, err := f.phases(ctx, d, phases...)
		if err != nil {
			return err
		}
		flakeScores(d, &r.tally)
		var scores []float64
		for _, s := range r.tally.Whole.Shares {
			if s.Ran {
				scores = append(scores, s.Score)
			}
		}
		return f.flakeExit(r, scores...)
	})
	c.Hidden = slices.DeleteFunc(c.Hidden, func(name string) bool { return name == OptChaos || name == OptProfile })
	return c
}

func (k *Contract) chaosCommand() campaign.Command {
	var f flakeFlags
	var profile string
	return f.running(campaign.Command{
		Use:     "chaos",
		Summary: "Run the golden prompts under configured faults or a profile's",
		Long: `Chaos asks the golden prompts as they are, under the faults of the section chaos
and of the profiles that are named. With neither, the profile is api_outage.

Profiles: ` + strings.Join(config.Profiles(), ", ") + `.`,
		Example: "  thresh flakestorm chaos --profile hostile_tools",
	}, func(fs campaign.Flags) {
		fs.StringVar(&profile, "profile", "", "a built-in `PROFILE` of faults, beside those of the configuration")
	}, func(ctx context.Context, d campaign.Desk, _ []string) error {
		if profile != "" {
			f.o.Set(OptProfile, profile)
		}
		r, err := f.phases(ctx, d, PhaseChaos)
		if err != nil {
			return err
		}
		flakeScores(d, &r.tally)
		return f.flakeExit(r, r.tally.Chaos.Score)
	})
}

func (k *Contract) ciCommand() campaign.Command {
	var f flakeFlags
	var output string
	return f.running(campaign.Command{
		Use:     "ci",
		Summary: "Run every configured phase and print one resilience score",
		Long: `Ci runs every phase that the configuration has (mutation, contract, chaos, replay)
once, and prints the score of each and of the whole.`,
		Example: "  thresh flakestorm ci --min-score 0.9 -o reports",
	}, func(fs campaign.Flags) {
		fs.StringVarP(&output, "output", "o", "", "folder for the report, or an .html `FILE` (default: output.path of the configuration)")
	}, func(ctx context.Context, d campaign.Desk, _ []string) error {
		file, err := f.ciReport(ctx, d, output)
		if err != nil {
			return err
		}
		f.o.Reports = append(f.o.Reports, "html="+file)
		r, err := f.phases(ctx, d)
		if err != nil {
			return err
		}
		return f.ciScores(d, r)
	})
}

// ciReport returns the file of the summary.
func (f *flakeFlags) ciReport(ctx context.Context, d campaign.Desk, output string) (string, error) {
	file := output
	if file == "" {
		cfg, err := flakeConfig(ctx, d, f.config)
		if err != nil {
			return "", err
		}
		file = cfg.Output.Path
	}
	if !strings.HasSuffix(file, ".html") {
		file = filepath.Join(file, "flakestorm-ci-report.html")
	}
	return file, d.MakeFolder(filepath.Dir(file))
}

// ciScores prints the scores of the phases and the overall score, and returns the exit code.
func (f *flakeFlags) ciScores(d campaign.Desk, r flakeResult) error {
	if !r.tally.Scored {
		return errors.Join(diag.Environment("no phase has a score"), r.rec.Exit())
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
		fmt.Fprintf(d.Out(), "[%d/%d] %s: %s\n", len(scores), ran, names[s.Name], score.Percent(s.Score))
	}
	err := f.flakeExit(r, append(scores, r.tally.Whole.Score)...)
	word := "PASS"
	if err != nil {
		word = "FAIL"
	}
	fmt.Fprintf(d.Out(), "Overall resilience score: %s %s%s\n", score.Percent(r.tally.Whole.Score), word, criticalNote(&r.tally))
	for _, name := range r.tally.Whole.Absent {
		if slices.Contains(r.tally.Idle, name) {
			fmt.Fprintf(d.Out(), "%s: n/a, as no fault fired; its weight was shared out\n", name)
			continue
		}
		fmt.Fprintf(d.Out(), "%s did not run; its weight was shared out\n", name)
	}
	return err
}
