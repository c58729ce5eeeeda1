package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/process"
)

// oracleLane judges children on one lane.
type oracleLane struct {
	c      *Campaign
	runner process.Runner
}

// childPlace stands for the path of the child's text in an oracle's command.
const childPlace = "<child>"

func (c *Campaign) openOracle(ctx context.Context, lane campaign.Lane) (*oracleLane, error) {
	o := c.spec.Oracle
	plan := process.Plan{
		Command: func(p process.Paths) process.Command {
			argv := make([]string, len(o.Command))
			for i, a := range o.Command {
				argv[i] = strings.ReplaceAll(a, childPlace, p.InputPath)
			}
			return process.Command{Path: c.oracle, Argv: argv, Env: []string{"PATH=" + oracleFolders, "LANG=C.UTF-8", "THRESH_TESTCASE_ID=" + p.RunID}}
		},
		PerCase: true, Input: "input/child.txt", OutDir: "out", Stdin: true,
		Timeout:  time.Duration(o.TimeoutS * float64(time.Second)),
		Limits:   process.Limits{AddressSpace: 4 << 30, FileSize: 64 << 20, Output: 1 << 20},
		Executor: process.Spawn,
	}
	if c.program == nil {
		return nil, fmt.Errorf("oracle: programs cannot be run here")
	}
	runner, err := c.program(ctx, plan, lane.Index, lane.Of, lane.Cold)
	if err != nil {
		return nil, fmt.Errorf("starting the oracle: %w", err)
	}
	return &oracleLane{c: c, runner: runner}, nil
}

// Close ends what the lane holds.
func (o *oracleLane) Close() error { return o.runner.Close() }

// oracleFolders is where an oracle that is named without a folder is looked
// for, and the PATH that it gets.
const oracleFolders = "/usr/local/bin:/usr/bin:/bin"

// answer is what an oracle may print: its last line, if that is a JSON object.
type answer struct {
	Verdict any `json:"verdict"`
	Score   any `json:"oracle_score"`
}

// judge runs the oracle on a child. The system under test failed if the oracle
// exits with 1; any other end than that and 0 is a failure of the oracle.
func (o *oracleLane) judge(ctx context.Context, index int64, child *mutator.Child, out *campaign.Outcome) error {
	res, err := o.runner.Run(ctx, process.Case{Index: index, RunID: runID(child.ID), Input: []byte(child.Text), Confirm: true})
	if err != nil {
		return fmt.Errorf("running the oracle on %s: %w", child.ID, err)
	}
	if res.Status != process.Exited || res.ExitCode > 1 {
		return fmt.Errorf("the oracle gave no verdict on %s: %s: %s", child.ID, ending(&res), firstLine(string(res.Stderr)))
	}
	f, _ := decodeFacts(out.Data)
	f.judged, f.judgement = true, mutator.Pass
	if res.ExitCode == 1 {
		f.judgement = mutator.Fail
	}
	lines := bytes.Split(bytes.TrimSpace(res.Stdout), []byte("\n"))
	var a answer
	if json.Unmarshal(lines[len(lines)-1], &a) == nil {
		f.score = scoreOf(a.Score)
		if j := mutator.ParseJudgement(a.Verdict); j != mutator.Unknown {
			f.judgement = j
		}
	}
	out.Data = f.encode()
	out.Elapsed = res.Elapsed
	if f.judgement == mutator.Fail {
		o.c.failed(child, &res, out)
	}
	return nil
}

// failed makes a case one that the system under test failed in: grouped by the
// operators that made the child.
func (c *Campaign) failed(child *mutator.Child, res *process.Result, out *campaign.Outcome) {
	var ops []string
	for i, a := range child.Applied {
		if a.Status == "OK" {
			ops = append(ops, child.Steps[i].OpID)
		}
	}
	by := strings.Join(ops, " + ")
	out.Verdict, out.Severity, out.Kind = campaign.VerdictFail, campaign.SeverityMedium, "verdict"
	out.Title = "the oracle says FAIL of children made by " + by
	out.Signature, out.Cause = "verdict\n"+by, append([]string{"verdict"}, ops...)
	out.Evidence = []campaign.Attachment{
		{Name: "child", Data: mutator.AppendChild(nil, child)}, {Name: "seed", Data: []byte(child.Seed.Text)},
		{Name: "stdout", Data: bytes.Clone(res.Stdout)}, {Name: "stderr", Data: bytes.Clone(res.Stderr)},
	}
}

// runID is a testcase id as a word that a file name can have.
func runID(testcase string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, testcase)
}

// ending is how a program ended, in words.
func ending(res *process.Result) string {
	switch {
	case res.Status == process.TimedOut:
		return "it took too long"
	case res.Status == process.Signaled:
		return fmt.Sprintf("it was ended by signal %d", res.Signal)
	}
	return fmt.Sprintf("exit code %d", res.ExitCode)
}
