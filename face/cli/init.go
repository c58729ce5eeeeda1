package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) initCommand() *cobra.Command {
	var names []string
	for _, c := range a.app.Contracts {
		names = append(names, c.Name())
	}
	var from, into string
	var yes bool
	c := &cobra.Command{
		Use:   "init KIND [FOLDER]",
		Short: "Write a starter document that runs as it is",
		Long: "Init writes a starter document, with the files that it needs, to FOLDER (default:\nthe working directory). It never replaces existing files.\n\n" +
			"With --from it drafts the document for something you have, as thresh try does, but\nruns only what it needs to inspect it. The draft goes to --dir.\n\nKIND is one of: " + strings.Join(names, ", ") + ".",
		Example:   "  thresh init fuzzspec first\n  thresh run first/fuzzspec.json\n  thresh init fuzzspec --from ./parser @@ -- seeds/\n  thresh init fresnelfir --from openapi.json\n  thresh init fresnelfir --from 'mcp: python3 server.py'",
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if from != "" {
				return a.fromThing(c, args, from, into, yes)
			}
			if len(args) > 2 || into != "" || yes {
				return usagef("init takes KIND and one FOLDER; --dir and --yes go with --from")
			}
			dir := "."
			if len(args) > 1 {
				dir = args[1]
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return diag.Environment("finding %s: %w", dir, err)
			}
			for _, c := range a.app.Contracts {
				if c.Name() != args[0] {
					continue
				}
				files := c.Starter(abs)
				for _, f := range files {
					if _, err := os.Lstat(filepath.Join(abs, f.Name)); !errors.Is(err, fs.ErrNotExist) {
						return diag.Refused("%s exists; nothing was written", filepath.Join(dir, f.Name))
					}
				}
				if err := app.WriteFiles(abs, files); err != nil {
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
	c.Flags().StringVar(&from, "from", "", "draft the document for a `THING`, as thresh try takes it; its further words follow")
	c.Flags().StringVar(&into, "dir", "", "with --from, `FOLDER` for the draft (default: try-NAME, a new one)")
	c.Flags().BoolVar(&yes, "yes", false, "with --from, also call operations that may change or delete data")
	return c
}
