package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// lookAtModule drafts a byte campaign for a WASI command and for a module with a single function
// that takes a text. It explores the functions of any other module.
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
	single := ""
	var calls []draft.Export
	var left []string
	command := slices.ContainsFunc(exports, func(x dut.Export) bool { return x.Kind == dut.Func && x.Name == "_start" })
	if !command {
		if calls, left, single, err = callable(ctx, binary, exports); err != nil {
			return nil, diag.Refused("%s: %w", thing.Words[0], err)
		}
	}
	if command || single != "" {
		f, err := a.lookAtBytes(ctx, t, thing, folder, path, binary, single)
		if err != nil {
			return nil, err
		}
		return draft.DraftProgram(f), nil
	}
	if len(t.Seeds) > 0 {
		return nil, diag.Refused("%s has no _start and no single function that takes a text, so seeds have no use", thing.Words[0])
	}
	if calls, err = callAlone(ctx, binary, calls, &left); err != nil {
		return nil, diag.Refused("%s: %w", thing.Words[0], err)
	}
	if len(calls) == 0 {
		return nil, uncallable(thing, left)
	}
	return draft.DraftModule(&draft.ModuleFacts{Name: thing.Name(), Folder: folder, Path: path, Calls: calls, Left: left, Words: draft.Dictionary(binary)}), nil
}

// uncallable is the error for a module without functions that a model can call.
func uncallable(thing *draft.Thing, left []string) error {
	return diag.WithHint(diag.Refused("%s exports no function that a model can call%s", thing.Words[0], strings.TrimSuffix(": "+strings.Join(left, ", "), ": ")),
		"a model calls functions with integers and texts that return one integer or nothing; export such functions that call yours")
}

// callable returns the functions of a module that can be called, and finds out which of their
// numbers are texts: a function that takes a text leaves the memory if it is called with addresses
// beyond it. A function that only compares texts may do so only once the module holds one, hence
// the second round.
func callable(ctx context.Context, binary []byte, exports []dut.Export) (calls []draft.Export, left []string, single string, err error) {
	all, _, _ := draft.Exports(exports, func(*dut.Export, int) bool { return false })
	texts := map[string]bool{}
	for range 2 {
		if calls, left, single, err = probed(ctx, binary, exports, all, calls, texts); err != nil || len(texts) == 0 {
			break
		}
	}
	return calls, left, single, err
}

// probed looks for texts in a module. It first calls the functions already known to take a text.
func probed(ctx context.Context, binary []byte, exports []dut.Export, all, known []draft.Export, texts map[string]bool) (calls []draft.Export, left []string, single string, err error) {
	plan := dut.Plan{Binary: binary}
	index := map[string]int{}
	known = slices.DeleteFunc(known, func(x draft.Export) bool {
		return !slices.ContainsFunc(x.Params, func(p draft.Param) bool { return p.Text })
	})
	for i, x := range slices.Concat(all, known) {
		if i < len(all) {
			index[x.Name] = i
		}
		plan.Bindings = append(plan.Bindings, x.Bind())
	}
	device, err := modules()(ctx, plan)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	instance, err := device.Open(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() { err = errors.Join(err, instance.Close()) }()
	ready := instance.Snapshot()
	for i := len(all); i < len(plan.Bindings); i++ {
		var args []dut.Value
		for _, p := range plan.Bindings[i].Params {
			if p.Kind == dut.String {
				args = append(args, dut.Text("text"))
			} else {
				args = append(args, dut.Number(p.Kind, 0))
			}
		}
		if instance.Call(i, args).Cause == dut.None {
			ready = instance.Snapshot()
		} else if err := instance.Restore(ready); err != nil {
			return nil, nil, "", err
		}
	}
	calls, left, single = draft.Exports(exports, func(x *dut.Export, at int) bool {
		leaves := func(address, length int64) bool {
			args := make([]dut.Value, len(x.Sig.Params))
			for i := range args {
				args[i] = dut.Number(dut.Int, 0)
			}
			args[at], args[at+1] = dut.Number(dut.Int, address), dut.Number(dut.Int, length)
			cause := instance.Call(index[x.Name], args).Cause
			err = errors.Join(err, instance.Restore(ready))
			return cause == dut.OutOfBounds || cause == dut.UnknownImport
		}
		name := fmt.Sprint(x.Name, at)
		texts[name] = texts[name] || leaves(0, 0) || isText(leaves)
		return texts[name]
	})
	maps.DeleteFunc(texts, func(_ string, is bool) bool { return !is })
	return calls, left, single, err
}

// isText reports whether an address and a length are a text. For a length that the function
// accepts, the first address at which it leaves the memory is then at the memory's end. For an
// index into an array it is somewhere else.
func isText(leaves func(address, length int64) bool) bool {
	const page, slack = 1 << 16, 64 // how far a function may read beyond the text
	for length := int64(1); length <= 4096; length++ {
		if length > page/1024 && length&(length-1) != 0 {
			continue
		}
		if slices.ContainsFunc(wild, func(n int64) bool { return !leaves(n, length) }) {
			continue
		}
		first := int64(sort.Search(int(wild[0]), func(n int) bool { return leaves(int64(n), length) }))
		if rest := (page - first%page) % page; rest <= length+slack {
			return true
		}
	}
	return false
}

// wild lists numbers that are neither a handle nor an address of a small module.
var wild = []int64{0x7654321, 0x12345678, 0x3abcdef1, -0x1234567}

// callAlone calls each function in a freshly started module. It leaves out functions that need an
// import nobody provides. An argument for which every wild number leads out of memory is a handle
// or an address.
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
		// All numbers are 0 except the one at index at.
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
	err = p.learn(ctx, f, seeds, t.Time)
	if cerr := x.Close(); err == nil && cerr != nil {
		err = diag.Environment("leaving %s: %w", path, cerr)
	}
	return f, err
}
