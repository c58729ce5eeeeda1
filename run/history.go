package run

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// history is what earlier processes of a run left in its journal, except the
// outcomes, which are streamed.
type history struct {
	attempts []int             // per campaign
	redo     []string          // per campaign: why it is run cold; "": it is not
	facts    []*campaign.Facts // per campaign, of its newest attempt
	first    map[string]provisional
	settled  map[string]campaign.Finding // per fingerprint and campaign
	closing  [][]store.Entry             // per campaign, outcomes of closing rounds
	disputed []disputes                  // per campaign
	unclosed map[int]string              // by campaign: why its target could not be closed at last
	deaths   deaths
	seconds  float64
	points   []campaign.ProgressPoint
}

// provisional is a finding at the moment it is first met, journaled so that a
// kill before triage loses neither the finding nor its evidence.
type provisional struct {
	ID          string            `json:"id,omitempty"`
	Fingerprint string            `json:"fingerprint"`
	Case        int64             `json:"case"`
	Title       string            `json:"title"`
	Kind        string            `json:"kind,omitempty"`
	Severity    campaign.Severity `json:"severity,omitempty"`
	Evidence    map[string]string `json:"evidence,omitempty"` // attachment name to blob
}

// findingEntry is the payload of a KindFinding journal entry. Exactly one field
// is set.
type findingEntry struct {
	Provisional *provisional      `json:"provisional,omitempty"`
	Settled     *campaign.Finding `json:"settled,omitempty"`
	Disputed    *disputes         `json:"disputed,omitempty"` // new ones since the previous entry
}

type redoEntry struct {
	Reason string `json:"reason"`
}

func printKey(k int, fingerprint string) string { return fmt.Sprintf("%d/%s", k, fingerprint) }

// readHistory reads everything except the outcomes from the journal.
func (r *runner) readHistory() {
	n := len(r.job.Campaigns)
	h := history{
		attempts: make([]int, n), redo: make([]string, n), facts: make([]*campaign.Facts, n),
		first: make(map[string]provisional), settled: make(map[string]campaign.Finding), closing: make([][]store.Entry, n), disputed: make([]disputes, n),
		unclosed: make(map[int]string),
	}
	base := 0.0 // seconds run by processes before the current one
	for e, err := range r.job.Journal.Entries() {
		if err != nil {
			r.warn("%v; the cases after the damage are run again", err)
			break
		}
		if e.Campaign >= n {
			continue
		}
		switch e.Kind {
		case store.KindRedo:
			var x redoEntry
			if json.Unmarshal(e.Data, &x) == nil {
				h.attempts[e.Campaign]++
				h.redo[e.Campaign] = x.Reason
			}
		case store.KindFacts:
			var f campaign.Facts
			if json.Unmarshal(e.Data, &f) == nil {
				h.facts[e.Campaign] = &f
			}
		case store.KindFinding:
			var f findingEntry
			if json.Unmarshal(e.Data, &f) != nil {
				continue
			}
			if p := f.Provisional; p != nil {
				h.first[printKey(e.Campaign, p.Fingerprint)] = *p
			}
			if s := f.Settled; s != nil {
				h.settled[printKey(e.Campaign, s.Fingerprint)] = *s
			}
			if d := f.Disputed; d != nil {
				h.disputed[e.Campaign].add(*d)
			}
		case store.KindProgress:
			var p campaign.ProgressPoint
			if json.Unmarshal(e.Data, &p) == nil {
				h.seconds = base + p.Seconds
				p.Seconds = h.seconds
				h.points = append(h.points, p)
				h.points = downsample(h.points)
			}
		case store.KindCampaignEnd:
			var x campaignEnd
			if json.Unmarshal(e.Data, &x) == nil {
				h.unclosed[e.Campaign] = x.Unclosed
			}
		case store.KindOutcome:
			h.deaths.progress(e.Campaign)
			h.closing[e.Campaign] = nil
		case store.KindClosing:
			h.deaths.progress(e.Campaign)
			h.closing[e.Campaign] = append(h.closing[e.Campaign], e)
		case store.KindResumed:
			base = h.seconds
			var x resumed
			if json.Unmarshal(e.Data, &x) == nil && x.Died != nil {
				h.deaths.add(*x.Died)
			}
		}
	}
	if t := r.job.Journal.Torn; t > 0 {
		r.warn("the journal's last record was incomplete: %s had to be cut; at most the cases in flight are run again", diag.Plural(t, "byte"))
	}
	r.history = h
}

// replay streams the outcomes that the journal holds for one attempt of a
// campaign, round by round.
type replay struct {
	next func() (store.Entry, error, bool)
	stop func()
	head store.Entry
	ok   bool
}

func (r *runner) openReplay(k, attempt int) *replay {
	if r.job.Journal == nil {
		return &replay{stop: func() {}}
	}
	return replayOf(r.job.Journal, k, attempt)
}

func replayOf(j *store.Journal, k, attempt int) *replay {
	p := &replay{}
	p.next, p.stop = iter.Pull2(func(yield func(store.Entry, error) bool) {
		for e, err := range j.Entries() {
			if err != nil {
				return
			}
			if e.Kind == store.KindOutcome && e.Campaign == k && e.Attempt == attempt && !yield(e, nil) {
				return
			}
		}
	})
	p.advance()
	return p
}

func (p *replay) advance() { p.head, _, p.ok = p.next() }

// round calls add for every outcome of the round and reports whether the
// journal has outcomes of a later one.
func (p *replay) round(number int, add func(store.Entry)) (later bool) {
	for p.ok && p.head.Case.Round == number {
		add(p.head)
		p.advance()
	}
	return p.ok
}

// downsample halves the points until at most 240 are left, and keeps the last.
func downsample(points []campaign.ProgressPoint) []campaign.ProgressPoint {
	const most = 240
	for len(points) > most {
		kept := points[:0]
		for i, p := range points {
			if i%2 == 1 || i == len(points)-1 {
				kept = append(kept, p)
			}
		}
		points = kept
	}
	return points
}
