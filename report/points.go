package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Test formats (JUnit, TAP) see a run as suites of points. Each finding, and each thing that kept
// the run from being complete, is a point that is not ok, so that no reader sees green for an
// incomplete run.

type status uint8

const (
	held    status = iota
	failed         // the target is at fault
	errored        // Thresh or the environment is at fault
	skipped
)

type point struct {
	Status  status
	ID      string            // equal in every run, whatever the counts
	Name    string            // for people
	Detail  string            // further details; "": none
	Finding *campaign.Finding // nil: the point is about the campaign or the run
	Elapsed time.Duration     // 0: unknown
}

type suite struct {
	Campaign *campaign.CampaignRecord // nil: the run as a whole
	Points   []point
}

// suites returns one suite per campaign, in record order, and one for the run as a whole if it has
// points.
func suites(rec *campaign.Record) []suite {
	byCampaign, lost := findingsByCampaign(rec)
	out := make([]suite, 0, len(rec.Campaigns)+1)
	bad := false
	for i := range rec.Campaigns {
		s := suite{Campaign: &rec.Campaigns[i], Points: campaignPoints(&rec.Campaigns[i], byCampaign[i])}
		if s.Campaign.Cases.Run == 0 {
			s.Points = slices.Insert(s.Points, 0, noCase(rec))
		}
		bad = bad || slices.ContainsFunc(s.Points, func(p point) bool { return p.Status == failed || p.Status == errored })
		out = append(out, s)
	}
	var run []point
	for _, f := range lost {
		run, bad = append(run, findingPoint(f)), true
	}
	if !rec.Complete {
		p := point{Status: errored, ID: "run is complete", Name: "run is not complete", Detail: rec.Stopped}
		run, bad = append(run, p), true
	}
	switch {
	case bad || rec.Verdict == "pass":
	case rec.Verdict == "fail":
		run = append(run, point{Status: failed, ID: "run", Name: "run failed"})
	default:
		run = append(run, point{Status: errored, ID: "run", Name: "run ended in an error", Detail: strings.Join(rec.Warnings, "\n")})
	}
	if len(run) == 0 && len(out) == 0 {
		run = append(run, noCase(rec))
	}
	if len(run) > 0 {
		out = append(out, suite{Points: run})
	}
	return out
}

func campaignPoints(c *campaign.CampaignRecord, findings []*campaign.Finding) []point {
	var ps []point
	if c.Cases.Pass > 0 {
		ps = append(ps, point{Status: held, ID: "cases held", Name: plural(c.Cases.Pass, "case") + " held"})
	}
	if c.Cases.Skip > 0 {
		ps = append(ps, point{Status: skipped, ID: "cases skipped", Name: plural(c.Cases.Skip, "case") + " skipped"})
	}
	if c.Cases.Error > 0 {
		ps = append(ps, point{Status: errored, ID: "cases in error", Name: plural(c.Cases.Error, "case") + " could not be run"})
	}
	for _, f := range findings {
		ps = append(ps, findingPoint(f))
	}
	if c.Cases.Fail > 0 && len(findings) == 0 {
		ps = append(ps, point{Status: failed, ID: "cases failed", Name: plural(c.Cases.Fail, "case") + " failed"})
	}
	return ps
}

// noCase is the point of a campaign or run without cases. Only a run whose user accepts that passes
// like this, such as an empty part of divided work.
func noCase(rec *campaign.Record) point {
	p := point{Status: errored, ID: "cases run", Name: "no case was run"}
	if rec.Verdict == "pass" && rec.Complete {
		p.Status, p.Detail = skipped, p.Name
	}
	return p
}

func findingPoint(f *campaign.Finding) point {
	name := f.ID + " " + f.Title
	return point{Status: failed, ID: name, Name: name, Finding: f}
}

// findingsByCampaign returns each campaign's findings, and the findings of campaigns that the
// record lacks.
func findingsByCampaign(rec *campaign.Record) (by [][]*campaign.Finding, lost []*campaign.Finding) {
	type key struct{ contract, name string }
	place := make(map[key]int, len(rec.Campaigns))
	for i, c := range rec.Campaigns {
		if _, ok := place[key{c.Contract, c.Name}]; !ok {
			place[key{c.Contract, c.Name}] = i
		}
	}
	by = make([][]*campaign.Finding, len(rec.Campaigns))
	for i := range rec.Findings {
		f := &rec.Findings[i]
		if at, ok := place[key{f.Contract, f.Campaign}]; ok {
			by[at] = append(by[at], f)
		} else {
			lost = append(lost, f)
		}
	}
	return by, lost
}

// bySeverity returns the findings, most severe first, otherwise in record order.
func bySeverity(rec *campaign.Record) []*campaign.Finding {
	fs := make([]*campaign.Finding, len(rec.Findings))
	for i := range rec.Findings {
		fs[i] = &rec.Findings[i]
	}
	slices.SortStableFunc(fs, func(a, b *campaign.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return fs
}

// total sums the cases of all campaigns.
func total(rec *campaign.Record) campaign.Counts {
	var t campaign.Counts
	for _, c := range rec.Campaigns {
		c.Cases.Planned = max(c.Cases.Planned, c.Cases.Run)
		t.Plus(c.Cases)
	}
	return t
}

// casesRun counts the cases of a run: "6 cases, 2 of them follow-ups".
func casesRun(rec *campaign.Record) string {
	text := plural(total(rec).Run, "case")
	if n := followUps(rec); n == 1 {
		text += ", 1 of them a follow-up"
	} else if n > 1 {
		text += ", " + count(n) + " of them follow-ups"
	}
	return text
}

func followUps(rec *campaign.Record) (n int64) {
	for i := range rec.Campaigns {
		n += rec.Campaigns[i].Cases.FollowUps()
	}
	return n
}

// sizes describes the result of shrinking: "48.2 KiB -> 37 B".
func sizes(m *campaign.Minimal) string {
	switch g := m.Gauge; {
	case g == nil:
		return size(m.From) + " -> " + size(m.Size)
	case g.Unit == "" || g.Size >= g.From: // simpler, but not smaller
		return ""
	default:
		return count(g.From) + " -> " + plural(g.Size, g.Unit)
	}
}

// minimality says how the search for a smaller reproducer ended.
func minimality(m *campaign.Minimal) string {
	switch {
	case m.OneMinimal != "":
		return ", 1-minimal"
	case m.Spent:
		return ", budget ended"
	}
	return ""
}

// sampleSize formats the size of a sample.
func sampleSize(s *campaign.Sample) string {
	switch g := s.Gauge; {
	case g == nil:
		return size(s.Size)
	case g.Unit == "":
		return "-"
	default:
		return plural(g.Size, g.Unit)
	}
}

// sampleTable lists the cases kept as samples of a finding; nil for a single case without an input,
// which the finding's first line describes fully.
func sampleTable(f *campaign.Finding) *campaign.Table {
	if len(f.Samples) == 0 || len(f.Samples) == 1 && f.Samples[0].Input == "" && f.Samples[0].Size == 0 {
		return nil
	}
	t := &campaign.Table{Columns: []string{"case", "round", "size", "input"}, Numeric: []bool{true, true, true, false}}
	for _, m := range f.Samples {
		t.Rows = append(t.Rows, []string{count(m.Case.Index), count(m.Case.Round), sampleSize(&m), m.Input})
	}
	return t
}

// reproducer returns the smallest content known to show a finding, its full length, and why only a
// preview is available ("" otherwise).
func reproducer(f *campaign.Finding, opt Options) (data []byte, full int64, why string) {
	if f.Minimized == nil || f.Minimized.Gauge != nil { // the evidence shows it in the format's own terms
		return nil, 0, ""
	}
	data, full = f.Minimized.Preview, f.Minimized.Size
	if opt.Blob == nil || f.Minimized.Blob == "" {
		return data, full, ""
	}
	b, err := opt.Blob(f.Minimized.Blob)
	if err != nil {
		return data, full, "only a preview: " + err.Error()
	}
	return b, max(full, int64(len(b))), ""
}

// flakyLabel says how often a flaky finding showed again; "" for other findings.
func flakyLabel(f *campaign.Finding) string {
	switch {
	case !f.Flaky:
		return ""
	case f.Rerun.Tried == 0 && f.Rerun.Errors > 0:
		return "not confirmed: " + plural(f.Rerun.Errors, "re-run") + " had no result"
	case f.Kind == campaign.KindNondeterminism:
		return "flaky: " + rerunLabel(f, "gave another answer")
	}
	return "flaky: " + rerunLabel(f, "failed the same way")
}

// rerunLabel says in how many re-runs something happened, and how many had no result.
func rerunLabel(f *campaign.Finding, so string) string {
	return count(f.Rerun.Same) + " of " + plural(f.Rerun.Tried, "re-run") + " " + so + unanswered(f)
}

func unanswered(f *campaign.Finding) string {
	if f.Rerun.Errors == 0 {
		return ""
	}
	return ", " + count(f.Rerun.Errors) + " had no result"
}
