package store

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// partial collects the record of a run that has none.
type partial struct {
	man      Manifest
	attempts []int
	counts   []campaign.Counts
	closing  []campaign.Counts // count until the campaign continues
	findings []campaign.Finding
	at       int                // the campaign of the newest outcome
	met      []campaign.Finding // of the current campaign, not settled yet
	warnings []string
	seconds  float64
	brief    bool // keep only what lists show of findings
}

func (p *partial) warn(text string) {
	if text != "" && !slices.Contains(p.warnings, text) {
		p.warnings = append(p.warnings, text)
	}
}

func (p *partial) add(e Entry) {
	p.seconds = max(p.seconds, e.At.Seconds())
	if p.counts == nil {
		p.counts = make([]campaign.Counts, len(p.man.Identities))
		p.closing = make([]campaign.Counts, len(p.man.Identities))
		p.attempts = make([]int, len(p.man.Identities))
	}
	if e.Campaign >= len(p.counts) {
		return
	}
	switch e.Kind {
	case KindRedo:
		p.restart(e.Campaign, p.attempts[e.Campaign]+1)
	case KindClosing:
		p.closing[e.Campaign].Add(e.Outcome.Verdict)
		p.closing[e.Campaign].Closing++
	case KindOutcome:
		p.dropBefore(e.Campaign)
		p.closing[e.Campaign] = campaign.Counts{}
		if e.Attempt > p.attempts[e.Campaign] {
			p.restart(e.Campaign, e.Attempt)
		}
		if e.Attempt == p.attempts[e.Campaign] {
			p.counts[e.Campaign].Add(e.Outcome.Verdict)
		}
	case KindFinding:
		// A settled finding comes alone, or beside the note from when it was first
		// met; only settled findings have an id.
		var f struct {
			campaign.Finding
			Settled     *campaign.Finding `json:"settled"`
			Provisional *struct {
				ID          string            `json:"id"`
				Fingerprint string            `json:"fingerprint"`
				Case        int64             `json:"case"`
				Title       string            `json:"title"`
				Kind        string            `json:"kind"`
				Severity    campaign.Severity `json:"severity"`
			} `json:"provisional"`
		}
		if json.Unmarshal(e.Data, &f) != nil {
			return
		}
		if m := f.Provisional; m != nil && p.brief {
			id := p.man.Identities[e.Campaign]
			p.addUnsettled(campaign.Finding{
				ID: m.ID, Fingerprint: m.Fingerprint, Contract: id.Contract, Campaign: id.Name,
				Kind: m.Kind, Title: m.Title, Severity: m.Severity, First: m.Case,
			})
			return
		}
		if f.Settled == nil {
			f.Settled = &f.Finding
		}
		if p.brief {
			*f.Settled = summaryFinding(*f.Settled)
		}
		if f.Settled.ID != "" {
			p.settleFinding(*f.Settled)
		}
	case KindWarning:
		var text string
		if json.Unmarshal(e.Data, &text) != nil {
			text = string(e.Data)
		}
		p.warn(text)
	}
}

// settleFinding keeps the newest version of a finding, at the position of the first.
func (p *partial) settleFinding(f campaign.Finding) {
	p.met = slices.DeleteFunc(p.met, func(g campaign.Finding) bool { return g.Fingerprint == f.Fingerprint })
	i := slices.IndexFunc(p.findings, func(g campaign.Finding) bool { return g.ID == f.ID })
	if i < 0 {
		p.findings = append(p.findings, f)
		return
	}
	p.findings[i] = f
}

// addUnsettled keeps a finding that is not settled yet.
func (p *partial) addUnsettled(f campaign.Finding) {
	if f.ID == "" {
		f.ID = f.Fingerprint // older journals do not name it
	}
	same := func(g campaign.Finding) bool {
		return g.Fingerprint == f.Fingerprint && g.Contract == f.Contract && g.Campaign == f.Campaign
	}
	if !slices.ContainsFunc(p.met, same) && !slices.ContainsFunc(p.findings, same) {
		p.met = append(p.met, summaryFinding(f))
	}
}

// dropBefore drops unsettled findings of campaigns before the current one: these are
// all settled.
func (p *partial) dropBefore(k int) {
	if k == p.at {
		return
	}
	p.at = k
	id := p.man.Identities[k]
	p.met = slices.DeleteFunc(p.met, func(f campaign.Finding) bool { return f.Contract != id.Contract || f.Campaign != id.Name })
}

// restart drops what the attempt that no longer counts has found.
func (p *partial) restart(k, attempt int) {
	p.attempts[k], p.counts[k], p.met = attempt, campaign.Counts{}, nil
	id := p.man.Identities[k]
	p.findings = slices.DeleteFunc(p.findings, func(f campaign.Finding) bool {
		return f.Contract == id.Contract && f.Campaign == id.Name
	})
}

// record returns what is known. A run without an end is never a pass: its verdict is
// "fail" if a case failed and "error" otherwise.
func (p *partial) record(live bool) campaign.Record {
	stopped, why := statusInterrupted, "the run did not finish; this is what its journal has"
	if live {
		stopped, why = statusRunning, "the run is still going on; this is what its journal has so far"
	}
	rec := campaign.Record{
		RunID: p.man.RunID, Verdict: "error", Stopped: stopped,
		Campaigns: []campaign.CampaignRecord{}, Findings: p.findings, Warnings: p.warnings,
		Environment: campaign.Environment{
			Command: p.man.Command, Version: p.man.Version,
			Started: p.man.Created, Seconds: p.seconds,
		},
	}
	for k, id := range p.man.Identities {
		c := campaign.CampaignRecord{Contract: id.Contract, Name: id.Name, Identity: id.Digest}
		if len(p.man.Specs) == 1 {
			c.Source = p.man.Specs[0].Path
		}
		if k < len(p.counts) {
			c.Cases = p.counts[k]
			c.Cases.Plus(p.closing[k])
		}
		if c.Cases.Fail > 0 {
			rec.Verdict = "fail"
		}
		rec.Campaigns = append(rec.Campaigns, c)
	}
	if len(rec.Findings) == 0 {
		rec.Findings = []campaign.Finding{}
	}
	rec.Warnings = append([]string{why}, rec.Warnings...)
	return rec
}
