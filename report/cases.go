package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Case is one case of a run, for the formats that list cases.
type Case struct {
	Campaign int    // index into the record's campaigns
	Index    int64  // of the case
	Name     string // the document's name for the case; "" if it has none
	Verdict  campaign.Verdict
	Kind     string // unless the case passed
	Title    string // unless the case passed: one line that says what happened
	// Evidence is what the run kept of the case. With most formats, runs keep evidence only of
	// findings.
	Evidence []campaign.Exhibit
	Elapsed  time.Duration // 0: unknown
	// Attempt is the case as its campaign writes it for programs, a JSON object; nil if the
	// campaign writes none or the run did not keep it.
	Attempt []byte
}

// Cases yields the cases of a run by campaign and index, and ends at an error.
type Cases = iter.Seq2[Case, error]

// writeLines writes a line of JSON for each case, then one for each finding, then one for the run.
func writeLines(w io.Writer, rec campaign.Record, opt Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	write := func(line any) error {
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write jsonl report of run %s: %w", rec.RunID, err)
		}
		return nil
	}
	type caseLine struct {
		Type     string `json:"type"`
		Contract string `json:"contract"`
		Campaign string `json:"campaign"`
		Source   string `json:"source"`
		Case     int64  `json:"case"`
		Name     string `json:"name,omitempty"`
		Verdict  string `json:"verdict"`
		Kind     string `json:"kind,omitempty"`
		Title    string `json:"title,omitempty"`

		Evidence []campaign.Exhibit `json:"evidence,omitempty"`
	}
	if opt.Cases != nil {
		for c, err := range opt.Cases {
			if err != nil {
				return fmt.Errorf("write jsonl report of run %s: %w", rec.RunID, err)
			}
			if c.Campaign < 0 || c.Campaign >= len(rec.Campaigns) {
				continue
			}
			of := &rec.Campaigns[c.Campaign]
			if err := write(caseLine{"case", of.Contract, of.Name, of.Source, c.Index, c.Name, c.Verdict.String(), c.Kind, c.Title, c.Evidence}); err != nil {
				return err
			}
		}
	}
	for i := range rec.Findings {
		f := &rec.Findings[i]
		if err := write(struct {
			Type      string   `json:"type"`
			ID        string   `json:"id"`
			Contract  string   `json:"contract"`
			Campaign  string   `json:"campaign"`
			Kind      string   `json:"kind"`
			Severity  string   `json:"severity"`
			Title     string   `json:"title"`
			Cases     int64    `json:"cases"`
			First     int64    `json:"first_case"`
			Flaky     bool     `json:"flaky"`
			Reproduce []string `json:"reproduce"`
		}{"finding", f.ID, f.Contract, f.Campaign, f.Kind, f.Severity.String(), f.Title, f.Cases, f.First, f.Flaky, f.Reproduce}); err != nil {
			return err
		}
	}
	t := total(&rec)
	return write(struct {
		Type     string          `json:"type"`
		RunID    string          `json:"run_id"`
		Digest   string          `json:"digest"`
		Verdict  string          `json:"verdict"`
		Complete bool            `json:"complete"`
		Cases    campaign.Counts `json:"cases"`
		Warnings []string        `json:"warnings"`
	}{"run", rec.RunID, rec.Digest, rec.Verdict, rec.Complete, t, append([]string{}, rec.Warnings...)})
}

// writeHits writes the attempts that failed, one per line.
func writeHits(w io.Writer, rec campaign.Record, opt Options) error {
	return writeAttempts(w, rec, opt, func(v campaign.Verdict) bool { return v == campaign.VerdictFail })
}

func writeAll(w io.Writer, rec campaign.Record, opt Options) error {
	return writeAttempts(w, rec, opt, func(campaign.Verdict) bool { return true })
}

func writeAttempts(w io.Writer, rec campaign.Record, opt Options, wanted func(campaign.Verdict) bool) error {
	if opt.Cases == nil {
		return nil // the user has been warned already
	}
	n := 0
	for c, err := range opt.Cases {
		if line, whole := bytes.CutSuffix(c.Attempt, []byte("}")); err == nil && whole && wanted(c.Verdict) {
			_, err = fmt.Fprintf(w, "%s,\"run_id\":%q,\"attempt_seq\":%d,\"data_source_idx\":%d}\n", line, rec.RunID, n, n)
			n++
		}
		if err != nil {
			return fmt.Errorf("listing the attempts of run %s: %w", rec.RunID, err)
		}
	}
	return nil
}

// named returns suites in which named cases appear as points of their own, each failing one with
// its finding, instead of a campaign's counts.
func named(rec *campaign.Record, opt Options) ([]suite, error) {
	list := suites(rec)
	if opt.Cases == nil {
		return list, nil
	}
	points := make(map[int][]point)
	seen := make(map[int]map[string]int)
	byCampaign, _ := findingsByCampaign(rec)
	for c, err := range opt.Cases {
		if err != nil {
			return nil, err
		}
		if c.Name == "" || c.Campaign < 0 || c.Campaign >= len(rec.Campaigns) {
			continue
		}
		if seen[c.Campaign] == nil {
			seen[c.Campaign] = make(map[string]int)
		}
		p := point{ID: c.Name, Name: c.Name, Elapsed: c.Elapsed}
		if n := seen[c.Campaign][c.Name]; n > 0 { // the name is used twice
			p.ID = fmt.Sprintf("%s (%d)", c.Name, n+1)
		}
		seen[c.Campaign][c.Name]++
		switch c.Verdict {
		case campaign.VerdictPass:
			p.Status = held
		case campaign.VerdictSkip:
			p.Status, p.Detail = skipped, c.Title
		case campaign.VerdictFail:
			p.Status, p.Name, p.Finding = failed, c.Title, findingOf(byCampaign[c.Campaign], c.Index)
		default:
			p.Status, p.Name = errored, c.Title
		}
		points[c.Campaign] = append(points[c.Campaign], p)
	}
	for i := range rec.Campaigns { // the campaigns are the first suites, in the same order
		if len(points[i]) == 0 {
			continue
		}
		for _, f := range byCampaign[i] {
			if !slices.ContainsFunc(points[i], func(p point) bool { return p.Finding == f }) {
				points[i] = append(points[i], findingPoint(f))
			}
		}
		list[i].Points = points[i]
	}
	return list, nil
}

// findingOf returns the finding that has a case as a sample; nil if there is none.
func findingOf(list []*campaign.Finding, index int64) *campaign.Finding {
	for _, f := range list {
		if f.First == index || slices.ContainsFunc(f.Samples, func(s campaign.Sample) bool { return s.Case.Index == index }) {
			return f
		}
	}
	return nil
}
