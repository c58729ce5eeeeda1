package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) runCommand() *cobra.Command {
	var f runFlags
	var watch bool
	c := &cobra.Command{
		Use:   "run PATH...",
		Short: "Run documents as one run: find, group, shrink, report failures",
		Long: `Run detects the format of each document, runs all of them as one run with one
exit code, and reports the failures: grouped, confirmed and minimized.

PATH is a document, or a folder that is searched for documents (.json, .yaml, .yml
and .md files; hidden folders are skipped). Flags for the documents of one format
are listed under its name.

Neither --workers nor interruptions change the result: equal runs have equal
digests.

Exit codes: 0 all held, 1 findings or failures, 2 a document was refused,
3 the environment failed, 130 interrupted (the run is kept and can be resumed).`,
		Example: `  thresh run spec.json
  thresh run specs/ -j 8 --time 10m
  thresh run spec.json --report html=report.html --report junit=junit.xml
  thresh run docs/ --watch
  thresh run --resume latest`,
		RunE: func(c *cobra.Command, args []string) error {
			if watch {
				if f.resume != "" || len(args) == 0 {
					return usagef("--watch needs at least one PATH, and goes with no --resume")
				}
				return a.watch(c.Context(), args, &f)
			}
			return a.run(c.Context(), args, &f)
		},
	}
	f.register(c, a.app.Contracts)
	f.registerGate(c)
	a.addContractFlags(c, &f)
	c.Flags().BoolVar(&watch, "watch", false, "keep going: run again when documents, or the files and programs of their cases, change; an interrupt ends it with exit code 0")
	return c
}

// prepare checks the flags. It also reads the baseline, before this run becomes the "latest".
func (a *application) prepare(f *runFlags) (err error) {
	if err = f.validate(); err == nil && f.baseline != "" {
		f.base, err = a.app.Baseline(f.store, f.baseline)
	}
	return err
}

// run is the verb run. Other verbs that end in a run share its parts.
func (a *application) run(ctx context.Context, paths []string, f *runFlags) error {
	if err := a.prepare(f); err != nil {
		return err
	}
	a.app.HoldTexts(f.store)
	if f.resume != "" {
		if len(paths) > 0 {
			return usagef("--resume takes the documents from the stored run; name no PATH with it")
		}
		if name := f.decided(); name != "" {
			return usagef("--resume uses the settings of the stored run; --%s cannot be given with it", name)
		}
		rec, err := a.app.Resume(ctx, f.resume, a.job(f))
		return a.close(rec, f, err)
	}
	if len(paths) == 0 {
		return diag.WithHint(usagef("thresh run needs at least one PATH"), "thresh demo needs none; thresh init fuzzspec writes a starter document")
	}
	rec, err := a.app.Run(ctx, a.job(f, paths...))
	return a.close(rec, f, err)
}

// watch runs documents, and runs them again when they change.
func (a *application) watch(ctx context.Context, paths []string, f *runFlags) error {
	if err := a.prepare(f); err != nil {
		return err
	}
	return a.app.Watch(ctx, a.job(f, paths...), func(rec campaign.Record, err error) {
		var code exitError
		if err = a.close(rec, f, err); err != nil && !errors.As(err, &code) && ctx.Err() == nil {
			printError(*a.io, err)
		}
	})
}

// job returns the job that the flags describe.
func (a *application) job(f *runFlags, paths ...string) app.Job {
	set := f.settings()
	job := app.Job{
		Paths: paths, Store: f.store, Options: set.Options, Seed: set.Seed, Strict: set.Strict,
		Workers: f.workers, Cases: f.cases, Time: f.time, FailFast: f.failFast, MaxErrors: f.errorLimit, CaseTimeout: f.caseTimeout, Reruns: f.reruns, Shrink: f.shrink,
		AllowEmpty: f.allowEmpty, Progress: newProgress(a.io, f.quiet).update, Fleet: f.fleet.job(), Stop: f.stop, StopFrom: f.stopFrom,
		Self: self,
	}
	if job.Fleet != nil && !f.workersGiven() {
		job.Workers = 0
	}
	if job.Shrink == 0 {
		job.Shrink = -1 // the flag's 0 means none
	}
	if f.ui {
		job.Begun = func(ctx context.Context, b app.Begun) (err error) {
			f.pagesOver, err = a.whileRunning(ctx, f.store, b)
			return err
		}
	}
	return job
}

// execute runs documents as a new run.
func (a *application) execute(ctx context.Context, docs []app.Document, f *runFlags) (campaign.Record, error) {
	return a.app.RunDocuments(ctx, docs, a.job(f))
}

// close reports a run and turns its verdict into an exit code.
func (a *application) close(rec campaign.Record, f *runFlags, err error) error {
	if f.pagesOver != nil {
		defer f.pagesOver()
	}
	if rec.RunID == "" {
		return err
	}
	fails, rerr := a.report(rec, f)
	if rerr != nil {
		if err == nil {
			err = rerr
		} else {
			printError(*a.io, rerr)
		}
	}
	if rec.Stopped == app.StoppedInterrupted {
		fmt.Fprintf(a.io.Err, "interrupted; nothing is lost. Continue with:\n  %s\n", app.ShellLine(app.ResumeCommand(f.store, rec.RunID)))
		return exitError(diag.ExitInterrupted)
	}
	if err != nil && rec.Stopped == app.StoppedFatal {
		printError(*a.io, err)
		left := func(c campaign.CampaignRecord) bool {
			return c.Cases.Planned == 0 || c.Cases.Run < c.Cases.Planned || c.Cases.Error > 0
		}
		if slices.ContainsFunc(rec.Campaigns, left) {
			fmt.Fprintf(a.io.Err, "what ran so far is kept. Once the cause is fixed, continue with:\n  %s\n", app.ShellLine(app.ResumeCommand(f.store, rec.RunID)))
		} else {
			fmt.Fprintln(a.io.Err, "every case has run, and the results are kept. Once the cause is fixed, start a new run")
		}
		if fails && len(rec.Findings) > 0 { // the findings decide the exit code, whatever ended the run
			return rec.Exit()
		}
		return exitError(diag.ExitCode(err))
	}
	if err != nil {
		return err
	}
	if rec.Verdict == "fail" && !fails && unjudged(&rec) { // old findings hide no failure of the environment
		fmt.Fprintf(a.io.Err, "exit %d: nothing that --fail-on %s asks for, but not everything could be judged\n", diag.ExitEnvironment, f.failOn)
		return exitError(diag.ExitEnvironment)
	}
	if rec.Verdict == "fail" && !fails {
		fmt.Fprintf(a.io.Err, "exit 0: nothing that --fail-on %s asks for\n", f.failOn)
		return nil
	}
	return rec.Exit()
}

// unjudged reports whether the environment kept cases from having a result.
func unjudged(rec *campaign.Record) bool {
	return rec.Stopped == app.StoppedFatal || rec.Stopped == app.StoppedErrors || slices.ContainsFunc(rec.Campaigns, func(c campaign.CampaignRecord) bool { return c.Cases.Error > 0 })
}

// warn shows warnings about documents.
func (a *application) warn(list diag.List) {
	if len(list) > 0 {
		for _, x := range list {
			a.told = append(a.told, x.Text())
		}
		fmt.Fprint(a.io.Err, named(list, list.Render(diag.Style{Color: a.io.color(a.io.ErrTTY)}), a.io.args))
	}
}
