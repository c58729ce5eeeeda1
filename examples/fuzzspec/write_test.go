package fuzzspec

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// bugs is one C program a class of bug, and what they share.
//
//go:embed bugs/*.c bugs/*.h
var bugs embed.FS

// Written is an example made runnable.
type Written struct {
	Example
	Spec     string // path of the FuzzSpec
	SeedPath string
	Program  string // path of the program that was built; "" if an installed one is run
	Skipped  string // why the example cannot run here; the paths are empty then
}

// Write makes the named examples (all, if none is named) runnable in dir, which
// must be absolute: each gets a folder of its name with the program, seed.bin
// and spec.json. A program built here must be allowed as an executable by the
// run, since it lies outside the system's folders.
func Write(ctx context.Context, dir string, names ...string) ([]Written, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("examples: folder %q must be absolute", dir)
	}
	var out []Written
	for _, e := range catalog() {
		if len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		w, err := write(ctx, filepath.Join(dir, e.Name), e)
		if err != nil {
			return nil, fmt.Errorf("example %s: %w", e.Name, err)
		}
		out = append(out, w)
	}
	for _, n := range names {
		if !slices.ContainsFunc(out, func(w Written) bool { return w.Name == n }) {
			return nil, fmt.Errorf("examples: there is no example %q", n)
		}
	}
	return out, nil
}

// errMissing is a tool that is not installed or does not work here.
type errMissing struct{ reason string }

func (e *errMissing) Error() string { return e.reason }

func write(ctx context.Context, dir string, e Example) (Written, error) {
	w := Written{Example: e}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return w, err
	}
	command, program, err := e.build(ctx, dir)
	if missing := (*errMissing)(nil); errors.As(err, &missing) {
		w.Skipped = missing.reason
		return w, nil
	}
	if err != nil {
		return w, err
	}
	seed := filepath.Join(dir, "seed.bin")
	if err := os.WriteFile(seed, e.Seed, 0o644); err != nil {
		return w, err
	}
	spec, err := e.spec(dir, seed, command)
	if err != nil {
		return w, fmt.Errorf("encoding the spec: %w", err)
	}
	path := filepath.Join(dir, "spec.json")
	if err := os.WriteFile(path, spec, 0o644); err != nil {
		return w, err
	}
	w.Spec, w.SeedPath, w.Program = path, seed, program
	return w, nil
}

// build makes the program and gives the command that runs it.
func (e Example) build(ctx context.Context, dir string) (command []string, program string, err error) {
	program = filepath.Join(dir, e.Name)
	switch {
	case e.command != nil:
		if _, err := exec.LookPath(e.command[0]); err != nil {
			return nil, "", &errMissing{e.command[0] + " is not installed"}
		}
		return e.command, "", nil
	case e.goPath != "":
		err = tool(ctx, nil, "go", "build", "-o", program, e.goPath)
	default:
		err = e.compile(ctx, dir, program)
	}
	return []string{program, "<input_path>"}, program, err
}

func (e Example) compile(ctx context.Context, dir, program string) error {
	src, err := fs.Sub(bugs, "bugs")
	if err != nil {
		return err
	}
	for _, name := range [...]string{e.source, "input.h"} {
		b, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	args := append([]string{"-g", "-O1", "-o", program, filepath.Join(dir, e.source)}, e.flags...)
	for _, cc := range [...]string{"cc", "gcc", "clang"} {
		if _, err := exec.LookPath(cc); err == nil {
			return tool(ctx, []string{"LC_ALL=C"}, cc, args...)
		}
	}
	return &errMissing{"no C compiler (cc, gcc or clang) is installed"}
}

// tool runs a compiler. One that fails, as for want of a sanitizer's library,
// counts as missing.
func tool(ctx context.Context, env []string, name string, args ...string) error {
	if _, err := exec.LookPath(name); err != nil {
		return &errMissing{name + " is not installed"}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		last := strings.TrimSpace(string(out))
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return &errMissing{fmt.Sprintf("%s %s: %v: %s", name, args[0], err, last)}
	}
	return nil
}

func (e Example) spec(dir, seed string, command []string) ([]byte, error) {
	type object = map[string]any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read the placeholders
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"schema_version": "llmfuzz.fuzzspec.v1",
		"campaign_id":    "example-" + e.Name,
		"description":    "Planted: " + e.Fault + ".",
		"target":         object{"agent_id": e.Name, "work_root_base": filepath.Join(dir, "work"), "command": command, "timeout_s": max(e.timeout, 1)},
		"seed":           object{"path": seed},
		"mutations":      object{"cases": e.cases, "rng_seed": e.seed, "max_ops_per_case": e.ops},
		"execution":      object{},
		"outputs":        object{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	})
	return b.Bytes(), err
}
