package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// accessFlags are how to reach a fleet's server.
type accessFlags struct{ fleet.Access }

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

func (a *application) connect(ctx context.Context, f *accessFlags, name string) (*fleet.Link, error) {
	access := f.Access
	if access.Token == "" {
		access.Token = a.io.Getenv("THRESH_FLEET_TOKEN")
	}
	return fleet.Connect(ctx, access, name)
}

// fleetFlags are what a run that uses a fleet can be told.
type fleetFlags struct {
	accessFlags
	require  []string
	sign     string
	patience time.Duration
}

// leasesInFlight is how many leases a coordinator has out unless told
// otherwise: enough for some dozens of lanes, each with one waiting.
const leasesInFlight = 64

func (f *fleetFlags) register(c *cobra.Command) {
	f.accessFlags.register(c, "run cases on workers: local, embedded[:[HOST:]PORT], or the `URL` of a NATS server with JetStream")
	fs := c.Flags()
	fs.StringSliceVar(&f.require, "require", nil, "`LABEL` that a fleet's worker must have; repeatable")
	fs.StringVar(&f.sign, "sign", "", "sign the run for workers with the private key in `FILE`")
	fs.DurationVar(&f.patience, "fleet-patience", fleet.DefaultPatience, "silence after which a worker's cases go to another")
	_ = c.MarkFlagFilename("sign")
}

// join has the fleet run a job's cases, by the link that it returns. leave
// takes the run back.
func (a *application) join(ctx context.Context, job *run.Job, m store.Manifest, f *runFlags) (link *fleet.Link, leave func(), err error) {
	set := fleet.Settings{
		Run: job.Writer.RunID(), Identities: m.Identities, Require: f.fleet.require, CaseTimeout: f.caseTimeout, Patience: f.fleet.patience,
	}
	if f.fleet.sign != "" {
		if set.Key, err = fleet.ReadPrivateKey(f.fleet.sign); err != nil {
			return nil, nil, err
		}
	}
	if set.Bundle, err = fleet.NewBundle(m, job.Store.Blob); err != nil {
		return nil, nil, err
	}
	access := f.fleet.accessFlags
	access.Dir = f.store
	if link, err = a.connect(ctx, &access, "coordinator of "+set.Run); err != nil {
		return nil, nil, err
	}
	if link.Embedded() {
		fmt.Fprintf(a.io.Err, "workers: thresh worker --fleet %s\n", link.URL())
	}
	set.Waiting = func() {
		fmt.Fprintln(a.io.Err, "no worker has been heard of yet; the run waits for one")
	}
	c, err := fleet.Coordinate(ctx, link, set)
	if err != nil {
		link.Close()
		return nil, nil, diag.Environment("%w", err)
	}
	job.Campaigns = slices.Clone(job.Campaigns)
	for k, x := range job.Campaigns {
		job.Campaigns[k] = c.Wrap(k, x)
	}
	return link, func() {
		c.Close()
		link.Close()
	}, nil
}

func (a *application) workerCommand() *cobra.Command {
	var (
		f      accessFlags
		lanes  int
		labels []string
		trust  string
		keygen string
	)
	c := &cobra.Command{
		Use:   "worker",
		Short: "Execute cases of runs on other machines",
		Long: `A worker takes cases of whatever runs are announced at a NATS server, executes
them as a run on this machine would, and sends back what came of them. Runs may
come and go, and so may workers: none of it shows in the results.

What a worker runs is decided by whoever can write to the server. Programs named
in documents must be here, the same, byte for byte, and allowed as they are for a
run; with --trust only runs that are signed by a known key are taken.

Ctrl-C or SIGTERM: cases that are being run are finished, the rest is given back.
A second one ends them too.`,
		Example: `  thresh worker --fleet nats://build-server:4222
  thresh worker --fleet nats://build-server:4222 -j 16 --labels gpu,ffmpeg
  thresh worker --keygen run.key    # then: thresh run --sign run.key, worker --trust run.key.pub`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if keygen != "" {
				if err := fleet.WriteKeys(keygen); err != nil {
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
			if lanes < 1 || lanes > 1024 {
				return usagef("--workers must be from 1 to 1024, got %d", lanes)
			}
			w := &fleet.Worker{Lanes: lanes, Labels: labels, Compile: a.compileBundle, Say: func(format string, args ...any) {
				fmt.Fprintln(a.io.Err, printable(fmt.Sprintf(format, args...)))
			}}
			if trust != "" {
				keys, err := fleet.ReadPublicKeys(trust)
				if err != nil {
					return err
				}
				w.Trust = keys
			}
			return a.work(c.Context(), w, &f)
		},
	}
	c.Flags().SortFlags = false
	f.register(c, "`URL` of the NATS server")
	c.Flags().IntVarP(&lanes, "workers", "j", runtime.NumCPU(), "cases executed at once")
	c.Flags().StringSliceVar(&labels, "labels", nil, "what this machine has, for runs that --require it")
	c.Flags().StringVar(&trust, "trust", "", "take only runs that are signed by a public key in `FILE`")
	c.Flags().StringVar(&keygen, "keygen", "", "make a pair of keys, `FILE` and FILE.pub, and leave")
	_ = c.MarkFlagFilename("trust")
	return c
}

// work serves until the first signal, and ends running cases at the second.
func (a *application) work(ctx context.Context, w *fleet.Worker, f *accessFlags) error {
	link, err := a.connect(ctx, f, "worker")
	if err != nil {
		return err
	}
	defer link.Close()
	if n := w.Lanes + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	kill, end := context.WithCancel(context.Background())
	defer end()
	again := make(chan os.Signal, 1)
	go func() {
		<-ctx.Done()
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		select {
		case <-again:
			end()
		case <-kill.Done():
		}
		signal.Stop(again)
	}()
	fmt.Fprintf(a.io.Err, "worker with %d lanes at %s\n", w.Lanes, f.URL)
	return w.Serve(ctx, kill, link)
}

// compileBundle compiles what a coordinator sent, as a stored run is compiled
// again.
func (a *application) compileBundle(ctx context.Context, b fleet.Bundle) ([]campaign.Any, error) {
	c, _, changed, err := a.stored(ctx, b.Blob, b.Manifest)
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%s is not here as it is there", strings.Join(changed, ", "))
	}
	return c.campaigns, nil
}
