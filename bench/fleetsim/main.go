// Command fleetsim measures the cost of a fleet, on targets that only sleep, and extrapolates by
// simulation.
//
//	bash bench/fleet [--workers 1,2,4,8,16] [--cases N] [--tiny N]
//
// Workers are separate processes on this machine; the server is the embedded one. It is a program
// to look at, not a test: no figure makes it fail. docs/scale.md explains the figures.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

func main() {
	if err := bench(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fleetsim:", err)
		os.Exit(1)
	}
}

func bench(args []string) error {
	fs := flag.NewFlagSet("fleetsim", flag.ContinueOnError)
	worker := fs.String("worker", "", "")
	counts := fs.String("workers", "1,2,4,8,16", "numbers of workers, each with one lane")
	cases := fs.Int64("cases", 2000, "cases of 5 ms for each worker")
	tiny := fs.Int64("tiny", 1_000_000, "cases that take no time")
	simulate := fs.Bool("simulate", false, "the simulation alone")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *worker != "" {
		return serve(*worker)
	}
	if !*simulate {
		if err := measure(*counts, *cases, *tiny); err != nil {
			return err
		}
	}
	fmt.Print(simulation())
	return nil
}

func measure(counts string, cases, tiny int64) error {
	local, err := once(sleeper{cases, 5 * time.Millisecond}, 0)
	if err != nil {
		return err
	}
	fmt.Printf("| cases of 5 ms | workers | cases/s | of workers x local | coordinator's CPU per case |\n| - | -: | -: | -: | -: |\n")
	fmt.Printf("| without a fleet | 1 | %.0f | 1.00 | %.1f µs |\n", local.rate, local.cpu)
	for _, word := range strings.Split(counts, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("--workers: %q is not a number of workers", word)
		}
		r, err := once(sleeper{cases * int64(n), 5 * time.Millisecond}, n)
		if err != nil {
			return err
		}
		if r.digest == local.digest && n > 1 {
			return errors.New("campaigns of different lengths have one digest")
		}
		fmt.Printf("| fleet | %d | %.0f | %.2f | %.1f µs |\n", n, r.rate, r.rate/local.rate/float64(n), r.cpu)
	}
	r, err := once(sleeper{tiny, 0}, 2)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d cases that take no time, 2 workers: %.1f s, %.0f cases/s, %.1f µs of the coordinator's processor time a case\n\n",
		tiny, r.seconds, r.rate, r.cpu)
	return nil
}

// result is the result of a run.
type result struct {
	seconds, rate, cpu float64 // cpu: µs of this process per case
	digest             string
}

// once runs a campaign with so many workers; 0: without a fleet, one lane.
func once(c sleeper, workers int) (result, error) {
	var none result
	dir, err := os.MkdirTemp("", "thresh-fleetsim-")
	if err != nil {
		return none, err
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		return none, err
	}
	defer st.Close()
	m := store.Manifest{Identities: []campaign.Identity{c.Identity()}}
	w, err := st.Begin(m)
	if err != nil {
		return none, err
	}
	defer w.Close()
	ctx := context.Background()
	job := run.Job{Campaigns: []campaign.Any{campaign.Erase(c)}, Sources: []string{"sleep"}, Store: st, Writer: w}
	opt := run.Options{Workers: 1}
	if workers > 0 {
		opt.Workers = max(2*workers, 8)
		link, err := fleet.Connect(ctx, fleet.Access{URL: "embedded", Dir: dir, Token: simulated}, "fleetsim")
		if err != nil {
			return none, err
		}
		defer link.Close()
		for range workers {
			cmd := exec.Command(os.Args[0], "--worker", link.URL())
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				return none, err
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		}
		if err := all(link, workers); err != nil {
			return none, err
		}
		co, err := fleet.Coordinate(ctx, link, fleet.Settings{Run: w.RunID(), Identities: m.Identities, Bundle: fleet.Bundle{Manifest: m}})
		if err != nil {
			return none, err
		}
		defer co.Close()
		job.Campaigns[0] = co.Wrap(0, job.Campaigns[0])
	}
	before, began := processorTime(), time.Now()
	rec, err := run.Run(ctx, job, opt)
	took := time.Since(began).Seconds()
	if err != nil {
		return none, err
	}
	if rec.Campaigns[0].Cases.Pass != c.cases {
		return none, fmt.Errorf("%+v of %d cases", rec.Campaigns[0].Cases, c.cases)
	}
	n := float64(c.cases)
	return result{took, n / took, float64((processorTime() - before).Microseconds()) / n, rec.Digest}, nil
}

// all waits until every worker has reported.
func all(link *fleet.Link, n int) error {
	w, err := fleet.Watch(link)
	if err != nil {
		return err
	}
	defer w.Close()
	for range 600 {
		if len(w.Rows()) >= n {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("workers do not come")
}

// simulated is the token of the simulated server.
const simulated = "fleetsim-fleetsim-fleetsim"

// serve is a worker process. The identity of the run contains its campaign.
func serve(url string) error {
	ctx := context.Background()
	link, err := fleet.Connect(ctx, fleet.Access{URL: url, Token: simulated}, "worker")
	if err != nil {
		return err
	}
	w := &fleet.Worker{Lanes: 1, Say: func(string, ...any) {}, Compile: func(_ context.Context, b fleet.Bundle) ([]campaign.Any, error) {
		var c sleeper
		if _, err := fmt.Sscan(b.Manifest.Identities[0].Digest, &c.cases, (*int64)(&c.each)); err != nil {
			return nil, err
		}
		return []campaign.Any{campaign.Erase(c)}, nil
	}}
	return w.Serve(ctx, ctx, link)
}

// sleeper is a campaign of cases that sleep.
type sleeper struct {
	cases int64
	each  time.Duration
}

func (c sleeper) Identity() campaign.Identity {
	return campaign.Identity{Contract: "sleep", Name: "sleep", Digest: fmt.Sprintf("%d %d", c.cases, c.each)}
}
func (c sleeper) Planned() int64                                { return c.cases }
func (c sleeper) Probe(context.Context) (campaign.Facts, error) { return campaign.Facts{}, nil }
func (c sleeper) Start(campaign.Facts) int                      { return 0 }
func (c sleeper) Round(s int) (campaign.Round, bool)            { return campaign.Round{Len: c.cases}, s == 0 }
func (c sleeper) Fold(s int, results iter.Seq2[campaign.Case, campaign.Outcome]) int {
	for range results {
	}
	return s + 1
}
func (c sleeper) Open(*campaign.Cache) campaign.Session[int] {
	return campaign.Separate[int](c.executor)
}
func (c sleeper) executor(context.Context, campaign.Lane) (campaign.Executor[int], error) {
	return &sleep{each: c.each}, nil
}

type sleep struct {
	each time.Duration
	data [8]byte
}

func (s *sleep) Execute(_ context.Context, _ int, at campaign.Case) (campaign.Outcome, error) {
	if s.each > 0 {
		time.Sleep(s.each)
		return campaign.Outcome{}, nil
	}
	if at.Index%64 == 0 { // some outcomes have data, as those of real targets do
		binary.LittleEndian.PutUint64(s.data[:], uint64(at.Index))
		return campaign.Outcome{Data: append([]byte(nil), s.data[:]...)}, nil
	}
	return campaign.Outcome{}, nil
}
func (s *sleep) Close() error { return nil }
