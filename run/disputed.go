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

// disputes are the cases of a campaign that had two different outcomes.
type disputes struct {
	All   int64     `json:"all"`
	Shown []dispute `json:"shown"` // a few of them
}

type dispute struct {
	Case   int64  `json:"case"`
	Round  int    `json:"round,omitempty"`
	Input  string `json:"input,omitempty"` // blob
	Size   int64  `json:"size,omitempty"`
	First  []byte `json:"first"` // facts of the outcome that counts
	Second []byte `json:"second"`
}

func (d *disputes) add(more disputes) {
	d.All += more.All
	d.Shown = append(d.Shown, more.Shown...)
}

// noteDisputes journals new disputes, so that they survive an interrupted run:
// the cases are not executed again.
func (a *attempt) noteDisputes() error {
	x, ok := campaign.As[campaign.Disputer](a.c)
	if !ok {
		return nil
	}
	list, all := x.Disputes()
	known := a.r.disputes[a.k]
	if all == known.All {
		return nil
	}
	news := disputes{All: all - known.All}
	for _, d := range list[len(known.Shown):] {
		e := dispute{Case: d.Case.Index, Round: d.Case.Round, Size: int64(len(d.Input)), First: d.First.AppendFacts(nil), Second: d.Second.AppendFacts(nil)}
		if d.Input != nil {
			blob, err := a.r.job.Store.PutBlob(d.Input)
			if err != nil {
				return &journalError{fmt.Errorf("storing the input of case %d: %w", e.Case, err)}
			}
			e.Input = blob
		}
		news.Shown = append(news.Shown, e)
	}
	known.add(news)
	a.r.disputes[a.k] = known
	return a.r.note(store.KindFinding, a.k, findingEntry{Disputed: &news})
}

// disputed makes a finding of the cases that were executed twice with different
// outcomes. Unlike other findings it may be missing from an equal run: whether
// a case is executed twice depends on what happens to workers.
func (a *attempt) disputed(ctx context.Context) error {
	if err := a.noteDisputes(); err != nil {
		return err
	}
	all := disputes{}
	if a.k < len(a.r.history.disputed) {
		all.add(a.r.history.disputed[a.k])
	}
	all.add(a.r.disputes[a.k])
	if all.All == 0 {
		return nil
	}
	fingerprint := triage.Nondeterminism(a.id.Contract)
	f, known := a.r.history.settled[printKey(a.k, fingerprint)]
	if (!known || f.Cases < all.All) && ctx.Err() == nil {
		var err error
		if f, err = a.dispute(ctx, fingerprint, all); err != nil {
			return err
		}
		known = true
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
func (a *attempt) dispute(ctx context.Context, fingerprint string, all disputes) (campaign.Finding, error) {
	list := slices.SortedFunc(slices.Values(all.Shown), func(x, y dispute) int { return cmp.Compare(x.Case, y.Case) })
	f := campaign.Finding{
		ID: triage.FindingID(a.id, fingerprint), Fingerprint: fingerprint, Contract: a.id.Contract, Campaign: a.id.Name,
		Kind: campaign.KindNondeterminism, Title: "equal cases have different outcomes", Severity: campaign.SeverityMedium,
		Cases: all.All, Flaky: true, First: list[0].Case,
	}
	f.Reproduce = append(slices.Clone(a.r.opt.Reproduce), f.ID)
	answers := &campaign.Table{Columns: []string{"case", "answer that counts", "other answer"}, Numeric: []bool{true, false, false}}
	for _, d := range list {
		answers.Rows = append(answers.Rows, []string{fmt.Sprint(d.Case), answer(d.First), answer(d.Second)})
		if len(f.Samples) < triage.MaxSamples {
			first, _ := campaign.DecodeFacts(d.First)
			f.Samples = append(f.Samples, campaign.Sample{
				Case: campaign.Case{Round: d.Round, Index: d.Case}, Input: first.Input, Blob: d.Input, Size: d.Size,
			})
		}
	}
	f.Evidence = []campaign.Exhibit{{Kind: "table", Title: "Answers", Table: answers}}
	c := f.Samples[0].Case
	if blob := list[0].Input; blob != "" {
		var err error
		if c.Payload, err = a.r.job.Store.Blob(blob); err != nil {
			return f, fmt.Errorf("reading the input of case %d: %w", c.Index, err)
		}
	}
	l, err := a.openLanes(ctx, 1, true)
	if err != nil {
		return f, fmt.Errorf("starting the target to confirm findings: %w", err)
	}
	conf, err := triage.Confirm(ctx, settler{a: a, call: l.call[0]}.execute, a.id.Contract, c, fingerprint, max(a.r.opt.Reruns, 1))
	if _, cerr := l.close(); err == nil && cerr != nil {
		return f, fmt.Errorf("closing the target: %w", cerr)
	}
	if err != nil && ctx.Err() == nil {
		return f, fmt.Errorf("running case %d again: %w", c.Index, err)
	}
	f.Rerun = conf.Rerun
	return f, nil
}

// answer formats an outcome as one line.
func answer(facts []byte) string {
	o, _ := campaign.DecodeFacts(facts)
	if o.Title != "" {
		return o.Verdict.String() + ": " + o.Title
	}
	return o.Verdict.String()
}
