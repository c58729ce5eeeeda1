package fuzzspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/process"
)

// Kinds of failure.
const (
	kindCrash     = "crash"     // a signal, a sanitizer's report, a language's panic
	kindExit      = "exit"      // an exit code that is not accepted
	kindTimeout   = "timeout"   // time limit exceeded
	kindOutput    = "output"    // JSON outputs missing or invalid
	kindFlood     = "flood"     // output limit exceeded
	kindLeftovers = "leftovers" // processes left running
)

// ending describes how a failing case ended, as stored in outcomes.
type ending struct {
	Status      string `json:"status"`
	ExitCode    *int   `json:"exit_code,omitempty"`
	Signal      int    `json:"signal,omitempty"`
	OutputLimit bool   `json:"output_limit,omitempty"`
	Leftovers   bool   `json:"leftovers,omitempty"`
	Output      string `json:"output,omitempty"`   // signature of the fault in the outputs
	Observed    string `json:"observed,omitempty"` // why a system did not answer
}

// looker runs the case that just crashed once more, in a process of its own, and inspects the crash.
// It returns nil if there is none; looked is false if it could not look.
type looker func() (seen *process.Crash, looked bool)

// judge decides the verdict for an input. Exit codes, signals and sanitizers come first, then
// limits, then leftover processes, then outputs.
func (c *Campaign) judge(s *state, r *process.Result, input []byte, runID string, look looker) (campaign.Outcome, error) {
	if r.Observed != nil {
		return c.judgeSystem(r.Observed, input, runID), nil
	}
	end := ending{Status: r.Status.String(), OutputLimit: r.OutputLimit}
	death := crash.Death{TimedOut: r.Status == process.TimedOut, OutputLimit: r.OutputLimit, CoreDumped: r.CoreDumped, Stderr: r.Stderr, Stdout: r.Stdout}
	var failed bool
	switch {
	case r.OutputLimit:
		// A program that continues after its writes fail also reaches the time limit; it was stopped
		// because of its output.
		death.TimedOut, failed = false, true
	case r.Status == process.TimedOut, r.Status == process.OverBudget:
		failed, death.TimedOut = true, true
	case r.Status == process.Signaled:
		end.Signal, death.Signal, failed = r.Signal, r.Signal, true
	default:
		code := r.ExitCode
		end.ExitCode, death.ExitCode = &code, code
		failed = code != 0 && !slices.Contains(c.set.okExit, code)
	}
	if failed {
		return c.crashOutcome(end, death, runID, look, s.facts.Kept && r.Executor == process.AFL), nil
	}
	if c.reportsCrash(death, input) {
		return c.crashOutcome(end, death, runID, look, s.facts.Kept && r.Executor == process.AFL), nil
	}
	if r.Leftovers > 0 && !s.facts.Leftovers {
		end.Leftovers = true
		return fail(kindLeftovers, "processes left running after the program ended", campaign.SeverityMedium, "LEFTOVERS", end), nil
	}
	if c.set.outputs == "ignore" {
		return campaign.Outcome{}, nil
	}
	noneExpected := c.noneExpected(s, r)
	if r.NoOutputs && noneExpected {
		return campaign.Outcome{}, nil
	}
	signature, detail, broken, err := judgeOutputs(r.Dir, runID, noneExpected)
	if err != nil || signature == "" {
		return campaign.Outcome{}, err
	}
	end.Output = signature
	o := fail(kindOutput, detail, campaign.SeverityMedium, signature, end)
	if broken.Name != "" {
		o.Evidence = append(o.Evidence, broken)
	}
	return o, nil
}

// reportsCrash reports whether a program whose exit code is accepted has crashed all the same. A
// sanitizer that continues after its report does not change the exit code; a runtime's report of an
// uncaught error comes with an exit code that a user may accept for other reasons.
func (c *Campaign) reportsCrash(death crash.Death, input []byte) bool {
	crashed := func() bool {
		cause := crash.Analyze(death)
		return cause.Class == crash.ClassSanitizer || cause.Uncaught && !c.set.okReports
	}
	if len(death.Stderr) == 0 || !crashed() {
		return false
	}
	death.Stderr = withoutEcho(death.Stderr, input)
	return crashed()
}

// noneExpected reports whether a program that ended this way need not write JSON: it writes none
// for its seed, or it rejected the input with an accepted exit code.
func (c *Campaign) noneExpected(s *state, r *process.Result) bool {
	return c.set.outputs == "auto" && (!s.facts.Outputs || slices.Contains(c.set.okExit, r.ExitCode) && r.ExitCode != 0)
}

// withoutEcho removes the lines of its input from a program's output, even with words before them:
// a program that prints somebody else's crash from a log has not crashed.
func withoutEcho(text, input []byte) (rest []byte) {
	for line := range bytes.Lines(text) {
		echo := false
		for words := bytes.TrimSpace(line); len(words) > len(line)*3/4 && !echo; {
			echo = bytes.Contains(input, words)
			_, words, _ = bytes.Cut(words, []byte(" "))
		}
		if !echo {
			rest = append(rest, line...)
		}
	}
	return rest
}

// crashOutcome is the outcome of a program that failed because of how it ended; shared says that
// its process may have run other cases before.
func (c *Campaign) crashOutcome(end ending, d crash.Death, runID string, look looker, shared bool) campaign.Outcome {
	// The run id differs from case to case and is not part of the cause.
	d.Stderr = bytes.ReplaceAll(d.Stderr, []byte(runID), []byte("<run_id>"))
	d.Stdout = bytes.ReplaceAll(d.Stdout, []byte(runID), []byte("<run_id>"))
	cause := crash.Analyze(d)
	var seen *process.Crash
	if cause.Untold() {
		var looked bool
		if seen, looked = look(); shared && looked && seen == nil {
			cause.Title = cause.Kind + " in a process that runs many cases; the input alone does not crash it"
			cause.Layers = []string{crash.ClassSignal, damagedBefore}
		}
		if seen != nil {
			d.Stack = &crash.Stack{Kind: seen.Kind, Fault: seen.Fault, Places: seen.Layers, Vague: seen.Vague}
			if cause = crash.Analyze(d); seen.Hint == process.Exploitable {
				cause.Severity = crash.SeverityCritical
			}
		}
	}
	kind := kindCrash
	switch cause.Class {
	case crash.ClassTimeout:
		kind = kindTimeout
	case crash.ClassOutputLimit:
		kind = kindFlood
	case crash.ClassExit:
		kind = kindExit
	}
	o := outcome(kind, cause, end)
	if seen != nil {
		o.Evidence = append(o.Evidence, stackEvidence(seen))
	}
	return o
}

// damagedBefore is the cause of a crash that an earlier case of its process must have prepared.
const damagedBefore = "an earlier case"

func outcome(kind string, cause crash.Cause, end ending) campaign.Outcome {
	o := fail(kind, cause.Title, severities[cause.Severity], "", end)
	o.Cause = cause.Layers
	return o
}

var severities = map[string]campaign.Severity{
	crash.SeverityCritical: campaign.SeverityCritical, crash.SeverityHigh: campaign.SeverityHigh,
	crash.SeverityMedium: campaign.SeverityMedium, crash.SeverityLow: campaign.SeverityLow,
}

func fail(kind, title string, sev campaign.Severity, signature string, end ending) campaign.Outcome {
	// A struct of plain fields can always be encoded.
	data, _ := json.Marshal(end)
	return campaign.Outcome{Verdict: campaign.VerdictFail, Severity: sev, Kind: kind, Title: title, Signature: signature, Data: data}
}

// hasOutputs reports whether a run left JSON files in its out folder.
func hasOutputs(dir string) bool {
	found := false
	// A folder that cannot be read contains nothing to judge.
	_ = filepath.WalkDir(filepath.Join(dir, "out"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".json") {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// judgeOutputs reads the JSON outputs of a run as its evaluation will. It returns the signature of
// their fault, "" if there is none.
func judgeOutputs(dir, runID string, noneExpected bool) (signature, detail string, broken campaign.Attachment, err error) {
	if _, err := os.Stat(filepath.Join(dir, "out")); err != nil {
		if noneExpected {
			return "", "", broken, nil
		}
		return "OUT_MISSING:" + hash16("NO_OUTPUTS"), "no JSON output was written", broken, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", "", broken, fmt.Errorf("looking at the outputs of a case: %w", err)
	}
	defer root.Close()
	list, _ := observeOutputs(root, RunFolder{id: runID}, "")
	paths := seq.Map(list, func(o observed) any { return object{"path": o.path} })
	record := tree(object{"observed_outputs": paths})
	e := evaluator{run: root.FS(), runID: runID, o: EvaluateOptions{NoneExpected: noneExpected}, outputs: check("OUTPUTS_PRESENT"), parse: check("JSON_PARSE")}
	e.judgeOutputs(&record, true)
	if e.verdict == VerdictPass {
		return "", "", broken, nil
	}
	if !e.outputs.Pass {
		return e.signature, "no JSON output was written", broken, nil
	}
	name, why, _ := strings.Cut(strings.TrimPrefix(e.signature, "JSON_BAD:"), ":")
	return e.signature, fmt.Sprintf("output %s is not JSON (%s)", crash.Mask(name), why), e.broken, nil
}
