package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) checkCommand() *cobra.Command {
	var strict bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "check PATH...",
		Short: "Find mistakes in documents without running them",
		Long: `Check reads documents and reports all errors and warnings at once: about their
format, their meaning, and the files and programs that they name. It runs nothing, except 200 traversals
of a model that marks its guesses.

Exit codes: 0 no errors, 2 errors (with --strict also warnings).`,
		Example: `  thresh check spec.json
  thresh check specs/ --strict`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			checked, err := a.app.Check(c.Context(), app.Job{Paths: args, Options: options.values(), Strict: strict})
			if err != nil {
				return err
			}
			for _, p := range checked.Campaigns {
				planned := cmp.Or(p.InWords, "cases are planned as it runs")
				fmt.Fprintf(a.io.Out, "%s: %s %s: %s\n", diag.Name(p.Source), p.Contract, diag.Name(p.Name), planned)
			}
			a.warn(checked.Diagnostics)
			if checked.Diagnostics.HasErrors() {
				return exitError(diag.ExitRefused)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	options.register(c.Flags(), a.app.Contracts)
	return c
}
