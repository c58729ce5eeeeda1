package fuzzspec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// played is a system whose calls end as its one answer says.
type played struct {
	answer sut.Observation
	fails  string // what fails: open, reset, call or ""
	calls  []string
}

var errPlayed = errors.New("it does not work")

func (p *played) Operations() []sut.Operation { return nil }
func (p *played) Notes() []string             { return []string{"a played system"} }
func (p *played) Close() error                { p.calls = append(p.calls, "close"); return nil }

func (p *played) Reset(context.Context) error {
	p.calls = append(p.calls, "reset")
	if p.fails == "reset" {
		return errPlayed
	}
	return nil
}

func (p *played) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	p.calls = append(p.calls, fmt.Sprintf("call %q within %s", c.Input, c.Timeout))
	if c.Input == nil || p.fails == "call" {
		return sut.Observation{}, errPlayed
	}
	return p.answer, nil
}

// endings are ends of calls.
var endings = []struct {
	name   string
	answer sut.Observation
}{
	{"answered", sut.Observation{End: sut.Answered, Status: 200, Output: []byte("ok"), Printed: []byte("log"), Elapsed: time.Second}},
	{"answered, and died later with an exit code", sut.Observation{End: sut.Answered, Exit: 3}},
	{"refused", sut.Observation{End: sut.Refused, Status: 422, Why: "HTTP 422"}},
	{"hung", sut.Observation{End: sut.Hung, Why: "no whole answer within 5s", Exit: 9}},
	{"flooded", sut.Observation{End: sut.Flooded, Why: "more than 1 MiB"}},
	{"a signal", sut.Observation{End: sut.Crashed, Signal: 11, Why: "the process ended: SIGSEGV"}},
	{"an exit", sut.Observation{End: sut.Crashed, Exit: 3, Why: "exit code 3", Printed: []byte("bad entry in id_7\n")}},
	{"an exit during the call", sut.Observation{End: sut.Crashed, Exit: 3, Why: "the program ended during the call: exit code 3"}},
	{"an exit after which the process is known to have ended", sut.Observation{End: sut.Crashed, Exit: 3, Why: "the process ended: exit code 3 at 17"}},
	{"an accepted exit", sut.Observation{End: sut.Crashed, Exit: 5, Why: "exit code 5"}},
	{"an accepted exit by an exception", sut.Observation{End: sut.Crashed, Exit: 1, Why: "exit code 1", Printed: []byte("Traceback (most recent call last):\n  File \"/src/app.py\", line 9, in <module>\n    x\nKeyError: 'n'\n")}},
	{"a trap", sut.Observation{End: sut.Crashed, Trap: "unreachable", Why: "unreachable at 0x17"}},
	{"a trap with a number", sut.Observation{End: sut.Crashed, Trap: "out of bounds", Why: "read of 17 bytes"}},
	{"a report", sut.Observation{End: sut.Crashed, Why: "the connection ended", Printed: []byte("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\nWRITE of size 4 at 0x1 thread T0\n    #0 0x1 in parse /src/a.c:3:1\n")}},
	{"a page of an error", sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500", Output: []byte("\n Order 17 is broken\nat line 9\n")}},
	{"an error and a report", sut.Observation{End: sut.Crashed, Status: 503, Why: "HTTP 503", Output: []byte("Internal error"), Printed: []byte("Traceback (most recent call last):\n  File \"/src/app.py\", line 9, in order\n    x\nKeyError: 'n'\n")}},
	{"an error without words", sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500"}},
	{"an error with many words", sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500", Output: []byte(strings.Repeat("word ", 99) + "12345\xff6789")}},
	{"cut", sut.Observation{End: sut.Crashed, Why: "the connection to port 4711 ended", Output: []byte("half")}},
}

// How a call ended is the verdict on the input, and what it is known by.
func TestVerdictsOnSystems(t *testing.T) {
	c := &Campaign{set: settings{okExit: []int{0, 1, 5}}}
	var b strings.Builder
	for _, e := range endings {
		o, err := c.judge(&state{}, &process.Result{Observed: &e.answer}, nil, "id_7", unseen)
		fmt.Fprintf(&b, "%s: %s %s %s %q %q %s %v\n", e.name, o.Verdict, o.Kind, o.Severity, o.Title, o.Cause, o.Data, err)
	}
	golden.Check(t, "testdata/systems.golden", b.String())
}

// A call of a system is a run of a program: each from a fresh state, within the plan's
// limit or else the document's, and what does not work is the environment's.
func TestSystemsAsPrograms(t *testing.T) {
	var b strings.Builder
	run := func(p *played, limits sut.Limits, input []byte) (process.Result, error) {
		r, err := opener(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
			if p.fails == "open" {
				return nil, errPlayed
			}
			return p, nil
		}, &sut.Plan{Name: "shop", Limits: limits})(t.Context(), process.Plan{Timeout: 7 * time.Second}, 1, 2, false)
		if err != nil {
			return process.Result{}, err
		}
		res, err := r.Run(t.Context(), process.Case{Input: input})
		fmt.Fprintf(&b, "%q\n", append(p.calls, r.Notes()...))
		return res, errors.Join(err, r.Close())
	}
	for _, e := range endings {
		fmt.Fprintf(&b, "%s: ", e.name)
		res, err := run(&played{answer: e.answer}, sut.Limits{}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  %s, exit %d, signal %d, limit %t, none %t, %q (%d), %q (%d), %s\n", res.Status, res.ExitCode, res.Signal, res.OutputLimit, res.NoOutputs,
			res.Stdout[:min(20, len(res.Stdout))], res.StdoutSize, res.Stderr[:min(20, len(res.Stderr))], res.StderrSize, res.Elapsed)
	}
	b.WriteString("with a limit of its own and an empty input: ")
	if _, err := run(&played{answer: endings[0].answer}, sut.Limits{Timeout: time.Second}, nil); err != nil {
		t.Error(err)
	}
	for _, at := range []string{"open", "reset", "call"} {
		if _, err := run(&played{answer: endings[0].answer, fails: at}, sut.Limits{}, []byte("x")); !errors.Is(err, errPlayed) {
			t.Errorf("%s fails: %v", at, err)
		}
	}
	_, err := run(&played{answer: sut.Observation{End: sut.Unreachable, Why: "connection refused"}}, sut.Limits{}, []byte("x"))
	if diag.ExitCode(err) != diag.ExitEnvironment || err.Error() != "the system shop is unreachable: connection refused" {
		t.Errorf("unreachable: %v", err)
	}
	golden.Check(t, "testdata/calls.golden", b.String())
}
