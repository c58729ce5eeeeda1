package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// contractCommands adds the commands that contracts bring.
func (a *application) contractCommands(root *cobra.Command) {
	for _, k := range a.app.Contracts {
		of, ok := k.(campaign.Commander)
		if !ok {
			continue
		}
		for _, x := range of.Commands() {
			if x.Instead != nil {
				continue // see instead
			}
			c := a.contractCommand(k, x)
			if slices.ContainsFunc(root.Commands(), func(there *cobra.Command) bool { return there.Name() == c.Name() }) {
				fmt.Fprintf(a.io.Err, "warning: the command %s of contract %s is skipped: there is one of that name\n", c.Name(), k.Name())
				continue
			}
			if c.GroupID = "main"; c.Name() == k.Name() {
				c.GroupID = "contract"
			}
			root.AddCommand(c)
		}
	}
}

// contractCommand makes a command of what contract k says of it.
func (a *application) contractCommand(k campaign.Contract, x campaign.Command) *cobra.Command {
	c := &cobra.Command{Use: x.Use, Short: x.Summary, Long: x.Long, Example: x.Example, Args: cobra.RangeArgs(x.Least, x.Most)}
	switch {
	case x.Most < 0:
		c.Args = cobra.MinimumNArgs(x.Least)
	case x.Most == 0:
		c.Args = cobra.NoArgs
	case x.Least == x.Most:
		c.Args = cobra.ExactArgs(x.Least)
	case x.Least == 0:
		c.Args = cobra.MaximumNArgs(x.Most)
	}
	for _, sub := range x.Commands {
		c.AddCommand(a.contractCommand(k, sub))
	}
	if x.Run == nil {
		c.Args = nil // it has verbs
		return c
	}
	d := a.desk(k, &runFlags{workers: runtime.NumCPU(), reruns: 1})
	c.Flags().SortFlags = !x.Declared
	if x.Flags != nil {
		x.Flags(c.Flags())
	}
	if x.Store {
		registerStore(c, &d.flags.store)
	}
	if x.Options {
		d.flags.options.register(c.Flags(), []campaign.Contract{k})
	}
	for _, name := range x.Required {
		_ = c.MarkFlagRequired(name) // a flag of its own
	}
	for name, values := range x.Values {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	c.RunE = func(c *cobra.Command, args []string) error { return d.run(c.Context(), x, args) }
	return c
}

// instead adds to a verb what contracts add to it.
func (a *application) instead(verb *cobra.Command, f *runFlags) {
	for _, k := range a.app.Contracts {
		of, ok := k.(campaign.Commander)
		if !ok {
			continue
		}
		for _, x := range of.Commands() {
			if x.Instead == nil || x.Use != verb.Name() {
				continue
			}
			x.Flags(verb.Flags())
			otherwise := verb.RunE
			verb.RunE = func(c *cobra.Command, args []string) error {
				if !x.Instead() {
					return otherwise(c, args)
				}
				return a.desk(k, f).run(c.Context(), x, args)
			}
		}
	}
}

// desk is the application as the commands of one contract see it.
type desk struct {
	*application
	contract campaign.Contract
	flags    *runFlags // those that the command has
	bundle   *app.Bundle
}

func (a *application) desk(k campaign.Contract, f *runFlags) *desk {
	return &desk{application: a, contract: k, flags: f, bundle: app.NewBundle()}
}

func (d *desk) run(ctx context.Context, x campaign.Command, args []string) error {
	if err := d.flags.options.validate(); err != nil {
		return err
	}
	return x.Run(ctx, d, args)
}

func (d *desk) In() io.Reader               { return d.io.In }
func (d *desk) Out() io.Writer              { return d.io.Out }
func (d *desk) Err() io.Writer              { return d.io.Err }
func (d *desk) Warn(list diag.List)         { d.warn(list) }
func (d *desk) Getenv(name string) string   { return d.io.Getenv(name) }
func (d *desk) Settings() campaign.Settings { return d.bundle.Fill(d.flags.settings()) }

func (d *desk) Files(path string) (list []string, folder bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, diag.Refused("%s: %s", path, app.Reason(err))
	}
	if !info.IsDir() {
		return []string{path}, false, nil
	}
	list, unread, err := app.FilesIn(path)
	d.warn(unread)
	return list, true, err
}

func (d *desk) Document(path string) (campaign.Spec, error) {
	if d.flags.store != "" {
		d.app.HoldTexts(d.flags.store)
	}
	doc, err := d.app.Document(path)
	if err != nil {
		return campaign.Spec{}, diag.Environment("%s: %s", path, app.Reason(err))
	}
	return doc.Spec, nil
}

// documents are documents of the contract.
func (d *desk) documents(specs []campaign.Spec) []app.Document {
	docs := make([]app.Document, len(specs))
	for i, s := range specs {
		docs[i] = app.Document{Spec: s, Contract: d.contract}
	}
	return docs
}

func (d *desk) Compile(ctx context.Context, specs []campaign.Spec, set campaign.Settings) ([]campaign.Any, error) {
	c, err := app.Compile(ctx, d.documents(specs), set)
	return c.Campaigns, err
}

func (d *desk) Order() campaign.Order {
	f := d.flags
	set := f.settings()
	return campaign.Order{Options: set.Options, Seed: set.Seed, Workers: f.workers, CaseTimeout: f.caseTimeout, AllowEmpty: f.allowEmpty, Quiet: f.quiet}
}

func (d *desk) Run(ctx context.Context, o campaign.Order) (campaign.Record, error) {
	f := d.flags
	f.workers, f.caseTimeout, f.allowEmpty, f.quiet = o.Workers, o.CaseTimeout, o.AllowEmpty, o.Quiet
	if err := d.prepare(f); err != nil {
		return campaign.Record{}, err
	}
	job := d.job(f)
	job.Options, job.Seed = o.Options, o.Seed
	return d.app.RunDocuments(ctx, d.documents(o.Docs), job)
}

func (d *desk) Report(rec campaign.Record, err error) error { return d.close(rec, d.flags, err) }

func (d *desk) Stored(ctx context.Context, runID string) (campaign.Stored, error) {
	return d.app.OpenStored(ctx, d.flags.store, runID)
}

func (d *desk) Open(file string) (io.ReadCloser, error) { return os.Open(file) }

func (d *desk) MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.Environment("making the folder %s: %s", dir, app.Reason(err))
	}
	return nil
}

func (d *desk) Write(file string, write func(io.Writer) error) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	return d.outputAs(file, mode, write)
}

func (d *desk) Draw(w io.Writer, e *campaign.Exhibit) error { return report.GraphSVG(w, e) }

func (d *desk) Record(run string) (campaign.Record, error) {
	st, err := d.app.ExistingStore(d.flags.store)
	if err != nil {
		return campaign.Record{}, err
	}
	defer st.Close()
	return st.Record(run)
}
