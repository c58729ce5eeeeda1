// Package thresh is Thresh as a library. It runs documents of five published
// formats, and of formats written elsewhere, to find bugs in software.
//
// To run documents in Go tests, use package threshtest. A program with a format
// of its own is one line,
//
//	func main() { os.Exit(thresh.Main(yours.Contract{})) }
//
// and has every verb of the command line, the pages, MCP and the fleet for that
// format. [Run], [Replay] and the other functions do what the verbs of the same
// name do, and share their store: thresh replay takes a finding of [Run], and
// [Replay] a finding of thresh run.
//
// This package only names things. The use cases are in package app; package
// campaign defines contracts, and the fields of [Record] and [Finding].
package thresh

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/cli"
)

// Main returns the whole command line, for the built-in contracts and those given. It
// returns the exit code: 0 all held, 1 findings or failures, 2 a document or the
// command line was refused, 3 the environment failed, 130 interrupted.
func Main(contracts ...campaign.Contract) (exitCode int) {
	return cli.Main(os.Args, cli.System(), contracts...)
}

// Job says what to run, and how. With nothing but Paths, it is thresh run PATHS.
type Job = app.Job

// Record is the result of a run: verdict, digest, campaigns and findings.
type Record = campaign.Record

// Finding is one problem: a group of failing cases with one fingerprint.
type Finding = campaign.Finding

// Checked is what [Check] found in documents.
type Checked = app.Checked

// Replayed is the result of running a finding again.
type Replayed = app.Replayed

// Shrunk is the result of minimizing a finding further.
type Shrunk = app.Shrunk

// VerifyJob is how a run is verified; its zero value executes nothing.
type VerifyJob = app.VerifyJob

// Verified is the result of verifying a run.
type Verified = app.Verified

// Run runs documents as one run and stores it in job.Store, where every verb
// finds it. Findings are in the record and are no error. An error means that the
// run did not start or did not finish; it is a diag.List if documents were
// refused, and wraps the context's if that ended the run. A run that started has a
// record beside the error.
func Run(ctx context.Context, job Job) (*Record, error) {
	rec, err := app.New().Run(ctx, job)
	return recorded(ctx, rec, err)
}

// Resume continues a stored run, by its id or "latest" for the newest. Whatever
// decides the cases, such as the seed, is taken from the stored run, not from job.
func Resume(ctx context.Context, run string, job Job) (*Record, error) {
	rec, err := app.New().Resume(ctx, run, job)
	return recorded(ctx, rec, err)
}

// recorded returns nil for the record of a run that did not start, and an error for one
// that the context ended: what was found until then is no verdict.
func recorded(ctx context.Context, rec campaign.Record, err error) (*Record, error) {
	if err == nil && rec.Stopped == "interrupted" {
		err = fmt.Errorf("run %s was interrupted; Resume continues it: %w", rec.RunID, context.Cause(ctx))
	}
	if rec.RunID == "" {
		return nil, err
	}
	return &rec, err
}

// Check compiles documents and runs nothing. What is wrong with them is in the
// answer; an error means that they could not be read.
func Check(ctx context.Context, job Job) (*Checked, error) {
	c, err := app.New().Check(ctx, job)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Replay runs the smallest reproducer of a stored finding again, job.Reruns
// times, with the document as it is now and the options of the run that found it.
// The job's option "system" replaces the system of that run.
func Replay(ctx context.Context, finding string, job Job) (*Replayed, error) {
	return on(job, func(a *app.App, st *app.Store) (Replayed, error) {
		return a.Replay(ctx, st, finding, app.ReplayJob{Times: max(job.Reruns, 1), System: strings.Join(job.Options["system"], "")})
	})
}

// Shrink spends up to job.Shrink executions on minimizing a stored finding. A
// smaller reproducer replaces the stored one.
func Shrink(ctx context.Context, finding string, job Job) (*Shrunk, error) {
	return on(job, func(a *app.App, st *app.Store) (Shrunk, error) {
		budget := job.Shrink
		if budget <= 0 {
			budget = app.DefaultShrinkVerb
		}
		return a.Shrink(ctx, st, finding, budget)
	})
}

// Promote writes a stored finding as a regression test into a new folder below
// to, and returns the names of the files.
func Promote(ctx context.Context, finding, to string, job Job) ([]string, error) {
	files, err := on(job, func(a *app.App, st *app.Store) ([]string, error) {
		return a.Promote(ctx, st, finding, to)
	})
	if err != nil {
		return nil, err
	}
	return *files, nil
}

// Verify checks a stored run against its journal, or a signed statement, given by
// its file name, against the run in job.Store that it is about. Problems are in the
// answer; an error means that nothing could be checked.
func Verify(ctx context.Context, runOrStatement string, how VerifyJob, job Job) (*Verified, error) {
	return onStore(job, (*app.App).StoreAsIs, func(a *app.App, st *app.Store) (Verified, error) {
		if text, ok := app.ReadStatement(runOrStatement); ok {
			return a.VerifyStatement(ctx, st, text, how)
		}
		return a.Verify(ctx, st, runOrStatement, how)
	})
}

// on calls do with the store of a job, which must exist.
func on[T any](job Job, do func(*app.App, *app.Store) (T, error)) (*T, error) {
	return onStore(job, (*app.App).ExistingStore, do)
}

func onStore[T any](job Job, open func(*app.App, string) (*app.Store, error), do func(*app.App, *app.Store) (T, error)) (*T, error) {
	a := app.New(job.Contracts...)
	dir := job.Store
	if dir == "" {
		dir = app.DefaultStore
	}
	st, err := open(a, dir)
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

// ShellLine quotes a command line, such as [Finding].Reproduce, for a POSIX shell.
func ShellLine(argv []string) string { return app.ShellLine(argv) }
