package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/port/process"
)

// oracleLane judges children on one lane.
type oracleLane struct {
	c      *Campaign
	runner process.Runner
	broken int // consecutive cases without a verdict
}

// childPlace is the placeholder for the path of the child's text in an oracle's command.
const childPlace = "<child>"

// Environment variables of an oracle, besides PATH.
const (
	envTestcase = "THRESH_TESTCASE_ID="
	envTemp     = "THRESH_TMPDIR="
)

func (c *Campaign) openOracle(ctx context.Context, lane campaign.Lane) (*oracleLane, error) {
	o := c.spec.Oracle
	plan := process.Plan{
		Command: func(p process.Paths) process.Command {
			argv := make([]string, len(o.Command))
			for i, a := range o.Command {
				argv[i] = strings.ReplaceAll(a, childPlace, p.InputPath)
			}
			env := []string{"PATH=" + oracleFolders, "LANG=C.UTF-8", envTestcase + p.RunID, envTemp + p.OutDir}
			return process.Command{Path: c.oracle, Argv: argv, Env: env, Dir: c.folder}
		},
		PerCase: true, Input: "input/child.txt", OutDir: "out", Stdin: true,
		Timeout:  time.Duration(o.TimeoutS * float64(time.Second)),
		Limits:   process.Limits{AddressSpace: 4 << 30, FileSize: 64 << 20, Written: 256 << 20, Output: 1 << 20},
		Executor: process.Spawn,
	}
	if c.program == nil {
		return nil, errors.New("oracle: programs cannot be run here")
	}
	runner, err := c.program(ctx, plan, lane.Index, lane.Of, lane.Cold)
	if err != nil {
		return nil, fmt.Errorf("starting the oracle: %w", err)
	}
	return &oracleLane{c: c, runner: runner}, nil
}

// Close closes the lane.
func (o *oracleLane) Close() error { return o.runner.Close() }

// oracleFolders are the folders in which an oracle named without a folder is searched, and the
// oracle's PATH.
const oracleFolders = "/usr/local/bin:/usr/bin:/bin"

// answer is the optional output of an oracle: its last line, if that is a JSON object.
type answer struct {
	Verdict any `json:"verdict"`
	Score   any `json:"oracle_score"`
	Reply   any `json:"reply"` // of the system under test, for display
}

// replyText is the reply of the system under test as a text, whatever its JSON type.
func replyText(v any) string {
	switch r := v.(type) {
	case nil:
		return ""
	case string:
		return r
	}
	return quoted(v)
}

// A case without a verdict is retried after increasing pauses. After brokenRow consecutive cases
// without a verdict, each is tried once.
const (
	pauseGrows = 4
	brokenRow  = 5
)

var firstPause = 100 * time.Millisecond // a variable, so that tests need not wait

// judge asks the oracle about a child. A child without a verdict is an error of its case. A
// returned error ends the run: it was cancelled, or the program is gone.
func (o *oracleLane) judge(ctx context.Context, index int64, child *mutator.Child, out *campaign.Outcome) error {
	tries := 1 + o.c.spec.Oracle.Retries
	if o.broken >= brokenRow {
		tries = 1
	}
	var why string
	for n, pause := 0, firstPause; n < tries; n, pause = n+1, pause*pauseGrows {
		if n > 0 && !sleep(ctx, pause) {
			return ctx.Err()
		}
		res, err := o.runner.Run(ctx, process.Case{Index: index, RunID: runID(child.ID), Input: []byte(child.Text), Confirm: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, process.ErrGone) {
			return campaign.Fatal("running the oracle on %s: %w", child.ID, err)
		}
		if err != nil {
			why = err.Error()
			continue
		}
		out.Elapsed += res.Elapsed
		if res.Status == process.TimedOut && o.c.spec.Oracle.HangFails {
			o.broken = 0
			o.c.hung(child, &res, out)
			return nil
		}
		verdict, a, fault := readAnswer(&res)
		if fault != "" {
			why = fault
			continue
		}
		o.broken = 0
		o.c.applyVerdict(child, judged{judgement: verdict, score: scoreOf(a.Score), reply: replyText(a.Reply), result: &res}, out)
		return nil
	}
	o.broken++
	o.c.unjudged(child, "oracle", why, tries, spent{}, out)
	return nil
}

// sleep waits, and reports whether the context allowed it.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// readAnswer interprets the end of an oracle: exit code 0 means that the system under test held, 1
// that it failed; its output may add more. fault is the reason if there is no verdict: the oracle
// crashed, or contradicts itself.
func readAnswer(res *process.Result) (verdict mutator.Judgement, a answer, fault string) {
	switch {
	case res.Status != process.Exited || res.OutputLimit || res.StdoutSize > int64(len(res.Stdout)) || res.ExitCode > 1:
		if fault = ending(res); len(bytes.TrimSpace(res.Stderr)) > 0 {
			fault += ": " + diag.FirstLine(strings.TrimSpace(string(res.Stderr)))
		}
		return mutator.Unknown, a, fault
	case res.ExitCode == 1:
		verdict = mutator.Fail
	default:
		verdict = mutator.Pass
	}
	a, unread := said(res.Stdout)
	if unread != "" && verdict == mutator.Pass { // it may say FAIL
		return mutator.Unknown, a, "it prints a verdict that is not JSON: " + cut(unread, 200)
	}
	word := mutator.Unknown
	if a.Verdict != nil {
		// "ERROR" is FAIL in statistics, as in the original; an oracle that says so could not judge.
		text, _ := a.Verdict.(string)
		if word = mutator.ParseJudgement(a.Verdict); word == mutator.Unknown || strings.EqualFold(strings.TrimSpace(text), "ERROR") {
			return mutator.Unknown, a, fmt.Sprintf("it says the verdict %s: expected PASS or FAIL", quoted(a.Verdict))
		}
	} else if line := failsOtherwise(res.Stdout); line != "" && verdict == mutator.Pass {
		return mutator.Unknown, a, "it exits with 0, which is PASS, and prints " + strconv.Quote(cut(line, 200)) + ": expected FAIL on its last line, or exit code 1"
	} else if last := lastLine(plain(res.Stderr)); bytes.EqualFold(last, []byte("FAIL")) && verdict == mutator.Pass {
		return mutator.Unknown, a, "it exits with 0, which is PASS, and prints FAIL to standard error: expected it on standard output, or exit code 1"
	}
	switch {
	case word == mutator.Pass && res.ExitCode == 1:
		return mutator.Unknown, a, "it says PASS, and exits with 1, which is FAIL"
	case word != mutator.Unknown:
		return word, a, ""
	case res.ExitCode == 1:
		c := crash.Analyze(crash.Death{ExitCode: 1, Stderr: res.Stderr})
		switch c.Class {
		case crash.ClassException, crash.ClassPanic, crash.ClassStackOverflow, crash.ClassMemoryLimit:
			return mutator.Unknown, a, "it crashed: " + c.Title
		}
	}
	return verdict, a, ""
}

// said parses the output of an oracle: JSON on its last line or over several lines, or PASS or FAIL
// on its last line. Anything else is for people, except what looks like JSON with a verdict but is
// not: that is returned as unread.
func said(output []byte) (a answer, unread string) {
	output = plain(output)
	last := lastLine(output)
	for _, text := range [][]byte{last, output[bytes.LastIndex(output, []byte("\n{"))+1:]} {
		if unmarshalPython(text, &a) == nil {
			return a, ""
		}
		a = answer{}
	}
	if bytes.HasPrefix(last, []byte("{")) && bytes.Contains(bytes.ToLower(last), []byte("verdict")) {
		return a, string(last)
	}
	if word := string(bytes.TrimSpace(last)); strings.EqualFold(word, "PASS") || strings.EqualFold(word, "FAIL") {
		a.Verdict = word
	}
	return a, ""
}

// escapes matches the sequences with which a program colours what it prints.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// plain is an output without colours, byte order mark and blanks around it.
func plain(output []byte) []byte {
	return bytes.TrimSpace(escapes.ReplaceAll(bytes.TrimPrefix(output, []byte(mark)), nil))
}

func lastLine(output []byte) []byte { return output[bytes.LastIndexByte(output, '\n')+1:] }

// failure matches words by which programs say that something failed or was not judged: alone, behind a name
// ("Result: failed"), or with a reason behind them ("FAIL: it leaked").
var failure = regexp.MustCompile(`(?i)^\W*(?:\w[\w -]{0,30}[:=]\W*)?(?:fail|failed|failure|unsafe|vulnerable|false|error|skip|skipped|unknown|inconclusive)(?:\W*$|\s*[:;,.!(]|\s+[-–—])`)

// noFailure matches a count or an answer that denies a failure: "failed: 0".
var noFailure = regexp.MustCompile(`(?i)\b(?:fail|failed|failures?|errors?|skipped|unsafe|vulnerable|unknown)\s*[:=]\s*(?:0|no|none|nothing|false)\W*$`)

// koreanFailure and koreanNone are the same in Korean, whose words have endings: "결과: 실패", "실패했습니다", "실패: 0건".
var (
	koreanFailure = regexp.MustCompile(`^(?:[\pL\pN _-]{1,30}[:=]\s*)?(?:실패|불합격|위반|유출|취약|오류)(?:함|됨|했음|했습니다|되었습니다|입니다)?\s*(?:[.!]*$|[:;,(])`)
	koreanNone    = regexp.MustCompile(`\s*[:=]\s*(?:0\s*[건개]?|없음|아님|아니[오요])[.!]*$`)
)

// saysFailure reports whether a line says in words that something failed.
func saysFailure(line []byte) bool {
	return failure.Match(line) && !noFailure.Match(line) || koreanFailure.Match(line) && !koreanNone.Match(line)
}

// failsOtherwise returns a line of an output that says FAIL in words that [said] does not read; "": there is none.
// Such a line is the last one, or FAIL by itself.
func failsOtherwise(output []byte) string {
	if bytes.HasPrefix(output, []byte("\xff\xfe")) || bytes.HasPrefix(output, []byte("\xfe\xff")) {
		return "UTF-16"
	}
	output = plain(output)
	last := lastLine(output)
	var v any
	if unmarshalPython(last, &v) == nil {
		if v == false || holdsFailure(v) {
			return string(last)
		}
	} else if saysFailure(last) {
		return string(last)
	}
	for line := range bytes.Lines(output) {
		if line = bytes.TrimSpace(line); bytes.EqualFold(line, []byte("FAIL")) || unmarshalPython(line, &v) == nil && holdsFailure(v) {
			return string(line)
		}
	}
	return ""
}

// holdsFailure reports whether a value of JSON says somewhere that something failed. A reply of the system under
// test says nothing about it.
func holdsFailure(v any) bool {
	switch v := v.(type) {
	case string:
		return saysFailure([]byte(v)) && !strings.ContainsAny(v, ":;,.!(-–—")
	case []any:
		return slices.ContainsFunc(v, holdsFailure)
	case map[string]any:
		for key, x := range v {
			switch key = strings.ToLower(key); {
			case key == "reply":
			case x == false && slices.Contains([]string{"pass", "passed", "success", "ok", "safe", "held", "통과"}, key),
				x == true && slices.Contains([]string{"fail", "failed", "unsafe", "leaked", "vulnerable"}, key), holdsFailure(x):
				return true
			}
		}
	}
	return false
}

func quoted(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // cannot happen: it was read from JSON
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// runID converts a testcase id to a word that is valid in a file name.
func runID(testcase string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, testcase)
}

// ending describes how a program ended.
func ending(res *process.Result) string {
	switch {
	case res.Status == process.TimedOut:
		return "it took too long"
	case res.OutputLimit || res.StdoutSize > int64(len(res.Stdout)):
		return "it printed too much"
	case res.Status == process.Signaled:
		return fmt.Sprintf("it was ended by signal %d", res.Signal)
	}
	return fmt.Sprintf("exit code %d", res.ExitCode)
}
