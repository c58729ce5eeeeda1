package fuzzspec

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/process"
)

// scripted answers for a program by its path and the input's first byte.
type scripted struct {
	path string
	asks map[string]int
}

func (s scripted) Run(_ context.Context, c process.Case) (process.Result, error) {
	s.asks[s.path+" "+string(c.Input)]++
	report := "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\nWRITE of size 4 at 0x1 thread T0\n    #0 0x1 in copy /src/a.c:3:1\n"
	res := process.Result{Status: process.Exited, NoOutputs: true}
	instrumented := strings.HasSuffix(s.path, ".asan")
	switch in := string(c.Input); {
	case in == "crash" && instrumented, in == "slow and wrong" && instrumented:
		res.ExitCode, res.Stderr = 1, []byte(report)
	case in == "crash":
		res.Status, res.Signal = process.Signaled, 6
	case strings.HasPrefix(in, "slow"):
		res.Status = process.TimedOut
	}
	return res, nil
}
func (scripted) Notes() []string { return nil }
func (scripted) Close() error    { return nil }

// A finding's twin upgrades it when it is run again; what only ran too long is
// known by the crash of another build, and keeps to its own group without one.
func TestOtherBuilds(t *testing.T) {
	asks := map[string]int{}
	c := &Campaign{spec: &Spec{Target: Target{Command: []string{"/bin/tool", "<input_path>"}}}, exe: Executable{Path: "/bin/tool"},
		set: settings{outputs: "auto", keep: "none", twin: "/bin/twin.asan", also: "/bin/also.asan", timeout: 1}}
	c.spec.Mutations = Mutations{Cases: big.NewInt(1), MaxOpsPerCase: big.NewInt(1)}
	c.open = func(_ context.Context, p process.Plan, _, _ int, _ bool) (process.Runner, error) {
		return scripted{p.Command(process.Paths{}).Path, asks}, nil
	}
	var err error
	if c.maker, err = newMaker(c); err != nil {
		t.Fatal(err)
	}
	run := func(input string, cold bool) campaign.Outcome {
		t.Helper()
		x := &executor{c: c, runner: scripted{"/bin/tool", asks}, lane: c.maker.lane(), keep: "none", cold: cold}
		o, err := x.Execute(context.Background(), &state{}, campaign.Case{Payload: []byte(input)})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		o.Elapsed = time.Duration(0)
		return o
	}
	warm, cold := run("crash", false), run("crash", true)
	if _, ok := twinOf(warm); ok || !slices.Equal(warm.Cause, cold.Cause) || string(warm.AppendFacts(nil)) != string(cold.AppendFacts(nil)) {
		t.Errorf("a twin changes the facts of a case: %v, %v", warm.Cause, cold.Cause)
	}
	if line, severity := c.Refine(cold.Title, cold.Severity, cold); line != "SIGABRT; twin.asan reports heap-buffer-overflow WRITE of size 4 in copy (a.c:3)" || severity != campaign.SeverityCritical {
		t.Errorf("%q %s", line, severity)
	}
	slow, wrong := run("slow", false), run("slow and wrong", false)
	if slow.Kind != kindTimeout || wrong.Kind != kindCrash || !slices.Contains(wrong.Cause, "heap-buffer-overflow") || !strings.HasPrefix(wrong.Title, "also.asan: ") {
		t.Errorf("%s %v; %s %q %v", slow.Kind, slow.Cause, wrong.Kind, wrong.Title, wrong.Cause)
	}
	if run("fine", true); asks["/bin/twin.asan fine"]+asks["/bin/also.asan fine"] > 0 {
		t.Error("another build was asked about a case that holds")
	}
}

// An address differs from run to run; an offset in a module distinguishes bugs of a
// stripped program.
func TestSteady(t *testing.T) {
	in := "==12==ERROR: at 0x7ffd12345678 in /tmp/thresh-1/w0/run pid 7 (tool+0x4011eb) tool@0x401530"
	if got, want := steady(in), "==PID==ERROR: at <ADDR> in <run_dir> pid N (tool+0x4011eb) tool@0x401530"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// A title does not speak of another message than the evidence below it.
func TestTitleOfWhatIsShown(t *testing.T) {
	said := "ValueError: bad amount 'x'"
	o := campaign.Outcome{Title: "ValueError in a.py:f line 3: " + strings.TrimPrefix(crash.Mask(said), "ValueError: "), Evidence: []campaign.Attachment{{Name: "stderr", Data: []byte(said)}}}
	if title, _ := (&Campaign{}).Refine("ValueError in a.py:f line 3: no amount in <str>", campaign.SeverityMedium, o); title != "ValueError in a.py:f line 3: bad amount 'x'" {
		t.Errorf("title %q", title)
	}
}
