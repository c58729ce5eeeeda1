package operator

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

func (k *Contract) checkCommand() campaign.Command {
	var update, strict bool
	c := campaign.Command{
		Use:     "check PATH...",
		Summary: "Check plug-ins and snapshots against the contract's checklist",
		Long: `Check loads operators (op_*.star and op_*.py files, or folders with such files)
and holds each to the seven boxes of the contract's checklist, by applying it to
texts of several scripts and lengths, at its strengths and on its surfaces, each
twice, in Python also with other hash seeds. What an operator gives is compared with its snapshot, a file in the folder
snapshots beside it; --update writes the snapshots.

Exit codes: 0 every box holds, 2 something is wrong (all of it is reported, with
file and line), 3 the environment failed, such as no python3 for a Python operator.`,
		Example: `  thresh operator check my-operators
  thresh operator check my-operators/op_lex_reverse_words.star --update`,
		Least: 1, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			set := d.Settings()
			plugins := LoadPlugins(ctx, args, Disk{Read: set.Read, List: set.List}, k.python)
			_, twice := mutator.NewRegistry(append(mutator.Builtins(), plugins.Entries...))
			list := append(plugins.Faults, twice...)
			read := set.Read
			if update {
				read = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
			}
			checked, err := CheckPlugins(ctx, plugins, read)
			if err != nil {
				d.Warn(list)
				return err
			}
			for i := range checked {
				if update && checked[i].Snapshot != nil {
					if err := writeSnapshot(d, &checked[i]); err != nil {
						return err
					}
				}
				list = append(list, showChecked(d, &checked[i], update)...)
			}
			if strict {
				for i := range list {
					list[i].Level = diag.Error
				}
			}
			if list.HasErrors() {
				return list
			}
			d.Warn(list)
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVar(&update, "update", false, "write the snapshots instead of comparing with them")
		fs.BoolVar(&strict, "strict", false, "refuse operators with warnings")
	}
	return c
}

// showChecked prints an operator's boxes and returns the faults.
func showChecked(d campaign.Desk, c *Checked, updated bool) diag.List {
	var list diag.List
	fmt.Fprintf(d.Out(), "%s  %s\n", c.Entry.Meta.ID, c.Entry.Source)
	for i, text := range Boxes() {
		faults, holds := c.Faults[i], c.Holds(i)
		if updated && c.Snapshot != nil && i == len(Boxes())-1 {
			faults, holds = nil, true
			text = "snapshot written to " + c.Path
		}
		mark := "[x]"
		switch {
		case !holds:
			mark = "[ ]"
		case !c.Answered && i > 1 && i < len(Boxes())-1:
			mark = "[?]" // there was no result to check
		}
		fmt.Fprintf(d.Out(), "  %s %d. %s\n", mark, i+1, text)
		list = append(list, faults...)
	}
	return list
}

func writeSnapshot(d campaign.Desk, c *Checked) error {
	if err := d.MakeFolder(filepath.Dir(c.Path)); err != nil {
		return err
	}
	return campaign.WriteFile(d, c.Path, c.Snapshot)
}
