package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// sharing is a contract that splits its cases by itself, or does not.
type sharing struct {
	campaign.Contract
	options []campaign.Option
}

func (s sharing) Options() []campaign.Option { return s.options }

// What several runs are as one: sums, the worst verdict, and each finding, figure, warning
// and note once.
func TestMergedRuns(t *testing.T) {
	day := func(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }
	score := 0.5
	minimal := func(size int64) *campaign.Minimal { return &campaign.Minimal{Size: size} }
	c := func(name string, n int64, more ...campaign.Figure) campaign.CampaignRecord {
		return campaign.CampaignRecord{Contract: "c", Name: name, Source: "doc", Cases: campaign.Counts{Planned: n, Run: n, Pass: n}, Figures: more, Exhibits: []campaign.Exhibit{{Kind: name}}}
	}
	scored := c("a", 1, campaign.Figure{Name: "edges", Value: 3}, campaign.Figure{Name: "lines", Value: 1})
	scored.Score, scored.ScoreInterval, scored.Parts = &score, &[2]float64{0, 1}, []campaign.ScorePart{{Name: "p"}}
	elsewhere := c("a", 5)
	elsewhere.Source = "other"
	renamed := elsewhere
	renamed.Name = "a (other)"
	environment := func(from, to int, notes ...string) campaign.Environment {
		return campaign.Environment{Started: day(from), Finished: day(to), Seconds: 2, Workers: 3, Rate: 4, Notes: notes, Root: "root", Host: "h"}
	}
	m := Merged{
		stored: []bool{true, false, false},
		runs: []campaign.Record{
			{RunID: "r1", Digest: "d1", Verdict: "pass", Complete: true, Campaigns: []campaign.CampaignRecord{c("a", 2, campaign.Figure{Name: "edges", Value: 2}), elsewhere},
				Findings: []campaign.Finding{{ID: "F-1", Cases: 2, Minimized: minimal(9)}, {ID: "F-2", Cases: 1, Flaky: true}, {ID: "F-3", Cases: 1}},
				Warnings: []string{"w"}, Hints: []string{"z", "h"}, Environment: environment(5, 6, "n")},
			{RunID: "r2", Digest: "d2", Verdict: "fail", Stopped: "by hand", Campaigns: []campaign.CampaignRecord{c("b", 1), scored},
				Findings: []campaign.Finding{{ID: "F-1", Cases: 3, Minimized: minimal(4)}, {ID: "F-2", Cases: 4}, {ID: "F-4", Cases: 1}},
				Warnings: []string{"w", "v"}, Hints: []string{"h"}, Environment: environment(3, 7, "n", "o")},
			{RunID: "r3", Digest: "d3", Verdict: "error", Stopped: "by time", Campaigns: []campaign.CampaignRecord{scored},
				Findings: []campaign.Finding{{ID: "F-1", Cases: 1, Minimized: minimal(5)}, {ID: "F-3", Cases: 1, Title: "larger"}}, Environment: environment(4, 5)},
		},
	}
	m.join("dir")
	got := m.Record
	joined := c("a", 4, campaign.Figure{Name: "edges", Value: 8}, campaign.Figure{Name: "lines", Value: 2})
	joined.Exhibits = []campaign.Exhibit{{Kind: "a"}, {Kind: "a"}, {Kind: "a"}}
	want := campaign.Record{
		RunID: "r1+r2+r3", Digest: got.Digest, Verdict: "fail", Stopped: "by hand", Campaigns: []campaign.CampaignRecord{joined, renamed, c("b", 1)},
		Findings: []campaign.Finding{
			{ID: "F-1", Cases: 6, Minimized: minimal(4)}, {ID: "F-2", Cases: 5},
			{ID: "F-3", Cases: 2, Reproduce: append(ReplayCommand("dir"), "F-3")}, {ID: "F-4", Cases: 1},
		},
		Warnings: []string{"w", "c a: parts of one campaign have no common score; the runs' own reports have theirs", "v"}, Hints: []string{"h", "z"},
		Environment: campaign.Environment{Started: day(3), Finished: day(7), Seconds: 6, Workers: 9, Rate: 12, Notes: []string{"n", "o"}, Host: "h"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if places, _ := json.Marshal(m.places); string(places) != "[[0,1],[2,0],[0]]" || len(got.Digest) != 64 {
		t.Error(string(places), got.Digest)
	}
}

// Findings of documents whose campaigns have one name are not one, although they have one id in
// their runs.
func TestMergedDocumentsOfOneName(t *testing.T) {
	found := func(id, source string) campaign.Record {
		return campaign.Record{RunID: id, Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "a", Source: source}},
			Findings: []campaign.Finding{{ID: "F-1", Contract: "c", Campaign: "a", Cases: 2, Group: "g"}}}
	}
	m := Merged{stored: []bool{true, true, true}, runs: []campaign.Record{found("r1", "x/doc"), found("r2", "y/doc"), found("r3", "y/doc")}}
	m.join("dir")
	var got []string
	for _, f := range m.Record.Findings {
		got = append(got, fmt.Sprint(f.ID, " ", f.Campaign, " ", f.Cases, " ", f.Group, " ", f.Reproduce[len(f.Reproduce)-1]))
	}
	if got := strings.Join(got, "; "); got != "F-1 a 2 g r1/F-1; F-ff1b90e796 a (y/doc) 4 g in a (y/doc) r2/F-1" || len(m.Record.Campaigns) != 2 || m.Record.Campaigns[1].Name != "a (y/doc)" {
		t.Error(got, m.Record.Campaigns)
	}
}

// The jobs of a run may each type the path of a document in their own way.
func TestMergedDocumentOfSeveralPaths(t *testing.T) {
	var m Merged
	for _, source := range []string{"../docs/a.md", "/ci/docs/a.md", "docs/a.md"} {
		m.stored = append(m.stored, false)
		m.runs = append(m.runs, campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "docs/a.md", Source: source}}})
	}
	if m.join(""); len(m.Record.Campaigns) != 1 {
		t.Error(m.Record.Campaigns)
	}
}

// Parts that no run is are named, unless a report does not say which part it is.
func TestAbsentParts(t *testing.T) {
	for shards, want := range map[string]string{"": "", ",": "", "1/3": "2/3 3/3", "1/3,3/3,2/3": "", "2/2,1/3,,3/3": "1/2 2/3", "1/3,?": "", "x,2/1": ""} {
		m := Merged{shards: strings.Split(shards, ",")}
		if got := strings.Join(m.absent(), " "); got != want {
			t.Errorf("%s: %s, want %s", shards, got, want)
		}
	}
	for command, want := range map[string]string{"thresh run x": "", "thresh run x --shard 1/2": "1/2", "thresh run --shard=2/2 x": "2/2", "thresh run --shard": "", "thresh run --resume r1": "?"} {
		if got := shardIn(strings.Fields(command)); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// Documents whose format does not split cases are dealt out whole, in turn.
func TestSharesOfDocuments(t *testing.T) {
	var docs []Document
	for _, name := range []string{"a", "b", "split", "c", "d"} {
		d := Document{Spec: campaign.Spec{Path: name}, Contract: sharing{}}
		if name == "split" {
			d.Contract = sharing{options: []campaign.Option{{Name: "other"}, {Name: ShardOption}}}
		}
		docs = append(docs, d)
	}
	for word, want := range map[string]string{
		"": "a b split c d", "1/1": "a b split c d", "1/2": "a split c", "2/2": "b split d", "3/3": "split c", "5/5": "split", "4/5": "split d",
		"0/2": "refused", "3/2": "refused", "1": "refused", "x/2": "refused", "1/y": "refused", "-1/2": "refused", "1/2/3": "refused",
	} {
		options := map[string][]string{ShardOption: {"9/9", word}}
		if word == "" {
			options = nil
		}
		mine, err := shardOf(docs, options)
		var names []string
		for _, d := range mine {
			names = append(names, d.Path)
		}
		got := strings.Join(names, " ")
		if err != nil && diag.ExitCode(err) == 2 && strings.Contains(err.Error(), `"`+word+`"`) {
			got = "refused"
		}
		if got != want {
			t.Errorf("%q: %s, want %s (%v)", word, got, want, err)
		}
	}
}

// Options are checked before anything is run; one that no document has a use for is said.
func TestOptions(t *testing.T) {
	a := &App{Contracts: []campaign.Contract{sharing{options: []campaign.Option{
		{Name: "flag", Bool: true}, {Name: "level", Values: []string{"low", "high"}}, {Name: "many", Many: true}, {Name: "tool", Program: true, NoPath: "none"},
	}}}}
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{"flag", []string{"1"}, "true"}, {"flag", []string{"T", "f"}, "false"}, {"flag", []string{"yes"}, `--flag must be true or false, got "yes"`},
		{"level", []string{"low", "high"}, "high"}, {"level", []string{"hihg"}, `--level must be one of low, high, got "hihg" (did you mean high?)`},
		{"level", []string{"x"}, `--level must be one of low, high, got "x"`}, {"many", []string{"a", "b", "a"}, "a b a"},
		{"tool", []string{"/bin/../x"}, "/x"}, {"tool", []string{"none"}, "none"}, {"tool", []string{campaign.Self + " y"}, campaign.Self + " y"},
		{"levels", []string{"x"}, `there is no option "levels" (did you mean level?)`}, {"qqqqqq", []string{"x"}, `there is no option "qqqqqq"`},
	} {
		checked, err := a.Options(map[string][]string{c.name: c.values})
		got := strings.Join(checked[c.name], " ")
		if err != nil {
			got = err.Error()
			if hint := diag.Hint(err); hint != "" {
				got += " (" + hint + ")"
			}
		}
		if got != c.want {
			t.Errorf("%s %q: %s, want %s", c.name, c.values, got, c.want)
		}
	}
	docs := []Document{{Spec: campaign.Spec{Path: "first"}, Contract: sharing{}}, {Contract: a.Contracts[0]}}
	given := map[string][]string{"zzz": nil, "many": nil, ShardOption: nil, recursive: nil, "aaa": nil}
	var said []string
	for _, d := range idle(docs, given) {
		said = append(said, d.String())
	}
	if got := strings.Join(said, "\n"); strings.Count(got, "first: warning: --") != 2 || !strings.HasPrefix(got, "first: warning: --aaa has") || !strings.Contains(got, "--zzz") || idle(nil, given) != nil {
		t.Error(got)
	}
}
