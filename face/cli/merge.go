package cli

import "github.com/spf13/cobra"

func (a *application) mergeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "merge STORE|FILE...",
		Short: "Merge the runs of several jobs into one",
		Long: `Merge takes the newest run of each STORE, or a JSON report FILE, and reports them as
one run: cases counted together, equal findings once, the worst verdict as exit code.
Runs of a STORE are copied into --store, where show, replay and promote find them.

Parts of one campaign have no common score; the report says so.

Exit codes: those of thresh run.`,
		Example: `  thresh merge job-1/.thresh job-2/.thresh --report sarif=thresh.sarif
  thresh merge job-*.json --fail-on new --baseline main.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.prepare(&f); err != nil {
				return err
			}
			merged, err := a.app.Merge(f.store, args)
			if err != nil {
				return err
			}
			f.merged = &merged
			return a.close(merged.Record, &f, nil)
		},
	}
	f.workers, f.reruns = 1, 1
	c.Flags().SortFlags = false
	f.registerReports(c)
	f.registerGate(c)
	registerStore(c, &f.store)
	return c
}
