package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/system/python"
)

func (a *application) operatorCheck() *cobra.Command {
	var update, strict bool
	c := &cobra.Command{
		Use:   "check PATH...",
		Short: "Hold plug-ins to the contract's checklist, snapshots included",
		Long: `Check loads operators (op_*.star and op_*.py files, or folders with such files)
and holds each to the seven boxes of the contract's checklist, by applying it to
texts of several scripts and lengths, at its strengths and on its surfaces, each
twice. What an operator gives is compared with its snapshot, a file in the folder
snapshots beside it; --update writes the snapshots.

Exit codes: 0 every box holds, 2 something is wrong (all of it is reported, with
file and line), 3 the environment failed, such as no python3 for a Python operator.`,
		Example: `  thresh operator check my-operators
  thresh operator check my-operators/op_lex_reverse_words.star --update`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			b := app.NewBundle()
			plugins := operator.LoadPlugins(c.Context(), args, operator.Disk{Read: b.Read, List: b.List}, python.OpenOperators)
			_, twice := mutator.NewRegistry(append(mutator.Builtins(), plugins.Entries...))
			list := append(plugins.Faults, twice...)
			read := os.ReadFile
			if update {
				read = func(string) ([]byte, error) { return nil, os.ErrNotExist }
			}
			checked, err := operator.CheckPlugins(c.Context(), plugins, read)
			if err != nil {
				a.warn(list)
				return err
			}
			for i := range checked {
				if update && checked[i].Snapshot != nil {
					if err := writeSnapshot(&checked[i]); err != nil {
						return err
					}
				}
				list = append(list, a.showChecked(&checked[i], update)...)
			}
			if strict {
				for i := range list {
					list[i].Level = diag.Error
				}
			}
			if list.HasErrors() {
				return list
			}
			a.warn(list)
			return nil
		},
	}
	c.Flags().BoolVar(&update, "update", false, "write the snapshots in place of comparing with them")
	c.Flags().BoolVar(&strict, "strict", false, "refuse operators that give rise to warnings")
	return c
}

// showChecked prints an operator's boxes and returns what is wrong.
func (a *application) showChecked(c *operator.Checked, updated bool) diag.List {
	var list diag.List
	fmt.Fprintf(a.io.Out, "%s  %s\n", c.Entry.Meta.ID, c.Entry.Source)
	for i, text := range operator.Boxes() {
		faults, holds := c.Faults[i], c.Holds(i)
		if updated && c.Snapshot != nil && i == len(operator.Boxes())-1 {
			faults, holds = nil, true
			text = "snapshot written to " + c.Path
		}
		mark := "[x]"
		switch {
		case !holds:
			mark = "[ ]"
		case !c.Answered && i > 1 && i < len(operator.Boxes())-1:
			mark = "[?]" // there was no result to look at
		}
		fmt.Fprintf(a.io.Out, "  %s %d. %s\n", mark, i+1, text)
		list = append(list, faults...)
	}
	return list
}

func writeSnapshot(c *operator.Checked) error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return diag.Environment("making a folder for %s: %w", c.Path, err)
	}
	if err := app.WriteWhole(c.Path, c.Snapshot, 0o644); err != nil {
		return diag.Environment("writing %s: %w", c.Path, err)
	}
	return nil
}
