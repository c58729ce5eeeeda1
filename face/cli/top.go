package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) topCommand() *cobra.Command {
	var f accessFlags
	var once bool
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the workers and runs of a fleet, live",
		Long: `Top shows the runs of a fleet with their open leases, and its workers with their
lanes and rates. A terminal is redrawn every second until Ctrl-C; a pipe gets a
table every second, or a single one with --once.`,
		Example: `  thresh top --fleet nats://build-server:4222
  thresh top --fleet nats://build-server:4222 --once`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !f.on() {
				return usagef("thresh top needs --fleet URL, the server of the fleet")
			}
			return a.top(c.Context(), &f, once)
		},
	}
	c.Flags().SortFlags = false
	f.register(c, "`URL` of the NATS server")
	c.Flags().BoolVar(&once, "once", false, "watch for two seconds, print one table and exit")
	return c
}

func (a *application) top(ctx context.Context, f *accessFlags, once bool) error {
	w, unwatch, err := a.watchFleet(ctx, f, "top")
	if err != nil {
		return err
	}
	defer unwatch()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if once && n < 3 {
			continue // a rate needs two observations
		}
		if a.io.OutTTY && !once {
			fmt.Fprint(a.io.Out, "\x1b[H\x1b[2J")
		}
		fmt.Fprint(a.io.Out, fleetTable(w.Rows()))
		if once {
			return nil
		}
	}
}

// watchFleet listens to the members of a fleet for the named verb, until unwatch is called.
func (a *application) watchFleet(ctx context.Context, f *accessFlags, verb string) (w *app.FleetWatcher, unwatch func(), err error) {
	if strings.HasPrefix(f.URL, "embedded") {
		return nil, nil, usagef("thresh %s needs --fleet URL, the server of the fleet", verb)
	}
	if err := f.validate(); err != nil {
		return nil, nil, err
	}
	return a.app.WatchFleet(ctx, f.FleetAccess, verb)
}

// fleetTable prints the members of a fleet, runs first.
func fleetTable(rows []app.FleetRow) string {
	slices.SortFunc(rows, func(x, y app.FleetRow) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.ID, y.ID))
	})
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	runs, workers, lanes, busy, rate := 0, 0, 0, 0, 0.0
	for _, r := range rows {
		if r.Role != app.RoleCoordinator {
			continue
		}
		if runs++; runs == 1 {
			fmt.Fprintln(t, "RUN\tCASES\tCASES/S\tLEASES OUT\tGIVEN\tAGAIN\tSHARED\tQUARANTINED")
		}
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%d\t%d\t%d\t%d\t%d\n", printable(r.ID), r.Cases, r.Rate, r.InFlight, r.Leases, r.Retries, r.Stolen, r.Quarantined)
	}
	if runs > 0 {
		fmt.Fprintln(t)
	}
	for _, r := range rows {
		if r.Role != app.RoleWorker {
			continue
		}
		if workers++; workers == 1 {
			fmt.Fprintln(t, "WORKER\tLANES\tBUSY\tCASES\tCASES/S\tLEASES\tLABELS\tRUNS")
		}
		lanes, busy, rate = lanes+r.Lanes, busy+r.Busy, rate+r.Rate
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.0f\t%d\t%s\t%s\n", printable(r.ID), r.Lanes, r.Busy, r.Cases, r.Rate, r.Leases,
			printable(dash(strings.Join(r.Labels, ","))), printable(dash(strings.Join(r.Runs, ","))))
	}
	t.Flush()
	if len(rows) == 0 {
		return "no worker and no run found\n"
	}
	fmt.Fprintf(&b, "\n%s, %s, %d of %d lanes busy, %.0f cases/s\n", diag.Plural(runs, "run"), diag.Plural(workers, "worker"), busy, lanes, rate)
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
