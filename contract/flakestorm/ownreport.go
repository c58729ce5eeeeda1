package flakestorm

import (
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/score"
)

// OwnReport is a run in the form of flakestorm's own JSON reports, which scripts of its users read.
// Everything after ResilienceScores is an addition. Replies that a run does not keep are missing:
// with output.evidence: failures, those of tests that held.
type OwnReport struct {
	Version          string             `json:"version"`
	StartedAt        string             `json:"started_at"`
	CompletedAt      string             `json:"completed_at"`
	DurationSeconds  float64            `json:"duration_seconds"`
	Statistics       OwnStatistics      `json:"statistics"`
	Mutations        []OwnMutation      `json:"mutations"`
	GoldenPrompts    []string           `json:"golden_prompts"`
	ResilienceScores map[string]float64 `json:"resilience_scores"`
	Contract         *OwnContract       `json:"contract,omitempty"`
	Findings         []campaign.Finding `json:"findings"`
	RunID            string             `json:"run_id"`
}

// OwnStatistics covers the tests of prompts: mutations, or golden prompts under chaos.
type OwnStatistics struct {
	Total      int       `json:"total_mutations"`
	Passed     int       `json:"passed_mutations"`
	Failed     int       `json:"failed_mutations"`
	Robustness float64   `json:"robustness_score"`
	PassRate   float64   `json:"pass_rate"`
	Average    float64   `json:"avg_latency_ms"`
	P50        float64   `json:"p50_latency_ms"`
	P95        float64   `json:"p95_latency_ms"`
	P99        float64   `json:"p99_latency_ms"`
	Duration   float64   `json:"duration_seconds"`
	ByType     []OwnType `json:"by_type"`
}

// OwnType covers the tests of one type.
type OwnType struct {
	Type     string  `json:"mutation_type"`
	Total    int     `json:"total"`
	Passed   int     `json:"passed"`
	Failed   int     `json:"failed"`
	PassRate float64 `json:"pass_rate"`
}

// OwnMutation is one test of a prompt.
type OwnMutation struct {
	Original string     `json:"original_prompt"`
	Mutation OwnVariant `json:"mutation"`
	Response *string    `json:"response"` // null: not kept
	Latency  float64    `json:"latency_ms"`
	Passed   bool       `json:"passed"`
	Checks   []OwnCheck `json:"checks"`
	Error    *string    `json:"error"`
}

// OwnVariant is what was asked.
type OwnVariant struct {
	ID        string            `json:"id"`
	Original  string            `json:"original"`
	Mutated   string            `json:"mutated"`
	Type      string            `json:"type"`
	Weight    float64           `json:"weight"`
	CreatedAt string            `json:"created_at"`
	Metadata  map[string]string `json:"metadata"`
}

// OwnCheck is a check of a reply.
type OwnCheck struct {
	Type    string `json:"check_type"`
	Passed  bool   `json:"passed"`
	Details string `json:"details"`
}

// OwnContract is the matrix.
type OwnContract struct {
	Score          float64   `json:"score"`
	Passed         bool      `json:"passed"`
	CriticalFailed bool      `json:"critical_failed"`
	Cells          []OwnCell `json:"cells"`
}

// OwnCell is a cell that applies.
type OwnCell struct {
	Invariant string `json:"invariant_id"`
	Scenario  string `json:"scenario_name"`
	Severity  string `json:"severity"`
	Passed    bool   `json:"passed"`
}

// OwnReport returns the report of a run whose outcomes are given in case order.
func (c *Campaign) OwnReport(last any, rec campaign.Record, outcomes iter.Seq[campaign.StoredCase]) OwnReport {
	s, ok := last.(*state)
	if !ok {
		return OwnReport{}
	}
	clock := func(t time.Time) string { return t.Local().Format("2006-01-02T15:04:05.000000") }
	began := clock(rec.Environment.Started)
	r := OwnReport{
		Version: "1.0", StartedAt: began, CompletedAt: clock(rec.Environment.Finished), DurationSeconds: rec.Environment.Seconds,
		Mutations: []OwnMutation{}, ResilienceScores: make(map[string]float64), Findings: rec.Findings, RunID: rec.RunID,
	}
	if r.Findings == nil {
		r.Findings = []campaign.Finding{}
	}
	for _, p := range c.cfg.Prompts {
		r.GoldenPrompts = append(r.GoldenPrompts, p.Text)
	}
	for x := range outcomes {
		at, o := x.Case, x.Outcome
		i := int(at.Index) - len(c.asked) // the baselines come first
		if i < 0 || i >= len(s.items) || o.Verdict == campaign.VerdictSkip {
			continue
		}
		m, ok := c.ownMutation(s, s.items[i], &o)
		if !ok {
			continue
		}
		m.Mutation.CreatedAt = began
		if !m.seen(&o) {
			m.Response = replyOf(rec.Findings, at.Index)
		}
		r.Mutations = append(r.Mutations, m)
	}
	r.Statistics = statistics(r.Mutations)
	r.Statistics.Duration = rec.Environment.Seconds
	t := c.tally(s)
	r.Statistics.Robustness = t.Mutation.Score
	if !t.Mutation.Scored {
		r.Statistics.Robustness = t.Chaos.Score
	}
	if t.Contract != nil {
		r.ResilienceScores["contract_compliance"] = t.Contract.Fraction()
		r.Contract = ownContract(&t)
	}
	return r
}

// ownMutation returns a test of a prompt; ok is false for other cases. A golden prompt under chaos
// is listed as a paraphrase, as in flakestorm's own reports.
func (c *Campaign) ownMutation(s *state, it item, o *campaign.Outcome) (m OwnMutation, ok bool) {
	switch it.phase {
	case PhaseMutation:
		x := &s.mutations[it.a]
		m.Mutation = OwnVariant{ID: x.ID, Original: x.Original, Mutated: x.Text, Type: x.Type, Weight: x.Weight, Metadata: map[string]string{"how": x.How}}
	case PhaseChaos:
		text := c.cfg.Prompts[it.a].Text
		m.Mutation = OwnVariant{Original: text, Mutated: text, Type: "paraphrase", Weight: 1, Metadata: map[string]string{"how": "as it is, under chaos"}}
	default:
		return m, false
	}
	m.Original, m.Latency = m.Mutation.Original, milliseconds(o.Elapsed)
	m.Passed, m.Checks = o.Verdict == campaign.VerdictPass, []OwnCheck{}
	switch {
	case m.Passed:
		for _, v := range c.cfg.Invariants {
			m.Checks = append(m.Checks, OwnCheck{Type: v.Type, Passed: true})
		}
	case o.Verdict == campaign.VerdictError || strings.HasPrefix(o.Kind, "agent-"):
		m.Error = &o.Title
		m.Checks = append(m.Checks, OwnCheck{Type: "agent_error", Details: o.Title})
	case len(o.Cause) > 0:
		m.Checks = append(m.Checks, OwnCheck{Type: o.Cause[0], Details: o.Title})
	}
	return m, true
}

// seen copies reply and checks from the evidence of the case, if the run keeps it.
func (m *OwnMutation) seen(o *campaign.Outcome) bool {
	var x transcript
	if json.Unmarshal(o.Attached(evidenceName), &x) != nil || len(x.Turns) == 0 {
		return false
	}
	u := &x.Turns[len(x.Turns)-1]
	if u.Reply.OK() {
		m.Response = &u.Reply.Text
	}
	m.Checks = []OwnCheck{}
	for i := range x.Turns { // each turn of a conversation has its own
		for _, k := range x.Turns[i].Checks {
			m.Checks = append(m.Checks, OwnCheck{Type: k.Type, Passed: k.Passed, Details: k.Reason})
		}
	}
	return true
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// replyOf returns the reply to a case, if a finding shows the case unchanged.
func replyOf(list []campaign.Finding, index int64) *string {
	for i := range list {
		f := &list[i]
		if f.First != index || f.Minimized != nil && (len(f.Samples) == 0 || f.Minimized.Blob != f.Samples[0].Blob) {
			continue // another case, or one with a smaller prompt
		}
		for k := range f.Evidence {
			if e := &f.Evidence[k]; e.Title == replyExhibit && e.Text != nil {
				return &e.Text.Body
			}
		}
	}
	return nil
}

func statistics(list []OwnMutation) OwnStatistics {
	s := OwnStatistics{Total: len(list), ByType: []OwnType{}}
	place := make(map[string]int)
	var latencies []float64
	for i := range list {
		m := &list[i]
		latencies = append(latencies, m.Latency)
		at, there := place[m.Mutation.Type]
		if !there {
			at = len(s.ByType)
			place[m.Mutation.Type] = at
			s.ByType = append(s.ByType, OwnType{Type: m.Mutation.Type})
		}
		s.ByType[at].Total++
		if m.Passed {
			s.Passed++
			s.ByType[at].Passed++
		}
	}
	s.Failed = s.Total - s.Passed
	if s.Total > 0 {
		s.PassRate = float64(s.Passed) / float64(s.Total)
	}
	for i := range s.ByType {
		t := &s.ByType[i]
		t.Failed, t.PassRate = t.Total-t.Passed, float64(t.Passed)/float64(t.Total)
	}
	// Without tests, all of these are 0.
	s.Average, _ = score.Mean(latencies)
	s.P50, _ = score.Percentile(latencies, 50)
	s.P95, _ = score.Percentile(latencies, 95)
	s.P99, _ = score.Percentile(latencies, 99)
	return s
}

func ownContract(t *Tally) *OwnContract {
	k := &OwnContract{Score: t.Contract.Score, Passed: t.Contract.Passed(), CriticalFailed: t.Contract.CriticalFailed, Cells: []OwnCell{}}
	for _, x := range t.Cells {
		if x.Applies && x.Runs > 0 {
			k.Cells = append(k.Cells, OwnCell{x.Invariant, x.Scenario, x.Severity, x.Held()})
		}
	}
	return k
}
