package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

// accessFlags say how to reach a fleet's server.
type accessFlags struct{ app.FleetAccess }

func (f *accessFlags) register(c *cobra.Command, what string) {
	fs := c.Flags()
	fs.StringVar(&f.URL, "fleet", "", what)
	fs.StringVar(&f.Token, "fleet-token", "", "`TOKEN` of the fleet's server (default: $THRESH_FLEET_TOKEN)")
	fs.StringVar(&f.Creds, "fleet-creds", "", "NATS credentials `FILE`")
	fs.StringVar(&f.CA, "fleet-tls-ca", "", "`FILE` of certificates to trust for tls:// (PEM)")
	fs.StringVar(&f.Cert, "fleet-tls-cert", "", "client certificate `FILE` (PEM)")
	fs.StringVar(&f.Key, "fleet-tls-key", "", "key `FILE` of the client certificate (PEM)")
	for _, name := range []string{"fleet-creds", "fleet-tls-ca", "fleet-tls-cert", "fleet-tls-key"} {
		_ = c.MarkFlagFilename(name)
	}
}

// on reports whether the flags name a fleet.
func (f *accessFlags) on() bool { return f.URL != "" && f.URL != "local" }

func (f *accessFlags) validate() error {
	if f.URL == "" || f.URL == "local" || f.URL == "embedded" || strings.HasPrefix(f.URL, "embedded:") || strings.Contains(f.URL, "://") {
		return nil
	}
	return diag.WithHint(usagef("--fleet must be local, embedded[:[HOST:]PORT] or the URL of a NATS server, got %q", f.URL), "nats://"+f.URL)
}

// fleetFlags are the flags of a run that uses a fleet.
type fleetFlags struct {
	accessFlags
	require  []string
	sign     string
	keys     string
	recheck  string
	patience time.Duration
}

func (f *fleetFlags) register(c *cobra.Command) {
	f.accessFlags.register(c, "run cases on workers: local, embedded[:[HOST:]PORT], or the `URL` of a NATS server")
	fs := c.Flags()
	fs.StringSliceVar(&f.require, "require", nil, "`LABEL` that a fleet's worker must have; repeatable")
	fs.StringVar(&f.sign, "sign", "", "sign the run for workers with the private key in `FILE`")
	fs.StringVar(&f.keys, "fleet-keys", "", "sign and check every message with the keys in `DIR` (thresh fleet init makes them)")
	fs.StringVar(&f.recheck, "recheck", "", "`SHARE` of cases that another worker executes again, such as 1% (default: 1% with workers on several machines, else 0)")
	fs.DurationVar(&f.patience, "fleet-patience", app.DefaultFleetPatience, "hand a worker's cases to another after this much silence")
	_ = c.MarkFlagFilename("sign")
	_ = c.MarkFlagDirname("fleet-keys")
}

// job returns the fleet that a run uses; nil: none.
func (f *fleetFlags) job() *app.FleetJob {
	if !f.on() {
		return nil
	}
	share, _ := f.share() // validate has checked it
	return &app.FleetJob{FleetAccess: f.FleetAccess, Require: f.require, Sign: f.sign, Keys: f.keys, Recheck: share, Patience: f.patience}
}

// share returns the share of cases that are executed again; negative: not given.
func (f *fleetFlags) share() (float64, error) {
	if f.recheck == "" {
		return -1, nil
	}
	number, percent := strings.CutSuffix(f.recheck, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, usagef("--recheck must be a share such as 1%% or 0.01, got %q", f.recheck)
	}
	return share, nil
}

func (f *fleetFlags) validate() error {
	if _, err := f.share(); err != nil {
		return err
	}
	for _, o := range []struct{ flag, value string }{
		{"--fleet-keys", f.keys}, {"--recheck", f.recheck}, {"--sign", f.sign}, {"--require", strings.Join(f.require, ",")}, {"--fleet-token", f.Token},
		{"--fleet-creds", f.Creds}, {"--fleet-tls-ca", f.CA}, {"--fleet-tls-cert", f.Cert}, {"--fleet-tls-key", f.Key},
	} {
		if o.value != "" && !f.on() {
			return usagef("%s needs --fleet with a server: the cases run in this process", o.flag)
		}
	}
	if f.keys != "" && f.sign != "" {
		return usagef("--fleet-keys signs the run as well: leave --sign out")
	}
	return f.accessFlags.validate()
}

func (a *application) workerCommand() *cobra.Command {
	var (
		f      accessFlags
		lanes  int
		labels []string
		trust  string
		keys   string
		keygen string
		all    bool
	)
	c := &cobra.Command{
		Use:   "worker",
		Short: "Execute cases of runs on other machines",
		Long: `A worker takes cases of the runs announced at a NATS server, executes them as a run
on this machine would, and returns the results. Runs and workers may come and go
without changing any result.

Whoever can write to the server decides what a worker runs, so it requires
--fleet-keys (every message is signed and checked; see thresh fleet) or --trust
(only runs signed by a known key are taken). --insecure takes all runs. Programs
named in documents must exist here, byte for byte the same, and be allowed as for
a run.

A worker waits for a server that does not answer yet.

On Ctrl-C or SIGTERM, running cases are finished and the others returned. A second
one ends the running cases too.`,
		Example: `  thresh worker --fleet nats://build-server:4222 --fleet-keys keys/
  thresh worker --keygen run.key       # for thresh run --sign run.key
  thresh worker --fleet nats://build-server:4222 --trust run.key.pub
  thresh worker --fleet nats://build-server:4222 --trust run.key.pub \
      -j 16 --labels gpu,ffmpeg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if keygen != "" {
				if err := app.MakeKeys(keygen); err != nil {
					return err
				}
				fmt.Fprintf(a.io.Out, "%s signs runs; give %[1]s.pub to those who trust it\n", keygen)
				return nil
			}
			if !f.on() {
				return usagef("thresh worker needs --fleet URL, the server where runs are announced")
			}
			if err := f.validate(); err != nil {
				return err
			}
			if strings.HasPrefix(f.URL, "embedded") {
				return diag.WithHint(usagef("thresh worker needs the URL of a server, got --fleet %s", f.URL),
					"thresh run --fleet embedded starts one, and prints what to type for its workers")
			}
			said := 0
			for _, is := range []bool{trust != "", keys != "", all} {
				if is {
					said++
				}
			}
			if said == 0 {
				return diag.WithHint(usagef("a worker without --fleet-keys or --trust would execute whatever is announced at the server"),
					"give --fleet-keys DIR (thresh fleet init makes one) or --trust FILE with the keys that sign runs, or say --insecure")
			}
			if said > 1 {
				return usagef("--fleet-keys, --trust and --insecure exclude each other")
			}
			if lanes < 1 || lanes > 1024 {
				return usagef("--workers must be from 1 to 1024, got %d", lanes)
			}
			return a.work(c.Context(), app.WorkerJob{FleetAccess: f.FleetAccess, Lanes: lanes, Labels: labels, Trust: trust, Keys: keys})
		},
	}
	c.Flags().SortFlags = false
	f.register(c, "`URL` of the NATS server")
	c.Flags().IntVarP(&lanes, "workers", "j", runtime.NumCPU(), "cases executed at once")
	c.Flags().StringSliceVar(&labels, "labels", nil, "labels of this machine, for runs that --require them")
	c.Flags().StringVar(&keys, "fleet-keys", "", "sign and check every message with the keys in `DIR`")
	c.Flags().StringVar(&trust, "trust", "", "take only runs that are signed by a public key in `FILE`")
	c.Flags().BoolVar(&all, "insecure", false, "take every run, even unsigned")
	c.Flags().StringVar(&keygen, "keygen", "", "make a key pair, `FILE` and FILE.pub, and exit")
	_ = c.MarkFlagFilename("trust")
	_ = c.MarkFlagDirname("fleet-keys")
	return c
}

// work serves until the first signal, and ends running cases on the second.
func (a *application) work(ctx context.Context, job app.WorkerJob) error {
	kill, end := context.WithCancel(context.Background())
	defer end()
	again := make(chan os.Signal, 1)
	go func() {
		<-ctx.Done()
		signal.Notify(again, interruptions()...)
		select {
		case <-again:
			end()
		case <-kill.Done():
		}
		signal.Stop(again)
	}()
	return a.app.Work(ctx, kill, job)
}
