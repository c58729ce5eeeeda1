package cli

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

func (a *application) reportCommand() *cobra.Command {
	var dir, format, out string
	c := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Write a report of a stored run",
		Long: `Report writes a stored run in one of the report formats. RUN is a run id, a
unique beginning of one, "latest" (the default) or "latest~1".`,
		Example: `  thresh report --format html -o report.html
  thresh report latest~1 --format json | jq .verdict
  thresh report --format schema           # the JSON Schema of the JSON report`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format == "schema" {
				return a.output(out, func(w io.Writer) error { _, err := w.Write(report.Schema()); return err })
			}
			f, err := report.ByName(format)
			if err != nil {
				return diag.Refused("%w", err)
			}
			st, err := a.app.ExistingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			rec, err := st.Record(runOf(args))
			if err != nil {
				return err
			}
			return a.storedReport(st, dir, rec, f, out)
		},
	}
	registerStore(c, &dir)
	c.Flags().StringVarP(&format, "format", "f", "text", "text, json, junit, sarif, tap, jsonl, html, markdown, github, codequality, ctrf, hits, attempts, or schema")
	c.Flags().StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
	_ = c.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

// withStore calls do with an existing store.
func (a *application) withStore(dir string, do func(*app.Store) error) error {
	st, err := a.app.ExistingStore(dir)
	if err != nil {
		return err
	}
	defer st.Close()
	return do(st)
}

// inStore returns the function of a verb that works on an existing store. dir is set once flags are
// parsed.
func (a *application) inStore(dir *string, do func(*cobra.Command, *app.Store, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return a.withStore(*dir, func(st *app.Store) error { return do(c, st, args) })
	}
}

// runOf returns the run that arguments name, or "latest".
func runOf(args []string) string {
	if len(args) == 0 {
		return "latest"
	}
	return args[0]
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func completeReport(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, f := range report.Formats() {
		out = append(out, f.Name+"=report"+f.Extension)
	}
	return out, cobra.ShellCompDirectiveNoSpace
}

// parseReport splits FORMAT=FILE.
func parseReport(arg string) (report.Format, string, error) {
	name, file, ok := strings.Cut(arg, "=")
	if !ok || file == "" {
		return report.Format{}, "", diag.WithHint(diag.Refused("--report must be FORMAT=FILE, got %q", arg), "for example --report html=report.html")
	}
	f, err := report.ByName(name)
	if err != nil {
		return f, "", diag.Refused("--report %s: %w", arg, err)
	}
	return f, file, nil
}

func (a *application) reportOptions(st *app.Store, terminal bool) report.Options {
	opt := report.Options{Width: a.io.Width, Color: terminal && a.io.color(a.io.OutTTY)}
	if st != nil {
		opt.Blob = st.Blob
	}
	return opt
}

// storedReport writes a report of a stored run, with its cases and what changed.
func (a *application) storedReport(st *app.Store, dir string, rec campaign.Record, f report.Format, out string) (err error) {
	for i := range rec.Findings {
		app.ReplayHere(dir, &rec.Findings[i])
	}
	opt := a.reportOptions(st, out == "-")
	opt.Cases, opt.Report = a.app.Cases(st, rec, f.Name), app.ReportCommand(dir, rec.RunID)
	opt.Since, _, err = a.app.Since(st, rec, nil)
	return errors.Join(err, a.output(out, func(w io.Writer) error { return f.Write(w, rec, opt) }))
}

// report writes the requested reports, and shows the screen on standard output unless a report goes
// there. A nil screen is the text report. It returns whether the run fails by its gate.
func (a *application) report(rec campaign.Record, flags *runFlags) (fails bool, err error) {
	fails = true
	st, err := a.app.OpenStore(flags.store)
	if err != nil {
		return fails, err
	}
	defer st.Close()
	toStdout, screen := false, flags.screen
	var since *report.Since
	var failed error // one failed report does not keep the others from being written
	if flags.merged == nil || flags.base != nil {
		var changed *app.Comparison
		since, changed, failed = a.app.Since(st, rec, flags.base)
		fails = app.Fails(flags.failOn, rec, changed, since)
	}
	for _, r := range flags.reports {
		f, file, err := parseReport(r)
		if err != nil {
			return fails, err
		}
		toStdout = toStdout || file == "-"
		opt := a.reportOptions(st, file == "-")
		if opt.Since = since; flags.merged != nil {
			opt.Cases = flags.merged.Cases(a.app, st, f.Name)
		} else {
			opt.Cases, opt.Report = a.app.Cases(st, rec, f.Name), app.ReportCommand(flags.store, rec.RunID)
		}
		failed = errors.Join(failed, a.output(file, func(w io.Writer) error { return f.Write(w, rec, opt) }))
	}
	if toStdout {
		return fails, failed
	}
	if screen == nil {
		f, err := report.ByName("text")
		if err != nil {
			return fails, err
		}
		opt := a.reportOptions(st, true)
		opt.Since, opt.Told = since, a.told
		if flags.merged == nil {
			opt.Ran, opt.Report = true, app.ReportCommand(flags.store, rec.RunID)
		}
		screen = func(w io.Writer, rec campaign.Record) error { return f.Write(w, rec, opt) }
	}
	return fails, errors.Join(failed, a.output("-", func(w io.Writer) error { return screen(w, rec) }))
}

// output writes to a file, whole or not at all, or to standard output.
func (a *application) output(file string, write func(io.Writer) error) error {
	return a.outputAs(file, 0o644, write)
}

func (a *application) outputAs(file string, mode os.FileMode, write func(io.Writer) error) error {
	if file == "-" {
		if err := write(a.io.Out); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		return nil
	}
	if err := app.WriteWholly(file, mode, write); err != nil {
		return diag.Environment("writing %s: %s", file, app.Reason(err))
	}
	return nil
}
