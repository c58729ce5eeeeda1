package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// contractVerbs adds the verbs of contracts.
func (a *application) contractVerbs(verbs []verb) []verb {
	for _, k := range a.app.Contracts {
		of, ok := k.(campaign.Commander)
		if !ok {
			continue
		}
		for _, x := range of.Commands() {
			v := verb{"main", nameOf(x), func(line []string) *cobra.Command { return a.contractCommand(k, x, line) }}
			switch {
			case x.Instead != nil: // adds to another verb; see addContractFlags
				continue
			case slices.ContainsFunc(verbs, func(there verb) bool { return there.name == v.name }):
				fmt.Fprintf(a.io.Err, "warning: command %s of format %s skipped: the name is taken\n", v.name, k.Name())
				continue
			case v.name == k.Name():
				v.group = "contract"
			}
			verbs = append(verbs, v)
		}
	}
	return verbs
}

func nameOf(x campaign.Command) string {
	name, _, _ := strings.Cut(x.Use, " ")
	return name
}

// contractCommand makes a command from contract k's description of it. line is the rest of the
// command line after the command's name.
func (a *application) contractCommand(k campaign.Contract, x campaign.Command, line []string) *cobra.Command {
	if x.Verb == "replay" {
		c := a.replayCommand()
		c.Example = strings.ReplaceAll(c.Example, "thresh replay", "thresh "+k.Name()+" replay")
		return c
	}
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
	subs, line := onlyNamed(x.Commands, line, nameOf)
	for _, sub := range subs {
		c.AddCommand(a.contractCommand(k, sub, line))
	}
	if x.Run == nil {
		c.Args = nil // a command with verbs
		return c
	}
	d := a.desk(k, &runFlags{workers: runtime.NumCPU(), reruns: 1})
	c.Flags().SortFlags = !x.Declared
	if x.Runs {
		d.flags.register(c, []campaign.Contract{k})
	}
	if x.Flags != nil {
		declare(x.Flags, c.Flags())
	}
	if x.Store {
		registerStore(c, &d.flags.store)
	}
	if x.Options && !x.Runs {
		d.flags.options.register(c.Flags(), []campaign.Contract{k})
	}
	for _, name := range x.Required {
		_ = c.MarkFlagRequired(name) // its own flag
	}
	for _, name := range x.Hidden {
		_ = c.Flags().MarkHidden(name) // its own flag
	}
	for name, extensions := range x.Files {
		_ = c.MarkFlagFilename(name, extensions...) // its own flag
	}
	for name, values := range x.Values {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	c.DisableFlagParsing = x.Raw
	c.RunE = func(c *cobra.Command, args []string) error {
		if x.Raw && slices.Equal(args, []string{"--help"}) { // else the other program's, in which Thresh does not occur
			return c.Help()
		}
		return d.run(c.Context(), x, args)
	}
	return c
}

// declare adds flags, replacing those that exist.
func declare(flags func(campaign.Flags), to *pflag.FlagSet) {
	own := ownFlags{to: to}
	flags(&own)
	own.VisitAll(func(f *pflag.Flag) {
		if there := to.Lookup(f.Name); there != nil {
			*there = *f
			return
		}
		to.AddFlag(f)
	})
}

// ownFlags collects the flags that declare adds to a command.
type ownFlags struct {
	pflag.FlagSet
	to *pflag.FlagSet
}

// Changed implements [campaign.Flags], for the command's other flags as well.
func (f *ownFlags) Changed(name string) bool { return f.to.Changed(name) }

// addContractFlags adds the flags of contracts to a verb.
func (a *application) addContractFlags(verb *cobra.Command, f *runFlags) {
	for _, k := range a.app.Contracts {
		of, ok := k.(campaign.Commander)
		if !ok {
			continue
		}
		for _, x := range of.Commands() {
			if x.Instead == nil || x.Use != verb.Name() {
				continue
			}
			declare(x.Flags, verb.Flags())
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
	flags    *runFlags // the settings of the command
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
	return doc.Spec, err
}

// documents returns documents of the contract.
func (d *desk) documents(specs []campaign.Spec) []app.Document {
	docs := make([]app.Document, len(specs))
	for i, s := range specs {
		docs[i] = app.Document{Spec: s, Contract: d.contract}
	}
	return docs
}

func (d *desk) Compile(ctx context.Context, specs []campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List, error) {
	c, err := app.Compile(ctx, d.documents(specs), set)
	return c.Campaigns, c.Warnings, err
}

func (d *desk) Order() campaign.Order {
	f := d.flags
	set := f.settings()
	return campaign.Order{Options: set.Options, Seed: set.Seed, Workers: f.workers, Cases: f.cases, CaseTimeout: f.caseTimeout, AllowEmpty: f.allowEmpty, Quiet: f.quiet, Store: f.store, Strict: f.strict, Reports: f.reports}
}

func (d *desk) Run(ctx context.Context, o campaign.Order) (campaign.Record, error) {
	f := d.flags
	f.workers, f.cases, f.caseTimeout, f.allowEmpty, f.quiet = o.Workers, o.Cases, o.CaseTimeout, o.AllowEmpty, o.Quiet
	f.store, f.stop, f.stopFrom, f.strict, f.reports = o.Store, o.Stop, o.StopFrom, o.Strict, o.Reports
	if o.Silent {
		f.screen = func(io.Writer, campaign.Record) error { return nil }
	}
	if err := d.prepare(f); err != nil {
		return campaign.Record{}, err
	}
	job := d.job(f)
	job.Options, job.Seed = o.Options, o.Seed
	docs := d.documents(o.Docs)
	if o.Compiled == nil {
		return d.app.RunDocuments(ctx, docs, job)
	}
	c := app.Compiled{Docs: docs, Campaigns: o.Compiled}
	for range o.Compiled {
		c.Sources = append(c.Sources, docs[0].Path)
	}
	return d.app.RunCompiled(ctx, c, d.bundle, d.bundle.Fill(job.Settings()), o.Resume, job)
}

func (d *desk) Report(rec campaign.Record, err error) error { return d.close(rec, d.flags, err) }

func (d *desk) WriteReports(rec campaign.Record) error {
	_, err := d.report(rec, d.flags)
	return err
}

func (d *desk) Earlier(o campaign.Order, passes func(options map[string][]string) bool) (run, changed string, err error) {
	return d.app.Earlier(o.Store, d.documents(o.Docs)[0], o.Compiled[0], d.bundle, passes)
}

func (d *desk) Trends(name string, limit int) ([]campaign.Trend, error) {
	st, err := d.app.ExistingStore(d.flags.store)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return st.Named(d.contract.Name(), name, limit)
}

func (d *desk) Own(file string) (io.Closer, error) {
	if err := d.MakeFolder(filepath.Dir(file)); err != nil {
		return nil, err
	}
	return app.OwnFile(file)
}

func (d *desk) Stored(_ context.Context, runID string) (campaign.Stored, error) {
	return d.app.OpenStored(d.flags.store, runID)
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
