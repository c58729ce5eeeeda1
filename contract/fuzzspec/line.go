package fuzzspec

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/process"
)

// Folder returns the campaign's folder below work_root_base.
func (c *Campaign) Folder() (CampaignFolder, error) {
	return NewCampaignFolder(c.spec.Target.WorkRootBase, c.set.campaignID)
}

// CampaignID returns the id in the names of the campaign's folders.
func (c *Campaign) CampaignID() string { return c.set.campaignID }

// Begin makes the campaign's folder.
func (c *Campaign) Begin(created time.Time) error {
	f, err := c.Folder()
	if err != nil {
		return err
	}
	return f.Begin(CampaignInfo{Created: created, SpecPath: c.doc.Path, SpecText: c.doc.Data, StartIndex: c.start})
}

// SpecText returns the document as it was read.
func (c *Campaign) SpecText() []byte { return c.doc.Data }

// Verdict returns the verdict of an outcome as case lines name it.
func (c *Campaign) Verdict(o *campaign.Outcome) string {
	switch {
	case o.Verdict == campaign.VerdictPass:
		return VerdictPass
	case o.Verdict != campaign.VerdictFail:
		return VerdictBlocked
	case o.Kind == kindTimeout:
		return VerdictTimeout
	}
	return VerdictFail
}

// Line returns the line of cases.jsonl for an executed case.
func (c *Campaign) Line(at campaign.Case, o *campaign.Outcome, when time.Time) CaseLine {
	index := c.start + at.Index
	sum := digest(c.input(c.Start(campaign.Facts{}), campaign.Case{Index: at.Index}))
	l := CaseLine{
		Time: when, CaseIndex: index, RunID: CaseRunID(c.set.campaignID, index), ArtifactID: sum[:12], InputSHA256: sum,
		Elapsed: o.Elapsed, Extra: map[string]any{},
	}
	zero := 0
	switch o.Verdict {
	case campaign.VerdictPass:
		l.Verdict, l.Reason, l.Signature, l.ExitCode = VerdictPass, "runner_ok", VerdictPass, &zero
		return l
	case campaign.VerdictFail:
		l.Verdict = VerdictFail
	default:
		l.Verdict, l.Reason, l.Signature = VerdictBlocked, o.Title, VerdictBlocked
		return l
	}
	var e ending
	if json.Unmarshal(o.Data, &e) == nil {
		l.ExitCode = e.ExitCode
		if e.Signal != 0 {
			code := -e.Signal
			l.ExitCode = &code
		}
	}
	l.Extra["kind"], l.Extra["title"] = o.Kind, o.Title
	if l.Extra["signature_v2"] = o.Signature; o.Signature == "" {
		l.Extra["signature_v2"] = causeText(o.Cause)
	}
	switch o.Kind {
	case kindTimeout:
		l.Verdict, l.Reason = VerdictTimeout, "runner_timeout"
		l.Signature = fmt.Sprintf("TIMEOUT:%d", int64(c.set.timeoutOf(c.spec)/time.Second))
	case kindOutput:
		l.Reason, l.Signature = "output_invalid", o.Signature
	case kindLeftovers, kindFlood:
		l.Reason = o.Kind
	default:
		l.Reason = "runner_nonzero_exit"
	}
	if kept := c.keptSignature(l.RunID); kept != "" {
		l.Signature = kept
	}
	return l
}

// keptSignature is the signature_v1 of a kept run.
func (c *Campaign) keptSignature(runID string) string {
	f, err := NewRunFolder(c.spec.Target.WorkRootBase, runID)
	if err != nil {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(f.Dir(), "llmfuzz/eval.json"))
	if err != nil {
		return ""
	}
	doc, err := jsontree.Parse(data, jsontree.Python())
	if err != nil {
		return ""
	}
	s, _ := doc.Root.Get("signature_v1").Str()
	return s
}

// PlanCase writes the folder of a case without running it, and returns its line.
func (c *Campaign) PlanCase(index int64, when time.Time) (CaseLine, error) {
	lane := c.maker.lane()
	input := lane.input(bytemut.Pool{Inputs: [][]byte{c.seed}}, index)
	id := CaseRunID(c.set.campaignID, index)
	sum := digest(input)
	l := CaseLine{Time: when, CaseIndex: index, RunID: id, ArtifactID: sum[:12], InputSHA256: sum, Planned: true}
	_, _, err := c.keepRun(id, RunRecord{Spec: c.spec, CaseIndex: index, Seed: c.seed, Input: input, InputName: c.inputName(), MutationLog: lane.log(), Timeout: c.set.timeout, When: when})
	return l, err
}

// RunCase runs one case, or only plans it, and keeps its folder.
func (c *Campaign) RunCase(ctx context.Context, index int64, runID string, dry bool, when time.Time) (RunFolder, KeptRun, error) {
	lane := c.maker.lane()
	input := lane.input(bytemut.Pool{Inputs: [][]byte{c.seed}}, index)
	r := RunRecord{Spec: c.spec, CaseIndex: index, Seed: c.seed, Input: input, InputName: c.inputName(), MutationLog: lane.log(), Timeout: c.set.timeout, When: when}
	if dry {
		return c.keepRun(runID, r)
	}
	if err := CheckID("run id", runID); err != nil {
		return RunFolder{}, KeptRun{}, err
	}
	runner, err := c.open(ctx, c.plan(), 0, 1, true)
	if err != nil {
		r.StartError = err
		return c.keepRun(runID, r)
	}
	defer runner.Close()
	res, err := runner.Run(ctx, process.Case{Index: index, RunID: runID, Input: input, Confirm: true})
	if ctx.Err() != nil {
		return RunFolder{}, KeptRun{}, ctx.Err()
	}
	if err != nil {
		r.StartError = err
		return c.keepRun(runID, r)
	}
	s := &state{facts: facts{Outputs: c.set.outputs != "auto"}}
	o, err := c.judge(s, &res, input, runID, stackReader(ctx, runner, process.Case{Index: index, RunID: runID, Input: input}))
	if err != nil {
		return RunFolder{}, KeptRun{}, err
	}
	return c.keepRun(runID, c.record(s, index, input, r.MutationLog, &res, o))
}

func (c *Campaign) keepRun(runID string, r RunRecord) (RunFolder, KeptRun, error) {
	f, err := NewRunFolder(c.spec.Target.WorkRootBase, runID)
	if err != nil {
		return f, KeptRun{}, err
	}
	k, err := f.Write(r)
	return f, k, err
}
