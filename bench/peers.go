package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// loop is the bare loop in C: the minimum that running a program takes. It delivers no input, reads
// no output and prints its own rate.
func (l *lab) loop(target []string) *contender {
	if l.programs.climit == "" {
		return nil
	}
	return &contender{name: "bare C loop", pilot: 50, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		argv := []string{strconv.FormatInt(cases, 10), strconv.Itoa(workers), "pinned"}
		out, cpu, err := run(ctx, exec.CommandContext(ctx, l.programs.climit, append(argv, l.command(target, l.path("seed.json"))...)...))
		if err != nil {
			return burst{}, err
		}
		rate, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil || rate <= 0 {
			return burst{}, fmt.Errorf("climit printed %q", out)
		}
		done := cases / int64(workers) * int64(workers)
		return burst{cases: done, seconds: float64(done) / rate, cpu: cpu}, nil
	}}
}

// command is a target's command line with the path of the input.
func (l *lab) command(target []string, input string) []string {
	argv := make([]string, len(target))
	for i, a := range target {
		if argv[i] = a; a == inputWord {
			argv[i] = input
		}
	}
	return argv
}

// peers are the other tools that can run a target given by its command line.
func (l *lab) peers(target []string) []contender {
	p := &l.programs
	var list []contender
	if p.aflFuzz != "" {
		list = append(list, l.side("AFL++ without instrumentation (-n)", 100, func(worker int, _ string, cases int64) []string {
			return append(aflCommand(p.aflFuzz, worker, cases, "-n", "-t", "1000", "--"), target...)
		}))
	}
	if p.honggfuzz != "" {
		list = append(list, l.whole("honggfuzz -x", 100, func(dir string, workers int, cases int64) []string {
			return append([]string{p.honggfuzz, "-x", "-N", strconv.FormatInt(cases, 10), "-n", strconv.Itoa(workers), "-v",
				"-W", dir, "-i", filepath.Join(dir, "in"), "-t", "5", "--"}, l.command(target, "___FILE___")...)
		}))
	}
	if p.zzuf != "" {
		list = append(list, l.whole("zzuf -O copy", 100, func(dir string, workers int, cases int64) []string {
			return append([]string{p.zzuf, "-O", "copy", "-j", strconv.Itoa(workers), "-q", "-s", fmt.Sprintf("0:%d", cases)},
				l.command(target, filepath.Join(dir, "in", "seed.json"))...)
		}))
	}
	if p.python != "" {
		list = append(list, l.side("Python, subprocess.run per case", 50, func(_ int, _ string, cases int64) []string {
			return append([]string{p.python, l.path("subprocess_loop.py"), strconv.FormatInt(cases, 10), l.path("seed.json")}, target...)
		}))
	}
	if p.radamsa != "" {
		list = append(list, l.side("sh loop with radamsa", 20, func(_ int, dir string, cases int64) []string {
			return []string{"sh", l.path("radamsa_loop.sh"), strconv.FormatInt(cases, 10), l.path("seed.json"), dir, target[0]}
		}))
	}
	return list
}

// prepared makes the folder of a burst and puts the seed into it.
func (l *lab) prepared() (string, func(), error) {
	dir, remove, err := l.scratch()
	if err != nil {
		return "", nil, err
	}
	seed, err := os.ReadFile(l.path("seed.json"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "in"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "in", "seed.json"), seed, 0o644)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// whole is a tool with its own workers; it is timed from outside, including its start.
func (l *lab) whole(name string, pilot int64, argv func(dir string, workers int, cases int64) []string) contender {
	return contender{name: name, pilot: pilot, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		dir, remove, err := l.prepared()
		if err != nil {
			return burst{}, err
		}
		defer remove()
		words := argv(dir, workers, cases)
		c := exec.CommandContext(ctx, words[0], words[1:]...)
		c.Dir = dir
		began := time.Now()
		_, cpu, err := run(ctx, c)
		return burst{cases: cases, seconds: time.Since(began).Seconds(), cpu: cpu}, err
	}}
}

// side is a tool that runs one process per worker, in parallel. It prints the seconds that it took,
// or nothing and is timed from outside.
func (l *lab) side(name string, pilot int64, argv func(worker int, dir string, cases int64) []string) contender {
	return contender{name: name, pilot: pilot, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		each := max(cases/int64(workers), 1)
		return l.each(workers, func(worker int, dir string) (burst, error) {
			words := argv(worker, dir, each)
			c := exec.CommandContext(ctx, words[0], words[1:]...)
			c.Dir, c.Env = dir, append(os.Environ(), aflSettings...)
			began := time.Now()
			out, cpu, err := run(ctx, c)
			b := burst{cases: each, seconds: time.Since(began).Seconds(), cpu: cpu}
			if own, perr := strconv.ParseFloat(strings.TrimSpace(string(out)), 64); perr == nil {
				b.seconds = own
			}
			return b, err
		})
	}}
}

// each runs one burst per worker at the same time and adds them up: the rates, the cases and the
// processor time.
func (l *lab) each(workers int, one func(worker int, dir string) (burst, error)) (burst, error) {
	bursts, errs := make([]burst, workers), make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			dir, remove, err := l.prepared()
			if err != nil {
				errs[i] = err
				return
			}
			defer remove()
			bursts[i], errs[i] = one(i, dir)
		})
	}
	wg.Wait()
	var sum burst
	rate := 0.0
	for _, b := range bursts {
		sum.cases, sum.cpu, rate = sum.cases+b.cases, sum.cpu+b.cpu, rate+b.rate()
	}
	if rate > 0 {
		sum.seconds = float64(sum.cases) / rate
	}
	return sum, errors.Join(errs...)
}

// aflSettings make afl-fuzz run without a screen and without asking for changes to the machine.
var aflSettings = []string{"AFL_NO_UI=1", "AFL_SKIP_CPUFREQ=1", "AFL_TRY_AFFINITY=1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1"}

// aflCommand makes afl-fuzz run so many cases on the seed in the folder "in". It sets the processor
// to bind to: several instances that start at once and look for a free one would all choose the
// same.
func aflCommand(afl string, worker int, cases int64, options ...string) []string {
	return append([]string{afl, "-b", strconv.Itoa(worker % runtime.NumCPU()), "-i", "in", "-o", "out", "-E", strconv.FormatInt(cases, 10)}, options...)
}

// aflPersistent is afl-fuzz in its best case: a target in persistent mode with its input in shared
// memory. One runs per worker; the rate is the one it reports itself, over its whole run.
func (l *lab) aflPersistent(program string) *contender {
	if l.programs.aflFuzz == "" {
		return nil
	}
	return &contender{name: "afl-fuzz, its own execs_per_sec", pilot: 4000, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		return l.each(workers, func(worker int, dir string) (burst, error) {
			argv := aflCommand(l.programs.aflFuzz, worker, max(cases/int64(workers), 1), "--", program)
			c := exec.CommandContext(ctx, argv[0], argv[1:]...)
			c.Dir, c.Env = dir, append(os.Environ(), aflSettings...)
			_, cpu, err := run(ctx, c)
			if err != nil {
				return burst{}, err
			}
			text, err := os.ReadFile(filepath.Join(dir, "out", "default", "fuzzer_stats"))
			if err != nil {
				return burst{}, err
			}
			b, err := aflStats(string(text))
			b.cpu = cpu
			return b, err
		})
	}}
}

// aflStats reads the statistics of afl-fuzz.
func aflStats(text string) (burst, error) {
	var b burst
	var rate float64
	var err error
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "execs_done":
			b.cases, err = strconv.ParseInt(value, 10, 64)
		case "execs_per_sec":
			rate, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return b, fmt.Errorf("fuzzer_stats: %w", err)
		}
	}
	if b.cases == 0 || rate <= 0 {
		return b, fmt.Errorf("fuzzer_stats: %d executions at %g a second", b.cases, rate)
	}
	b.seconds = float64(b.cases) / rate
	return b, nil
}
