package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/unidiff"
)

func (a *application) spectestAccept() *cobra.Command {
	var write, exits bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "accept PATH...",
		Short: "Propose expected values and transcripts where what they are about has changed",
		Long: `Accept runs documents and prints, as a diff, how they would have to change for
failing assertions to hold: a value of contain becomes the line that is most like
it, the literal of evaluate: [eq, EXPRESSION, VALUE] what the expression gives.
In transcripts, lines that are not what is printed become it; those that are
right, wildcards included, stay as they are. What two runs print differently
becomes <number>, <time>, [..] or the like.

Look at the diff before you apply it: what changed may be a bug. Nothing is
written without --write.

What can be made to hold in several ways (leaves of can and cannot, patterns,
exit codes) is reported and left to you, and so are cases that are expected to
fail. --accept-exit takes other exit codes of transcripts as well.
thresh run --update PATH... is accept --write.

Exit codes: 0 nothing fails, or all of it was written, 1 there are changes to
look at or failures without a proposal, 3 the environment failed.`,
		Example: `  thresh spectest accept docs/ | less
  thresh spectest accept docs/ --filter id=^CLI- --write`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.accept(c.Context(), args, &options, acceptance{write, exits})
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the documents")
	c.Flags().BoolVar(&exits, "accept-exit", false, "take the exit codes with which commands of transcripts end")
	options.register(c.Flags(), a.only("spectest"))
	return c
}

// acceptance is what is done about proposals.
type acceptance struct{ write, exits bool }

func (a *application) accept(ctx context.Context, paths []string, options *optionFlags, do acceptance) error {
	camps, err := a.spectestCampaigns(ctx, paths, options)
	if err != nil {
		return err
	}
	var left diag.List
	changes := 0
	for _, x := range camps {
		p, err := x.Accept(ctx, do.exits)
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
			return diag.Environment("%s: %s", path, app.Reason(err))
		}
		after, err := p.Apply(data)
		if err != nil {
			return diag.Environment("%s: %w", path, err)
		}
		if _, err := io.WriteString(a.io.Out, unidiff.Format(path, path, string(data), string(after))); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		if do.write {
			if err := a.rewrite(path, after); err != nil {
				return err
			}
		}
	}
	a.warn(left)
	did := "proposed; --write makes them"
	if do.write {
		did = "written"
	}
	if changes > 0 {
		fmt.Fprintf(a.io.Err, "%s %s\n", diag.Plural(changes, "change"), did)
	}
	if len(left) > 0 || changes > 0 && !do.write {
		return exitError(diag.ExitFindings)
	}
	return nil
}
