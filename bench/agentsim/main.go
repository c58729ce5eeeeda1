// Command agentsim measures how fast Thresh runs the matrix of a flakestorm contract against an
// agent that answers at once, compared with a bare loop and with promptfoo on the same agent and
// prompts.
//
//	bash bench/agents [--rounds N] [--cells N] [--many N]
//
// It generates its inputs, imports nothing of Thresh, and times programs from outside, including
// their start. Contenders take turns; ratios are relative to promptfoo, within a round. No figure
// makes it fail.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := func() error { return bench(ctx, os.Args[1:]) }
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		run = serve
	}
	if err := run(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agentsim:", err)
		os.Exit(1)
	}
}

type options struct {
	thresh, promptfoo   string
	rounds, cells, many int
}

// contender is a way to judge a number of cells.
type contender struct {
	name  string
	cells int
	argv  []string
	env   []string // nil: the environment of this process
	dir   string
	peer  bool                            // the one that others are compared with
	alone func(ctx context.Context) error // runs in this process, instead of argv
}

// figure is the cost of a run.
type figure struct {
	wall, cpu time.Duration
	peak      int64   // KiB of the largest process; 0: unknown
	ratio     float64 // cells per second relative to the peer's, in the same round; 0: none
}

func bench(ctx context.Context, args []string) error {
	var o options
	fs := flag.NewFlagSet("agentsim", flag.ContinueOnError)
	fs.StringVar(&o.thresh, "thresh", "thresh", "the `PROGRAM` to measure")
	fs.StringVar(&o.promptfoo, "promptfoo", "", "promptfoo's `PROGRAM`, if there is one")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds, of which the median is shown")
	fs.IntVar(&o.cells, "cells", 1000, "cells of a matrix, a multiple of 20")
	fs.IntVar(&o.many, "many", 10_000, "cells of the large matrix; 0: none")
	if err := fs.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "thresh-agents-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a := &instant{}
	at, err := a.listen("0")
	if err != nil {
		return err
	}
	list, missing, err := suites(dir, o, a, at)
	if err != nil {
		return err
	}
	for _, m := range missing {
		fmt.Println("left out:", m)
	}
	figures := make([][]figure, len(list))
	for range o.rounds {
		peer := 0.0
		for i := range list {
			f, err := list[i].run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", list[i].name, err)
			}
			if list[i].peer {
				peer = float64(list[i].cells) / f.wall.Seconds()
			}
			figures[i] = append(figures[i], f)
		}
		for i := range list {
			if f := &figures[i][len(figures[i])-1]; peer > 0 {
				f.ratio = float64(list[i].cells) / f.wall.Seconds() / peer
			}
		}
	}
	print(list, figures)
	return nil
}

func print(list []contender, figures [][]figure) {
	fmt.Printf("| %-58s | %6s | %7s | %8s | %11s | %11s | %7s |\n", "", "cells", "wall s", "cells/s", "× promptfoo", "CPU µs/cell", "peak MB")
	fmt.Printf("| %s | %s: | %s: | %s: | %s: | %s: | %s: |\n", strings.Repeat("-", 58), strings.Repeat("-", 5), strings.Repeat("-", 6), strings.Repeat("-", 7), strings.Repeat("-", 10), strings.Repeat("-", 10), strings.Repeat("-", 6))
	for i, c := range list {
		middle := len(figures[i]) / 2
		slices.SortFunc(figures[i], func(a, b figure) int { return cmp.Compare(a.ratio, b.ratio) })
		ratio, peak := "–", "–"
		if f := figures[i][middle]; f.ratio > 0 {
			ratio = fmt.Sprintf("%.1f", f.ratio)
		}
		slices.SortFunc(figures[i], func(a, b figure) int { return cmp.Compare(a.wall, b.wall) })
		f := figures[i][middle]
		if f.peak > 0 {
			peak = fmt.Sprintf("%.0f", float64(f.peak)/1024)
		}
		fmt.Printf("| %-58s | %6d | %7.2f | %8.0f | %11s | %11.0f | %7s |\n", c.name, c.cells, f.wall.Seconds(),
			float64(c.cells)/f.wall.Seconds(), ratio, float64(f.cpu.Microseconds())/float64(c.cells), peak)
	}
}

func (c *contender) run(ctx context.Context) (figure, error) {
	began := time.Now()
	if c.alone != nil {
		before := used()
		err := c.alone(ctx)
		return figure{wall: time.Since(began), cpu: used() - before}, err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, ".thresh")); err != nil {
		return figure{}, err
	}
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	f := figure{wall: time.Since(began)}
	if err != nil {
		return f, fmt.Errorf("%w\n%s", err, out)
	}
	f.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.peak = u.Maxrss
	}
	return f, nil
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// write writes a file and makes its folder.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
