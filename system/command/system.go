package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/program"
)

// runOperation is the only operation of a program: to run.
const runOperation = "run"

// ran is a program as a system; every call starts it.
type ran struct {
	plan   *sut.Plan
	worker sut.Worker
	path   string
	dir    string
	op     sut.Operation
	runner process.Runner
	limit  time.Duration
	args   []sut.Named
	calls  int64
}

// OpenSystem is a system.Kind. A case's input is on standard input and in the file whose path
// replaces {input} in the command; other placeholders are arguments of the operation "run".
func OpenSystem(_ context.Context, s system.Site) (system.Edge, error) {
	dir, err := filepath.Abs(s.Plan.StartDir())
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", s.Plan.StartDir(), err)
	}
	path, err := program.Lookup("system", s.Plan.Command[0], dir)
	if err != nil {
		return nil, err
	}
	r := &ran{plan: s.Plan, worker: s.Worker, path: path, dir: dir, op: sut.Operation{Name: runOperation, Description: "runs " + s.Plan.Command[0]}}
	for _, o := range s.Plan.Operations {
		if o.Name != runOperation {
			return nil, system.Unknown(s.Plan, o.Name, []sut.Operation{r.op})
		}
		r.op.Returns, r.op.Rejects = o.Returns, o.Rejects
	}
	for _, word := range s.Plan.Command[1:] {
		for _, name := range places(word) {
			if name != "input" && !slices.ContainsFunc(r.op.Arguments, func(a sut.Argument) bool { return a.Name == name }) {
				r.op.Arguments = append(r.op.Arguments, sut.Argument{Name: name, Required: true})
			}
		}
	}
	return r, nil
}

// places returns the names in braces in a word.
func places(word string) (names []string) {
	for {
		_, after, ok := strings.Cut(word, "{")
		name, rest, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return names
		}
		if name != "" && !strings.ContainsAny(name, " {\"':,") {
			names = append(names, name)
		}
		word = rest
	}
}

// Operations implements system.Edge.
func (r *ran) Operations() []sut.Operation { return []sut.Operation{r.op} }

// Notes implements system.Edge.
func (r *ran) Notes() []string {
	if r.runner == nil {
		return nil
	}
	return r.runner.Notes()
}

// Close implements system.Edge.
func (r *ran) Close() error {
	if r.runner == nil {
		return nil
	}
	return r.runner.Close()
}

// ready opens the runner for a time limit.
func (r *ran) ready(ctx context.Context, limit time.Duration) error {
	if r.runner != nil && r.limit == limit {
		return nil
	}
	if err := r.Close(); err != nil {
		return err
	}
	r.runner = nil
	perCase := len(r.op.Arguments) > 0
	runner, err := Open(ctx, process.Plan{
		Command: r.command, PerCase: perCase, Input: "input/case", Stdin: true, Timeout: limit,
		Limits: process.Limits{Output: sut.MaxOutput}, Executor: process.Spawn,
	}, r.worker.Index, max(r.worker.Of, r.worker.Index+1), r.worker.Cold)
	if err != nil {
		return err
	}
	r.runner, r.limit = runner, limit
	return nil
}

func (r *ran) command(p process.Paths) process.Command {
	c := process.Command{Path: r.path, Dir: r.dir, Env: os.Environ(), Argv: []string{r.plan.Command[0]}}
	for _, word := range r.plan.Command[1:] {
		word = strings.ReplaceAll(word, "{input}", p.InputPath)
		for _, a := range r.args {
			text := string(a.Value)
			var s string
			if json.Unmarshal(a.Value, &s) == nil {
				text = s
			}
			word = strings.ReplaceAll(word, "{"+a.Name+"}", text)
		}
		c.Argv = append(c.Argv, word)
	}
	return c
}

// Call implements system.Edge.
func (r *ran) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	o := sut.Observation{End: sut.Answered}
	if c.Operation != "" && c.Operation != runOperation {
		return o, system.Unknown(r.plan, c.Operation, r.Operations())
	}
	args, _, err := system.Arguments(r.plan, &r.op, &c)
	if err != nil {
		return o, err
	}
	r.args = args
	if err := r.ready(ctx, c.Timeout); err != nil {
		return o, err
	}
	r.calls++
	res, err := r.runner.Run(ctx, process.Case{Index: r.calls, RunID: "call-" + strconv.FormatInt(r.calls, 10), Input: c.Input})
	if err != nil {
		return o, fmt.Errorf("run %s: %w", r.plan.Command[0], err)
	}
	o.Elapsed, o.Status, o.Exit = res.Elapsed, res.ExitCode, res.ExitCode
	o.Output, o.Printed = slices.Clone(res.Stdout), slices.Clone(res.Stderr)
	switch {
	case res.OutputLimit || res.StdoutSize > sut.MaxOutput:
		system.Flood(&o)
	case res.Status == process.TimedOut:
		system.Late(&o, c.Timeout)
	case res.Status == process.Signaled:
		o.End, o.Signal, o.Why = sut.Crashed, res.Signal, fmt.Sprintf("signal %d", res.Signal)
	case slices.Contains(r.op.Rejects, strconv.Itoa(res.ExitCode)):
		o.End, o.Why = sut.Refused, fmt.Sprintf("exit code %d", res.ExitCode)
	case res.ExitCode != 0:
		o.End, o.Why = sut.Crashed, fmt.Sprintf("exit code %d", res.ExitCode)
	default:
		o.Value = system.Returned(&r.op, o.Output)
	}
	return o, nil
}
