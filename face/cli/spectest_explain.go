package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) spectestExplain() *cobra.Command {
	var still bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "explain ID PATH...",
		Short: "Show what a case means, and which of its assertions decide it",
		Long: `Explain prints the predicates that the assertions of a case compile to: each with
its place, the target that it inherits, its expression and what that costs. The
case is run, and every node is marked as holding, failing or not reached, with the
leaves that decide; --no-run only prints the tree.

Exit codes: 0 the case was found, whatever its verdict, 2 there is no such case,
3 the environment failed.`,
		Example: `  thresh spectest explain NOTES-001 examples/spectest`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			camps, err := a.spectestCampaigns(c.Context(), args[1:], &options)
			if err != nil {
				return err
			}
			return a.explain(c.Context(), args[0], camps, !still)
		},
	}
	c.Flags().BoolVar(&still, "no-run", false, "do not run the case")
	options.register(c.Flags(), a.only("spectest"))
	return c
}

func (a *application) explain(ctx context.Context, id string, camps []*spectest.Campaign, run bool) error {
	var ids []string
	found := false
	for _, x := range camps {
		for _, i := range x.Find(id) {
			text, err := x.Explain(ctx, i, run)
			if err != nil {
				return err
			}
			found = true
			if _, err := fmt.Fprint(a.io.Out, printable(text)); err != nil {
				return diag.Environment("writing to standard output: %w", err)
			}
		}
		ids = append(ids, x.IDs()...)
	}
	if found {
		return nil
	}
	err := diag.Refused("there is no case %s among the %d of these documents", id, len(ids))
	if hint := diag.DidYouMean(id, ids); hint != "" {
		err = diag.WithHint(err, hint)
	}
	return err
}

// spectestCampaigns compiles the documents of paths; what is doubtful about
// them is for check to tell.
func (a *application) spectestCampaigns(ctx context.Context, paths []string, options *optionFlags) ([]*spectest.Campaign, error) {
	docs, err := a.foundDocuments(paths, options)
	if err != nil {
		return nil, err
	}
	c, err := app.Compile(ctx, docs, app.NewBundle().Fill((&runFlags{options: *options}).settings()))
	if err != nil {
		return nil, err
	}
	var list []*spectest.Campaign
	for _, x := range c.Campaigns {
		if s, ok := campaign.As[*spectest.Campaign](x); ok {
			list = append(list, s)
		}
	}
	return list, nil
}
