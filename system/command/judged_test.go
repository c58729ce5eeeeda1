package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// batching is an accelerator that takes several cases at once and says what they compare.
type batching struct {
	scripted
	batches [][]string
	some    int // how many of a batch it answers
	fault   error
}

func (b *batching) batch(_ context.Context, inputs [][]byte, limit time.Duration) (list []process.Result, err error) {
	var names []string
	for _, in := range inputs {
		names = append(names, string(in))
		if len(list) < b.some {
			list = append(list, process.Result{Stdout: in})
		}
	}
	b.batches, b.limits = append(b.batches, names), append(b.limits, limit)
	return list, b.fault
}

func (b *batching) compare(_ context.Context, runID string, input []byte, limit time.Duration) ([]process.Comparison, error) {
	b.limits = append(b.limits, limit)
	return []process.Comparison{{A: []byte(runID), B: input}}, b.fault
}

// stacked reads stacks.
type stacked struct {
	scripted
	crash *process.Crash
	fault error
}

func (r *stacked) trace(context.Context, process.Case) (*process.Crash, error) {
	return r.crash, r.fault
}

// A batch ends before a case that is run apart: one to confirm, one that is checked, and
// one with another budget.
func TestCasesInOneProcess(t *testing.T) {
	const first = coverageEvery + 1
	plain := func(n int) (list []process.Case) {
		for i := range n {
			list = append(list, process.Case{Index: first + int64(i), Input: []byte{byte('a' + i)}, Budget: 7})
		}
		return list
	}
	for _, c := range []struct {
		name  string
		cases []process.Case
		want  string // the batch
		plan  process.Plan
	}{
		{"all of them", plain(3), "a b c", process.Plan{Coverage: true}},
		{"two", plain(2), "a b", process.Plan{Coverage: true}},
		{"one alone", plain(1), "", process.Plan{Coverage: true}},
		{"without coverage", plain(3), "", process.Plan{}},
		{"one to confirm", func() []process.Case { l := plain(4); l[2].Confirm = true; return l }(), "a b", process.Plan{Coverage: true}},
		{"another budget", func() []process.Case { l := plain(4); l[3].Budget++; return l }(), "a b c", process.Plan{Coverage: true}},
		{"one that is checked", func() []process.Case { l := plain(4); l[2].Index = 2 * coverageEvery; return l }(), "a b", process.Plan{Coverage: true}},
		{"the last that is checked at first", func() []process.Case { l := plain(3); l[2].Index = checkedFirst - 1; return l }(), "a b", process.Plan{Coverage: true}},
		{"the first that is not", func() []process.Case { l := plain(3); l[2].Index = checkedFirst; return l }(), "a b c", process.Plan{Coverage: true}},
	} {
		fast := &batching{some: 2}
		budget := uint64(0)
		l := &lane{plan: &c.plan, short: time.Second, fast: fast, allow: func(n uint64) { budget = n }}
		var seen []string
		n, err := l.RunBatch(t.Context(), c.cases, func(i int, res process.Result) error {
			seen = append(seen, fmt.Sprint(i, string(res.Stdout)))
			return nil
		})
		got := ""
		if len(fast.batches) > 0 {
			got = strings.Join(fast.batches[0], " ")
		}
		if err != nil || got != c.want || n != min(len(c.want), 2) || strings.Join(seen, " ") != map[bool]string{true: "0a 1b"}[c.want != ""] || l.accelerated != int64(n) {
			t.Errorf("%s: batch %q, %d answered %q, %d counted, %v", c.name, got, n, seen, l.accelerated, err)
		}
		if c.want != "" && (budget != 7 || fast.limits[0] != time.Second) {
			t.Errorf("%s: budget %d, limits %s", c.name, budget, fast.limits)
		}
	}
	fast := &batching{some: 3}
	l := &lane{plan: &process.Plan{Coverage: true}, fast: fast}
	full := errors.New("full")
	if n, err := l.RunBatch(t.Context(), plain(3), func(i int, _ process.Result) error { return map[int]error{1: full}[i] }); n != 1 || err != full {
		t.Errorf("answers that nobody takes: %d, %v", n, err)
	}
	fast.some, fast.fault = 1, full
	if n, err := l.RunBatch(t.Context(), plain(3), func(int, process.Result) error { return nil }); n != 0 || err != full {
		t.Errorf("a batch that fails: %d, %v", n, err)
	}
	l.fast = &scripted{}
	if n, err := l.RunBatch(t.Context(), plain(3), func(int, process.Result) error { return full }); n != 0 || err != nil {
		t.Errorf("an accelerator that takes one at a time: %d, %v", n, err)
	}
}

func TestWhatACaseCompares(t *testing.T) {
	fast, budget := &batching{}, uint64(0)
	l := &lane{plan: &process.Plan{}, short: time.Minute, fast: fast, allow: func(n uint64) { budget = n }}
	c := process.Case{RunID: "id", Input: []byte("in"), Budget: 3}
	list, err := l.Compare(t.Context(), c)
	if err != nil || len(list) != 1 || string(list[0].A)+string(list[0].B) != "idin" || budget != 3 || fast.limits[0] != time.Minute {
		t.Errorf("%v, %v, budget %d, limits %s", list, err, budget, fast.limits)
	}
	if fast.fault = fmt.Errorf("%w: too long", errUnsuited); true {
		if list, err := l.Compare(t.Context(), c); list != nil || err != nil {
			t.Errorf("a case that it cannot take: %v, %v", list, err)
		}
	}
	if fast.fault = errDied; true {
		if _, err := l.Compare(t.Context(), c); err != errDied {
			t.Errorf("an accelerator that died: %v", err)
		}
	}
	if l.fast = nil; true {
		if list, err := l.Compare(t.Context(), c); list != nil || err != nil {
			t.Errorf("without an accelerator: %v, %v", list, err)
		}
	}
	if _, err := (&lane{spawn: &scripted{}}).Trace(t.Context(), c); err == nil {
		t.Error("a stack without anything that reads it")
	}
	reader := &stacked{crash: &process.Crash{}}
	x := &lane{plan: &process.Plan{}, spawn: reader}
	if got, err := x.Trace(t.Context(), c); got != reader.crash || err != nil || x.blind != "" {
		t.Errorf("a stack: %v, %v, %q", got, err, x.blind)
	}
	reader.fault = errors.New("not now")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := x.Trace(ctx, c); err != reader.fault || x.blind != "" {
		t.Errorf("a stack at the end of a run: %v, %q", err, x.blind)
	}
	for _, fault := range []string{"refused", "refused again"} {
		reader.fault = errors.New(fault)
		if _, err := x.Trace(t.Context(), c); err != reader.fault || x.blind != "refused" {
			t.Errorf("no stack: %v, %q", err, x.blind)
		}
	}
	(&lane{}).Settle()()
	settled := 0
	(&lane{settle: func() func() { settled++; return func() { settled += 2 } }}).Settle()()
	if settled != 3 {
		t.Errorf("settled and left: %d", settled)
	}
}

// What an accelerator cannot take, spawn runs at the short limit; of one that dies, edges
// are measured by the next one; and what ends a run ends it.
func TestCasesThatAnAcceleratorRefuses(t *testing.T) {
	l, spawn, quick := scriptedLane(func(string, time.Duration) (process.Result, error) {
		return process.Result{}, fmt.Errorf("%w: large", errUnsuited)
	})
	if res, err := runCase(l, 1000, "x"); err != nil || res.Executor != process.Spawn || spawn.limits[0] != l.short || l.accelerated != 0 {
		t.Errorf("%v, %v at %s, %d accelerated", res, err, spawn.limits, l.accelerated)
	}
	broken := errors.New("broken")
	quick.answer = func(string, time.Duration) (process.Result, error) { return process.Result{}, broken }
	if _, err := runCase(l, 1000, "x"); err != broken || len(spawn.runs) != 1 {
		t.Errorf("%v, %d runs", err, len(spawn.runs))
	}
	deaths := 1
	l.plan.Coverage = true
	quick.answer = func(in string, d time.Duration) (process.Result, error) {
		if deaths--; deaths >= 0 {
			return process.Result{}, errDied
		}
		return process.Result{Edges: []uint32{1}}, nil
	}
	if res, err := runCase(l, 1000, "x"); err != nil || len(res.Edges) != 1 || l.restarts != 1 || len(spawn.runs) != 1 {
		t.Errorf("after one death: %v, %v, %d restarts", res, err, l.restarts)
	}
	deaths = 2
	if res, err := runCase(l, 1000, "x"); err != nil || res.Executor != process.Spawn || spawn.limits[1] != time.Second || l.restarts != 3 || l.fast == nil {
		t.Errorf("after two deaths: %v, %v, %d restarts", res, err, l.restarts)
	}
	quick.answer = func(string, time.Duration) (process.Result, error) {
		return process.Result{Status: process.OverBudget, Edges: []uint32{1}}, nil
	}
	if res, err := runCase(l, 0, "x"); err != nil || res.Status != process.OverBudget || len(res.Edges) != 1 || l.checks != 0 {
		t.Errorf("over budget: %v, %v, %d checks", res, err, l.checks)
	}
	l.restart = func() (executor, error) { return nil, broken }
	deaths = 1
	quick.answer = func(string, time.Duration) (process.Result, error) { return process.Result{}, errDied }
	l.restarts = 0
	if res, err := runCase(l, 1000, "x"); err != nil || res.Executor != process.Spawn || l.fast != nil {
		t.Errorf("one that cannot be started again: %v, %v", res, err)
	}
	if notes := strings.Join(l.Notes(), "\n"); !strings.Contains(notes, "could not be started again: broken") || !strings.Contains(notes, "used 100ms of processor time was set aside") ||
		!strings.Contains(notes, "2 cases run by an accelerator, 3 by spawn; 0 cross-checks, 0 mismatches, 1 restarts") {
		t.Errorf("notes: %s", notes)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := l.Run(ctx, process.Case{}); !errors.Is(err, context.Canceled) || len(spawn.runs) != 3 {
		t.Errorf("after the end: %v, %d runs", err, len(spawn.runs))
	}
}

// What goes wrong on the way to a comparison ends the run, and is no verdict.
func TestComparisonsThatFail(t *testing.T) {
	broken := errors.New("broken")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere, gone := filepath.Join(file, "x"), filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		name  string
		wreck func(l *lane, spawn, quick *scripted)
		want  string
	}{
		{"the accelerator", func(_ *lane, _, quick *scripted) {
			quick.answer = func(string, time.Duration) (process.Result, error) { return process.Result{}, broken }
		}, "broken"},
		{"spawn", func(_ *lane, spawn, _ *scripted) {
			spawn.answer = func(string, time.Duration) (process.Result, error) { return process.Result{}, broken }
		}, "broken"},
		{"the outputs of the accelerator", func(l *lane, _, _ *scripted) { l.outDir = nowhere }, "list the output folder"},
		{"the outputs of spawn", func(l *lane, spawn, _ *scripted) {
			l.outDir = gone
			spawn.answer = func(in string, d time.Duration) (process.Result, error) { l.outDir = nowhere; return echo(in, d) }
		}, "list the output folder"},
		{"spawn, the second time", func(l *lane, spawn, _ *scripted) {
			l.plan.Coverage = true
			spawn.answer = func(string, time.Duration) (process.Result, error) {
				if len(spawn.runs) > 1 {
					return process.Result{}, broken
				}
				return process.Result{Stdout: []byte("other")}, nil
			}
		}, "broken"},
		{"the outputs of spawn, the second time", func(l *lane, spawn, _ *scripted) {
			l.plan.Coverage, l.outDir = true, gone
			spawn.answer = func(string, time.Duration) (process.Result, error) {
				if len(spawn.runs) > 1 {
					l.outDir = nowhere
				}
				return process.Result{Stdout: []byte("other")}, nil
			}
		}, "list the output folder"},
	} {
		for _, way := range []string{"trial", "check"} {
			l, spawn, quick := scriptedLane(echo)
			l.plan.Calibrate = []byte("sample")
			c.wreck(l, spawn, quick)
			var err error
			if way == "trial" {
				_, _, _, err = l.trial(t.Context(), quick)
			} else {
				_, err = runCase(l, 0, "sample")
			}
			var m *process.MismatchError
			if err == nil || errors.As(err, &m) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s: %v", way, c.name, err)
			}
		}
	}
	l, spawn, quick := scriptedLane(func(string, time.Duration) (process.Result, error) { return process.Result{}, errDied })
	stuck := &closing{scripted: *quick, fault: broken}
	l.fast = stuck
	if _, err := runCase(l, 1000, "x"); err != broken || len(spawn.runs) > 0 {
		t.Errorf("an accelerator that cannot be closed: %v, %d runs", err, len(spawn.runs))
	}
	if err := l.Close(); !errors.Is(err, broken) || spawn.closed != 1 || l.fast != nil {
		t.Errorf("Close: %v, spawn was closed %d times", err, spawn.closed)
	}
	l, spawn, quick = scriptedLane(echo)
	if err := l.Close(); err != nil || spawn.closed != 1 || quick.closed != 1 {
		t.Errorf("Close: %v, %d and %d", err, spawn.closed, quick.closed)
	}
}

// closing cannot be closed.
type closing struct {
	scripted
	fault error
}

func (c *closing) close() error { return c.fault }

// Notes say how cases are run, and say nothing that did not happen.
func TestNotesOfALane(t *testing.T) {
	for _, c := range []struct {
		lane lane
		want []string
	}{
		{lane{plan: &process.Plan{Timeout: time.Second}, short: time.Second}, nil},
		{lane{plan: &process.Plan{Timeout: time.Second}, short: time.Second, spawned: 9}, nil},
		{lane{plan: &process.Plan{Timeout: time.Second}, short: 50 * time.Millisecond, redone: 2}, []string{"cases were given 50ms first and the full 1s only if that was not enough (2 times)"}},
		{lane{plan: &process.Plan{Timeout: time.Second, Coverage: true}, short: time.Second, notes: []string{"a"}, blind: "refused"},
			[]string{"a", "crashes are distinguished only by their signal: refused", "a case that used 1s of processor time was set aside"}},
	} {
		if got := c.lane.Notes(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A program whose output differs from run to run is held to how it ends, where spawn
// would be no truer.
func TestOutputThatDiffersFromRunToRun(t *testing.T) {
	n := 0
	count := func(in string, _ time.Duration) (process.Result, error) {
		n++
		return process.Result{Stdout: fmt.Append(nil, n), ExitCode: len(in)}, nil
	}
	l, spawn, quick := scriptedLane(count)
	spawn.answer = count
	var m *process.MismatchError
	if _, err := runCase(l, 0, "x"); !errors.As(err, &m) || l.fickle || l.mismatches != 1 {
		t.Errorf("without coverage: %v", err)
	}
	l.plan.Coverage = true
	res, err := runCase(l, 0, "x")
	if err != nil || !l.fickle || res.Executor != process.Spawn || l.mismatches != 1 {
		t.Errorf("with coverage: %v, %v", res, err)
	}
	runs := len(spawn.runs)
	if _, err := runCase(l, 0, "x"); err != nil || len(spawn.runs) != runs+1 {
		t.Errorf("once it is known: %v after %d runs", err, len(spawn.runs)-runs)
	}
	if notes := strings.Join(l.Notes(), "\n"); strings.Count(notes, "output differs from run to run") != 1 {
		t.Errorf("notes: %s", notes)
	}
	quick.answer = func(string, time.Duration) (process.Result, error) { return process.Result{ExitCode: 9}, nil }
	if _, err := runCase(l, 0, "x"); !errors.As(err, &m) || !strings.Contains(m.What, "exit status 9, spawn says exit status 1") {
		t.Errorf("another end: %v", err)
	}
	// An accelerator that is wrong where the program is not is found out.
	l, _, _ = scriptedLane(count)
	l.plan.Coverage = true
	if _, err := runCase(l, 0, "x"); !errors.As(err, &m) || l.fickle {
		t.Errorf("a liar: %v", err)
	}
	// How far two came that were stopped is chance.
	l, spawn, _ = scriptedLane(func(string, time.Duration) (process.Result, error) {
		return process.Result{OutputLimit: true, StdoutSize: 7}, nil
	})
	if _, err := runCase(l, 0, "x"); !errors.As(err, &m) {
		t.Errorf("one that alone was stopped: %v", err)
	}
	spawn.answer = func(string, time.Duration) (process.Result, error) {
		return process.Result{OutputLimit: true, StdoutSize: 8}, nil
	}
	if res, err := runCase(l, 0, "x"); err != nil || res.StdoutSize != 8 {
		t.Errorf("two that were stopped: %v, %v", res, err)
	}
}

// The trial says how much faster an accelerator is, by the cases that neither took too long.
func TestWhatATrialSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, spawn, quick := scriptedLane(nil)
		l.plan.Calibrate = []byte("sample input")
		takes := func(d time.Duration) func(string, time.Duration) (process.Result, error) {
			return func(in string, limit time.Duration) (process.Result, error) {
				time.Sleep(d)
				if in == "" && limit < time.Second {
					return process.Result{Status: process.TimedOut}, nil
				}
				return echo(in, d)
			}
		}
		quick.answer, spawn.answer = takes(2*time.Millisecond), takes(5*time.Millisecond)
		ran, pace, gain, err := l.trial(t.Context(), quick)
		if err != nil || ran != trials-1 || pace != 2*time.Millisecond || gain != 2.5 || len(spawn.runs) != ran {
			t.Errorf("%d trials, one takes %s, %.2f times as fast, %v", ran, pace, gain, err)
		}
		if quick.limits[0] != l.short || spawn.limits[0] != l.plan.Timeout {
			t.Errorf("limits %s and %s", quick.limits[0], spawn.limits[0])
		}
		quick.answer = func(string, time.Duration) (process.Result, error) {
			return process.Result{Status: process.TimedOut}, nil
		}
		if ran, pace, gain, err := l.trial(t.Context(), quick); ran != 0 || pace != 0 || gain != 0 || err != nil {
			t.Errorf("of one that never ends: %d, %s, %f, %v", ran, pace, gain, err)
		}
	})
}

// The inputs of a trial differ, and are like the sample.
func TestVariantsOfASample(t *testing.T) {
	seen := map[string]int{}
	for i := range trials {
		v := variant([]byte("012345"), i)
		seen[string(v)]++
		want := map[int]string{0: "012345", 1: "", 2: "01", 3: "0123", 4: "012345012345", 8: "012345"}
		if w, ok := want[i]; ok && string(v) != w {
			t.Errorf("variant %d is %q, want %q", i, v, w)
		}
		differ := 0
		for k := range v {
			if len(v) == 6 && v[k] != "012345"[k] {
				differ++
			}
		}
		if i > 4 && i != 8 && (len(v) != 6 || differ < min(i, 6)/2) {
			t.Errorf("variant %d is %q, which differs in %d bytes", i, v, differ)
		}
		if len(variant(nil, i)) != 0 {
			t.Errorf("variant %d of nothing is %q", i, variant(nil, i))
		}
	}
	if len(seen) != trials-1 || seen["012345"] != 2 {
		t.Errorf("%d different ones: %v", len(seen), seen)
	}
}

func TestWhatIsRememberedOfACase(t *testing.T) {
	for want, res := range map[string]process.Result{
		"timed out": {Status: process.TimedOut, ExitCode: 3}, "signal 6": {Status: process.Signaled, Signal: 6}, "signal 11 with core": {Status: process.Signaled, Signal: 11, CoreDumped: true},
		"exit status 3": {ExitCode: 3},
	} {
		if got := ending(res); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("files have other names and kinds there")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(out, "sub"), 0o755), os.WriteFile(filepath.Join(out, "a"), []byte("abc"), 0o644), os.WriteFile(filepath.Join(out, "sub", "b"), nil, 0o644),
		os.Symlink("no where", filepath.Join(out, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const want = ". d---------\na ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nlink -> \"no where\"\nsub d---------\n" +
		"sub/b e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
	if got, err := listing(out); err != nil || got != want {
		t.Errorf("%s%v", got, err)
	}
	if got, err := listing(filepath.Join(dir, "none")); err != nil || got != "removed\n" {
		t.Errorf("a folder that is gone: %q, %v", got, err)
	}
	if got, err := listing(""); err != nil || got != "" {
		t.Errorf("no folder: %q, %v", got, err)
	}
	for _, c := range []struct{ a, b, want string }{
		{"abc", "abd", `"abc" at byte 0, spawn says "abd"`},
		{"0123456789abcdefXY", "0123456789abcdefXZ", `"123456789abcdefXY" at byte 1, spawn says "123456789abcdefXZ"`},
		{"ab", "abcd", `"ab" at byte 0, spawn says "abcd"`},
		{strings.Repeat("x", 100), strings.Repeat("x", 100) + "y", `"` + strings.Repeat("x", 16) + `" at byte 84, spawn says "` + strings.Repeat("x", 16) + `y"`},
		{strings.Repeat("x", 90), "", `"` + strings.Repeat("x", 48) + `" at byte 0, spawn says ""`},
	} {
		if got := contrast([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A watchdog ends a case once, for the first reason that there is, and never one that is
// over; the time that a case was kept waiting is its due.
func TestWatchdog(t *testing.T) {
	type seen struct{ timedOut, flooded, cancelled bool }
	for _, c := range []struct {
		name  string
		takes time.Duration // that the case takes, if nobody ends it
		fill  time.Duration // after which it has written too much; 0: never
		stop  time.Duration // after which the caller gives up; 0: never
		waits time.Duration // that it waits for a processor
		want  seen
		after time.Duration
	}{
		{"in time", 900 * time.Millisecond, 0, 0, 0, seen{}, 900 * time.Millisecond},
		{"too late", time.Hour, 0, 0, 0, seen{timedOut: true}, time.Second},
		{"too much", time.Hour, 310 * time.Millisecond, 0, 0, seen{flooded: true}, 350 * time.Millisecond},
		{"too much at the end", time.Hour, 990 * time.Millisecond, 0, 0, seen{flooded: true}, time.Second},
		{"given up", time.Hour, 0, 400 * time.Millisecond, 0, seen{cancelled: true}, 400 * time.Millisecond},
		{"kept waiting", 1500 * time.Millisecond, 0, 0, 600 * time.Millisecond, seen{}, 1500 * time.Millisecond},
		{"kept waiting, and too late", time.Hour, 0, 0, 600 * time.Millisecond, seen{timedOut: true}, 1600 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, killed := time.Now(), make(chan struct{}, 9)
			w := newWatchdog(func() { killed <- struct{}{} })
			defer w.close()
			if c.fill > 0 {
				w.full = func() bool { return time.Since(began) >= c.fill }
			}
			if c.waits > 0 {
				w.look = func() forkline.Standing { return forkline.Standing{Used: time.Since(began) - c.waits, Waited: c.waits} }
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.stop > 0 {
				time.AfterFunc(c.stop, stop)
			}
			w.follow(ctx)
			w.watch(time.Second)
			select {
			case <-killed:
			case <-time.After(c.takes):
			}
			after := time.Since(began)
			var got seen
			got.timedOut, got.flooded, got.cancelled = w.unwatch()
			if got != c.want || after != c.after {
				t.Errorf("%s: %+v after %s, want %+v after %s", c.name, got, after, c.want, c.after)
			}
			time.Sleep(time.Hour)
			if len(killed) > 0 {
				t.Errorf("%s: ended again", c.name)
			}
		})
	}
}

// One watchdog guards one case after the other, whose limits differ, and heeds the
// newest caller alone.
func TestWatchdogOfManyCases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kills := 0
		w := newWatchdog(func() { kills++ })
		first, stop := context.WithCancel(t.Context())
		w.follow(first)
		w.watch(10 * time.Second)
		time.Sleep(time.Second)
		w.unwatch()
		w.watch(time.Second) // ends before the timer of the one before would go off
		time.Sleep(1001 * time.Millisecond)
		if late, _, _ := w.unwatch(); !late || kills != 1 {
			t.Errorf("the second case: late %t, %d killed", late, kills)
		}
		w.watch(time.Minute)
		time.Sleep(30 * time.Second)
		if late, _, _ := w.unwatch(); late || kills != 1 {
			t.Errorf("the third case: late %t, %d killed", late, kills)
		}
		w.follow(t.Context())
		w.watch(time.Minute)
		stop()
		synctest.Wait()
		if _, _, gone := w.unwatch(); gone || kills != 1 {
			t.Errorf("another caller gives up: %t, %d killed", gone, kills)
		}
		w.follow(first)
		w.watch(time.Minute)
		if _, _, gone := w.unwatch(); !gone || kills != 2 {
			t.Errorf("a caller that has given up: %t, %d killed", gone, kills)
		}
		w.watch(time.Minute)
		w.close()
		if n := kills; true {
			time.Sleep(time.Hour)
			if kills != n {
				t.Errorf("killed after its end")
			}
		}
	})
}
