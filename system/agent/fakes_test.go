package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// fakeSystem answers each call with the same, and keeps the last call.
type fakeSystem struct {
	o      sut.Observation
	err    error
	asked  sut.Call
	resets int
	closed int
}

func (f *fakeSystem) Operations() []sut.Operation { return nil }
func (f *fakeSystem) Reset(context.Context) error { f.resets++; return f.err }
func (f *fakeSystem) Notes() []string             { return []string{"a note of the system"} }
func (f *fakeSystem) Close() error                { f.closed++; return f.err }
func (f *fakeSystem) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	f.asked = c
	return f.o, f.err
}

// A system that a file describes answers as an agent: what it returned is the reply, and how a
// call ended keeps its meaning.
func TestDescribedSystems(t *testing.T) {
	tool := sut.Event{Kind: "tool", Name: "look", Args: []byte(`{"a":1}`), Result: []byte("2"), Error: "no"}
	for name, x := range map[string]struct {
		plan  sut.Plan
		o     sut.Observation
		end   agentcall.End
		text  string
		value string
		err   string
	}{
		"a text":                   {sut.Plan{}, sut.Observation{End: sut.Answered, Output: []byte("hi\xff")}, agentcall.Answered, "hi\uFFFD", "", ""},
		"JSON":                     {sut.Plan{}, sut.Observation{End: sut.Answered, Output: []byte(`{"a":1}`)}, agentcall.Answered, `{"a":1}`, `{"a":1}`, ""},
		"a text that it returned":  {sut.Plan{}, sut.Observation{End: sut.Answered, Output: []byte(`{"a":"b"}`), Value: []byte(`"b"`)}, agentcall.Answered, "b", `{"a":"b"}`, ""},
		"a value that it returned": {sut.Plan{}, sut.Observation{End: sut.Answered, Output: []byte(`{"a":[1]}`), Value: []byte(`[1]`)}, agentcall.Answered, "[1]", `{"a":[1]}`, ""},
		"a value of a refusal":     {sut.Plan{}, sut.Observation{End: sut.Refused, Output: []byte("no"), Value: []byte(`"b"`), Why: "HTTP 404"}, agentcall.Refused, "no", "", "HTTP 404"},
		"a complaint in place of the reply": {sut.Plan{Reply: "$.reply"}, sut.Observation{End: sut.Answered, Output: []byte(`{"error":"broke"}`)},
			agentcall.Reported, `{"error":"broke"}`, `{"error":"broke"}`, "Agent error: broke"},
		"a complaint beside the reply":       {sut.Plan{Reply: "$.reply"}, sut.Observation{End: sut.Answered, Output: []byte(`{"error":"broke"}`), Value: []byte(`"b"`)}, agentcall.Answered, "b", `{"error":"broke"}`, ""},
		"a complaint that may be the answer": {sut.Plan{}, sut.Observation{End: sut.Answered, Output: []byte(`{"error":"broke"}`)}, agentcall.Answered, `{"error":"broke"}`, `{"error":"broke"}`, ""},
		"a complaint of a refusal":           {sut.Plan{Reply: "$.reply"}, sut.Observation{End: sut.Refused, Output: []byte(`{"error":"broke"}`), Why: "HTTP 404"}, agentcall.Refused, `{"error":"broke"}`, `{"error":"broke"}`, "HTTP 404"},
		"a status of 500":                    {sut.Plan{}, sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500"}, agentcall.Refused, "", "", "HTTP 500"},
		"an end":                             {sut.Plan{}, sut.Observation{End: sut.Crashed, Status: 499, Why: "exit code 3"}, agentcall.Died, "", "", "exit code 3"},
		"an exception":                       {sut.Plan{Kind: sut.Python}, sut.Observation{End: sut.Crashed, Why: "ValueError"}, agentcall.Raised, "", "", "ValueError"},
		"an exit of Python":                  {sut.Plan{Kind: sut.Python}, sut.Observation{End: sut.Crashed, Exit: 1, Why: "exit code 1"}, agentcall.Died, "", "", "exit code 1"},
		"a signal of Python":                 {sut.Plan{Kind: sut.Python}, sut.Observation{End: sut.Crashed, Signal: 9, Why: "signal 9"}, agentcall.Died, "", "", "signal 9"},
		"an exception of another":            {sut.Plan{Kind: sut.Driver}, sut.Observation{End: sut.Crashed, Why: "x"}, agentcall.Died, "", "", "x"},
		"a hang":                             {sut.Plan{}, sut.Observation{End: sut.Hung, Why: "x"}, agentcall.TimedOut, "", "", "x"},
		"a flood":                            {sut.Plan{}, sut.Observation{End: sut.Flooded, Why: "x"}, agentcall.TooLarge, "", "", "x"},
		"nobody there":                       {sut.Plan{}, sut.Observation{End: sut.Unreachable, Why: "x"}, agentcall.Unreachable, "", "", "x"},
	} {
		x.o.Printed, x.o.Events = []byte("printed"), []sut.Event{{Kind: "chunk", Name: "no tool"}, tool}
		system := &fakeSystem{o: x.o}
		agents := New().Systems(func(_ context.Context, p *sut.Plan, w sut.Worker) (sut.System, error) {
			if w.Index != 2 || w.Of != 3 {
				t.Errorf("%s: worker %+v", name, w)
			}
			return system, nil
		})
		a, err := agents.Open(t.Context(), agentcall.Plan{System: &x.plan}, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := ask(t, a, agentcall.Call{Prompt: "hello"})
		if r.End != x.end || r.Text != x.text || string(r.Value) != x.value || r.Error != x.err || r.Attempts != 1 || r.Latency != time.Nanosecond || r.Size != int64(len(x.o.Output)) || r.Printed != "printed" {
			t.Errorf("%s: %+v, value %s", name, r, r.Value)
		}
		if string(system.asked.Input) != "hello" || !system.asked.Text || system.asked.Timeout != patience {
			t.Errorf("%s: asked %+v", name, system.asked)
		}
		if x.end != agentcall.Reported && (len(r.Tools) != 1 || r.Tools[0].Tool != "look" || string(r.Tools[0].Result) != "2" || r.Tools[0].Error != "no") {
			t.Errorf("%s: tools %+v", name, r.Tools)
		}
		if err := a.Reset(t.Context(), patience); err != nil || system.resets != 1 || !slices.Equal(a.Notes(), []string{"a note of the system"}) {
			t.Errorf("%s: reset %d times, %v; %q", name, system.resets, err, a.Notes())
		}
		if err := a.Close(); err != nil || system.closed != 1 || len(agents.plans)+len(agents.turns) > 0 {
			t.Errorf("%s: closed %d times, %v", name, system.closed, err)
		}
	}
}

// What cannot be opened leaves nothing open, and a failure of Thresh is no reply.
func TestDescribedSystemsThatFail(t *testing.T) {
	broken := errors.New("broken")
	plan := agentcall.Plan{System: &sut.Plan{}}
	if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), "systems cannot be reached here") {
		t.Error(err)
	}
	agents := New().Systems(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return nil, broken })
	if a, err := agents.Open(t.Context(), plan, 0, nil); a != nil || !errors.Is(err, broken) || len(agents.plans) > 0 {
		t.Error(a, err)
	}
	system := &fakeSystem{err: broken}
	a, err := New().Systems(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return system, nil }).Open(t.Context(), plan, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := a.Call(t.Context(), agentcall.Call{Timeout: patience}); !errors.Is(err, broken) || r.End != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := a.Close(); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// fakeRunner gives each case the same result.
type fakeRunner struct {
	plan   process.Plan
	result process.Result
	err    error
	cases  []string
	argv   []string
	closed int
}

func (f *fakeRunner) Notes() []string { return []string{"a note of the runner"} }
func (f *fakeRunner) Close() error    { f.closed++; return f.err }
func (f *fakeRunner) Run(_ context.Context, c process.Case) (process.Result, error) {
	f.cases = append(f.cases, c.RunID+": "+string(c.Input))
	f.argv = f.plan.Command(process.Paths{}).Argv
	return f.result, f.err
}

// fakeCommand is an agent that a fake runner runs.
func fakeCommand(t *testing.T, runner *fakeRunner, plan agentcall.Plan) (a agentcall.Agent, opened func() int) {
	t.Helper()
	n := 0
	plan.MaxReply = 1000
	a, err := openCommand(lead{plan: plan, lane: 1, shared: &shared{turns: &turns{}}, leave: func() error { return nil }}, nil,
		func(_ context.Context, p process.Plan, lane, lanes int, cold bool) (process.Runner, error) {
			if lane != 1 || lanes != 2 || !cold || !p.PerCase || p.Limits.Output != 1000 {
				t.Errorf("lane %d of %d, cold %t, %+v", lane, lanes, cold, p)
			}
			n++
			runner.plan = p
			return runner, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return a, func() int { return n }
}

// What came of a program is the reply, in which all that went wrong has its name.
func TestResultsOfCommands(t *testing.T) {
	long := strings.Repeat("a", told+100)
	for name, x := range map[string]struct {
		result process.Result
		end    agentcall.End
		text   string
		err    string
	}{
		"lines at the end": {process.Result{Stdout: []byte(" a \r\n\n")}, agentcall.Answered, " a ", ""},
		"exit code alone":  {process.Result{ExitCode: 2, Stderr: []byte(" \n ")}, agentcall.Refused, "", "exit code 2"},
		"an exception": {process.Result{ExitCode: 1, Stderr: []byte("Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    answer()\nValueError: no order 7\n")},
			agentcall.Raised, "", "exit code 1: ValueError: no order 7"},
		"a panic": {process.Result{ExitCode: 2, Stderr: []byte("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.answer(...)\n\t/src/a.go:9\nmain.main()\n\t/src/a.go:5 +0x1d\nexit status 2\n")},
			agentcall.Raised, "", "exit code 2: go panic: index out of range in main.answer (a.go:9)"},
		"an exception that it logged": {process.Result{ExitCode: 3, Stderr: []byte("Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    answer()\nValueError: no order 7\n")},
			agentcall.Refused, "", "exit code 3: ValueError: no order 7"},
		"the last line":        {process.Result{ExitCode: 2, Stderr: []byte("first\n  last \n\n")}, agentcall.Refused, "", "exit code 2: last"},
		"a line without end":   {process.Result{ExitCode: 2, Stderr: []byte(long)}, agentcall.Refused, "", "exit code 2: " + long[:told]},
		"a signal":             {process.Result{Status: process.Signaled, Signal: 11}, agentcall.Died, "", "the program was ended by signal 11"},
		"too slow":             {process.Result{Status: process.TimedOut, Stdout: []byte("half")}, agentcall.TimedOut, "half", "no whole reply within 30s"},
		"too much":             {process.Result{OutputLimit: true, Status: process.Signaled, Stdout: []byte("half")}, agentcall.TooLarge, "half", "the program wrote more than 1000 bytes"},
		"no UTF-8":             {process.Result{Stdout: []byte("\xff")}, agentcall.Malformed, "\uFFFD", "the output is not UTF-8"},
		"no UTF-8, and failed": {process.Result{Stdout: []byte("\xff"), ExitCode: 1}, agentcall.Refused, "\uFFFD", "exit code 1"},
	} {
		runner := &fakeRunner{result: x.result}
		a, _ := fakeCommand(t, runner, agentcall.Plan{Command: &agentcall.Command{Argv: []string{"sh"}}})
		r := ask(t, a, agentcall.Call{Prompt: "hi"})
		if r.End != x.end || r.Text != x.text || r.Error != x.err || r.Status != x.result.ExitCode || r.Size != int64(len(x.result.Stdout)) || r.Attempts != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	said := strings.Repeat("b", 100) + strings.Repeat("c", tailSize)
	a, _ := fakeCommand(t, &fakeRunner{result: process.Result{Stderr: []byte(said)}}, agentcall.Plan{Command: &agentcall.Command{Argv: []string{"sh"}}})
	if r := ask(t, a, agentcall.Call{}); r.Printed != said[100:] {
		t.Errorf("%d bytes of what it printed are kept", len(r.Printed))
	}
}

// A program is run with the prompt where the plan has it, by a runner that is opened anew for
// another limit alone.
func TestRunsOfCommands(t *testing.T) {
	runner := &fakeRunner{}
	a, opened := fakeCommand(t, runner, agentcall.Plan{Command: &agentcall.Command{Argv: []string{"sh", "-c", "<{prompt}|{prompt}>"}, Template: "say {prompt}"}})
	if got := a.Notes(); got != nil {
		t.Errorf("%q before a call", got)
	}
	for _, limit := range []time.Duration{time.Second, time.Second, time.Minute} {
		ask(t, a, agentcall.Call{Prompt: "hi", Timeout: limit})
		if runner.plan.Timeout != limit || !runner.plan.Stdin {
			t.Errorf("%+v", runner.plan)
		}
	}
	if opened() != 2 || runner.closed != 1 {
		t.Errorf("opened %d times, closed %d times", opened(), runner.closed)
	}
	if want := []string{"call-1: say hi", "call-2: say hi", "call-3: say hi"}; !slices.Equal(runner.cases, want) || !slices.Equal(runner.argv, []string{"sh", "-c", "<hi|hi>"}) {
		t.Errorf("%q, %q", runner.cases, runner.argv)
	}
	if got := a.Notes(); !slices.Equal(got, []string{"a note of the runner"}) || !a.Forgets() {
		t.Errorf("%q", got)
	}
	gone := errors.New("gone")
	for err, kind := range map[error]error{gone: gone, process.ErrGone: agentcall.ErrGone} {
		runner.err = err
		if r, err := a.Call(t.Context(), agentcall.Call{Timeout: time.Minute}); !errors.Is(err, kind) || (kind == gone) == errors.Is(err, agentcall.ErrGone) || !strings.Contains(err.Error(), "run the agent sh: ") {
			t.Errorf("%+v, %v", r, err)
		}
	}
	runner.err = gone
	if _, err := a.Call(t.Context(), agentcall.Call{Timeout: time.Hour}); !errors.Is(err, gone) || opened() != 2 {
		t.Errorf("a runner that does not close: %v", err)
	}
	if err := a.Close(); !errors.Is(err, gone) {
		t.Error(err)
	}
	resets := 0
	url := serve(t, func(http.ResponseWriter, *http.Request) { resets++ })
	for n, at := range []string{"", url + "/clear"} {
		a, _ := fakeCommand(t, runner, agentcall.Plan{Command: &agentcall.Command{Argv: []string{"sh"}}, Reset: agentcall.Reset{URL: at}})
		if err := a.Reset(t.Context(), patience); err != nil || resets != n {
			t.Errorf("%d resets at %q: %v", resets, at, err)
		}
	}
}
