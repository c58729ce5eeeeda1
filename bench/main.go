// Command bench compares Thresh with the minimum that any program needs, and with other tools of
// its kind, on the current machine.
//
//	bash bench/run [--smoke] [--rounds N] [--seconds S] [--only WORDS]
//	               [--calm PERCENT] [--rest SECONDS]
//	bash bench/scale [--cases N] [--kill SHARE]
//
// Contenders run in short bursts, one after another, round after round, so that a disturbance of
// the machine affects them all. It skips and reports tools that are not installed. README.md
// explains the figures.
//
// It runs Thresh as users do, through its command line; only the contender "system/command alone"
// uses packages of it. It is a program to look at, not a test: no figure makes it fail.
package main

import (
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := bench(ctx, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// options are the options of the comparison.
type options struct {
	thresh  string
	rounds  int
	seconds float64
	only    string
	smoke   bool
	calm    float64
	rest    float64
}

func bench(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "scale" {
		return scaleCommand(ctx, args[1:])
	}
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.thresh, "thresh", "thresh", "the `PROGRAM` to measure")
	fs.IntVar(&o.rounds, "rounds", 5, "rounds, of which the median is shown")
	fs.Float64Var(&o.seconds, "seconds", 1.5, "length of one burst")
	fs.StringVar(&o.only, "only", "", "contenders whose name holds one of these `WORDS`, with commas between; bases are always run")
	fs.Float64Var(&o.calm, "calm", 100, "make a burst again, up to 8 times, when others used more than this `PERCENT` of all processors")
	fs.Float64Var(&o.rest, "rest", 0, "`SECONDS` of pause before each burst, for the sake of others on the machine")
	fs.BoolVar(&o.smoke, "smoke", false, "one round of tiny bursts, to see that all of it works; the figures mean nothing")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || o.rounds < 1 || !(o.seconds > 0) {
		return fmt.Errorf("usage: bench [--smoke] [--rounds N] [--seconds S] [--only WORDS] [--calm PERCENT] [--rest SECONDS]")
	}
	lab, err := newLab(ctx, o.thresh)
	if err != nil {
		return err
	}
	defer lab.close()
	fields := choose(contests(lab), o.only)
	if o.smoke {
		o.rounds = 1
	}
	fmt.Println(machine())
	for _, line := range lab.missing {
		fmt.Println("left out:", line)
	}
	t := newTally(fields)
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, o.rounds)
		if err := t.round(ctx, o); err != nil {
			return err
		}
	}
	fmt.Println(machine())
	fmt.Print(t.table())
	return t.err()
}

// choose keeps the requested contenders, and the bases of their contests.
func choose(all []contest, only string) []contest {
	if only == "" {
		return all
	}
	words := strings.Split(only, ",")
	var some []contest
	for _, c := range all {
		c.contenders = slices.DeleteFunc(slices.Clone(c.contenders), func(x contender) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(c.name+": "+x.name, w) })
		})
		if len(c.contenders) > 0 {
			some = append(some, c)
		}
	}
	return some
}

// absolute finds a program as the shell does.
func absolute(program string) (string, error) {
	p, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%w (bench/run builds it)", err)
	}
	return filepath.Abs(p)
}
