package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

func (a *application) spectestConformance() *cobra.Command {
	var f runFlags
	var report string
	c := &cobra.Command{
		Use:   "conformance PATH...",
		Short: "Run conformance cases and compare them with what they expect",
		Long: `Conformance runs the cases of documents, compares every result with the case's
expect metadata (portable, with the overlay of implementation "go"), prints what
differs, and writes a report in the format of the suite. A case without
expectation is expected not to fail.

A PATH is a document or a folder whose documents are found as the format says.
The function ` + app.ConformanceModule + `, which the suite's own cases
call, is replaced by a built-in command unless --alias gives another.

Exit codes: 0 every result is as expected, 1 some are not, 2 there was nothing
to run, 3 the environment failed.`,
		Example: `  thresh spectest conformance docs/spec/conformance/cases --report report.json`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.conformance(c.Context(), args, report, &f)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&report, "report", "", "write the suite's report to `FILE` (- is standard output)")
	fs.IntVarP(&f.workers, "workers", "j", runtime.NumCPU(), "cases run at once; changes no result")
	fs.StringVar(&f.seed, "seed", "", "order of --shuffle (an integer)")
	fs.DurationVar(&f.caseTimeout, "case-timeout", 10*time.Minute, "backstop: a case without an outcome by then is an error")
	fs.BoolVar(&f.allowEmpty, "allow-empty", false, "no case at all is no error")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	registerStore(c, &f.store)
	f.options.register(fs, a.only("spectest"))
	f.reruns = 1
	return c
}

func (a *application) conformance(ctx context.Context, paths []string, report string, f *runFlags) error {
	if err := a.prepare(f); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return diag.Environment("finding this program, which stands in for the suite's function: %w", err)
	}
	a.app.HoldTexts(f.store)
	set := f.settings()
	if !slices.ContainsFunc(set.Options["alias"], func(v string) bool { return strings.HasPrefix(v, app.ConformanceModule+"=") }) {
		f.options.set("alias", app.ConformanceModule+"="+app.ShellQuote(exe)+" "+app.ConformanceCommand)
	}
	f.options.set(spectest.OptExpect, "true")
	docs, err := a.spectestDocuments(paths, set)
	if err != nil {
		return err
	}
	var results []spectest.Result
	failed := 0
	if len(docs) > 0 {
		rec, err := a.execute(ctx, docs, f)
		if rec.RunID == "" {
			return err
		}
		if err != nil || !rec.Complete {
			return a.close(rec, f, err)
		}
		if results, failed, err = a.conformanceResults(ctx, f.store, rec.RunID); err != nil {
			return err
		}
	}
	if len(results) == 0 && failed == 0 && !f.allowEmpty {
		return diag.WithHint(diag.Refused("there is no case to run in %s", strings.Join(paths, ", ")), "--allow-empty lets that pass")
	}
	if err := a.tellConformance(results, failed); err != nil {
		return err
	}
	if report == "-" {
		_, err = a.io.Out.Write(spectest.Report(results))
	} else if report != "" {
		err = app.WriteWhole(report, spectest.Report(results), 0o644)
	}
	if err != nil {
		return diag.Environment("writing the conformance report: %w", err)
	}
	if failed > 0 {
		return exitError(diag.ExitEnvironment)
	}
	if slices.ContainsFunc(results, func(r spectest.Result) bool { return !r.Expected }) {
		return exitError(diag.ExitFindings)
	}
	return nil
}

// spectestDocuments finds documents in the order of the format.
func (a *application) spectestDocuments(paths []string, set campaign.Settings) ([]app.Document, error) {
	formats, err := spectest.Formats(set.Get("case-formats", "md"))
	if err != nil {
		return nil, usagef("--case-formats: %w", err)
	}
	d := spectest.Discovery{Pattern: set.Get("case-file-pattern", spectest.DefaultPattern), Formats: formats, Recursive: set.Get("recursive", "") == "true"}
	if strings.TrimSpace(d.Pattern) == "" {
		return nil, usagef("--case-file-pattern requires a non-empty value")
	}
	var docs []app.Document
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, diag.Refused("%s: %s", p, app.Reason(err))
		}
		list := []string{p}
		if info.IsDir() {
			found, unread, err := app.FilesIn(p)
			if err != nil {
				return nil, err
			}
			a.warn(unread)
			list = d.Order(p, found)
		}
		for _, name := range list {
			doc, err := a.app.Document(name)
			if err != nil {
				return nil, diag.Environment("%s: %s", name, app.Reason(err))
			}
			if doc.Contract == nil || doc.Contract.Name() != "spectest" {
				if info.IsDir() && strings.HasSuffix(name, ".md") {
					continue // no block in it
				}
				for _, k := range a.app.Contracts {
					if k.Name() == "spectest" {
						doc.Contract = k
					}
				}
			}
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// conformanceResults reads the results of a run back from its journal. failed
// counts the cases that could not be run.
func (a *application) conformanceResults(ctx context.Context, dir, runID string) (results []spectest.Result, failed int, err error) {
	st, err := a.app.ExistingStore(dir)
	if err != nil {
		return nil, 0, err
	}
	defer st.Close()
	j, err := st.OpenJournal(runID)
	if err != nil {
		return nil, 0, err
	}
	defer j.Close()
	c, _, _, err := a.app.Stored(ctx, st.Blob, j.Manifest())
	if err != nil {
		return nil, 0, err
	}
	by := make([][]*spectest.Result, len(c.Campaigns))
	for i, x := range c.Campaigns {
		if p, ok := campaign.As[campaign.Planner](x); ok {
			by[i] = make([]*spectest.Result, p.Planned())
		}
	}
	for e, err := range j.Entries() {
		if err != nil {
			return nil, 0, diag.Environment("reading the run's journal: %w", err)
		}
		if e.Kind != store.KindOutcome {
			continue
		}
		x, ok := campaign.As[*spectest.Campaign](c.Campaigns[e.Campaign])
		if !ok {
			continue
		}
		r, ran := x.Result(e.Case.Index, &e.Outcome)
		if !ran {
			by[e.Campaign][e.Case.Index] = nil
			continue
		}
		r.Document = x.Name()
		by[e.Campaign][e.Case.Index] = &r
	}
	for _, list := range by {
		for _, r := range list {
			if r == nil {
				failed++
				continue
			}
			results = append(results, *r)
		}
	}
	return results, failed, nil
}

// tellConformance prints what differs, and how many results there are.
func (a *application) tellConformance(results []spectest.Result, failed int) error {
	counts := map[string]int{}
	matched := 0
	for _, r := range results {
		counts[r.Status]++
		if r.Expected {
			matched++
			continue
		}
		if _, err := fmt.Fprintf(a.io.Out, "%s:%d %s: %s\n", printable(r.Document), r.Line, printable(r.ID), printable(r.Why)); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("%d of %d results as expected: %d pass, %d fail, %d skip", matched, len(results), counts["pass"], counts["fail"], counts["skip"])
	if failed > 0 {
		line += fmt.Sprintf("; %s could not be run", diag.Plural(failed, "case"))
	}
	_, err := fmt.Fprintln(a.io.Out, line)
	return err
}
