package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// process is a target as a FuzzSpec names it.
type process struct {
	argv   []string // inputWord stands for the input's path
	okExit string
	pilot  int64 // as in contender
}

// report holds what the bench reads of a run's JSON report.
type report struct {
	RunID     string `json:"run_id"`
	Digest    string `json:"digest"`
	Campaigns []struct {
		Cases struct {
			Run   int64 `json:"run"`
			Error int64 `json:"error"`
		} `json:"cases"`
	} `json:"campaigns"`
	Environment struct {
		Seconds float64 `json:"seconds"`
	} `json:"environment"`
}

// thresh is a whole run of Thresh: mutation, journal, captured output, judging, cross-checks of the
// accelerator, store. Its seconds are those of the run's report, from the first look at the target
// to the last outcome; they exclude the start of the process itself. A run of only a few cases
// gives the cost of set-up: calibration, trials of an accelerator, and the first cases, which are
// all cross-checked.
func (l *lab) thresh(executor string, p process) contender {
	return contender{name: "thresh run, " + executor, pilot: p.pilot, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		few, err := l.threshRun(ctx, executor, p, workers, fewCases)
		if err != nil {
			return burst{}, err
		}
		b, err := l.threshRun(ctx, executor, p, workers, max(cases, 2*fewCases))
		b.few, b.setup, b.fewCPU = few.cases, few.seconds, few.cpu
		return b, err
	}}
}

// fewCases is slightly more than the number of cases that an accelerator has cross-checked one by
// one.
const fewCases = 40

// threshRun runs a campaign in a fresh store.
func (l *lab) threshRun(ctx context.Context, executor string, p process, workers int, cases int64) (burst, error) {
	dir, remove, err := l.scratch()
	if err != nil {
		return burst{}, err
	}
	defer remove()
	spec, err := l.spec(dir, p, cases)
	if err != nil {
		return burst{}, err
	}
	_, cpu, err := run(ctx, l.threshCommand(ctx, dir, spec, executor, p, workers), foundSome)
	if err != nil {
		return burst{}, err
	}
	r, err := readReport(dir)
	if err != nil {
		return burst{}, err
	}
	if c := r.Campaigns[0].Cases; c.Run != cases || c.Error > 0 {
		return burst{}, fmt.Errorf("%d of %d cases were run, %d of them in error", c.Run, cases, c.Error)
	}
	return burst{cases: cases, seconds: r.Environment.Seconds, cpu: cpu}, nil
}

// threshCommand is a minimal run: findings are not shrunk and folders of failing cases are not
// kept, because neither is work of the executor.
func (l *lab) threshCommand(ctx context.Context, dir, spec, executor string, p process, workers int) *exec.Cmd {
	argv := []string{"run", spec, "--workers", strconv.Itoa(workers), "--executor", executor, "--allow-exec", p.argv[0],
		"--keep", "none", "--shrink", "0", "--reruns", "1", "--quiet", "--report", "json=report.json"}
	if p.okExit != "" {
		argv = append(argv, "--ok-exit", p.okExit)
	}
	c := exec.CommandContext(ctx, l.programs.thresh, argv...)
	c.Dir = dir
	return c
}

// threshResume resumes the newest run of a store.
func (l *lab) threshResume(ctx context.Context, dir, store string, workers int) *exec.Cmd {
	c := exec.CommandContext(ctx, l.programs.thresh, "run", "--resume", "latest", "--store", store, "--workers", strconv.Itoa(workers),
		"--quiet", "--report", "json=report.json")
	c.Dir = dir
	return c
}

func readReport(dir string) (report, error) {
	var r report
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	if len(r.Campaigns) != 1 {
		return r, fmt.Errorf("the report has %d campaigns", len(r.Campaigns))
	}
	return r, nil
}

// spec writes a FuzzSpec for a target.
func (l *lab) spec(dir string, p process, cases int64) (string, error) {
	seed := l.path("seed.json")
	text, err := os.ReadFile(seed)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	argv := slices.Clone(p.argv)
	for i, a := range argv {
		if a == inputWord {
			argv[i] = "<input_path>"
		}
	}
	type object map[string]any
	doc, err := json.MarshalIndent(object{
		"schema_version": "llmfuzz.fuzzspec.v1",
		"campaign_id":    "bench",
		"target":         object{"agent_id": "bench", "work_root_base": filepath.Join(dir, "work"), "command": argv, "timeout_s": 5.0},
		"seed":           object{"path": seed, "media_type": "application/json", "sha256": hex.EncodeToString(sum[:])},
		"mutations":      object{"cases": cases, "rng_seed": 1, "max_ops_per_case": 4},
		"execution":      object{},
		"outputs":        object{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	}, "", "  ")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "spec.json")
	return name, os.WriteFile(name, doc, 0o644)
}

// foundSome is the exit code of Thresh for findings.
const foundSome = 1

// run runs a program to its end and returns its standard output and the processor time of it and of
// all processes that it waited for. Exit codes other than 0 are errors, except those in ok.
func run(ctx context.Context, c *exec.Cmd, ok ...int) ([]byte, time.Duration, error) {
	var errs tail
	c.Stderr = &errs
	c.WaitDelay = time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(ok, exit.ExitCode()) {
		err = nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %s", filepath.Base(c.Path), lastLine(append(out, errs...), err))
	}
	return out, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// tail keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	const keep = 4 << 10
	*t = append(*t, b...)
	if n := len(*t); n > keep {
		*t = append((*t)[:0], (*t)[n-keep:]...)
	}
	return len(b), nil
}
