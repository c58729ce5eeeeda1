package fuzzspec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/port/process"
)

// Files of a run folder, relative to it. The input has this name whatever its type, because
// existing tools expect it.
const (
	fileInput     = "input/original.pdf"
	fileSeed      = "input/original.seed.pdf"
	fileSpec      = "llmfuzz/fuzzspec.json"
	fileMutations = "llmfuzz/mutations.jsonl"
	fileRecord    = "eval/failure_record.json"
)

// RunFolder is <work_root_base>/runs/<run id>, the evidence of one run. Its layout is documented,
// and other tools read it.
type RunFolder struct{ base, id string }

// NewRunFolder returns the folder of a run without making it. It rejects an id that could lead
// elsewhere.
func NewRunFolder(workRootBase, runID string) (RunFolder, error) {
	if err := CheckID("run id", runID); err != nil {
		return RunFolder{}, err
	}
	return RunFolder{base: NormalizePath(workRootBase), id: runID}, nil
}

// Dir returns the absolute path of the folder.
func (f RunFolder) Dir() string { return NormalizePath(f.base + "/runs/" + f.id) }

// RecordPath returns the path of the failure record.
func (f RunFolder) RecordPath() string { return f.Dir() + "/" + fileRecord }

// Paths returns the paths of a program that runs in this folder.
func (f RunFolder) Paths() process.Paths {
	dir := f.Dir()
	return process.Paths{RunID: f.id, RunDir: dir, InputPath: dir + "/" + fileInput, OutDir: dir + "/out"}
}

// pathsOf is Paths with the input under the name that the program got.
func (f RunFolder) pathsOf(r *RunRecord) process.Paths {
	p := f.Paths()
	p.InputPath = p.RunDir + "/" + r.inputFile()
	return p
}

// KeptRun is the result of keeping a run.
type KeptRun struct {
	Evaluation Evaluation
	Verdict    string   // the final one, as in the failure record: "PASS", "TIMEOUT", "FAIL_...", "BLOCKED_..."
	Reason     string   // as in the failure record
	Notes      []string // what could not be kept
}

// CaseVerdict returns the final verdict as case lines and summaries name it. It is the evaluation's
// verdict: the two never disagree.
func (k KeptRun) CaseVerdict() string { return k.Evaluation.Verdict }

// Write keeps a run. It makes the folder beside its place and moves it there when it is complete,
// so a reader sees all of a run or nothing, and it removes an earlier run of the same id. It copies
// outputs from the folder that the program ran in, which may be this one.
//
// Only the failure record is forced to disk: run folders can be made again from the journal, and
// forcing each of their files costs more than running the program.
func (f RunFolder) Write(r RunRecord) (kept KeptRun, err error) {
	runs := filepath.Join(f.base, "runs")
	stage, old := filepath.Join(runs, "."+f.id+".new"), filepath.Join(runs, "."+f.id+".old")
	fail := func(doing string, err error) (KeptRun, error) {
		return KeptRun{}, fmt.Errorf("keep run %s: %s: %w", f.id, doing, errors.Join(err, os.RemoveAll(stage)))
	}
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return KeptRun{}, fmt.Errorf("keep run %s: make its folder: %w", f.id, err)
	}
	hold, err := holdStage(stage)
	if hold != nil {
		defer hold.Close()
	}
	if err != nil {
		return KeptRun{}, fmt.Errorf("keep run %s: clean up after an earlier run: %w", f.id, err)
	}
	if err := errors.Join(awaitKept(f.Dir()), recoverSwap(f.Dir(), old)); err != nil {
		return fail("clean up after an earlier run", err)
	}
	for _, dir := range []string{"exec", "input", "llmfuzz", "out", "eval"} {
		if err := os.MkdirAll(filepath.Join(stage, dir), 0o755); err != nil {
			return fail("make its folder", err)
		}
	}
	if kept.Notes, err = copyOutputs(stage, &r); err != nil {
		return fail("copy outputs", err)
	}
	p := f.pathsOf(&r)
	real, err := realPath(Disk{}, p.InputPath)
	if err != nil {
		return fail("resolve its folder", err)
	}
	var stdout, stderr []byte
	if r.Result != nil {
		stdout, stderr = r.Result.Stdout, r.Result.Stderr
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{fileInput, r.Input},
		{fileSeed, r.Seed},
		{fileSpec, r.Spec.Snapshot()},
		{"llmfuzz/seed.json", r.seedInfo()},
		{fileMutations, r.MutationLog},
		{"context.json", r.context(p, real, digest(r.Input))},
		{"exec/stdout.txt", stdout},
		{"exec/stderr.txt", stderr},
		{"exec/exec.json", r.exec(p)},
		{"llmfuzz/runner.stdout.txt", stdout},
		{"llmfuzz/runner.stderr.txt", stderr},
		{"llmfuzz/exec.json", r.legacyExec(p)},
	} {
		if err := os.WriteFile(filepath.Join(stage, file.name), file.data, 0o644); err != nil {
			return fail("write "+file.name, err)
		}
	}
	if name := r.inputFile(); name != fileInput {
		// The program got this name; tools look for the other one.
		if err := os.Link(filepath.Join(stage, fileInput), filepath.Join(stage, name)); err != nil {
			return fail("write "+name, err)
		}
	}
	if err := f.judge(&kept, stage, &r); err != nil {
		return fail("judge it", err)
	}
	if err := swap(stage, f.Dir(), old); err != nil {
		return fail("move it to its place", err)
	}
	return kept, nil
}

// judge evaluates the run from the files written so far and writes the failure
// record and the evaluation, so that the two agree.
func (f RunFolder) judge(kept *KeptRun, stage string, r *RunRecord) error {
	root, err := os.OpenRoot(stage) // do not follow links that lead out of the folder
	if err != nil {
		return err
	}
	defer root.Close()
	outputs, notes := observeOutputs(root, f, r.Spec.Target.AgentID)
	kept.Notes = append(kept.Notes, notes...)
	policy := ""
	if p := r.Spec.Target.EnginePolicy; p != nil {
		if data, err := os.ReadFile(*p); err == nil { // documented: left out if it cannot be read
			policy = digest(data)
		}
	}
	p := f.pathsOf(r)
	verdict, reason := r.outcome()
	if err := root.WriteFile(fileRecord, r.failureRecord(p, verdict, reason, outputs, policy), 0o644); err != nil {
		return err
	}
	e := EvaluateRun(root.FS(), f.id, r.Evaluate)
	verdict, reason = finalOutcome(verdict, reason, e)
	record := r.failureRecord(p, verdict, reason, outputs, policy)
	kept.Evaluation, kept.Verdict, kept.Reason = e, verdict, reason
	if err := root.WriteFile("llmfuzz/eval.json", e.JSON, 0o644); err != nil {
		return err
	}
	return writeSynced(filepath.Join(stage, fileRecord), record)
}

// emptyFolder removes the content of a folder.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// recoverSwap finishes or undoes a [swap] that was killed.
func recoverSwap(place, old string) error {
	if _, err := os.Lstat(place); errors.Is(err, os.ErrNotExist) {
		if err := os.Rename(old, place); err == nil || !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(old)
}

// swap moves a folder to a place that may hold another one, and restores the other one if that
// fails.
func swap(stage, place, old string) error {
	err := os.Rename(place, old)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	had := err == nil
	if err := os.Rename(stage, place); err != nil {
		if had {
			err = errors.Join(err, os.Rename(old, place))
		}
		return err
	}
	return os.RemoveAll(old)
}
