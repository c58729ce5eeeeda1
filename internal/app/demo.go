package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

func (a *application) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a bundled sample of every format, with nothing to set up",
		Long: `Demo writes a bundled sample of every format into a folder, one folder for each,
and runs all of them as one run. What the samples test is part of thresh itself: a
parser of a made-up format with planted bugs for FuzzSpec, and what thresh init
writes for the others. No compiler and no other program is needed.

Exit code 1 means that the planted bugs were found.`,
		Example: `  thresh demo
  thresh show                       the run once more
  thresh report --format html -o demo.html`,
		Args: cobra.NoArgs,
	}
	var f runFlags
	f.register(c, a.contracts)
	c.Flags().StringVar(&dir, "dir", "thresh-demo", "`FOLDER` for the samples and their work")
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
	var docs []document
	for _, c := range a.contracts {
		folder := filepath.Join(abs, c.Name())
		if err := writeFiles(folder, sample(c, folder, exe)); err != nil {
			return err
		}
		found, left, err := a.search(filepath.Join(dir, c.Name()), campaign.Settings{})
		if err != nil {
			return err
		}
		a.warn(left)
		docs = append(docs, found...)
	}
	fmt.Fprintf(a.io.Err, "running the samples in %s\n", dir)
	f.options.set("allow-exec", exe)
	rec, err := a.execute(ctx, docs, f)
	return a.close(rec, f, err)
}

// sample is the files of a contract's sample: its starter, but for FuzzSpec,
// whose starter has one bug alone.
func sample(c campaign.Contract, folder, exe string) []campaign.File {
	if _, ok := c.(*fuzzspec.Contract); !ok {
		return c.Starter(folder)
	}
	spec, seed := demo.Spec(folder, exe)
	return []campaign.File{{Name: "spec.json", Data: spec}, {Name: demo.SeedName, Data: seed}}
}
