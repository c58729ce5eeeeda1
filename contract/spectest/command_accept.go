package spectest

import (
	"context"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

func (k *Contract) acceptCommand() campaign.Command {
	var write, exits bool
	c := campaign.Command{
		Use:     "accept PATH...",
		Summary: "Propose expected values and transcripts after a change",
		Long: `Accept runs documents and prints, as a diff, how they would have to change for
failing assertions to hold: a value of contain or regex becomes the line that is
most like it (a pattern of digits stays one), the literal of evaluate: [eq, EXPRESSION, VALUE] what the expression gives.
In transcripts, lines that are not what is printed become it; those that are
right, wildcards included, stay as they are. What two runs print differently
becomes <number>, <time>, [..] or the like.

Look at the diff before you apply it: what changed may be a bug. Nothing is
written without --write.

What can be made to hold in several ways (leaves of can and cannot) is reported and
left to you, and so are cases that are expected to fail, and exit codes.
--accept-exit takes other exit codes of transcripts and of exit_code as well.
thresh run --update PATH... is accept --write.

Exit codes: 0 nothing fails, or all of it was written, 1 there are changes to
look at or failures without a proposal, 3 the environment failed.`,
		Example: `  thresh spectest accept docs/ | less
  thresh spectest accept docs/ --filter id=^CLI- --write`,
		Least: 1, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			return k.accept(ctx, d, args, write, exits)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVarP(&write, "write", "w", false, "write the documents")
		fs.BoolVar(&exits, "accept-exit", false, "accept the exit codes of commands")
	}
	c.Options = true
	return c
}

func (k *Contract) accept(ctx context.Context, d campaign.Desk, paths []string, write, exits bool) error {
	camps, err := k.campaigns(ctx, d, paths)
	if err != nil {
		return err
	}
	var left diag.List
	changes := 0
	for _, x := range camps {
		p, err := x.Accept(ctx, exits)
		if err != nil {
			return err
		}
		left = append(left, p.Left...)
		if len(p.Changes) == 0 {
			continue
		}
		changes += len(p.Changes)
		path := x.Path()
		data, err := d.Settings().Read(path)
		if err != nil {
			return diag.Environment("%s: %s", path, diag.Reason(err))
		}
		after, err := p.Apply(data)
		if err != nil {
			return diag.Environment("%s: %w", path, err)
		}
		if _, err := io.WriteString(d.Out(), textdiff.Format(path, path, string(data), string(after))); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		if write {
			if err := campaign.WriteFile(d, path, after); err != nil {
				return err
			}
		}
	}
	d.Warn(left)
	did := "proposed; --write makes them"
	if write {
		did = "written"
	}
	if changes > 0 {
		fmt.Fprintf(d.Err(), "%s %s\n", diag.Plural(changes, "change"), did)
	}
	if len(left) > 0 || changes > 0 && !write {
		return diag.ExitError(diag.ExitFindings)
	}
	return nil
}

// runCommand is the contract's part of thresh run: --update, which equals accept --write, and
// --step.
func (k *Contract) runCommand() campaign.Command {
	var update, exits, step bool
	var given func(string) bool
	return campaign.Command{
		Use: "run",
		Flags: func(fs campaign.Flags) {
			given = fs.Changed
			fs.BoolVar(&update, "update", false, "[spectest] rewrite expectations that do not match the result, print the diff, store no run")
			fs.BoolVar(&exits, "accept-exit", false, "[spectest] with --update, also rewrite exit codes")
			fs.BoolVar(&step, "step", false, "[spectest] show each block of a page and each case before it runs, wait for Enter, show the result, store no run")
		},
		Instead: func() bool { return update || exits || step },
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			flag := "--update"
			if step {
				flag = "--step"
			}
			switch {
			case given("resume") || given("watch") || len(args) == 0:
				return diag.Refused("%s needs at least one PATH, and goes with neither --resume nor --watch", flag)
			case step && (update || exits):
				return diag.Refused("--step and --update exclude each other")
			case step:
				return k.steps(ctx, d, args)
			case !update:
				return diag.Refused("--accept-exit goes with --update")
			}
			return k.accept(ctx, d, args, true, exits)
		},
	}
}
