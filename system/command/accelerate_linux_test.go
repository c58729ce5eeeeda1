package command

import (
	"context"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func openWith(t *testing.T, x process.Executor, path string, change func(*process.Plan)) process.Runner {
	t.Helper()
	plan := systemtest.Subject{Path: path, Executor: x}.Plan()
	plan.Calibrate = []byte("print sample")
	if change != nil {
		change(&plan)
	}
	r, err := Open(context.Background(), plan, 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestAutoChooses(t *testing.T) {
	r := openWith(t, process.Auto, systemtest.Build(t, targetC, "cc", "-O1"), nil)
	notes := strings.Join(r.Notes(), "\n")
	if !strings.Contains(notes, "by the zygote executor") && !strings.Contains(notes, "not faster than spawn") {
		t.Errorf("notes: %s", notes)
	}
	// Without a sample nothing can be tried.
	r = openWith(t, process.Auto, "", func(p *process.Plan) { p.Calibrate = nil })
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, "no sample input") {
		t.Errorf("notes: %s", notes)
	}
}

func TestCoverage(t *testing.T) {
	r := openWith(t, process.Auto, systemtest.Build(t, targetC, "afl-clang-fast", "-O1"), func(p *process.Plan) { p.Coverage = true })
	edges := func(index int64, input string) string {
		t.Helper()
		res, err := r.Run(context.Background(), process.Case{Index: index, Input: []byte(input)})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, e := range res.Edges {
			b.WriteRune(rune(e >> 8))
		}
		return b.String()
	}
	a := edges(1000, "print x")
	if a == "" || a != edges(1001, "print x") || a != edges(0, "print x") {
		t.Error("the same input takes different edges")
	}
	if a == edges(1002, "file x") {
		t.Error("different ways through the program take the same edges")
	}
}

// A target that kills all that it can find must not take the run with it.
func TestZygoteIsMadeAnew(t *testing.T) {
	r := openWith(t, process.Zygote, systemtest.Build(t, targetC, "cc", "-O1"), nil)
	l := r.(*lane)
	l.fast.(*zygoteExecutor).server.Close()
	res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte("exit 6")})
	if err != nil || res.ExitCode != 6 || res.Executor != process.Spawn {
		t.Errorf("the case that found it dead: %d by %s, %v", res.ExitCode, res.Executor, err)
	}
	res, err = r.Run(context.Background(), process.Case{Index: 1001, Input: []byte("exit 5")})
	if err != nil || res.ExitCode != 5 || res.Executor != process.Zygote {
		t.Errorf("the case after that: %d by %s, %v", res.ExitCode, res.Executor, err)
	}
	if l.restarts != 1 {
		t.Errorf("%d restarts", l.restarts)
	}
}
