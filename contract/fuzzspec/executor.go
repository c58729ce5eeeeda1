package fuzzspec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

// Open implements [campaign.Campaign].
func (c *Campaign) Open(*campaign.Cache) campaign.Session[*state] {
	return campaign.Separate[*state](c.openLane)
}

func (c *Campaign) openLane(ctx context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
	r, err := c.open(ctx, c.plan(), lane.Index, lane.Of, lane.Cold)
	if err != nil {
		return nil, err
	}
	x := &executor{c: c, runner: r, cold: lane.Cold, lane: c.maker.lane(), keep: c.set.keep, stale: c.keptBefore()}
	if b, ok := r.(process.Batcher); ok && c.set.guided && !lane.Cold && x.keep != "all" {
		return &batchExecutor{executor: x, batcher: b}, nil
	}
	return x, nil
}

// executor runs cases on one lane.
type executor struct {
	c      *Campaign
	runner process.Runner
	lane   laneMaker
	cold   bool   // cases run by the reference executor, spawn
	keep   string // which cases leave a folder
	stale  bool   // there are folders of earlier runs of these cases

	others map[string]process.Runner // of other builds, by path
}

// keptBefore reports whether earlier runs of the campaign left folders.
func (c *Campaign) keptBefore() bool {
	dir, err := os.Open(c.spec.Target.WorkRootBase + "/runs")
	if err != nil {
		return false
	}
	defer dir.Close()
	for err == nil {
		var names []string
		names, err = dir.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, c.set.campaignID+"_case_") {
				return true
			}
		}
	}
	return false
}

// Notes reports how the cases ran.
func (x *executor) Notes() []string { return x.runner.Notes() }

// Settle implements [campaign.Settler].
func (x *executor) Settle() func() {
	if s, ok := x.runner.(process.Settler); ok {
		return s.Settle()
	}
	return func() {}
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	errs := []error{x.runner.Close()}
	for _, r := range x.others {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// maxEvidence is the number of bytes kept of an output stream as evidence: its end, where programs
// report errors.
const maxEvidence = 32 << 10

// Execute implements [campaign.Executor].
func (x *executor) Execute(ctx context.Context, s *state, at campaign.Case) (campaign.Outcome, error) {
	c := x.c
	input := at.Payload
	if input == nil {
		input = x.lane.input(c.pool(s), c.start+at.Index)
	}
	pc := c.processCase(s, at, CaseRunID(c.set.campaignID, c.start+at.Index), input, x.cold)
	res, err := x.runner.Run(ctx, pc)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, process.ErrGone) {
			return campaign.Outcome{}, &campaign.FatalError{Err: fmt.Errorf("the program %s can no longer be started: %w", c.exe.Path, err)}
		}
		return campaign.Outcome{}, mismatch(err)
	}
	return x.outcome(ctx, s, at, pc, res)
}

// outcome returns the outcome of a case that ran.
func (x *executor) outcome(ctx context.Context, s *state, at campaign.Case, pc process.Case, res process.Result) (campaign.Outcome, error) {
	c, input, runID := x.c, pc.Input, pc.RunID
	if !pc.Confirm && (res.Status == process.OverBudget || res.Status == process.SetAside) {
		return campaign.Outcome{Data: s.encodeAside(&res, input), Elapsed: res.Elapsed}, ctx.Err()
	}
	o, err := c.judge(s, &res, input, runID, stackReader(ctx, x.runner, pc))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return o, err
	}
	o.Elapsed = res.Elapsed
	if c.set.guided && at.Payload == nil && o.Verdict == campaign.VerdictPass {
		o.Data, err = x.fresh(ctx, s, pc, res)
		if err == nil && o.Data != nil && x.keep == "all" { // the files written since belong to another input
			res, err = x.runner.Run(ctx, pc)
		}
		if err != nil {
			return o, mismatch(err)
		}
	}
	if o.Verdict == campaign.VerdictFail {
		sum := sha256.Sum256(input)
		o.Input = hex.EncodeToString(sum[:])
		for _, e := range []campaign.Attachment{{Name: "stderr", Data: res.Stderr}, {Name: "stdout", Data: res.Stdout}} {
			if len(e.Data) > 0 {
				e.Data = slices.Clone(e.Data[max(0, len(e.Data)-maxEvidence):])
				o.Evidence = append(o.Evidence, e)
			}
		}
		if err := x.runOtherBuilds(ctx, s, pc, &o); err != nil {
			return o, mismatch(err)
		}
	}
	if at.Payload != nil {
		if c.set.guided && o.Verdict == campaign.VerdictPass {
			o.Data = encodeKept(res.Work, nil) // the work it took to find out
		}
		return o, nil // the case runs again, for confirmation or shrinking
	}
	switch {
	case x.keep == "all" || x.keep == "failures" && o.Verdict == campaign.VerdictFail:
		if c.set.guided { // the batch has made other inputs since
			x.lane.input(c.pool(s), c.start+at.Index)
		}
		_, err = x.write(s, c.start+at.Index, input, &res, o, runID)
	case x.stale: // the result of an earlier run of the case is obsolete
		err = c.discard(runID)
	}
	if err != nil {
		return o, &campaign.FatalError{Err: err}
	}
	return o, nil
}

func (c *Campaign) discard(runID string) error {
	folder, err := NewRunFolder(c.spec.Target.WorkRootBase, runID)
	if err == nil {
		err = os.RemoveAll(folder.Dir())
	}
	if err != nil {
		return fmt.Errorf("remove the folder of an earlier run: %w", err)
	}
	return nil
}

// write writes the folder of a case.
func (x *executor) write(s *state, index int64, input []byte, res *process.Result, o campaign.Outcome, runID string) (RunFolder, error) {
	c := x.c
	folder, err := NewRunFolder(c.spec.Target.WorkRootBase, runID)
	if err != nil {
		return folder, err
	}
	_, err = folder.Write(c.record(s, index, input, x.lane.log(), res, o))
	return folder, err
}

// record is the content of a case's run folder, without secrets.
func (c *Campaign) record(s *state, index int64, input, log []byte, res *process.Result, o campaign.Outcome) RunRecord {
	text := func(s string) string { return s }
	if redact := c.set.redact; redact != nil {
		text = func(s string) string { return string(redact([]byte(s))) }
		clean := *res
		clean.Stdout, clean.Stderr = redact(clean.Stdout), redact(clean.Stderr)
		res = &clean
	}
	r := RunRecord{
		Spec: c.spec, CaseIndex: index, Seed: c.seed, Input: input, InputName: c.inputName(), MutationLog: log, Timeout: c.set.timeout, Result: res,
		Evaluate: EvaluateOptions{NoneExpected: c.noneExpected(s, res), IgnoreOutputs: c.set.outputs == "ignore", AcceptExit: c.set.okExit},
		Extra:    map[string]any{"verdict_final": o.Verdict.String()},
	}
	if !strings.ContainsAny(c.spec.Target.Command[0], `/\`) {
		r.Executable = c.exe.Path
	}
	if o.Verdict == campaign.VerdictFail {
		signature := o.Signature
		if signature == "" {
			signature = causeText(o.Cause)
		}
		signature = text(signature)
		r.Extra["kind"], r.Extra["signature_v2"], r.Extra["title"] = o.Kind, signature, text(o.Title)
		r.Evaluate.Fail = o.Kind
		r.Evaluate.Extra = map[string]any{"signature_v2": signature, "verdict_final": o.Verdict.String()}
	}
	return r
}

// given is the lane of an input that was not made by mutation.
type given struct{ laneMaker }

func (given) log() []byte { return nil }

// Materialize implements [campaign.Materializer].
func (c *Campaign) Materialize(ctx context.Context, s *state, at campaign.Case) (string, error) {
	r, err := c.open(ctx, c.plan(), 0, 1, true)
	if err != nil {
		return "", err
	}
	defer r.Close()
	x := &executor{c: c, runner: r, lane: c.maker.lane(), cold: true}
	index := c.start + at.Index
	input := x.lane.input(c.pool(s), index) // also makes the mutation log
	if at.Payload != nil && !bytes.Equal(input, at.Payload) {
		input, x.lane = at.Payload, given{} // a case that was set aside and runs again
	}
	runID := CaseRunID(c.set.campaignID, index)
	res, err := r.Run(ctx, process.Case{Index: at.Index, RunID: runID, Input: input, Confirm: true})
	if err != nil {
		return "", err
	}
	o, err := c.judge(s, &res, input, runID, stackReader(ctx, r, process.Case{Index: at.Index, RunID: runID, Input: input}))
	if err != nil {
		return "", err
	}
	folder, err := x.write(s, index, input, &res, o, runID)
	return folder.Dir(), err
}
