package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

func (a *application) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a bundled sample of every finished format, with nothing to set up",
		Long: `Demo writes a bundled sample of every finished format into a folder and runs it.
The program under test is a parser of a made-up format with planted bugs, which is
part of thresh itself: no compiler and no other program is needed.

Exit code 1 means that the planted bugs were found.`,
		Example: `  thresh demo
  thresh show                       the run once more
  thresh report --format html -o demo.html`,
		Args: cobra.NoArgs,
	}
	var f runFlags
	f.register(c, a.contracts)
	c.Flags().StringVar(&dir, "dir", "thresh-demo", "`FOLDER` for the sample and its work")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.validate(); err != nil {
			return err
		}
		if f.resume != "" {
			return diag.WithHint(usagef("thresh demo begins a new run; it cannot go on with %s", f.resume), "thresh run --resume "+shellQuote(f.resume))
		}
		return a.demo(c.Context(), dir, &f)
	}
	return c
}

func (a *application) demo(ctx context.Context, dir string, f *runFlags) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return diag.Environment("finding %s: %w", dir, err)
	}
	exe, err := os.Executable()
	if err != nil {
		return diag.Environment("finding this program, which is the demonstration's target: %w", err)
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return diag.Environment("finding this program, which is the demonstration's target: %w", err)
	}
	folder := filepath.Join(abs, "fuzzspec")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return diag.Environment("making a folder for the sample: %w", err)
	}
	spec, seed := demo.Spec(folder, exe)
	path := filepath.Join(folder, "spec.json")
	for name, data := range map[string][]byte{path: spec, filepath.Join(folder, demo.SeedName): seed} {
		if err := writeWhole(name, data, 0o644); err != nil {
			return diag.Environment("writing the sample: %w", err)
		}
	}
	fmt.Fprintf(a.io.Err, "running %s\n", path)
	f.options.set("allow-exec", exe)
	d, err := a.document(path)
	if err != nil {
		return diag.Environment("reading the sample: %w", err)
	}
	rec, err := a.execute(ctx, []document{d}, f)
	return a.close(rec, f, err)
}
