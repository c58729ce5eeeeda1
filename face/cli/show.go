package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/report"
)

func (a *application) showCommand() *cobra.Command {
	var dir, raw, out string
	var materialize int64
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [RUN|FINDING|RUN#CASE]",
		Short: "Show a stored run, finding or case",
		Long: `Show prints the report of a run, or everything stored about a finding: evidence,
samples and the smallest reproducer.

RUN is a run id, a unique beginning of one, "latest" (the default) or "latest~1".
FINDING is a finding id, of the newest run that has it, or RUN/FINDING.
RUN#CASE is one case by its index, with the evidence that was stored; the run must
have one campaign. Some formats store nothing of passing cases and say so; then
thresh replay RUN#CASE runs the case again.

--raw writes the stored bytes of a finding: "minimized" or "input". --materialize
runs a case again, writes its files in the layout of its format and prints their
folder; for a finding it takes the first case, whatever CASE says. --json prints
the JSON report of the run, or the finding or case as that report has it.`,
		Example: `  thresh show                               # the newest run
  thresh show F-3fa9c1d2e0
  thresh show latest#17                     # one case of it
  thresh show F-3fa9c1d2e0 --raw minimized > crash.bin
  thresh show latest --materialize 17
  thresh show F-3fa9c1d2e0 --json | jq -r .title`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.inStore(&dir, func(c *cobra.Command, st *app.Store, args []string) error {
			what := runOf(args)
			if c.Flags().Changed("materialize") {
				folder, err := a.app.Materialize(c.Context(), st, what, materialize)
				if err == nil {
					fmt.Fprintln(a.io.Out, folder)
				}
				return err
			}
			if runID, index, ok := strings.Cut(what, "#"); ok && raw == "" {
				return a.showCase(st, runID, index, out, asJSON)
			}
			if app.IsFinding(what) {
				if raw != "" {
					data, err := a.app.Raw(st, what, raw)
					if err != nil {
						return err
					}
					return a.output(out, func(w io.Writer) error { _, err := w.Write(data); return err })
				}
				rec, f, err := st.Finding(what)
				if err != nil {
					return err
				}
				app.ReplayHere(dir, &f)
				return a.output(out, func(w io.Writer) error {
					if asJSON {
						return report.FindingJSON(w, f)
					}
					return report.FindingText(w, rec, f, a.reportOptions(st, out == "-"))
				})
			}
			if raw != "" {
				return usagef("--raw needs a finding, got %q", what)
			}
			rec, err := st.Record(what)
			if err != nil {
				return err
			}
			format := "text"
			if asJSON {
				format = "json"
			}
			f, err := report.ByName(format)
			if err != nil {
				return err
			}
			err = a.storedReport(st, dir, rec, f, out)
			if run, rerr := st.Run(rec.RunID); err == nil && rerr == nil && run.Status == "interrupted" {
				fmt.Fprintf(a.io.Err, "nothing is lost. Continue with:\n  %s\n", app.ShellLine(app.ResumeCommand(dir, rec.RunID)))
			}
			return err
		}),
	}
	registerStore(c, &dir)
	c.Flags().StringVar(&raw, "raw", "", "write the bytes of the finding's `PART`: minimized or input")
	c.Flags().StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of text")
	c.Flags().Int64Var(&materialize, "materialize", 0, "write `CASE` of the run out as files")
	c.MarkFlagsMutuallyExclusive("json", "raw", "materialize")
	return c
}

// showCase prints what the store keeps of a case, of a run with a single campaign.
func (a *application) showCase(st *app.Store, ref, index, out string, asJSON bool) error {
	n, err := caseIndex(index)
	if err != nil {
		return err
	}
	id, err := st.ResolveRun(ref)
	if err != nil {
		return err
	}
	o, shown, err := a.app.KeptCase(st, id, "", "", n)
	if err != nil {
		return err
	}
	return a.output(out, func(w io.Writer) error {
		if asJSON {
			return report.CaseJSON(w, report.Case{Index: n, Verdict: o.Verdict, Kind: o.Kind, Title: o.Title, Evidence: shown})
		}
		line := fmt.Sprintf("case %d: %s", n, o.Verdict)
		if o.Title != "" {
			line += ": " + printable(o.Title)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
		if len(shown) == 0 {
			_, err := fmt.Fprintf(w, "The run stores no more of it; thresh replay %s#%d runs it again.\n", id, n)
			return err
		}
		return report.ExhibitsText(w, shown, a.reportOptions(st, out == "-"))
	})
}

// caseIndex parses the CASE of RUN#CASE.
func caseIndex(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, usagef("the case in RUN#CASE must be an index from 0, got %q", text)
	}
	return n, nil
}

func (a *application) promoteCommand() *cobra.Command {
	var dir, to string
	c := &cobra.Command{
		Use:   "promote FINDING",
		Short: "Turn a finding into a regression test",
		Long: `Promote writes documents that fail while the bug is there and pass once it is
fixed: in the finding's own format, or as a Spec-Test and the files that it needs.
Run them with thresh run -r, and with --allow-exec and --ok-exit if the run had
them: documents hold no options.`,
		Example: `  thresh promote F-3fa9c1d2e0 --to regressions
  thresh run -r regressions`,
		Args: cobra.ExactArgs(1),
		RunE: a.inStore(&dir, func(c *cobra.Command, st *app.Store, args []string) error {
			files, err := a.app.Promote(c.Context(), st, args[0], to)
			if err != nil {
				return err
			}
			for _, name := range files {
				fmt.Fprintln(a.io.Out, name)
			}
			return nil
		}),
	}
	registerStore(c, &dir)
	c.Flags().StringVar(&to, "to", promoteFolder, "`FOLDER` that gets a folder for the finding")
	return c
}
