package fuzzspec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Verdicts of an evaluation, and of case lines and summaries.
const (
	VerdictPass    = "PASS"
	VerdictFail    = "FAIL"
	VerdictTimeout = "TIMEOUT"
	VerdictBlocked = "BLOCKED"
	VerdictDryRun  = "DRY_RUN"
	verdictUnknown = "UNKNOWN"
)

// Evaluation is the verdict on a run folder.
type Evaluation struct {
	Verdict     string
	Signature   string // signature_v1
	Checks      []RunCheck
	ArtifactID  string
	InputSHA256 string
	JSON        []byte // content of llmfuzz/eval.json
}

// RunCheck is one of the five checks of an evaluation.
type RunCheck struct {
	Code   string
	Pass   bool
	Detail string
}

// EvaluateOptions modify an evaluation from that of existing tools.
type EvaluateOptions struct {
	// NoneExpected means that the program writes no JSON output for the unmodified seed, so missing
	// output is not a failure.
	NoneExpected bool
	// IgnoreOutputs leaves outputs unjudged: they may be missing or invalid.
	IgnoreOutputs bool
	// Fail is the kind of a failure that the exit code does not show: a sanitizer's report, processes
	// left running. Empty: none.
	Fail string
	// AcceptExit lists exit codes other than 0 that are not a failure.
	AcceptExit []int
	// Extra holds fields to add to eval.json beside the documented ones.
	Extra map[string]any
}

// EvaluateRun judges a run from the files in its folder, which it only reads. It always returns a
// verdict, even for an empty folder.
func EvaluateRun(run fs.FS, runID string, o EvaluateOptions) Evaluation {
	e := evaluator{run: run, runID: runID, o: o, context: check("CONTEXT_PRESENT"), exec: check("EXEC_PRESENT"),
		exit: check("RUNNER_EXIT"), outputs: check("OUTPUTS_PRESENT"), parse: check("JSON_PARSE")}
	e.judge()
	if e.verdict == VerdictPass && !e.context.Pass {
		e.blocked()
	}
	return e.result()
}

func check(code string) RunCheck { return RunCheck{Code: code} }

func (c *RunCheck) set(pass bool, format string, args ...any) {
	c.Pass, c.Detail = pass, fmt.Sprintf(format, args...)
}

type evaluator struct {
	run                                 fs.FS
	runID                               string
	o                                   EvaluateOptions
	mode, execPath                      string
	artifactID, inputSHA256             string
	verdict, signature                  string
	context, exec, exit, outputs, parse RunCheck
	broken                              campaign.Attachment // the first output that is not JSON
}

// judge follows the documented order of decisions.
func (e *evaluator) judge() {
	e.readContext()
	record, _, _ := e.read("eval/failure_record.json")
	var stderr string
	e.mode = "missing"
	for _, trio := range [][3]string{{"canonical", "exec/exec.json", "exec/stderr.txt"}, {"legacy", "llmfuzz/exec.json", "llmfuzz/runner.stderr.txt"}} {
		if exists(e.run, trio[1]) {
			e.mode, e.execPath, stderr = trio[0], trio[1], trio[2]
			break
		}
	}
	if e.mode == "missing" {
		e.exec.set(false, "exec.json missing")
		e.exit.set(false, "exec_missing")
		e.end(VerdictFail, "OUT_MISSING:"+hash16("exec.json"), "OUT_MISSING")
		return
	}
	exec, exception, ok := e.read(e.execPath)
	if !ok {
		e.exec.set(false, "exec.json parse error (%s)", exception)
		e.blocked()
		return
	}
	e.exec.set(true, "ok")
	switch reason, verdict := text(record.Get("reason")), text(record.Get("verdict")); {
	case reason == "dry_run":
		e.exit.set(false, "dry_run")
		e.end(VerdictDryRun, VerdictDryRun, VerdictDryRun)
		return
	case strings.HasPrefix(verdict, "BLOCKED"):
		e.blocked()
		return
	}
	code := exec.Get("exit_code")
	accepted := e.accepts(code)
	switch {
	case e.timedOut(exec):
		e.exit.set(false, "timeout=true")
		e.end(VerdictTimeout, timeoutSignature(exec), VerdictTimeout)
	case truthy(exec.Get("output_limit")) && !(isExitCode(code) && truthy(code) && !accepted):
		e.exit.set(false, "output_limit=true")
		e.end(VerdictFail, "OUTPUT_LIMIT", VerdictFail)
	case isExitCode(code) && truthy(code) && !accepted:
		e.exit.set(false, "exit_code=%s", pythonStr(code))
		e.end(VerdictFail, e.crash(exec, record, stderr), VerdictFail)
	default:
		exited := isExitCode(code)
		switch {
		case accepted:
			e.exit.set(true, "exit_code=%s (accepted)", pythonStr(code))
		case exited:
			e.exit.set(true, "exit_code=0")
		default:
			e.exit.set(false, "exit_code=%s", pythonStr(code))
		}
		if kind := e.o.Fail; kind == kindLeftovers || kind == kindCrash {
			e.end(VerdictFail, strings.ToUpper(kind), VerdictFail)
			return
		}
		e.judgeOutputs(record, exited)
	}
}

// end sets a verdict that does not depend on the outputs.
func (e *evaluator) end(verdict, signature, why string) {
	e.verdict, e.signature = verdict, signature
	e.outputs.set(false, "skipped: verdict=%s", why)
	e.parse.set(false, "skipped: verdict=%s", why)
}

func (e *evaluator) blocked() {
	e.exit.set(false, "blocked")
	e.end(VerdictBlocked, VerdictBlocked, VerdictBlocked)
}

func (e *evaluator) readContext() {
	if !exists(e.run, "context.json") {
		e.context.set(false, "context.json missing")
		return
	}
	context, exception, ok := e.read("context.json")
	if ok && (context.Kind == jsontree.Null || context.Kind == jsontree.Bool || context.Kind == jsontree.Int || context.Kind == jsontree.Float) {
		exception, ok = "TypeError", false // Python raises this when it looks up a key in it
	}
	if !ok {
		e.context.set(false, "json parse error (%s)", exception)
		return
	}
	var missing []string
	for _, key := range []string{"run_id", "artifact_id", "input_sha256"} {
		if context.Get(key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		e.context.set(false, "missing fields: %s", strings.Join(missing, ","))
		return
	}
	e.artifactID, e.inputSHA256 = text(context.Get("artifact_id")), text(context.Get("input_sha256"))
	e.context.set(true, "ok")
	if digest := []rune(e.inputSHA256); len(digest) >= 12 && e.artifactID != "" && e.artifactID != string(digest[:12]) {
		e.context.set(true, "ok (artifact_id != input_sha256[:12])")
	}
}

// read parses a record; if that fails, it names the exception that existing tools would raise.
func (e *evaluator) read(name string) (*jsontree.Node, string, bool) {
	data, err := readBounded(e.run, name, mostRecordBytes)
	if err != nil {
		return nil, "OSError", false
	}
	doc, err := jsontree.Parse(data, jsontree.Python())
	if err != nil {
		return nil, exceptionName(err), false
	}
	return &doc.Root, "", true
}

// exceptionName is the Python exception for a text that jsontree rejected.
func exceptionName(err error) string {
	switch err.(*jsontree.Error).Class { // Parse returns no other error
	case jsontree.Encoding:
		return "UnicodeDecodeError"
	case jsontree.Depth:
		return "RecursionError"
	case jsontree.Digits:
		return "ValueError"
	}
	return "JSONDecodeError"
}

// accepts reports whether an exit code other than 0 is declared acceptable.
func (e *evaluator) accepts(code *jsontree.Node) bool {
	v := code.Int()
	return v != nil && v.Sign() != 0 && v.IsInt64() && slices.Contains(e.o.AcceptExit, int(v.Int64()))
}

// timedOut reads "timeout" and, in canonical evidence without it, "timed_out".
func (e *evaluator) timedOut(exec *jsontree.Node) bool {
	if t := exec.Get("timeout"); t != nil {
		return truthy(t)
	}
	t := exec.Get("timed_out")
	return e.mode == "canonical" && t != nil && t.Kind == jsontree.Bool && t.Bool
}

func timeoutSignature(exec *jsontree.Node) string {
	t := exec.Get("timeout_s")
	if t == nil || t.Kind == jsontree.Null {
		t = exec.Get("timeout_seconds")
	}
	if t != nil && t.Kind == jsontree.Bool {
		if t.Bool {
			return "TIMEOUT:1"
		}
		return "TIMEOUT:0"
	}
	f, ok := t.Float()
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) || f <= -1 {
		return "TIMEOUT"
	}
	if v := t.Int(); v != nil {
		return "TIMEOUT:" + v.String()
	}
	return fmt.Sprintf("TIMEOUT:%.0f", math.Abs(math.Trunc(f)))
}

// crash is the signature of a crash. The standard error quoted in a record takes precedence over
// the file.
func (e *evaluator) crash(exec, record *jsontree.Node, stderr string) string {
	info, err := fs.Stat(e.run, stderr)
	nonEmpty := err == nil && info.Size() > 0
	tail := text(exec.Get("stderr_tail"))
	if tail == "" {
		tail = text(record.Get("execution").Get("stderr_tail"))
	}
	if tail == "" && nonEmpty {
		data, err := readTail(e.run, stderr, info.Size())
		if err == nil {
			tail = decode(data)
		}
	}
	return CrashSignature(tail, e.runID, nonEmpty)
}

func (e *evaluator) result() Evaluation {
	v := Evaluation{Verdict: e.verdict, Signature: e.signature, ArtifactID: e.artifactID, InputSHA256: e.inputSHA256,
		Checks: []RunCheck{e.context, e.exec, e.exit, e.outputs, e.parse}}
	checks := make([]any, len(v.Checks))
	for i, c := range v.Checks {
		status := VerdictFail
		if c.Pass {
			status = VerdictPass
		}
		checks[i] = object{"code": c.Code, "status": status, "detail": c.Detail}
	}
	ref := func(name string) string {
		if name == "" {
			return ""
		}
		return NormalizePath("runs/" + e.runID + "/" + name)
	}
	v.JSON = pretty(withExtra(object{
		"schema_version": "llmfuzz.eval.v1", "run_id": e.runID, "artifact_id": v.ArtifactID, "input_sha256": v.InputSHA256,
		"verdict": v.Verdict, "signature_v1": v.Signature, "checks": checks, "exec_evidence_mode": e.mode,
		"refs": object{"context_json": ref("context.json"), "exec_json": ref(e.execPath), "failure_record": ref("eval/failure_record.json")},
	}, e.o.Extra))
	return v
}

// withExtra adds fields beside the documented ones, which it does not overwrite.
func withExtra(o object, extra map[string]any) object {
	for k, v := range extra {
		if _, taken := o[k]; !taken {
			o[k] = v
		}
	}
	return o
}

// PatchRecord adds the result of the evaluation to a failure record, as existing tools do on
// request; false if the record is not a JSON object.
func (v Evaluation) PatchRecord(record []byte, runID string) ([]byte, bool) {
	doc, err := jsontree.Parse(record, jsontree.Python())
	if err != nil || doc.Root.Kind != jsontree.Object {
		return nil, false
	}
	doc.Root.Set("signature_v1", tree(v.Signature))
	doc.Root.Set("eval_ref", tree(NormalizePath("runs/"+runID+"/llmfuzz/eval.json")))
	doc.Root.Set("eval_verdict", tree(v.Verdict))
	return pretty(doc.Root), true
}

// EvaluateFolder judges the kept run folder of that id again and writes its llmfuzz/eval.json. It
// makes missing folders, so a run that left nothing behind gets a verdict too. If patch is set, the
// failure record gets the result as well; a missing or broken record is then an error, returned
// after the evaluation has been written.
func EvaluateFolder(workRootBase, runID string, patch bool) (signature string, err error) {
	f, err := NewRunFolder(workRootBase, runID)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(f.Dir(), "llmfuzz"), 0o755); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	root, err := os.OpenRoot(f.Dir())
	if err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	defer root.Close()
	e := EvaluateRun(root.FS(), runID, EvaluateOptions{})
	put := func(name string, data []byte) error {
		return replaceFile(filepath.Join(f.Dir(), name), func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err := put("llmfuzz/eval.json", e.JSON); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	if !patch {
		return e.Signature, nil
	}
	record, err := os.ReadFile(f.RecordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("judge run %s: there is no failure record to patch: %w", runID, err)
	}
	if err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	patched, ok := e.PatchRecord(record, runID)
	if !ok {
		return "", fmt.Errorf("judge run %s: the failure record is not a JSON object", runID)
	}
	if err := put(fileRecord, patched); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	return e.Signature, nil
}
