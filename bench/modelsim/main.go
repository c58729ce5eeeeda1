// Command modelsim measures the exploration of models with a module: steps of model and module
// together on one core, compared with rapid, a stateful tester, on the same system; restoring
// memory; endless loops.
//
//	bash bench/models [--rounds N] [--seconds S]
//	bash bench/states [--rounds N]
//
// Contenders take turns within each round, in one process. The figures are processor time of that
// process, including garbage collection, so that other load on the machine matters little. No
// figure makes it fail.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/system/wasm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "modelsim:", err)
		os.Exit(1)
	}
}

// contender is something to measure: run does a little of it, and returns the number of units.
type contender struct {
	name string
	unit string // "steps" are shown per second, other units by their time
	run  func() (units int, err error)
}

func bench(ctx context.Context) error {
	rounds := flag.Int("rounds", 5, "rounds, of which the median is shown")
	seeds := flag.Int("seeds", 0, "tell instead how many calls each planted fault of the queue takes, over so many seeds")
	language := flag.Bool("language", false, "with --seeds: of all examples, in JSON and in the language")
	seconds := flag.Float64("seconds", 1, "processor time of a contender in a round")
	thresh := flag.String("states", "", "go instead through all states of a model, with this build of thresh")
	quint := flag.String("quint", "", "with --states: Quint's program")
	depth := flag.Int("bare", 0, "only go through the states of that model by hand, to this depth")
	testing.Init() // rapid asks whether tests should be short
	flag.Parse()
	switch {
	case *depth > 0:
		n, err := bare(*depth)
		fmt.Println(n, "states")
		return err
	case *thresh != "":
		return compareStates(ctx, *thresh, *quint, *rounds)
	}
	engine, err := wasm.NewEngine("")
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	if *seeds > 0 && *language {
		return languages(ctx, engine, *seeds)
	}
	if *seeds > 0 {
		return hunts(ctx, engine, *seeds)
	}
	var list []contender
	for _, add := range []func(context.Context, *wasm.Engine) ([]contender, error){campaigns, rivals, instances} {
		more, err := add(ctx, engine)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	took := make([][]float64, len(list)) // seconds of processor time per unit, by contender
	for range *rounds {
		for i, c := range list {
			each, err := burst(ctx, c, *seconds)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took[i] = append(took[i], each)
		}
	}
	fmt.Printf("| %-58s | %16s | %16s | %16s |\n|%s|%s:|%s:|%s:|\n", "", "median", "best", "worst", dashes(60), dashes(17), dashes(17), dashes(17))
	for i, c := range list {
		slices.Sort(took[i])
		n := len(took[i])
		fmt.Printf("| %-58s | %16s | %16s | %16s |\n", c.name, c.tell(took[i][n/2]), c.tell(took[i][0]), c.tell(took[i][n-1]))
	}
	return nil
}

func dashes(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '-'
	}
	return string(b)
}

// tell formats the time of a unit.
func (c contender) tell(each float64) string {
	if c.unit == "steps" {
		return fmt.Sprintf("%.0f steps/s", 1/each)
	}
	return fmt.Sprintf("%.2f µs", each*1e6)
}

// burst runs a contender for a while and returns the processor time of a unit.
func burst(ctx context.Context, c contender, seconds float64) (float64, error) {
	begin, units := used(), 0
	for {
		n, err := c.run()
		if err != nil {
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("measuring: %w", err)
		}
		units += n
		if t := used() - begin; t.Seconds() >= seconds {
			return t.Seconds() / float64(units), nil
		}
	}
}

// used is the processor time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
