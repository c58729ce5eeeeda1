package cli

import (
	"fmt"
	"io"
	"os"
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
	d := &desk{application: a, contract: k, bundle: app.NewBundle()}
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
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := d.flags.options.validate(); err != nil {
			return err
		}
		return x.Run(c.Context(), d, args)
	}
	return c
}

// desk is the application as the commands of one contract see it.
type desk struct {
	*application
	contract campaign.Contract
	flags    runFlags // those that the command has
	bundle   *app.Bundle
}

func (d *desk) In() io.Reader               { return d.io.In }
func (d *desk) Out() io.Writer              { return d.io.Out }
func (d *desk) Err() io.Writer              { return d.io.Err }
func (d *desk) Warn(list diag.List)         { d.warn(list) }
func (d *desk) Getenv(name string) string   { return d.io.Getenv(name) }
func (d *desk) Settings() campaign.Settings { return d.bundle.Fill(d.flags.settings()) }

func (d *desk) Open(file string) (io.ReadCloser, error) { return os.Open(file) }

func (d *desk) MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.Environment("making the folder %s: %s", dir, app.Reason(err))
	}
	return nil
}

func (d *desk) Write(file string, write func(io.Writer) error) error { return d.output(file, write) }

func (d *desk) Draw(w io.Writer, e *campaign.Exhibit) error { return report.GraphSVG(w, e) }

func (d *desk) Record(run string) (campaign.Record, error) {
	st, err := d.app.ExistingStore(d.flags.store)
	if err != nil {
		return campaign.Record{}, err
	}
	defer st.Close()
	return st.Record(run)
}
