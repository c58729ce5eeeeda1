package fuzzspec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/port/process"
)

// Files of a run folder, relative to it. The input goes by that name whatever
// it is, because existing tools look for it there.
const (
	fileInput     = "input/original.pdf"
	fileSeed      = "input/original.seed.pdf"
	fileSpec      = "llmfuzz/fuzzspec.json"
	fileMutations = "llmfuzz/mutations.jsonl"
	fileRecord    = "eval/failure_record.json"
)

// RunFolder is <work_root_base>/runs/<run id>, where the evidence of one run is
// kept. Its layout is documented and other tools read it.
type RunFolder struct{ base, id string }

// NewRunFolder returns the folder of a run; nothing is made. The id is refused
// if it could lead elsewhere.
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

// Paths returns where a program finds things if it runs in this folder.
func (f RunFolder) Paths() process.Paths {
	dir := f.Dir()
	return process.Paths{RunID: f.id, RunDir: dir, InputPath: dir + "/" + fileInput, OutDir: dir + "/out"}
}

// pathsOf is Paths with the input under the name that the program was given.
func (f RunFolder) pathsOf(r *RunRecord) process.Paths {
	p := f.Paths()
	p.InputPath = p.RunDir + "/" + r.inputFile()
	return p
}

// KeptRun is what was written of a run.
type KeptRun struct {
	Evaluation Evaluation
	Verdict    string   // the final one, as in the failure record: "PASS", "TIMEOUT", "FAIL_...", "BLOCKED_..."
	Reason     string   // as in the failure record
	Notes      []string // what could not be kept
}

// CaseVerdict returns the final verdict in the words of case lines and summaries. It
// is the evaluation's: the two never disagree.
func (k KeptRun) CaseVerdict() string { return k.Evaluation.Verdict }

// Write keeps a run. The folder is made beside its place and moved there when
// it is whole, so a reader sees all of a run or nothing, and what an earlier
// run of that id left is gone. Outputs are copied from the folder that the
// program ran in, which may be this one.
//
// The failure record alone is forced to disk: run folders can be made again
// from the journal of the run, and forcing each of their files costs more than
// running the program does.
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
	if err := recoverSwap(f.Dir(), old); err != nil {
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
		// The program was given this name; the other one is where tools look.
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
	root, err := os.OpenRoot(stage) // a link that leads out of the folder is not followed
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

// emptyFolder removes what is in a folder.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// recoverSwap finishes or undoes what [swap] was killed in.
func recoverSwap(place, old string) error {
	if _, err := os.Lstat(place); errors.Is(err, os.ErrNotExist) {
		if err := os.Rename(old, place); err == nil || !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(old)
}

// swap puts a whole folder in a place that may hold another one, which is put
// back if that fails.
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
