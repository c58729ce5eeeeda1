package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// graded is a counter with a score, parts of it, figures and cases that others
// stand for.
type graded struct {
	*counter
	id      campaign.Identity
	noScore bool
}

func (g graded) Identity() campaign.Identity { return g.id }
func (g graded) Summarize(s sum) campaign.Summary {
	out := campaign.Summary{
		Interval: &[2]float64{0, float64(s.total%11) / 11}, Replaced: campaign.Counts{Pass: 1},
		Parts: []campaign.ScorePart{{Name: "all", Score: float64(s.total % 5), Weight: 1, Interval: &[2]float64{0, 1}}},
	}
	if score := float64(s.total%7) / 7; !g.noScore {
		out.Score = &score
	}
	return out
}
func (g graded) Figures(s sum) []campaign.Figure {
	return []campaign.Figure{{Name: "total", Value: s.total}}
}

// A record says what its journal gives, and Verify names whatever differs.
func TestVerifyNamesWhatDiffers(t *testing.T) {
	shape := func(rounds, per int64, noScore bool) campaign.Any {
		c := &counter{rounds: rounds, perRound: per, fail: everyTenth, hook: func(_ campaign.Lane, n int64) error {
			if n == 29 {
				return context.DeadlineExceeded
			}
			return nil
		}}
		return campaign.Erase[sum](graded{c, campaign.Identity{Contract: "counter", Name: "numbers", Digest: "d"}, noScore})
	}
	whole := shape(2, 20, false)
	f := newFixture(t)
	rec, err := f.runs(t.Context(), whole, run.Options{Workers: 2, Reruns: 1})
	if err != nil || rec.Campaigns[0].Cases != (campaign.Counts{Planned: 39, Run: 39, Pass: 34, Fail: 4, Error: 1, Replaced: 1}) {
		t.Fatalf("%v %+v", err, rec.Campaigns)
	}
	if len(rec.Environment.Root) != 64 {
		t.Errorf("the root is %q", rec.Environment.Root)
	}
	other := 0.5
	first := func(change func(*campaign.CampaignRecord)) func(*campaign.Record) {
		return func(r *campaign.Record) { change(&r.Campaigns[0]) }
	}
	for name, x := range map[string]struct {
		change func(*campaign.Record)
		of     campaign.Any
		want   string // "": nothing differs
	}{
		"nothing":                 {},
		"a campaign more":         {func(r *campaign.Record) { r.Campaigns = append(r.Campaigns, r.Campaigns[0]) }, nil, "the record has 2 campaigns, the documents 1"},
		"another contract":        {first(func(c *campaign.CampaignRecord) { c.Contract = "x" }), nil, "different identities"},
		"another name":            {first(func(c *campaign.CampaignRecord) { c.Name = "x" }), nil, "different identities"},
		"another document":        {first(func(c *campaign.CampaignRecord) { c.Identity = "x" }), nil, "different identities"},
		"a failure less":          {first(func(c *campaign.CampaignRecord) { c.Cases.Fail--; c.Cases.Pass++ }), nil, "the record counts {Planned:39 Run:39 Pass:35 Fail:3 "},
		"nothing replaced":        {first(func(c *campaign.CampaignRecord) { c.Cases.Replaced = 0 }), nil, "the record's digest is "},
		"fewer cases":             {first(func(c *campaign.CampaignRecord) { c.Cases = campaign.Counts{Planned: 39} }), nil, "the record's digest is "},
		"more cases":              {first(func(c *campaign.CampaignRecord) { c.Cases.Run++; c.Cases.Pass++ }), nil, "the record counts"},
		"another score":           {first(func(c *campaign.CampaignRecord) { c.Score = &other }), nil, "the record's score is not"},
		"no score":                {first(func(c *campaign.CampaignRecord) { c.Score = nil }), nil, "the record's score is not"},
		"an invented score":       {nil, shape(2, 20, true), "the record has a score, the journal gives none"},
		"a score of nothing":      {first(func(c *campaign.CampaignRecord) { c.Score = nil }), shape(2, 20, true), ""},
		"another interval":        {first(func(c *campaign.CampaignRecord) { c.ScoreInterval = &[2]float64{0.25, 0.5} }), nil, "the record's score has a different interval"},
		"another part's interval": {first(func(c *campaign.CampaignRecord) { c.Parts[0].Interval = &[2]float64{0.25, 0.5} }), nil, "different parts"},
		"the record of a version without intervals": {first(func(c *campaign.CampaignRecord) { c.ScoreInterval, c.Parts[0].Interval = nil, nil }), nil, ""},
		"other parts":                      {first(func(c *campaign.CampaignRecord) { c.Parts = nil }), nil, "different parts"},
		"another figure":                   {first(func(c *campaign.CampaignRecord) { c.Figures[0].Value++ }), nil, "different figures"},
		"another digest":                   {func(r *campaign.Record) { r.Digest = "00" }, nil, "the record's digest is 00, that of the journal " + rec.Digest},
		"another root":                     {func(r *campaign.Record) { r.Environment.Root = "00" }, nil, "root is not that of"},
		"a record of format 1 has no root": {func(r *campaign.Record) { r.Environment.Root = "" }, nil, ""},
		"passed":                           {func(r *campaign.Record) { r.Verdict = "pass" }, nil, "the record's verdict is pass, with 4 failing cases and 1 finding"},
		"failed, without its findings":     {func(r *campaign.Record) { r.Findings = nil }, nil, ""},
		"cases of another round":           {nil, shape(4, 10, false), "the journal has case 10 of round 0 in place of case 10 of round 1"},
		"cases beyond the end":             {nil, shape(1, 20, false), "the journal has case 20, but the campaign ends before it"},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := f.store.OpenJournal(f.id)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			r, _, err := j.Record()
			if err != nil {
				t.Fatal(err)
			}
			if x.change != nil {
				x.change(&r)
			}
			if x.of == nil {
				x.of = whole
			}
			problems, err := run.Verify(j, &r, []campaign.Any{x.of})
			got := strings.Join(problems, "\n")
			if err != nil || (x.want == "") != (got == "") || !strings.Contains(got, x.want) {
				t.Errorf("%v, says %q; want %q", err, got, x.want)
			}
		})
	}
}

// What the verdict of a record may be follows from its cases and findings.
func TestVerifyComparesTheVerdict(t *testing.T) {
	broken := func(n int64) *counter {
		return &counter{rounds: 1, perRound: 10, hook: func(_ campaign.Lane, i int64) error {
			if i < n {
				return context.DeadlineExceeded
			}
			return nil
		}}
	}
	for _, x := range []struct {
		c        *counter
		verdicts []string // that nothing speaks against
	}{
		{broken(0), []string{"pass", "error"}}, // an error may be the environment's
		{broken(1), []string{"error"}},
		{&counter{rounds: 1, perRound: 10, fail: everyTenth}, []string{"fail"}},
	} {
		f := newFixture(t)
		rec := f.must(t.Context(), x.c, run.Options{Workers: 1, Reruns: 1})
		j, err := f.store.OpenJournal(f.id)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{"pass", "fail", "error"} {
			r := rec
			r.Verdict = v
			problems, err := run.Verify(j, &r, []campaign.Any{campaign.Erase[sum](x.c)})
			if err != nil || (len(problems) == 0) != slices.Contains(x.verdicts, v) {
				t.Errorf("a record of %+v with verdict %s: %v %q", rec.Campaigns[0].Cases, v, err, problems)
			}
		}
		j.Close()
	}
}

// A campaign whose target was never tried has no cases.
func TestVerifyOfWhatWasNeverTried(t *testing.T) {
	f := newFixture(t)
	c := campaign.Erase[sum](&counter{rounds: 1, perRound: 10})
	w, err := f.store.Begin(store.Manifest{Identities: []campaign.Identity{c.Identity()}})
	if err != nil {
		t.Fatal(err)
	}
	id := w.RunID()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := f.store.OpenJournal(id)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	n := c.Identity()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256 of nothing
	for cases, want := range map[int64]string{0: "", 3: "the record counts 3 cases, the journal has none"} {
		rec := campaign.Record{Verdict: "error", Digest: empty, Campaigns: []campaign.CampaignRecord{{Contract: n.Contract, Name: n.Name, Identity: n.Digest, Cases: campaign.Counts{Run: cases}}}}
		problems, err := run.Verify(j, &rec, []campaign.Any{c})
		if got := strings.Join(problems, "\n"); err != nil || (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%d cases: %v, says %q; want %q", cases, err, got, want)
		}
	}
}

// A journal from which the state before the first case cannot be read is not verified.
func TestVerifyOfFactsThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	c := campaign.Erase[sum](&counter{rounds: 1, perRound: 10})
	n := c.Identity()
	w, err := f.store.Begin(store.Manifest{Identities: []campaign.Identity{n}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(store.Entry{Kind: store.KindFacts, Data: []byte("{")}), w.Close()); err != nil {
		t.Fatal(err)
	}
	j, err := f.store.OpenJournal(w.RunID())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	rec := campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: n.Contract, Name: n.Name, Identity: n.Digest}}}
	if problems, err := run.Verify(j, &rec, []campaign.Any{c}); err == nil || !strings.Contains(err.Error(), "reading what the run learned about the target: ") {
		t.Errorf("%v, says %q", err, problems)
	}
}
