package fuzzspec

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// optSystem names a system that gets the cases instead of target.command.
const optSystem = "system"

// Systems sets the opener of systems that a user names with --system.
func (k *Contract) Systems(open sut.Opener) *Contract {
	k.systems = open
	return k
}

// ofPrograms are the options about running a program; they do not apply to a system.
var ofPrograms = []string{optGuided, optExecutor, optSandbox, optInput, optOutputs, optMemory, optFileSize, optWritten, optTwin, optAlso}

// loadSystem reads the system that the settings name; nil if there is none.
func (k *Contract) loadSystem(set campaign.Settings) (*sut.Plan, diag.List) {
	path := set.Get(optSystem, "")
	if path == "" {
		return nil, nil
	}
	var list diag.List
	for _, name := range ofPrograms {
		if set.Has(name) && !(name == optOutputs && set.Get(name, "") == "require") { // the format's own commands set it
			list = append(list, diag.Diagnostic{Code: "fuzzspec.option", Path: "--" + name,
				Message: "says how a program is run, but --system calls a system in its place"})
		}
	}
	p, found := systemfile.Load(path, set.Read, set.Digest)
	return p, append(list, found...)
}

// systemRunner runs cases on a system as if it were a program.
type systemRunner struct {
	plan   *sut.Plan
	limit  process.Plan
	system sut.System
}

// opener is a process.Opener that opens the system instead of the program.
func opener(open sut.Opener, plan *sut.Plan) process.Opener {
	return func(ctx context.Context, p process.Plan, lane, lanes int, cold bool) (process.Runner, error) {
		x, err := open(ctx, plan, sut.Worker{Index: lane, Of: lanes, Cold: cold})
		if err != nil {
			return nil, err
		}
		return &systemRunner{plan: plan, limit: p, system: x}, nil
	}
}

// Run implements process.Runner: one case is a reset and one call.
func (r *systemRunner) Run(ctx context.Context, c process.Case) (process.Result, error) {
	if err := r.system.Reset(ctx); err != nil {
		return process.Result{}, err
	}
	input := c.Input
	if input == nil {
		input = []byte{}
	}
	call := sut.Call{Input: input}
	if r.plan.Limits.Timeout == 0 {
		call.Timeout = r.limit.Timeout
	}
	o, err := r.system.Call(ctx, call)
	if err != nil {
		return process.Result{}, err
	}
	if o.End == sut.Unreachable {
		return process.Result{}, diag.Environment("the system %s is unreachable: %s", r.plan.Name, o.Why)
	}
	res := process.Result{Observed: &o, Status: process.Exited, ExitCode: o.Exit, NoOutputs: true, OutputLimit: o.End == sut.Flooded,
		Stdout: o.Output, Stderr: o.Printed, StdoutSize: int64(len(o.Output)), StderrSize: int64(len(o.Printed)), Elapsed: o.Elapsed}
	switch {
	case o.End == sut.Hung:
		res.Status = process.TimedOut
	case o.Signal != 0:
		res.Status, res.Signal = process.Signaled, o.Signal
	case o.End == sut.Crashed && res.ExitCode == 0:
		res.ExitCode = 1 // as the records of a case expect
	}
	return res, nil
}

// Notes implements process.Runner.
func (r *systemRunner) Notes() []string { return r.system.Notes() }

// Close implements process.Runner.
func (r *systemRunner) Close() error { return r.system.Close() }

// judgeSystem decides the verdict on a call of a system with an input.
func (c *Campaign) judgeSystem(o *sut.Observation, input []byte, runID string) campaign.Outcome {
	death := crash.Death{TimedOut: o.End == sut.Hung, OutputLimit: o.End == sut.Flooded, Signal: o.Signal, ExitCode: o.Exit,
		Stderr: bytes.ReplaceAll(o.Printed, []byte(runID), []byte("<run_id>"))}
	if !o.End.Failed() || o.Exit != 0 && slices.Contains(c.set.okExit, o.Exit) && !c.reportsCrash(death, input) {
		return campaign.Outcome{}
	}
	end := ending{Status: string(o.End), Signal: o.Signal, OutputLimit: o.End == sut.Flooded, Observed: o.Why}
	cause := crash.Analyze(death)
	switch o.End {
	case sut.Hung:
		return outcome(kindTimeout, cause, end)
	case sut.Flooded:
		return outcome(kindFlood, cause, end)
	}
	reported := cause.Class != crash.ClassNone && cause.Class != crash.ClassExit
	outer := crash.Mask(o.Why)
	if strings.Contains(o.Why, " ended during the call: ") || strings.HasPrefix(o.Why, "the process ended: ") {
		outer = o.Why // equal runs end a process in the same way
	}
	switch {
	case o.Trap != "":
		out := fail(kindCrash, "trap: "+outer, campaign.SeverityHigh, "", end)
		out.Cause = []string{"trap", o.Trap}
		return out
	case o.Signal != 0 || reported && o.Status < 500:
		return outcome(kindCrash, cause, end)
	case o.Status >= 500:
		outer = fmt.Sprintf("HTTP %d", o.Status)
	case o.Exit != 0 && strings.HasPrefix(o.Why, "exit code "):
		return outcome(kindExit, cause, end)
	}
	out := fail(kindCrash, outer, campaign.SeverityMedium, "", end)
	out.Cause = []string{outer}
	if reported {
		out.Title += ": " + cause.Title
		out.Cause = append(out.Cause, cause.Layers...)
	} else if line, _, _ := bytes.Cut(bytes.TrimSpace(o.Output), []byte("\n")); o.Status >= 500 && len(line) > 0 {
		out.Cause = append(out.Cause, crash.Mask(string(bytes.ToValidUTF8(line[:min(len(line), 500)], nil))))
	}
	return out
}

// Traits implements [campaign.WithTraits]: resetting an instance that others use at the same time
// would cause false findings.
func (c *Campaign) Traits() campaign.Traits {
	roughly := ""
	if c.set.guided { // cases set aside run again
		roughly = "at least"
	}
	once := func(_ campaign.Case, o *campaign.Outcome) string {
		if _, _, aside := decodeAside(o.Data); aside && o.Verdict == campaign.VerdictPass {
			return "it was set aside" // its budget decided; another execution has none
		}
		return ""
	}
	return campaign.Traits{Planned: c.count, Roughly: roughly, Closes: c.set.guided, Once: once, Exclusive: c.system != nil && c.system.Exclusive()}
}
