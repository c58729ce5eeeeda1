package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) checkCommand() *cobra.Command {
	var strict bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "check PATH...",
		Short: "Say everything that can be said of documents without running them",
		Long: `Check reads documents and reports all that is wrong or doubtful with them at
once: form, meaning, files and programs they name. Nothing is run.

Exit codes: 0 no errors, 2 errors (with --strict also warnings).`,
		Example: `  thresh check spec.json
  thresh check specs/ --strict`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			set := campaign.Settings{Options: options.values(), Check: true}
			docs, all, err := a.documents(args, set)
			if err != nil {
				return err
			}
			b := newBundle()
			set = b.fill(set)
			for _, d := range docs {
				compiled, list := d.contract.Compile(c.Context(), d.Spec, set)
				all = append(all, list...)
				if list.HasErrors() {
					continue
				}
				for _, x := range compiled {
					id, planned := x.Identity(), "cases are planned as it runs"
					if p, ok := campaign.As[campaign.Planner](x); ok {
						planned = thousands(p.Planned()) + " cases"
					}
					fmt.Fprintf(a.io.Out, "%s: %s %s: %s\n", d.Path, id.Contract, printable(id.Name), planned)
				}
			}
			for i := range all {
				if strict {
					all[i].Level = diag.Error
				}
			}
			a.warn(all)
			if all.HasErrors() {
				return exitError(diag.ExitRefused)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as errors")
	options.register(c.Flags(), a.contracts)
	return c
}
