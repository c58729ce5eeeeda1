package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// scaleCommand runs one campaign of very many cases, kills the same campaign partway, and resumes
// it.
func scaleCommand(ctx context.Context, args []string) error {
	fl := flag.NewFlagSet("bench scale", flag.ContinueOnError)
	thresh := fl.String("thresh", "thresh", "the `PROGRAM` to measure")
	cases := fl.Int64("cases", 0, "cases of the campaign (0: a million, or, without AFL++, what spawning can do in minutes)")
	share := fl.Float64("kill", 0.6, "share of the campaign after which it is killed")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 || *cases < 0 || !(*share > 0 && *share < 1) {
		return errors.New("usage: bench scale [--cases N] [--kill SHARE]")
	}
	l, err := newLab(ctx, *thresh)
	if err != nil {
		return err
	}
	defer l.close()
	s := scale{lab: l, workers: runtime.NumCPU(), cases: 1_000_000, share: *share}
	switch p := &l.programs; {
	case p.persistent != "":
		s.executor, s.target = "afl", process{argv: []string{p.persistent}}
	case p.reader != "":
		s.executor, s.target, s.cases = "auto", process{argv: []string{p.reader, inputWord}}, 200_000
		fmt.Println("no AFL++: the static target instead, and", s.cases, "cases")
	default:
		fmt.Println("nothing to run: neither gcc nor afl-clang-fast is installed")
		return nil
	}
	if *cases > 0 {
		s.cases = *cases
	}
	fmt.Println(machine())
	return s.measure(ctx)
}

// scale is one campaign, run twice: once without interruption, once killed and resumed.
type scale struct {
	*lab
	executor string
	target   process
	workers  int
	cases    int64
	share    float64
}

func (s *scale) measure(ctx context.Context) error {
	through, remove, err := s.scratch()
	if err != nil {
		return err
	}
	defer remove()
	spec, err := s.spec(through, s.target, s.cases)
	if err != nil {
		return err
	}
	c := s.threshCommand(ctx, through, spec, s.executor, s.target, s.workers)
	began := time.Now()
	if _, _, err := run(ctx, c, foundSome); err != nil {
		return err
	}
	took := time.Since(began)
	whole, err := readReport(through)
	if err != nil {
		return err
	}
	n := whole.Campaigns[0].Cases.Run
	fmt.Printf("run through: %d cases with %d workers in %.1f s (%.0f/s), peak memory %.0f MB, store %.1f MB (%.1f bytes a case)\n",
		n, s.workers, took.Seconds(), float64(n)/took.Seconds(), maxRSS(c.ProcessState), mega(size(filepath.Join(through, ".thresh"))),
		float64(size(filepath.Join(through, ".thresh")))/float64(max(n, 1)))
	return s.killed(ctx, through, spec, took, whole.Digest)
}

// killed runs the campaign again in a separate store, kills it and resumes it. It must reach the
// same digest.
func (s *scale) killed(ctx context.Context, dir, spec string, took time.Duration, digest string) error {
	store := filepath.Join(dir, "killed")
	c := s.threshCommand(ctx, dir, spec, s.executor, s.target, s.workers)
	c.Args = append(c.Args, "--store", store)
	if err := c.Start(); err != nil {
		return err
	}
	select {
	case <-time.After(time.Duration(float64(took) * s.share)):
	case <-ctx.Done():
	}
	if err := c.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := size(journals(store))
	fmt.Printf("killed after %.1f s with %.1f MB of journal\n", took.Seconds()*s.share, mega(before))

	r := s.threshResume(ctx, dir, store, s.workers)
	began := time.Now()
	if err := r.Start(); err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- r.Wait() }()
	first, err := grown(journals(store), before+freshBytes, began, gone)
	if err != nil {
		return err
	}
	resumed, err := readReport(dir)
	if err != nil {
		return err
	}
	same := "the same digest as the run that was not killed"
	if resumed.Digest != digest {
		same = "ANOTHER DIGEST than the run that was not killed"
	}
	when := "it was complete already"
	if first > 0 {
		when = fmt.Sprintf("new cases in the journal after %.2f s", first.Seconds())
	}
	fmt.Printf("resumed: %s, all %d cases after %.1f s, peak memory %.0f MB, %s\n",
		when, resumed.Campaigns[0].Cases.Run, time.Since(began).Seconds(), maxRSS(r.ProcessState), same)
	if resumed.Digest != digest {
		return errors.New("the resumed run is not equal to the run that was not killed")
	}
	return nil
}

// freshBytes is the growth of a journal that proves new outcomes: more than the note of the
// resumption takes, and some hundreds of outcomes.
const freshBytes = 4 << 10

// grown waits until a run's journal has a size, and returns how long that took, or 0 if it never
// did; then it waits for the end of the process.
func grown(journals string, enough int64, began time.Time, gone <-chan error) (first time.Duration, err error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for first == 0 {
		select {
		case err := <-gone:
			return 0, err
		case <-tick.C:
			if size(journals) >= enough {
				first = time.Since(began)
			}
		}
	}
	return first, <-gone
}

func journals(store string) string { return filepath.Join(store, "runs") }

// size is the total size in bytes of all files in a folder.
func size(dir string) int64 {
	var sum int64
	// A file that disappears meanwhile has no size.
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }

// maxRSS is the peak resident memory of a process, in MB.
func maxRSS(s *os.ProcessState) float64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) * 1024 / 1e6
}
