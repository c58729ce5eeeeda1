package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// disputed makes a finding of the cases that were executed more than once and
// came out differently. Unlike other findings it may be missing from an equal
// run: whether a case is executed twice depends on what happens to workers.
func (a *attempt) disputed(ctx context.Context) error {
	fingerprint := triage.Nondeterminism(a.id.Contract)
	f, known := a.r.history.settled[printKey(a.k, fingerprint)]
	var list []campaign.Dispute
	var all int64
	if d, ok := campaign.As[campaign.Disputer](a.c); ok {
		list, all = d.Disputes()
	}
	if all > 0 && ctx.Err() == nil {
		fresh, err := a.dispute(ctx, fingerprint, list, all)
		if err != nil {
			return err
		}
		if known {
			fresh.Cases += f.Cases // other cases: those of the process before are not executed again
		}
		f, known = fresh, true
		if err := a.r.note(store.KindFinding, a.k, findingEntry{Settled: &f}); err != nil {
			return err
		}
	}
	if known {
		a.r.findings = append(a.r.findings, f)
	}
	return nil
}

// dispute turns disputes into one finding, and runs the first case again to see
// whether one machine alone shows it.
func (a *attempt) dispute(ctx context.Context, fingerprint string, list []campaign.Dispute, all int64) (campaign.Finding, error) {
	slices.SortFunc(list, func(x, y campaign.Dispute) int { return cmp.Compare(x.Case.Index, y.Case.Index) })
	f := campaign.Finding{
		ID: triage.FindingID(a.id, fingerprint), Fingerprint: fingerprint, Contract: a.id.Contract, Campaign: a.id.Name,
		Kind: campaign.KindNondeterminism, Title: "equal cases get different answers", Severity: campaign.SeverityMedium,
		Cases: all, Flaky: true, First: list[0].Case.Index,
	}
	f.Reproduce = append(slices.Clone(a.r.opt.Reproduce), f.ID)
	answers := &campaign.Table{Columns: []string{"case", "answer that counts", "other answer"}, Numeric: []bool{true, false, false}}
	for _, d := range list {
		answers.Rows = append(answers.Rows, []string{fmt.Sprint(d.Case.Index), answer(&d.First), answer(&d.Second)})
		s := campaign.Sample{Case: d.Case, Input: d.First.Input}
		if d.Input != nil {
			blob, err := a.r.job.Store.PutBlob(d.Input)
			if err != nil {
				return f, fmt.Errorf("keeping the input of case %d: %w", d.Case.Index, err)
			}
			s.Blob, s.Size = blob, int64(len(d.Input))
		}
		if len(f.Samples) < triage.MaxSamples {
			f.Samples = append(f.Samples, s)
		}
	}
	f.Evidence = []campaign.Exhibit{{Kind: "table", Title: "Answers", Table: answers}}
	l, err := openLanes(ctx, a.c, 1, true)
	if err != nil {
		return f, fmt.Errorf("starting the target to confirm findings: %w", err)
	}
	c := list[0].Case
	c.Payload = list[0].Input
	conf, err := triage.Confirm(ctx, settler{a: a, exec: l.open[0]}.execute, a.id.Contract, c, fingerprint, max(a.r.opt.Reruns, 1))
	if _, cerr := l.close(); err == nil && cerr != nil {
		return f, fmt.Errorf("closing the target: %w", cerr)
	}
	if err != nil && ctx.Err() == nil {
		return f, fmt.Errorf("running case %d again: %w", c.Index, err)
	}
	f.Rerun = conf.Rerun
	return f, nil
}

// answer is an outcome in a line.
func answer(o *campaign.Outcome) string {
	if o.Title != "" {
		return o.Verdict.String() + ": " + o.Title
	}
	return o.Verdict.String()
}
