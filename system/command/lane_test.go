package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// scripted is an executor that answers as it is told and counts its runs.
type scripted struct {
	kind   process.Executor
	answer func(input string, limit time.Duration) (process.Result, error)
	runs   []string
	limits []time.Duration
	closed int
}

func (s *scripted) name() process.Executor { return s.kind }
func (s *scripted) close() error           { s.closed++; return nil }
func (s *scripted) run(_ context.Context, _ string, input []byte, limit time.Duration) (process.Result, error) {
	s.runs, s.limits = append(s.runs, string(input)), append(s.limits, limit)
	res, err := s.answer(string(input), limit)
	res.Executor = s.kind
	return res, err
}

// echo is the honest answer.
func echo(input string, _ time.Duration) (process.Result, error) {
	return process.Result{Stdout: []byte(input), StdoutSize: int64(len(input))}, nil
}

func scriptedLane(fast func(string, time.Duration) (process.Result, error)) (*lane, *scripted, *scripted) {
	spawn := &scripted{kind: process.Spawn, answer: echo}
	quick := &scripted{kind: process.Zygote, answer: fast}
	l := &lane{plan: &process.Plan{Timeout: time.Second}, short: 100 * time.Millisecond, spawn: spawn, fast: quick,
		restart: func() (executor, error) { return quick, nil }}
	return l, spawn, quick
}

func runCase(l *lane, index int64, input string) (process.Result, error) {
	return l.Run(context.Background(), process.Case{Index: index, Input: []byte(input)})
}

func TestHonestyRule(t *testing.T) {
	l, spawn, quick := scriptedLane(echo)
	for i := range int64(600) {
		if _, err := runCase(l, i, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if want := checkedFirst + 2; len(spawn.runs) != want || len(quick.runs) != 600 {
		t.Errorf("%d runs by spawn and %d by the accelerator, want %d and 600", len(spawn.runs), len(quick.runs), want)
	}
	if last := spawn.runs[len(spawn.runs)-2:]; last[0] != "256" || last[1] != "512" {
		t.Errorf("cross-checked %v", last)
	}
	if notes := strings.Join(l.Notes(), "\n"); !strings.Contains(notes, "600 cases run by an accelerator, 34 by spawn; 34 cross-checks, 0 mismatches") {
		t.Errorf("notes: %s", notes)
	}
}

func TestMismatchIsAnError(t *testing.T) {
	for name, lie := range map[string]process.Result{
		"exit status 7, spawn says exit status 0": {ExitCode: 7, Stdout: []byte("in"), StdoutSize: 2},
		"signal 11, spawn says":                   {Status: process.Signaled, Signal: 11},
		"standard output: \"out\"":                {Stdout: []byte("out"), StdoutSize: 3},
		"standard output: ":                       {Stdout: []byte("in"), StdoutSize: 3},
		"standard error: \"e\"":                   {Stdout: []byte("in"), StdoutSize: 2, Stderr: []byte("e"), StderrSize: 1},
	} {
		l, _, _ := scriptedLane(func(string, time.Duration) (process.Result, error) { return lie, nil })
		_, err := runCase(l, 256, "in")
		var m *process.MismatchError
		if !errors.As(err, &m) || m.Case != 256 || m.Executor != process.Zygote || !strings.Contains(m.What, name) {
			t.Errorf("want %s: %v", name, err)
		}
		if _, err := runCase(l, 257, "in"); err != nil {
			t.Errorf("a case that is not cross-checked: %v", err)
		}
	}
}

func TestOutputFilesAreCompared(t *testing.T) {
	dir := t.TempDir()
	l, _, quick := scriptedLane(echo)
	l.outDir = dir
	quick.answer = func(in string, d time.Duration) (process.Result, error) {
		os.WriteFile(filepath.Join(dir, "f"), []byte(in), 0o644)
		return echo(in, d)
	}
	l.spawn.(*scripted).answer = func(in string, d time.Duration) (process.Result, error) {
		os.WriteFile(filepath.Join(dir, "f"), []byte("same"), 0o644)
		return echo(in, d)
	}
	if _, err := runCase(l, 0, "same"); err != nil {
		t.Error(err)
	}
	if _, err := runCase(l, 1, "other"); err == nil || !strings.Contains(err.Error(), "files in the output folder") {
		t.Errorf("files that differ: %v", err)
	}
}

// slow times out at any limit below the full one.
func slow(input string, limit time.Duration) (process.Result, error) {
	if limit < time.Second {
		return process.Result{Status: process.TimedOut}, nil
	}
	return echo(input, limit)
}

func TestShortLimitIsNoVerdict(t *testing.T) {
	l, spawn, _ := scriptedLane(slow)
	res, err := runCase(l, 1000, "x")
	if err != nil || res.Status != process.Exited || res.Executor != process.Spawn || spawn.limits[0] != time.Second {
		t.Errorf("%v by %s at %v, %v", res.Status, res.Executor, spawn.limits, err)
	}
	l.fast, spawn.answer, spawn.limits = nil, slow, nil
	res, err = runCase(l, 1001, "x")
	if err != nil || res.Status != process.Exited || len(spawn.limits) != 2 || spawn.limits[0] != l.short {
		t.Errorf("%v at %v, %v", res.Status, spawn.limits, err)
	}
	spawn.limits = nil
	if _, err := l.Run(context.Background(), process.Case{Confirm: true}); err != nil || spawn.limits[0] != time.Second {
		t.Errorf("a case to confirm at %v, %v", spawn.limits, err)
	}
	if l.redone != 2 || l.spawned != 3 {
		t.Errorf("%d run again and %d by spawn, want 2 and 3", l.redone, l.spawned)
	}
	spawn.limits, l.short = nil, time.Second
	spawn.answer = func(string, time.Duration) (process.Result, error) {
		return process.Result{Status: process.TimedOut}, nil
	}
	if res, err := runCase(l, 1001, "x"); err != nil || res.Status != process.TimedOut || len(spawn.limits) != 1 || l.redone != 2 {
		t.Errorf("at the full limit: %v at %v, %v", res.Status, spawn.limits, err)
	}
}

func TestAcceleratorThatDies(t *testing.T) {
	l, spawn, quick := scriptedLane(func(in string, d time.Duration) (process.Result, error) {
		if in == "kill" {
			return process.Result{}, fmt.Errorf("%w: gone", errDied)
		}
		return echo(in, d)
	})
	for i := range int64(maxRestarts + 1) {
		if l.fast == nil {
			t.Fatalf("given up after %d deaths", i)
		}
		res, err := runCase(l, 1001+i, "kill")
		if err != nil || string(res.Stdout) != "kill" || res.Executor != process.Spawn {
			t.Errorf("%q by %s, %v", res.Stdout, res.Executor, err)
		}
	}
	if l.fast != nil || quick.closed != maxRestarts+1 {
		t.Errorf("still accelerated after %d deaths", quick.closed)
	}
	if res, err := runCase(l, 2001, "on"); err != nil || res.Executor != process.Spawn || len(spawn.runs) != maxRestarts+2 {
		t.Errorf("afterwards: %v, %v", res, err)
	}
	if notes := strings.Join(l.Notes(), "\n"); !strings.Contains(notes, "died 4 times") {
		t.Errorf("notes: %s", notes)
	}
}

func TestEdgesSurviveTheCrossCheck(t *testing.T) {
	l, _, quick := scriptedLane(nil)
	l.plan.Coverage = true
	quick.answer = func(in string, d time.Duration) (process.Result, error) {
		res, err := slow(in, d)
		if in == "quick" {
			res, err = echo(in, d)
		}
		res.Edges = []uint32{1<<8 | 1}
		return res, err
	}
	if res, err := runCase(l, 0, "quick"); err != nil || len(res.Edges) != 1 || res.Executor != process.Spawn {
		t.Errorf("edges %v by %s, %v", res.Edges, res.Executor, err)
	}
	// A case that takes too long is not run again, and what it reached is chance.
	runs := len(quick.runs) + len(l.spawn.(*scripted).runs)
	if res, err := runCase(l, 0, "slow"); err != nil || res.Edges != nil || res.Status != process.SetAside {
		t.Errorf("a slow case: edges %v, %s, %v", res.Edges, res.Status, err)
	}
	if now := len(quick.runs) + len(l.spawn.(*scripted).runs); now != runs+1 {
		t.Errorf("a slow case is run %d times", now-runs)
	}
}

func TestCalibration(t *testing.T) {
	const ms = time.Millisecond
	broken := errors.New("broken")
	for _, c := range []struct {
		took                 []time.Duration // by run; the last one goes on
		timeout, want, usual time.Duration
		runs                 int
	}{
		{[]time.Duration{ms}, time.Second, 50 * ms, ms, 5},
		{[]time.Duration{20 * ms}, time.Second, 200 * ms, 20 * ms, 5},
		{[]time.Duration{ms}, 30 * ms, 30 * ms, ms, 5},
		{[]time.Duration{500 * ms}, time.Second, time.Second, 500 * ms, 1},
		{[]time.Duration{100 * ms}, time.Second, time.Second, 100 * ms, 1},
		{[]time.Duration{99 * ms}, time.Second, 990 * ms, 99 * ms, 5},
		{[]time.Duration{90 * ms, 8 * ms, 70 * ms, 6 * ms, 9 * ms}, time.Second, 90 * ms, 9 * ms, 5},
		{[]time.Duration{1200 * ms}, 30 * time.Second, 12 * time.Second, 1200 * ms, 1},
		{[]time.Duration{400 * ms}, 30 * time.Second, 4 * time.Second, 400 * ms, 3},
		{[]time.Duration{ms, 0}, time.Second, time.Second, 0, 2}, // 0: ended at the limit
	} {
		s := &scripted{kind: process.Spawn}
		s.answer = func(string, time.Duration) (process.Result, error) {
			took := c.took[min(len(s.runs), len(c.took))-1]
			if took == 0 {
				return process.Result{Status: process.TimedOut}, nil
			}
			return process.Result{Elapsed: took}, nil
		}
		got, usual, err := calibrate(context.Background(), &process.Plan{Timeout: c.timeout, Calibrate: []byte("x")}, s)
		if err != nil || got != c.want || usual != c.usual || len(s.runs) != c.runs {
			t.Errorf("runs of %v under %v: short limit %v, want %v; usual %v, want %v; %d runs, %v", c.took, c.timeout, got, c.want, usual, c.usual, len(s.runs), err)
		}
		s.answer = func(string, time.Duration) (process.Result, error) { return process.Result{}, broken }
		if _, _, err := calibrate(context.Background(), &process.Plan{Timeout: c.timeout, Calibrate: []byte("x")}, s); !errors.Is(err, broken) {
			t.Errorf("a program that cannot be run: %v", err)
		}
		if got, usual, err := calibrate(context.Background(), &process.Plan{Timeout: c.timeout}, s); got != c.timeout || usual != 0 || err != nil {
			t.Errorf("without an input: %v, %v, %v", got, usual, err)
		}
	}
}

func TestTrialRefusesALiar(t *testing.T) {
	l, _, quick := scriptedLane(echo)
	l.plan.Calibrate = []byte("sample input")
	if _, _, _, err := l.trial(context.Background(), quick); err != nil || len(quick.runs) != trials {
		t.Errorf("an honest accelerator: %v after %d runs", err, len(quick.runs))
	}
	quick.answer = func(in string, d time.Duration) (process.Result, error) {
		if in == "" {
			return process.Result{ExitCode: 1}, nil
		}
		return echo(in, d)
	}
	var m *process.MismatchError
	if _, _, _, err := l.trial(context.Background(), quick); !errors.As(err, &m) {
		t.Errorf("a liar: %v", err)
	}
}

// A program that takes long does not use up the time of the run in trials.
func TestTrialOfWhatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, quick := scriptedLane(echo)
		l.plan.Calibrate = []byte("sample input")
		quick.answer = func(in string, d time.Duration) (process.Result, error) {
			time.Sleep(2 * longTrial)
			return echo(in, d)
		}
		if ran, _, _, err := l.trial(t.Context(), quick); err != nil || ran != fewTrials {
			t.Errorf("%d trials, %v", ran, err)
		}
	})
}

// A case that the end of the run cuts off beyond its own limit, because it waits for a
// processor, is no timeout, and is not passed over in silence.
func TestCasesCutOffBeyondTheirLimit(t *testing.T) {
	l, spawn, _ := scriptedLane(echo)
	ctx, cancel := context.WithCancel(context.Background())
	l.fast, l.plan.Timeout, l.short = nil, 2*time.Millisecond, time.Millisecond
	spawn.answer = func(_ string, limit time.Duration) (process.Result, error) {
		if limit < l.plan.Timeout {
			return process.Result{Status: process.TimedOut}, nil
		}
		time.Sleep(2 * l.plan.Timeout)
		cancel()
		return process.Result{}, ctx.Err()
	}
	if _, err := l.Run(ctx, process.Case{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if notes := strings.Join(l.Notes(), "\n"); !strings.Contains(notes, "may or may not hang") {
		t.Errorf("%q", notes)
	}
}
