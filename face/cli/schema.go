package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [FORMAT]",
		Short: "Print the JSON Schema of a format's documents",
		Long: `Schema prints a JSON Schema (draft 2020-12) for editors, which complete and check
documents by it. Without a format it lists the formats.`,
		Example: `  thresh schema flakestorm > flakestorm.schema.json`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			formats := a.documentFormats()
			if len(args) == 0 {
				w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
				for _, f := range formats {
					fmt.Fprintf(w, "%s\t%s\n", f.Name, f.Summary)
				}
				return w.Flush()
			}
			var names []string
			for _, f := range formats {
				if f.Name == args[0] {
					_, err := a.io.Out.Write(f.Schema())
					return err
				}
				names = append(names, f.Name)
			}
			if slices.ContainsFunc(a.app.Contracts, func(c campaign.Contract) bool { return c.Name() == args[0] }) {
				return diag.Refused("the format %s has no JSON Schema", args[0])
			}
			return diag.WithHint(usagef("no format is called %q", args[0]), diag.Suggest(args[0], names))
		},
	}
}

// documentFormats returns the kinds of documents that contracts declare.
func (a *application) documentFormats() []campaign.Format {
	var list []campaign.Format
	for _, k := range a.app.Contracts {
		if f, ok := k.(campaign.Formatted); ok {
			list = append(list, f.Formats()...)
		}
	}
	return list
}
