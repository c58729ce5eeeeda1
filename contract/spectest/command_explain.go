package spectest

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func (k *Contract) explainCommand() campaign.Command {
	var still bool
	c := campaign.Command{
		Use:     "explain ID PATH...",
		Summary: "Explain a case, and which of its assertions decide it",
		Long: `Explain prints the predicates that the assertions of a case compile to: each with
its place, the target that it inherits, its expression and what that costs. The
case is run, and every node is marked as holding, failing or not reached, with the
leaves that decide; --no-run only prints the tree.

Exit codes: 0 the case was found, whatever its verdict, 2 there is no such case,
3 the environment failed.`,
		Example: `  thresh spectest explain NOTES-001 examples/spectest`,
		Least:   2, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			camps, err := k.campaigns(ctx, d, args[1:])
			if err != nil {
				return err
			}
			return explain(ctx, d, args[0], camps, !still)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVar(&still, "no-run", false, "do not run the case")
	}
	c.Options = true
	return c
}

func explain(ctx context.Context, d campaign.Desk, id string, camps []*Campaign, run bool) error {
	var ids []string
	found := false
	for _, x := range camps {
		for _, i := range x.Find(id) {
			text, err := x.Explain(ctx, i, run)
			if err != nil {
				return err
			}
			found = true
			if _, err := fmt.Fprint(d.Out(), diag.Printable(text)); err != nil {
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
