// Package thresh is Thresh as a library: it runs documents of five published
// formats, and of contracts written elsewhere, against software until the bugs
// fall out.
//
// A test of a Go module runs its documents by package threshtest. A program with
// a format of its own is
//
//	func main() { os.Exit(thresh.Main(yours.Contract{})) }
//
// and has every verb of the command line, the pages, MCP and the fleet for it.
// [Run] and its like are the verbs as functions: what they store, the verbs of
// the same name read, and the other way round.
//
// The package holds names and docs alone; the use cases are in package app, and
// what a contract is made of is in package campaign.
package thresh

import (
	"context"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/cli"
)

// Main is the whole program, with further contracts beside the built-in ones. It
// returns the exit code of the process: 0 all held, 1 findings or failures, 2 a
// document or the command line was refused, 3 the environment failed, 130
// interrupted.
func Main(contracts ...campaign.Contract) (exitCode int) {
	return cli.Main(os.Args, cli.System(), contracts...)
}

// Job is what is to be run and how. Its zero value with Paths is what thresh run
// PATHS does.
type Job = app.Job

// Record is everything that is said of one run, findings included.
type Record = campaign.Record

// Finding is one problem: a group of failing cases with one fingerprint.
type Finding = campaign.Finding

// Checked is what is to be said of documents without running them.
type Checked = app.Checked

// Replayed is what came of running a finding again.
type Replayed = app.Replayed

// Shrunk is what came of making a finding's reproducer smaller.
type Shrunk = app.Shrunk

// VerifyJob is how a run is verified; its zero value executes nothing.
type VerifyJob = app.VerifyJob

// Verified is what came of verifying a run.
type Verified = app.Verified

// Run runs documents as one run. What it stores, thresh replay, resume, report
// and ui read. Findings stand in the record; an error means that the run could
// not be made or did not come to its end, and is a diag.List where documents
// were refused.
func Run(ctx context.Context, job Job) (*Record, error) {
	return recorded(app.New().Run(ctx, job))
}

// Resume goes on with the stored run of that id, or the newest for "latest". Of
// job, what decides the cases is that of the stored run.
func Resume(ctx context.Context, run string, job Job) (*Record, error) {
	return recorded(app.New().Resume(ctx, run, job))
}

// recorded leaves out a record that was not made.
func recorded(rec campaign.Record, err error) (*Record, error) {
	if rec.RunID == "" {
		return nil, err
	}
	return &rec, err
}

// Check compiles documents and runs nothing. What is wrong with them stands in
// the answer; an error means that they could not be looked at.
func Check(ctx context.Context, job Job) (*Checked, error) {
	c, err := app.New().Check(ctx, job)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Replay runs the smallest reproducer of a stored finding again, job.Reruns
// times, under its document as it is now, by the settings that are kept with its
// run. The option system of the job replaces the run's own system.
func Replay(ctx context.Context, finding string, job Job) (*Replayed, error) {
	return on(job, func(a *app.App, st *app.Store) (Replayed, error) {
		return a.Replay(ctx, st, finding, app.ReplayJob{Times: max(job.Reruns, 1), System: strings.Join(job.Options["system"], "")})
	})
}

// Shrink spends job.Shrink executions on a smaller reproducer of a stored
// finding, which replaces the one that is kept.
func Shrink(ctx context.Context, finding string, job Job) (*Shrunk, error) {
	return on(job, func(a *app.App, st *app.Store) (Shrunk, error) {
		budget := job.Shrink
		if budget <= 0 {
			budget = app.DefaultShrinkVerb
		}
		return a.Shrink(ctx, st, finding, budget)
	})
}

// Promote writes a stored finding as a regression test into a folder of its own
// below to, and returns the names of the files.
func Promote(ctx context.Context, finding, to string, job Job) ([]string, error) {
	files, err := on(job, func(a *app.App, st *app.Store) ([]string, error) {
		return a.Promote(ctx, st, finding, to)
	})
	if err != nil {
		return nil, err
	}
	return *files, nil
}

// Verify checks that a stored run is what its record says, or that a signed
// statement, named by its file, is of a run in the store of job. Problems stand in
// the answer; an error means that it could not be looked at.
func Verify(ctx context.Context, runOrStatement string, how VerifyJob, job Job) (*Verified, error) {
	return on(job, func(a *app.App, st *app.Store) (Verified, error) {
		if text, ok := app.ReadStatement(runOrStatement); ok {
			return a.VerifyStatement(ctx, st, text, how)
		}
		return a.Verify(ctx, st, runOrStatement, how)
	})
}

// on does something with the store of a job.
func on[T any](job Job, do func(*app.App, *app.Store) (T, error)) (*T, error) {
	a := app.New(job.Contracts...)
	dir := job.Store
	if dir == "" {
		dir = app.DefaultStore
	}
	st, err := a.ExistingStore(dir)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	v, err := do(a, st)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// ShellLine is a command line as words of a POSIX shell.
func ShellLine(argv []string) string { return app.ShellLine(argv) }
