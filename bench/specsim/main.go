// Command specsim measures how fast Thresh runs Spec-Test documents, compared with a bare loop that
// starts the same programs and with other installed runners of documents.
//
//	bash bench/specs [--rounds N] [--cases N] [--many N]
//
// It generates its inputs, imports nothing of Thresh, and times programs from outside, including
// their start. No figure makes it fail.
package main

import (
	"context"
	"encoding/json"
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
	if err := bench(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "specsim:", err)
		os.Exit(1)
	}
}

// contender is a way to run a number of cases.
type contender struct {
	name  string
	cases int
	argv  []string
	dir   string
	fails bool                            // it exits with 1, as it should
	alone func(ctx context.Context) error // runs in this process, instead of argv
}

// figure is the cost of a run.
type figure struct {
	wall, cpu time.Duration
	peak      int64   // KiB of the largest process; 0: unknown
	own       float64 // cases per second in the run's own report, without start and reading; 0: none
}

func bench(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("specsim", flag.ContinueOnError)
	thresh := fs.String("thresh", "thresh", "the `PROGRAM` to measure")
	testscript := fs.String("testscript", "", "`PROGRAM` that runs testscript files, if there is one")
	rounds := fs.Int("rounds", 5, "rounds, of which the median is shown")
	cases := fs.Int("cases", 500, "cases of a contender")
	many := fs.Int("many", 100_000, "cases of the long document")
	if err := fs.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "thresh-specs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	groups, missing, err := groups(dir, *thresh, *testscript, *cases, *many)
	if err != nil {
		return err
	}
	for _, m := range missing {
		fmt.Println("left out:", m)
	}
	fmt.Printf("| %-52s | %8s | %8s | %9s | %9s | %9s | %8s |\n", "", "cases", "wall s", "cases/s", "its own", "CPU µs", "peak MB")
	fmt.Printf("| %s | %s: | %s: | %s: | %s: | %s: | %s: |\n", strings.Repeat("-", 52), strings.Repeat("-", 7), strings.Repeat("-", 7), strings.Repeat("-", 8), strings.Repeat("-", 8), strings.Repeat("-", 8), strings.Repeat("-", 7))
	for _, group := range groups {
		figures := make([][]figure, len(group))
		for range *rounds {
			for i, c := range group {
				f, err := c.run(ctx)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				figures[i] = append(figures[i], f)
			}
		}
		for i, c := range group {
			slices.SortFunc(figures[i], func(a, b figure) int { return int(a.wall - b.wall) })
			f := figures[i][len(figures[i])/2]
			fmt.Printf("| %-52s | %8d | %8.3f | %9.0f | %9.0f | %9.1f | %8.1f |\n", c.name, c.cases, f.wall.Seconds(),
				float64(c.cases)/f.wall.Seconds(), f.own, float64(f.cpu.Microseconds())/float64(c.cases), float64(f.peak)/1024)
		}
	}
	return nil
}

func (c *contender) run(ctx context.Context) (figure, error) {
	began := time.Now()
	if c.alone != nil {
		before := used()
		err := c.alone(ctx)
		return figure{wall: time.Since(began), cpu: used() - before}, err
	}
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	f := figure{wall: time.Since(began)}
	if c.fails {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			return f, fmt.Errorf("ends with %w instead of exit status 1\n%s", err, out)
		}
		err = nil
	}
	if err != nil {
		return f, fmt.Errorf("%w\n%s", err, out)
	}
	f.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.peak = u.Maxrss
	}
	f.own, err = ownRate(filepath.Join(c.dir, "report.json"))
	return f, err
}

// ownRate reads the rate from a run's report, if it wrote one.
func ownRate(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var report struct {
		Environment struct {
			Rate float64 `json:"cases_per_second"`
		} `json:"environment"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return 0, fmt.Errorf("reading the report: %w", err)
	}
	return report.Environment.Rate, os.Remove(path)
}

// used is the processor time of this process and of the processes it has waited for.
func used() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

// write writes a file and makes its folder.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
