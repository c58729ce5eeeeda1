package app

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/unidiff"
)

func (a *application) spectestAccept() *cobra.Command {
	var write bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "accept PATH...",
		Short: "Propose expected values for assertions whose subject has changed",
		Long: `Accept runs documents and prints, as a diff, how they would have to change for
failing assertions to hold: a value of contain becomes the line that is most like
it, the literal of evaluate: [eq, EXPRESSION, VALUE] what the expression gives.
Look at the diff before you apply it: what changed may be a bug. Nothing is
written without --write.

What can be made to hold in several ways (leaves of can and cannot, patterns,
exit codes) is told and left to you, and so are cases that are expected to fail.

Exit codes: 0 nothing fails, or all of it was written, 1 there are changes to
look at or failures without a proposal, 3 the environment failed.`,
		Example: `  thresh spectest accept docs/ | less
  thresh spectest accept docs/ --filter id=^CLI- --write`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.accept(c.Context(), args, &options, write)
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the documents")
	options.register(c.Flags(), a.only("spectest"))
	return c
}

func (a *application) accept(ctx context.Context, paths []string, options *optionFlags, write bool) error {
	camps, err := a.spectestCampaigns(ctx, paths, options)
	if err != nil {
		return err
	}
	var left diag.List
	changes := 0
	for _, x := range camps {
		p, err := x.Accept(ctx)
		if err != nil {
			return err
		}
		left = append(left, p.Left...)
		if len(p.Changes) == 0 {
			continue
		}
		changes += len(p.Changes)
		path := x.Path()
		data, err := os.ReadFile(path)
		if err != nil {
			return diag.Environment("%s: %s", path, reason(err))
		}
		after, err := p.Apply(data)
		if err != nil {
			return diag.Environment("%s: %w", path, err)
		}
		if _, err := io.WriteString(a.io.Out, unidiff.Format(path, path, string(data), string(after))); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		if write {
			if err := a.rewrite(path, after); err != nil {
				return err
			}
		}
	}
	a.warn(left)
	did := "proposed; --write makes them"
	if write {
		did = "written"
	}
	if changes > 0 {
		fmt.Fprintf(a.io.Err, "%d changes %s\n", changes, did)
	}
	if len(left) > 0 || changes > 0 && !write {
		return exitError(diag.ExitFindings)
	}
	return nil
}
