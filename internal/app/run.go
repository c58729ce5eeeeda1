package app

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

func (a *application) runCommand() *cobra.Command {
	var f runFlags
	var watch bool
	c := &cobra.Command{
		Use:   "run PATH...",
		Short: "Run documents as one run: find, group, shrink and report what fails",
		Long: `Run finds out which format each document has, runs all of them as one run with
one exit code, and reports what fails: grouped, confirmed, made small.

A PATH is a document or a folder, which is searched for documents (.json, .yaml,
.yml and .md files; hidden folders are left out). A flag marked [FORMAT] is for
documents of that format alone.

Neither --workers nor how often a run was interrupted changes what it says: equal
runs have equal digests.

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
	f.register(c, a.contracts)
	c.Flags().BoolVar(&watch, "watch", false, "go on, and run again what changes: documents, and the files and programs of their cases; an interrupt ends it, with exit code 0")
	return c
}

// run is the verb run; other verbs that end in a run share its parts.
func (a *application) run(ctx context.Context, paths []string, f *runFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	a.texts = &texts{dir: f.store}
	if f.resume != "" {
		if len(paths) > 0 {
			return usagef("--resume takes the documents from the stored run; name no PATH with it")
		}
		if name := f.decided(); name != "" {
			return usagef("--resume goes on with the settings of the stored run; --%s cannot be given with it", name)
		}
		rec, err := a.resume(ctx, f)
		return a.close(rec, f, err)
	}
	if len(paths) == 0 {
		return diag.WithHint(usagef("thresh run needs at least one PATH"), "thresh demo needs none; thresh init fuzzspec writes a document to begin with")
	}
	docs, problems, err := a.documents(paths, f.settings())
	if err != nil {
		return err
	}
	if f.allowEmpty {
		problems = a.passEmpty(problems)
	}
	if len(problems) > 0 {
		return append(problems, faults(ctx, docs, f.settings())...)
	}
	rec, err := a.execute(ctx, docs, f)
	return a.close(rec, f, err)
}

// passEmpty tells of folders without documents instead of refusing them.
func (a *application) passEmpty(problems diag.List) diag.List {
	var empty, others diag.List
	for _, p := range problems {
		if p.Level == diag.Warning || p.Code == "input.empty-folder" {
			p.Level = diag.Warning
			empty = append(empty, p)
			continue
		}
		others = append(others, p)
	}
	a.warn(empty)
	return others
}

// execute compiles documents and runs them as a new run.
func (a *application) execute(ctx context.Context, docs []document, f *runFlags) (campaign.Record, error) {
	var rec campaign.Record
	b := newBundle()
	set := b.fill(f.settings())
	c, err := compile(ctx, docs, set)
	if err != nil {
		return rec, err
	}
	a.warn(c.warnings)
	if len(c.campaigns) == 0 && !f.allowEmpty {
		return rec, diag.WithHint(diag.Refused("no case is left to run"), "a filter may ask for what no case has, or a shard have none; --allow-empty lets that pass")
	}
	st, err := a.openStore(f.store)
	if err != nil {
		return rec, err
	}
	defer st.Close()
	m, err := manifest(st, c, b, set, f.cases, commandLine())
	if err != nil {
		return rec, err
	}
	b.files = nil // the store has them
	w, err := st.Begin(m)
	if err != nil {
		return rec, err
	}
	return a.drive(ctx, run.Job{Campaigns: c.campaigns, Sources: c.sources, Store: st, Writer: w}, m, c.warnings, f, f.cases)
}

// resume goes on with a stored run.
func (a *application) resume(ctx context.Context, f *runFlags) (campaign.Record, error) {
	var rec campaign.Record
	st, err := a.openStore(f.store)
	if err != nil {
		return rec, err
	}
	defer st.Close()
	id, err := st.ResolveRun(f.resume)
	if err != nil {
		return rec, err
	}
	w, j, err := st.Resume(id)
	if err != nil {
		return rec, err
	}
	defer j.Close()
	m := j.Manifest()
	c, set, changed, err := a.stored(ctx, st.Blob, m)
	if err == nil && len(changed) > 0 {
		err = diag.WithHint(diag.Refused("%s changed since run %s began; going on would mix two programs in one run", strings.Join(changed, ", "), id), "start a new run")
	}
	if err == nil {
		for i, x := range c.campaigns {
			if i >= len(m.Identities) || x.Identity() != m.Identities[i] {
				err = diag.Refused("run %s was made by a version that plans its cases differently; start a new run", id)
			}
		}
	}
	if err != nil {
		_ = w.Close() // the error above is the one to tell
		return rec, err
	}
	limit := set.Cases
	if f.cases > 0 {
		limit = f.cases
	}
	return a.drive(ctx, run.Job{Campaigns: c.campaigns, Sources: c.sources, Store: st, Writer: w, Journal: j}, m, c.warnings, f, limit)
}

// drive runs a job and closes its writer.
func (a *application) drive(ctx context.Context, job run.Job, m store.Manifest, warnings diag.List, f *runFlags, cases int64) (campaign.Record, error) {
	// A worker that waits for a new process to begin holds its processor; the
	// others and the collector need theirs.
	if n := f.workers + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	a.ran.id, a.ran.campaigns = job.Writer.RunID(), job.Campaigns
	if f.failFast && f.stop == nil {
		f.stop = func(o *campaign.Outcome) bool { return o.Verdict == campaign.VerdictFail }
	}
	var link *fleet.Link
	if f.fleet.on() {
		if !f.workersGiven() {
			f.workers = leasesInFlight
		}
		l, leave, err := a.join(ctx, &job, m, f)
		if err != nil {
			_ = job.Writer.Close() // the error above is the one to tell
			return campaign.Record{}, err
		}
		defer leave()
		link = l
	}
	if f.ui {
		var err error
		if f.pagesOver, err = a.whileRunning(ctx, f.store, job.Writer.RunID(), link); err != nil {
			_ = job.Writer.Close() // the error above is the one to tell
			return campaign.Record{}, err
		}
	}
	p := newProgress(a.io, f.quiet)
	opt := run.Options{
		Workers: f.workers, Cases: cases, Time: f.time, Stop: f.stop, StopFrom: f.stopFrom, CaseTimeout: f.caseTimeout,
		Reruns: f.reruns, Shrink: f.shrink, AllowEmpty: f.allowEmpty, Progress: p.tell,
		Reproduce: reproduceCommand(f.store), Environment: environment(),
	}
	for _, w := range warnings {
		opt.Warnings = append(opt.Warnings, w.Text())
	}
	rec, err := run.Run(ctx, job, opt)
	if cerr := job.Writer.Close(); err == nil && cerr != nil {
		err = diag.Environment("closing the run's journal: %w", cerr)
	}
	if err != nil && rec.RunID == "" { // there is no record that says it
		err = diag.WithHint(err, "what was run is kept; once the cause is mended, go on with: thresh run --resume "+job.Writer.RunID()+storeArgument(f.store))
	}
	return rec, err
}

// close reports a run and turns its verdict into an exit code.
func (a *application) close(rec campaign.Record, f *runFlags, err error) error {
	if f.pagesOver != nil {
		defer f.pagesOver()
	}
	if rec.RunID == "" {
		return err
	}
	if rerr := a.report(rec, f.reports, f.store); rerr != nil {
		if err == nil {
			err = rerr
		} else {
			tell(*a.io, rerr)
		}
	}
	if rec.Stopped == run.StoppedInterrupted {
		fmt.Fprintf(a.io.Err, "interrupted; nothing is lost. Go on with:\n  thresh run --resume %s%s\n", rec.RunID, storeArgument(f.store))
		return exitError(diag.ExitInterrupted)
	}
	if err != nil && rec.Stopped == run.StoppedFatal {
		tell(*a.io, err)
		fmt.Fprintf(a.io.Err, "what was run is kept. Once the cause is mended, go on with:\n  thresh run --resume %s%s\n", rec.RunID, storeArgument(f.store))
		return exitError(diag.ExitCode(err))
	}
	if err != nil {
		return err
	}
	return verdictExit(rec)
}

// verdictExit is the exit code of a run that came to its end.
func verdictExit(rec campaign.Record) error {
	switch rec.Verdict {
	case "pass":
		return nil
	case "fail":
		return exitError(diag.ExitFindings)
	}
	return exitError(diag.ExitEnvironment)
}

// warn shows what is doubtful about documents.
func (a *application) warn(list diag.List) {
	if len(list) > 0 {
		fmt.Fprint(a.io.Err, list.Render(diag.Style{Color: a.io.color(a.io.ErrTTY)}))
	}
}

func (a *application) openStore(dir string) (*store.Store, error) {
	st, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range st.Notices() {
		fmt.Fprintln(a.io.Err, "note: "+printable(n))
	}
	return st, nil
}

// existingStore opens a store to look at; none is made.
func (a *application) existingStore(dir string) (*store.Store, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, diag.WithHint(diag.Refused("there is no store %s", dir), "thresh run makes one; --store names another")
	}
	return a.openStore(dir)
}

func commandLine() []string {
	argv := append([]string(nil), os.Args...)
	argv[0] = "thresh"
	return argv
}

func reproduceCommand(storeDir string) []string {
	argv := []string{"thresh", "replay"}
	if storeDir != defaultStore {
		argv = append(argv, "--store", storeDir)
	}
	return argv
}

func storeArgument(dir string) string {
	if dir == defaultStore {
		return ""
	}
	return " --store " + shellQuote(dir)
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func environment() campaign.Environment {
	return campaign.Environment{
		Command: commandLine(), Version: Version, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Host: hostName(),
	}
}
