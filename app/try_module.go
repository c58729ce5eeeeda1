package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// lookAtModule drafts a campaign of bytes for a WASI command, and for a module
// with one function that takes a text; of any other the functions are explored.
func (a *App) lookAtModule(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.Draft, error) {
	path, err := filepath.Abs(thing.Words[0])
	if err != nil {
		return nil, diag.Environment("finding %s: %w", thing.Words[0], err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Refused("%s: %s", thing.Words[0], Reason(err))
	}
	device, err := modules()(ctx, dut.Plan{Binary: binary, Command: true})
	if err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	exports := device.Info().Exports
	if err := device.Close(); err != nil {
		return nil, err
	}
	calls, left, single := draft.Exports(exports)
	command := slices.ContainsFunc(exports, func(x dut.Export) bool { return x.Kind == dut.Func && x.Name == "_start" })
	if command || single != "" {
		if command {
			single = ""
		}
		f, err := a.lookAtBytes(ctx, t, thing, folder, path, binary, single)
		if err != nil {
			return nil, err
		}
		return draft.DraftProgram(f), nil
	}
	if len(t.Seeds) > 0 {
		return nil, diag.Refused("%s has no _start and no single function that takes a text, so it has no use for seeds", thing.Words[0])
	}
	if calls, err = callAlone(ctx, binary, calls, &left); err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	if len(calls) == 0 {
		return nil, diag.WithHint(diag.Refused("%s exports no function that a model can call", thing.Words[0]), "a model calls functions with integers and texts")
	}
	return draft.DraftModule(&draft.ModuleFacts{Name: thing.Name(), Folder: folder, Path: path, Calls: calls, Left: left, Words: draft.Dictionary(binary)}), nil
}

// wild are numbers that are no handle and no address of a small module.
var wild = []int64{0x7654321, 0x12345678, 0x3abcdef1, -0x1234567}

// callAlone calls each function in a module that has just started. What needs an
// import that nobody serves is left; an argument with which every wild number
// leads out of the memory is a handle or an address.
func callAlone(ctx context.Context, binary []byte, calls []draft.Export, left *[]string) (kept []draft.Export, err error) {
	plan := dut.Plan{Binary: binary}
	for i := range calls {
		plan.Bindings = append(plan.Bindings, calls[i].Bind())
	}
	device, err := modules()(ctx, plan)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	instance, err := device.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, instance.Close()) }()
	for i, x := range calls {
		// The numbers are 0 but for the one at place at.
		call := func(at int, n int64) (dut.Cause, error) {
			args := make([]dut.Value, len(x.Params))
			for j, p := range plan.Bindings[i].Params {
				if args[j] = dut.Number(dut.Int, 0); p.Kind == dut.String {
					args[j] = dut.Text("")
				} else if j == at {
					args[j] = dut.Number(dut.Int, n)
				}
			}
			return instance.Call(i, args).Cause, instance.Reset()
		}
		cause, err := call(-1, 0)
		for j := range x.Params {
			leaves := !x.Params[j].Text
			for _, n := range wild {
				if err == nil && leaves {
					var c dut.Cause
					c, err = call(j, n)
					leaves = c == dut.OutOfBounds
				}
			}
			x.Params[j].Place = leaves
		}
		if err != nil {
			return nil, err
		}
		if cause == dut.UnknownImport {
			*left = append(*left, x.Name+" (needs an import that only its host has)")
			continue
		}
		kept = append(kept, x)
	}
	return kept, nil
}

// lookAtBytes gives a module seeds and damaged inputs, as lookAtProgram does.
func (a *App) lookAtBytes(ctx context.Context, t *Try, thing *draft.Thing, folder, path string, binary []byte, function string) (*draft.ProgramFacts, error) {
	system := draft.SystemOfModule(thing.Name(), path, function)
	f := &draft.ProgramFacts{Name: thing.Name(), Folder: folder, Command: []string{path}, System: &system, Function: function, Lanes: t.Lanes}
	seeds, err := readSeeds(t.Seeds)
	if err != nil {
		return nil, err
	}
	if f.Made = len(t.Seeds) == 0; f.Made {
		seeds = draft.Seeds()
	}
	x, err := systems()(ctx, &sut.Plan{Name: f.Name, Kind: sut.WASM, Per: sut.PerWorker, Entry: path, Module: binary,
		Input: sut.Input{Operation: function}, Limits: sut.Limits{Timeout: 2 * time.Second}}, sut.Worker{Of: 1, Cold: true})
	if err != nil {
		return nil, err
	}
	p := &probe{run: func(ctx context.Context, input []byte) (ended, error) {
		if err := x.Reset(ctx); err != nil {
			return ended{}, err
		}
		o, err := x.Call(ctx, sut.Call{Input: input})
		if err != nil {
			return ended{}, err
		}
		e := ended{elapsed: o.Elapsed, exit: o.Exit}
		e.cause = crash.Analyze(crash.Death{TimedOut: o.End == sut.Hung, OutputLimit: o.End == sut.Flooded, ExitCode: o.Exit, Stderr: o.Printed})
		if o.Trap != "" {
			e.cause = crash.Cause{Class: crash.ClassSignal, Title: "trap: " + o.Why}
		}
		return e, nil
	}}
	err = p.learn(ctx, f, seeds)
	if cerr := x.Close(); err == nil && cerr != nil {
		err = diag.Environment("leaving %s: %w", path, cerr)
	}
	return f, err
}
