package spectest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

func (k *Contract) conformanceCommand() campaign.Command {
	var report, seed string
	var workers int
	var timeout time.Duration
	var empty, quiet bool
	c := campaign.Command{
		Use:     "conformance PATH...",
		Summary: "Run conformance cases and compare them with what they expect",
		Long: `Conformance runs the cases of documents, compares every result with the case's
expect metadata (portable, with the overlay of implementation "go"), prints what
differs, and writes a report in the format of the suite. A case without
expectation is expected not to fail.

A PATH is a document or a folder whose documents are found as the format says.
The function ` + conformanceModule + `, which the suite's own cases
call, is replaced by a built-in command unless --alias gives another.

Exit codes: 0 every result is as expected, 1 some are not, 2 there was nothing
to run, 3 the environment failed.`,
		Example: `  thresh spectest conformance docs/spec/conformance/cases --report report.json`,
		Least:   1, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			n, err := campaign.ParseSeed(seed)
			if err != nil {
				return err
			}
			order := d.Order()
			order.Seed, order.Workers, order.CaseTimeout, order.AllowEmpty, order.Quiet = n, workers, timeout, empty, quiet
			return k.conformance(ctx, d, args, report, order)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&report, "report", "", "write the suite's report to `FILE` (- is standard output)")
		fs.IntVarP(&workers, "workers", "j", runtime.NumCPU(), "cases run at once; changes no result")
		fs.StringVar(&seed, "seed", "", "order of --shuffle (an integer)")
		fs.DurationVar(&timeout, "case-timeout", 10*time.Minute, "a case without a result after this long is an error")
		fs.BoolVar(&empty, "allow-empty", false, "accept documents without cases")
		fs.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	}
	c.Declared = true
	c.Store = true
	c.Options = true
	return c
}

// conformanceModule is the Python function that the conformance suite's cli.run cases call, and
// ConformanceVerb the hidden verb that replaces it.
const (
	conformanceModule = "spec_runner.conformance_fixtures:main"
	ConformanceVerb   = "__conformance-entrypoint"
)

func (k *Contract) conformance(ctx context.Context, d campaign.Desk, paths []string, report string, order campaign.Order) error {
	set := d.Settings()
	if set.Self == "" {
		return diag.Environment("cannot find this program, which replaces the suite's function")
	}
	if !slices.ContainsFunc(set.Options[optAlias], func(v string) bool { return strings.HasPrefix(v, conformanceModule+"=") }) {
		order.Set(optAlias, conformanceModule+"='"+strings.ReplaceAll(set.Self, "'", `'\''`)+"' "+ConformanceVerb)
	}
	order.Set(OptExpect, "true")
	var err error
	if order.Docs, err = k.documents(d, paths); err != nil {
		return err
	}
	var list []Result
	failed := 0
	if len(order.Docs) > 0 {
		rec, err := d.Run(ctx, order)
		if rec.RunID == "" {
			return err
		}
		if err != nil || !rec.Complete {
			return d.Report(rec, err)
		}
		if list, failed, err = results(ctx, d, rec.RunID); err != nil {
			return err
		}
	}
	if len(list) == 0 && failed == 0 && !order.AllowEmpty {
		return diag.WithHint(diag.Refused("there is no case to run in %s", strings.Join(paths, ", ")), "--allow-empty accepts that")
	}
	if err := tellConformance(d, list, failed); err != nil {
		return err
	}
	if report != "" {
		if err := campaign.WriteFile(d, report, Report(list)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return diag.ExitError(diag.ExitEnvironment)
	}
	if slices.ContainsFunc(list, func(r Result) bool { return !r.Expected }) {
		return diag.ExitError(diag.ExitFindings)
	}
	return nil
}

// results reads the results of a run from its journal. failed counts the cases that could not run.
func results(ctx context.Context, d campaign.Desk, runID string) (list []Result, failed int, err error) {
	stored, err := d.Stored(ctx, runID)
	if err != nil {
		return nil, 0, err
	}
	defer stored.Close()
	camps, err := stored.Campaigns(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range camps {
		x, ok := campaign.As[*Campaign](c)
		if !ok {
			continue
		}
		of := make([]*Result, x.Planned())
		for e := range stored.Cases(i) {
			if r, ran := x.Result(e.Index, &e.Outcome); ran {
				r.Document = x.Name()
				of[e.Index] = &r
			}
		}
		for _, r := range of {
			if r == nil {
				failed++
				continue
			}
			list = append(list, *r)
		}
	}
	return list, failed, nil
}

// tellConformance prints the differences and the counts.
func tellConformance(d campaign.Desk, results []Result, failed int) error {
	counts := map[string]int{}
	matched := 0
	for _, r := range results {
		counts[r.Status]++
		if r.Expected {
			matched++
			continue
		}
		if _, err := fmt.Fprintf(d.Out(), "%s:%d %s: %s\n", diag.Printable(r.Document), r.Line, diag.Printable(r.ID), diag.Printable(r.Why)); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("%d of %d results as expected: %d pass, %d fail, %d skip", matched, len(results), counts["pass"], counts["fail"], counts["skip"])
	if failed > 0 {
		line += fmt.Sprintf("; %s could not be run", diag.Plural(failed, "case"))
	}
	_, err := fmt.Fprintln(d.Out(), line)
	return err
}

// Report returns a conformance report in the format of the suite's tools: results in the order of
// the run, sorted keys, ASCII only.
func Report(results []Result) []byte {
	list := jsontree.Node{Kind: jsontree.Array}
	text := func(s string) jsontree.Node { return jsontree.Node{Kind: jsontree.String, Text: s} }
	for _, r := range results {
		n := jsontree.Node{Kind: jsontree.Object}
		n.Set("id", text(r.ID))
		n.Set("status", text(r.Status))
		n.Set("category", jsontree.Node{})
		n.Set("message", jsontree.Node{})
		if r.Status == "fail" {
			n.Set("category", text(r.Category))
			n.Set("message", text(r.Message))
		}
		list.Items = append(list.Items, n)
	}
	root := jsontree.Node{Kind: jsontree.Object}
	root.Set("version", jsontree.Node{Kind: jsontree.Int, Text: "1"})
	root.Set("results", list)
	return append(jsontree.Style{Indent: 2, ASCII: true}.Append(nil, &root), '\n')
}
