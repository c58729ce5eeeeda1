package fuzzspec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/process"
)

// RunRecord holds everything known about one run, as plain values.
type RunRecord struct {
	Spec        *Spec
	CaseIndex   int64
	Seed        []byte
	Input       []byte
	InputName   string // file name of the input as the program got it; empty: original.pdf
	MutationLog []byte // content of mutations.jsonl
	// Executable replaces the first element of the command in the records: the path of a bare name.
	// Empty: as in the document.
	Executable string
	Timeout    float64 // seconds; 0: as in the document

	// Result is the result of the run. It is nil if the program could not be started (StartError says
	// why), or was not meant to (a dry run).
	Result     *process.Result
	StartError error
	When       time.Time // the time of the run if there is no Result

	Evaluate EvaluateOptions
	Extra    map[string]any // fields added to the failure record
}

// inputFile is the path of the input in the run folder.
func (r *RunRecord) inputFile() string {
	if r.InputName == "" {
		return fileInput
	}
	return "input/" + r.InputName
}

// dry reports whether the run was only planned.
func (r *RunRecord) dry() bool { return r.Result == nil && r.StartError == nil }

// timeoutSeconds is the effective timeout; plans show whole seconds.
func (r *RunRecord) timeoutSeconds() float64 {
	t := r.Timeout
	if t == 0 {
		t = r.Spec.TimeoutSeconds()
	}
	if r.dry() {
		return math.Trunc(t)
	}
	return t
}

// ranIn is the folder in which the program ran, if it is not the kept one.
func (r *RunRecord) ranIn(kept string) string {
	if r.Result == nil || r.Result.Dir == kept {
		return ""
	}
	return r.Result.Dir
}

// exitCode is the exit code in Python's terms: a signal is negative, and after a timeout or if
// nothing was started there is none (nil).
func (r *RunRecord) exitCode() any {
	switch {
	case r.dry():
		return 0
	case r.Result == nil || r.timedOut():
		return nil
	case r.Result.Status == process.Signaled:
		return -r.Result.Signal
	}
	return r.Result.ExitCode
}

// runnerExitCode is exitCode for records that cannot hold null.
func (r *RunRecord) runnerExitCode() any {
	if code := r.exitCode(); code != nil {
		return code
	}
	return -1
}

func (r *RunRecord) timedOut() bool {
	return r.Result != nil && (r.Result.Status == process.TimedOut || r.Result.Status == process.OverBudget)
}

// times are the wall times of the run, as records show them.
func (r *RunRecord) times() (started, ended string, elapsed time.Duration) {
	at := r.When
	if r.Result != nil {
		at, elapsed = r.Result.Started, r.Result.Elapsed
	}
	return stamp(at), stamp(at.Add(elapsed)), elapsed
}

// stamp writes a time as records do: UTC, to the second.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// seconds rounds a duration to the milliseconds that records show.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

func millis(d time.Duration) int64 { return int64(math.Round(float64(d) / float64(time.Millisecond))) }

func (r *RunRecord) argv(p process.Paths) []string {
	argv := Expand(r.Spec.Target.Command, p)
	if r.Executable != "" && !r.dry() {
		argv[0] = r.Executable
	}
	return argv
}

// context is the content of context.json. inputFile has its links resolved.
func (r *RunRecord) context(p process.Paths, inputFile, sum string) []byte {
	o := object{
		"run_id": p.RunID, "input_file": inputFile, "input_sha256": sum, "artifact_id": sum[:12], "case_index": r.CaseIndex,
		"rng_seed": r.Spec.Mutations.EffectiveSeed(r.CaseIndex), "agent_id": r.Spec.Target.AgentID,
	}
	give(o, "engine", r.Spec.Target.Engine)
	return pretty(o)
}

func (r *RunRecord) seedInfo() []byte {
	return pretty(object{"sha256": digest(r.Seed), "size_bytes": len(r.Seed), "source_path": r.Spec.Seed.Path})
}

// exec is the content of exec/exec.json.
func (r *RunRecord) exec(p process.Paths) []byte {
	started, ended, elapsed := r.times()
	o := object{
		"version": "exec_v0.1", "run_id": p.RunID, "argv": r.argv(p), "cwd": p.RunDir,
		"started_at": started, "ended_at": ended, "duration_ms": millis(elapsed),
		"timeout_s": r.timeoutSeconds(), "timed_out": r.timedOut(), "exit_code": r.exitCode(),
		"stdout_path": "exec/stdout.txt", "stderr_path": "exec/stderr.txt", "env": r.Spec.Environment(p), "error": nil,
	}
	switch {
	case r.dry():
		o["error"] = object{"type": "DryRun", "message": "dry_run"}
	case r.StartError != nil:
		o["error"] = object{"type": "OSError", "message": r.StartError.Error()}
	case r.Result.OutputLimit:
		o["output_limit"] = true
	}
	if r.Result != nil {
		o["executor"], o["leftover_processes"] = string(r.Result.Executor), r.Result.Leftovers
		o["rusage"] = object{
			"user_ms": millis(r.Result.UserTime), "system_ms": millis(r.Result.SystemTime), "max_rss_bytes": r.Result.MaxRSS,
		}
		if r.Result.Status == process.Signaled {
			o["core_dumped"] = r.Result.CoreDumped
		}
	}
	if dir := r.ranIn(p.RunDir); dir != "" {
		o["executed_in"] = dir
	}
	return pretty(o)
}

// legacyExec is the content of llmfuzz/exec.json.
func (r *RunRecord) legacyExec(p process.Paths) []byte {
	started, ended, elapsed := r.times()
	return pretty(object{
		"cmd": r.argv(p), "cwd": p.RunDir, "elapsed_seconds": seconds(elapsed), "env_subset": r.Spec.Environment(p),
		"exit_code": r.runnerExitCode(), "started_utc": started, "finished_utc": ended,
		"timeout": r.timedOut(), "timeout_seconds": int64(r.timeoutSeconds()),
	})
}

// observed is an output that a record lists.
type observed struct{ path, sha256 string }

// outcome is the result of a run as failure records name it, before its outputs are judged.
func (r *RunRecord) outcome() (verdict, reason string) {
	switch {
	case r.dry():
		return "BLOCKED_POLICY", "dry_run"
	case r.StartError != nil:
		return "BLOCKED_ENVIRONMENT", "runner_not_started"
	case r.timedOut():
		return VerdictTimeout, "runner_timeout"
	case r.Result.OutputLimit:
		return "FAIL_EXCEPTION", "output_limit"
	}
	if code := r.exitCode(); code != 0 && !containsCode(r.Evaluate.AcceptExit, code) {
		return "FAIL_EXCEPTION", "runner_nonzero_exit"
	}
	if kind := r.Evaluate.Fail; kind == kindLeftovers || kind == kindCrash {
		return "FAIL_EXCEPTION", kind
	}
	return VerdictPass, "runner_ok"
}

func containsCode(codes []int, code any) bool {
	return slices.ContainsFunc(codes, func(c int) bool { return code == c })
}

// finalOutcome aligns the failure record with the evaluation, which has judged the outputs: a run
// has one verdict.
func finalOutcome(verdict, reason string, e Evaluation) (string, string) {
	if verdict != VerdictPass || e.Verdict == VerdictPass {
		return verdict, reason
	}
	for _, c := range e.Checks {
		switch {
		case c.Code == "OUTPUTS_PRESENT" && !c.Pass:
			return "FAIL_MISSING_OUTPUT", "output_missing"
		case c.Code == "JSON_PARSE" && !c.Pass:
			return "FAIL_SCHEMA_INVALID", "output_not_json"
		}
	}
	return e.Verdict, "evaluation"
}

// failureRecord is the content of eval/failure_record.json.
func (r *RunRecord) failureRecord(p process.Paths, verdict, reason string, outputs []observed, policy string) []byte {
	started, ended, elapsed := r.times()
	sum := digest(r.Input)
	list := seq.Map(outputs, func(o observed) any { return object{"path": o.path, "sha256": o.sha256} })
	spec, mutations := path.Join(p.RunDir, fileSpec), path.Join(p.RunDir, fileMutations)
	o := object{
		"schema_version": "llmfuzz.failure_record.v1", "run_id": p.RunID, "campaign_id": r.Spec.CampaignID, "artifact_id": sum[:12],
		"input":            object{"path": p.InputPath, "sha256": sum},
		"spec_ref":         object{"path": spec, "sha256": digest(r.Spec.Snapshot())},
		"mutation_ref":     object{"path": mutations, "sha256": digest(r.MutationLog)},
		"execution":        object{"exit_code": r.runnerExitCode(), "elapsed_ms": millis(elapsed)},
		"observed_outputs": list,
		"verdict":          verdict,
		"reason":           reason,
		"timestamps":       object{"started_utc": started, "finished_utc": ended},
		"input_sha256":     sum,
		"case_index":       r.CaseIndex,
		"rng_seed":         r.Spec.Mutations.EffectiveSeed(r.CaseIndex),
		"mutations_path":   mutations,
		"runner_exit_code": r.runnerExitCode(),
		"timeout":          r.timedOut(),
		"elapsed_seconds":  seconds(elapsed),
		"cmd":              r.argv(p),
		"cwd":              p.RunDir,
		"env_subset":       r.Spec.Environment(p),
		"timeout_seconds":  int64(r.timeoutSeconds()),
	}
	if policy != "" {
		o["policy_fingerprint"] = policy
	}
	if dir := r.ranIn(p.RunDir); dir != "" {
		o["executed_in"] = dir
	}
	return pretty(withExtra(o, r.Extra))
}

// CheckID rejects an id that could name another folder than intended. what is the kind of id: "run
// id", "campaign id".
func CheckID(what, id string) error {
	bad := ""
	switch {
	case id == "":
		bad = "must not be empty"
	case strings.HasPrefix(id, "."):
		// This also keeps ids distinct from folders that are still being written.
		bad = "must not start with a dot"
	case strings.HasPrefix(id, "-"):
		bad = "must not start with '-', which programs read as an option"
	case strings.ContainsAny(id, `/\`) || strings.Contains(id, ".."):
		bad = `must not contain '/', '\' or '..'`
	case strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }):
		bad = "must not contain control characters"
	case len(id) > 200:
		bad = fmt.Sprintf("must be at most 200 bytes long, got %d", len(id))
	default:
		return nil
	}
	return fmt.Errorf("%s %q %s", what, id, bad)
}

// DefaultCampaignID returns the id of a campaign's folder if the user gives none. It does not
// depend on the document's campaign_id.
func DefaultCampaignID(specText []byte, startIndex int64) string {
	sum := sha256.Sum256(specText)
	return fmt.Sprintf("cmp_%s_s%d", hex.EncodeToString(sum[:4]), startIndex)
}

// CaseRunID returns the id of the run of one case of a campaign.
func CaseRunID(campaignID string, caseIndex int64) string {
	return fmt.Sprintf("%s_case_%06d", campaignID, caseIndex)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
