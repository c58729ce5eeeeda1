package command

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// Why there is no accelerator is said, and is an error where one was asked for.
func TestReasonsForSpawn(t *testing.T) {
	for _, c := range []struct {
		plan process.Plan
		cold bool
		note string
		err  string
	}{
		{process.Plan{Executor: process.Auto, Calibrate: []byte("x")}, true, "cases are run by spawn, as requested", ""},
		{process.Plan{Executor: process.Spawn}, false, "cases are run by spawn, as requested", ""},
		{process.Plan{Executor: process.Auto, Sandbox: true, PerCase: true}, false, "cases are run by spawn: in a sandbox every case is run by spawn", ""},
		{process.Plan{Executor: process.Auto, PerCase: true}, false, "cases are run by spawn: the command line differs from case to case", ""},
		{process.Plan{Executor: process.Auto}, false, "cases are run by spawn: there is no sample input to try an accelerator with", ""},
		{process.Plan{Executor: process.Zygote, Sandbox: true}, false, "", "the zygote executor cannot be used: in a sandbox every case is run by spawn"},
		{process.Plan{Executor: process.AFL, PerCase: true}, false, "", "the afl executor cannot be used: the command line differs from case to case"},
		{process.Plan{Executor: process.Auto, Coverage: true}, false, "", "coverage cannot be measured: there is no sample input to try an accelerator with"},
	} {
		l := &lane{plan: &c.plan}
		err := l.choose(t.Context(), nil, c.cold)
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err || strings.Join(l.notes, "\n") != c.note {
			t.Errorf("%+v: %q, %v", c, l.notes, err)
		}
	}
}

// An accelerator is taken if it is worth it, or was asked for; one that is not is closed.
func TestAcceleratorsThatAreTried(t *testing.T) {
	const ms = time.Millisecond
	broken := errors.New("broken")
	for _, c := range []struct {
		name        string
		plan        process.Plan
		quick, slow time.Duration
		lies        bool
		pin         bool // the lane keeps to one processor while cases are short
		starts      int
		note, err   string
	}{
		{"faster", process.Plan{Executor: process.Auto}, 2 * ms, 5 * ms, false, false, 2, "cases are run by the zygote executor (somehow); 16 trial runs agreed with spawn and were 2.5 times as fast", ""},
		{"just worth it", process.Plan{Executor: process.Auto}, 100 * ms, 115 * ms, false, false, 2, "cases are run by the zygote executor (somehow); 5 trial runs agreed with spawn and were 1.1 times as fast", ""},
		{"not worth it", process.Plan{Executor: process.Auto}, 100 * ms, 114 * ms, false, false, 1, "", "not faster than spawn (1.1 times as fast)"},
		{"asked for", process.Plan{Executor: process.Zygote}, 100 * ms, 50 * ms, false, false, 2, "cases are run by the zygote executor (somehow); 7 trial runs agreed with spawn and were 0.5 times as fast", ""},
		{"for coverage", process.Plan{Executor: process.Auto, Coverage: true}, 100 * ms, 50 * ms, false, false, 2, "cases are run by the zygote executor (somehow); 7 trial runs agreed with spawn and were 0.5 times as fast", ""},
		{"a liar", process.Plan{Executor: process.Auto}, 2 * ms, 5 * ms, true, false, 1, "", "zygote executor disagrees with spawn: exit status 9"},
		{"short, on one processor", process.Plan{Executor: process.Auto}, ms, 5 * ms, false, true, 1, "cases are run by the zygote executor (somehow); 16 trial runs agreed with spawn and were 5.0 times as fast", ""},
		{"long, on all of them", process.Plan{Executor: process.Auto}, 3 * ms, 15 * ms, false, true, 2, "cases are run by the zygote executor (somehow); 16 trial runs agreed with spawn and were 5.0 times as fast", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, spawn, quick := scriptedLane(nil)
			l.fast, l.restart, c.plan.Timeout, c.plan.Calibrate = nil, nil, time.Second, []byte("sample")
			l.plan, l.short = &c.plan, time.Second
			takes := func(d time.Duration) func(string, time.Duration) (process.Result, error) {
				return func(in string, _ time.Duration) (process.Result, error) { time.Sleep(d); return echo(in, d) }
			}
			quick.answer, spawn.answer = takes(c.quick), takes(c.slow)
			if c.lies {
				quick.answer = func(string, time.Duration) (process.Result, error) {
					time.Sleep(ms)
					return process.Result{ExitCode: 9}, nil
				}
			}
			p, starts := &cpuPin{}, 0
			if c.pin {
				p.one.Set(0)
			}
			err := l.try(t.Context(), p, accelerator{process.Zygote, func() (executor, error) { starts++; return quick, nil }, func() string { return "somehow" }})
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || strings.Join(l.notes, "\n") != c.note || starts != c.starts {
				t.Errorf("%s: %q, %v, started %d times", c.name, l.notes, err, starts)
			}
			if closed := starts - map[bool]int{true: 1}[err == nil]; quick.closed != closed || (l.fast != nil) != (err == nil) || (l.restart != nil) != (err == nil) || p.on != (c.pin && c.quick < shortLived) {
				t.Errorf("%s: closed %d times, taken %t, on one processor %t", c.name, quick.closed, l.fast != nil, p.on)
			}
		})
	}
	l, _, quick := scriptedLane(echo)
	l.fast = nil
	p := &cpuPin{on: true}
	if err := l.try(t.Context(), p, accelerator{process.AFL, func() (executor, error) { return nil, broken }, nil}); err != broken || l.fast != nil || !p.on || len(l.notes) > 0 {
		t.Errorf("one that cannot be started: %v, on one processor %t, %q", err, p.on, l.notes)
	}
	if err := l.try(t.Context(), p, accelerator{process.AFL, func() (executor, error) { return quick, nil }, func() string { return "somehow" }}); err != nil || l.fast != quick ||
		!slices.Equal(l.notes, []string{"cases are run by the afl executor (somehow)"}) || len(quick.runs) > 0 {
		t.Errorf("without a sample: %v, %q, %d runs", err, l.notes, len(quick.runs))
	}
}
