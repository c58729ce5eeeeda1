package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

// accessFlags are how to reach a fleet's server.
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

// on reports whether there is a fleet to use.
func (f *accessFlags) on() bool { return f.URL != "" && f.URL != "local" }

func (f *accessFlags) validate() error {
	if f.URL == "" || f.URL == "local" || f.URL == "embedded" || strings.HasPrefix(f.URL, "embedded:") || strings.Contains(f.URL, "://") {
		return nil
	}
	return diag.WithHint(usagef("--fleet must be local, embedded[:[HOST:]PORT] or the URL of a NATS server, got %q", f.URL), "nats://"+f.URL)
}

// fleetFlags are what a run that uses a fleet can be told.
type fleetFlags struct {
	accessFlags
	require  []string
	sign     string
	patience time.Duration
}

func (f *fleetFlags) register(c *cobra.Command) {
	f.accessFlags.register(c, "run cases on workers: local, embedded[:[HOST:]PORT], or the `URL` of a NATS server with JetStream")
	fs := c.Flags()
	fs.StringSliceVar(&f.require, "require", nil, "`LABEL` that a fleet's worker must have; repeatable")
	fs.StringVar(&f.sign, "sign", "", "sign the run for workers with the private key in `FILE`")
	fs.DurationVar(&f.patience, "fleet-patience", app.DefaultFleetPatience, "silence after which a worker's cases go to another")
	_ = c.MarkFlagFilename("sign")
}

// job is the fleet that a run uses; nil: none.
func (f *fleetFlags) job() *app.FleetJob {
	if !f.on() {
		return nil
	}
	return &app.FleetJob{FleetAccess: f.FleetAccess, Require: f.require, Sign: f.sign, Patience: f.patience}
}

func (a *application) workerCommand() *cobra.Command {
	var (
		f      accessFlags
		lanes  int
		labels []string
		trust  string
		keygen string
		all    bool
	)
	c := &cobra.Command{
		Use:   "worker",
		Short: "Execute cases of runs on other machines",
		Long: `A worker takes cases of whatever runs are announced at a NATS server, executes
them as a run on this machine would, and sends back what came of them. Runs may
come and go, and so may workers: none of it shows in the results.

What a worker runs is decided by whoever can write to the server, so it wants
--trust: only runs that are signed by a known key are taken. --insecure takes all.
Programs named in documents must be here, the same, byte for byte, and allowed as
they are for a run.

Ctrl-C or SIGTERM: cases that are being run are finished, the rest is given back.
A second one ends them too.`,
		Example: `  thresh worker --keygen run.key    # then: thresh run --sign run.key, worker --trust run.key.pub
  thresh worker --fleet nats://build-server:4222 --trust run.key.pub
  thresh worker --fleet nats://build-server:4222 --trust run.key.pub -j 16 --labels gpu,ffmpeg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if keygen != "" {
				if err := app.MakeKeys(keygen); err != nil {
					return err
				}
				fmt.Fprintf(a.io.Out, "%s signs runs, %[1]s.pub is for those who trust it\n", keygen)
				return nil
			}
			if !f.on() {
				return usagef("thresh worker needs --fleet URL, the server that runs are announced at")
			}
			if err := f.validate(); err != nil {
				return err
			}
			if trust == "" && !all {
				return diag.WithHint(usagef("a worker without --trust would execute whatever is announced at the server"),
					"give --trust FILE with the keys that sign runs (thresh worker --keygen makes one), or say --insecure")
			}
			if trust != "" && all {
				return usagef("--trust and --insecure exclude each other")
			}
			if lanes < 1 || lanes > 1024 {
				return usagef("--workers must be from 1 to 1024, got %d", lanes)
			}
			return a.work(c.Context(), app.WorkerJob{FleetAccess: f.FleetAccess, Lanes: lanes, Labels: labels, Trust: trust})
		},
	}
	c.Flags().SortFlags = false
	f.register(c, "`URL` of the NATS server")
	c.Flags().IntVarP(&lanes, "workers", "j", runtime.NumCPU(), "cases executed at once")
	c.Flags().StringSliceVar(&labels, "labels", nil, "what this machine has, for runs that --require it")
	c.Flags().StringVar(&trust, "trust", "", "take only runs that are signed by a public key in `FILE`")
	c.Flags().BoolVar(&all, "insecure", false, "take every run, whoever announced it")
	c.Flags().StringVar(&keygen, "keygen", "", "make a pair of keys, `FILE` and FILE.pub, and leave")
	_ = c.MarkFlagFilename("trust")
	return c
}

// work serves until the first signal, and ends running cases at the second.
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
