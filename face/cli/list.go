package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

func (a *application) listCommand() *cobra.Command {
	var dir string
	var q app.RunQuery
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List stored runs, newest first",
		Long: `List prints one line for each stored run. STATUS is done, running, interrupted
(thresh run --resume RUN continues it) or error; VERDICT is pass, fail or error.
A narrow terminal has one column for both: the verdict of what is done, else the
status. The cases and findings of a run that is running are in thresh show RUN.`,
		Example: `  thresh list
  thresh list --verdict fail --limit 5
  thresh list --json | jq -r '.[].run_id'`,
		Args: cobra.NoArgs,
		RunE: a.inStore(&dir, func(_ *cobra.Command, st *app.Store, _ []string) error {
			runs, err := st.Runs(q)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(runs)
			}
			if len(runs) == 0 {
				fmt.Fprintln(a.io.Err, "no runs in "+dir)
				return nil
			}
			return a.showRuns(runs)
		}),
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&q.Limit, "limit", 50, "at most this many")
	c.Flags().IntVar(&q.Offset, "offset", 0, "skip this many of the newest")
	c.Flags().StringVar(&q.Contract, "contract", "", "only runs of this format")
	c.Flags().StringVar(&q.Verdict, "verdict", "", "only runs with this verdict (pass, fail, error)")
	c.Flags().StringVar(&q.Text, "search", "", "only runs with this text in a campaign or finding")
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of a table")
	return c
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *application) gcCommand() *cobra.Command {
	var dir string
	var keep int
	var dry bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete old runs and their data",
		Long: `Gc deletes all runs but the newest --keep, and stored contents that no remaining
run refers to. It never deletes a run that is still being written.`,
		Example: `  thresh gc --keep 20
  thresh gc --keep 20 --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if keep < 0 {
				return usagef("--keep must not be negative, got %d", keep)
			}
			st, err := a.app.ExistingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			res, err := st.GC(keep, dry)
			if err != nil {
				return err
			}
			verb := "removed"
			if dry {
				verb = "would remove"
			}
			fmt.Fprintf(a.io.Out, "%s %s and %s, %s\n", verb, diag.Plural(len(res.Runs), "run"), diag.Plural(res.Blobs, "blob"), diag.Plural(res.Bytes, "byte"))
			return nil
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&keep, "keep", 0, "number of newest runs to keep")
	c.Flags().BoolVar(&dry, "dry-run", false, "list what would be deleted, and delete nothing")
	_ = c.MarkFlagRequired("keep")
	return c
}

// showRuns prints the table of runs. On a narrow terminal it omits the seconds, merges the status
// with the verdict, and cuts the names of campaigns in the middle. No line is wider than the
// terminal.
func (a *application) showRuns(runs []store.RunSummary) error {
	counts := func(r store.RunSummary) (cases, findings string) {
		cases, findings = diag.Number(r.Cases.Run), diag.Number(r.Findings)
		if n := r.Ungrouped(); n > 0 {
			findings = diag.Number(n) + " failing"
		}
		if r.Status == "running" { // only its journal has them
			return "-", "-"
		}
		return cases, findings
	}
	heads, row := "RUN\tSTATUS\tVERDICT\tCASES\tFINDINGS\t", func(r store.RunSummary) string {
		cases, findings := counts(r)
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t", r.RunID, r.Status, orDash(r.Verdict), cases, findings)
	}
	width, when, room := a.width(), time.DateTime, 60
	fit := func() int { // width left for the campaigns
		columns := make([]int, strings.Count(heads, "\t"))
		taken := 2*len(columns) + len(when) + 2
		for i := range runs {
			for k, cell := range strings.Split(row(runs[i]), "\t")[:len(columns)] {
				columns[k] = max(columns[k], len(cell), len(strings.Split(heads, "\t")[k]))
			}
		}
		for _, n := range columns {
			taken += n
		}
		return min(60, width-taken)
	}
	if width > 0 {
		if room = fit(); room < 20 {
			when, heads = "01-02 15:04", "RUN\tVERDICT\tCASES\tFINDINGS\t"
			row = func(r store.RunSummary) string {
				word := r.Status
				if word == "done" {
					word = orDash(r.Verdict)
				}
				cases, findings := counts(r)
				return fmt.Sprintf("%s\t%s\t%s\t%s\t", r.RunID, word, cases, findings)
			}
			room = max(len("CAMPAIGNS"), fit())
		}
	}
	of := make(map[string]string) // format by campaign name; "several" if campaigns of several formats share the name
	for _, r := range runs {
		for _, name := range r.Campaigns {
			if len(r.Contracts) != 1 { // unknown which campaign has which format
			} else if format := r.Contracts[0]; of[name] == "" {
				of[name] = format
			} else if of[name] != format {
				of[name] = "several"
			}
		}
	}
	what := func(r store.RunSummary) string {
		names := strings.Join(r.Campaigns, ", ")
		if len(r.Contracts) == 1 && slices.ContainsFunc(r.Campaigns, func(name string) bool { return of[name] == "several" }) {
			names = r.Contracts[0] + " " + names
		}
		if more := len(r.Campaigns) - 1; more > 0 && len(names) > room {
			others := fmt.Sprintf(" +%d", more)
			return report.Middle(r.Campaigns[0], room-len(others)) + others
		}
		return report.Middle(names, room)
	}
	w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heads+"STARTED\tCAMPAIGNS")
	for _, r := range runs {
		fmt.Fprintf(w, "%s%s\t%s\n", row(r), r.Created.Local().Format(when), what(r))
	}
	return w.Flush()
}

// width returns the columns of the terminal, or those that COLUMNS gives; 0: unknown.
func (a *application) width() int {
	if n, err := strconv.Atoi(a.io.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 40)
	}
	if !a.io.OutTTY {
		return 0
	}
	return a.io.Width
}
