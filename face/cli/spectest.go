package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest"
)

// spectestCommand is the verbs that are special to Spec-Test.
func (a *application) spectestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "spectest",
		Short: "Spec-Test v1: conformance, and tools for authors",
		Long: `The verbs that are special to Spec-Test v1, Markdown documents that hold tests.
To run documents, use thresh run; to check them, thresh check.`,
	}
	c.AddCommand(a.spectestFmt(), a.spectestExplain(), a.spectestEval(), a.spectestAccept(), a.spectestSchema(), a.spectestConformance())
	return c
}

func (a *application) spectestSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of blocks",
		Long: `Schema prints a JSON Schema (draft 2020-12) of what a spec-test block, or a case
file in YAML or JSON, may hold, for editors that complete and check YAML.`,
		Example: `  thresh spectest schema > spectest.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.io.Out.Write(spectest.BlockSchema())
			return err
		},
	}
}

// only is the contract of a name, as a list.
func (a *application) only(name string) []campaign.Contract {
	return slices.DeleteFunc(slices.Clone(a.app.Contracts), func(k campaign.Contract) bool { return k.Name() != name })
}
