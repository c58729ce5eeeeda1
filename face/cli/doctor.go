package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *application) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine provides, and how to install the rest",
		Long: `Doctor tries the kernel features that --sandbox uses and looks for programs that
some documents need. It changes nothing, and nothing missing is an error: each run
reports what was unavailable.`,
		Example: `  thresh doctor
  thresh doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := a.app.Doctor()
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(a.io.Out)
				e.SetIndent("", "  ")
				return e.Encode(list)
			}
			group := ""
			for _, p := range list {
				if p.Group != group {
					group = p.Group
					fmt.Fprintf(a.io.Out, "%s\n", group)
				}
				mark := "ok     "
				if !p.Have {
					mark = "missing"
				}
				fmt.Fprintf(a.io.Out, "  %s  %s", mark, p.Name)
				if p.Detail != "" {
					fmt.Fprintf(a.io.Out, "  %s", p.Detail)
				}
				fmt.Fprintln(a.io.Out)
				if p.Fix != "" {
					fmt.Fprintf(a.io.Out, "           %s\n", p.Fix)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
