package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) initCommand() *cobra.Command {
	var names []string
	for _, c := range a.contracts {
		names = append(names, c.Name())
	}
	return &cobra.Command{
		Use:       "init KIND [FOLDER]",
		Short:     "Write a document to begin with, which runs as it is",
		Long:      "Init writes a starter document and what it needs into FOLDER (default: the\nworking directory). Existing files are never replaced.\n\nKIND is one of: " + strings.Join(names, ", ") + ".",
		Example:   "  thresh init fuzzspec first\n  thresh run first/fuzzspec.json",
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 1 {
				dir = args[1]
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return diag.Environment("finding %s: %w", dir, err)
			}
			for _, c := range a.contracts {
				if c.Name() != args[0] {
					continue
				}
				files := c.Starter(abs)
				for _, f := range files {
					if _, err := os.Lstat(filepath.Join(abs, f.Name)); !errors.Is(err, fs.ErrNotExist) {
						return diag.Refused("%s exists; nothing was written", filepath.Join(dir, f.Name))
					}
				}
				if err := writeFiles(abs, files); err != nil {
					return err
				}
				for _, f := range files {
					fmt.Fprintln(a.io.Out, filepath.Join(dir, f.Name))
				}
				return nil
			}
			err = diag.Refused("no format is called %q; there is %s", args[0], strings.Join(names, ", "))
			if hint := diag.DidYouMean(args[0], names); hint != "" {
				err = diag.WithHint(err, hint)
			}
			return err
		},
	}
}

// writeFiles writes files below dir, each whole or not at all.
func writeFiles(dir string, files []campaign.File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return diag.Environment("making a folder for %s: %w", path, err)
		}
		mode := os.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := writeWhole(path, f.Data, mode); err != nil {
			return diag.Environment("writing %s: %w", path, err)
		}
	}
	return nil
}
