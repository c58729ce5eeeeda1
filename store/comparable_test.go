package store

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// asked is a run of one document by that name, with that text and settings, so
// many minutes after the first.
func asked(s *Store, t *testing.T, minutes int, path, text, settings string) Manifest {
	t.Helper()
	m := manifest("starter")
	m.Created = m.Created.Add(time.Duration(minutes) * time.Minute)
	m.Specs = []SpecRef{{Path: path, Contract: "fuzzspec"}, {Path: "zz", Contract: "fuzzspec"}} // two: they share a blob
	m.Settings = json.RawMessage(settings)
	m.Identities[0].Digest = text + settings
	must(t, s.PutSpecs(m.Specs, [][]byte{[]byte(text), []byte("other" + settings)}, func() {}))
	return m
}

func TestPrevious(t *testing.T) {
	for _, x := range []struct {
		name            string
		text, settings  string
		path, program   string
		stopped         string
		found           bool
		why, afterwards string
	}{
		{name: "the same", text: "one", settings: `{"seed":1}`, found: true},
		{name: "strict", text: "one", settings: `{"seed":1,"strict":true}`, found: true},
		{name: "another program", text: "one", settings: `{"seed":1}`, program: "new", found: true},
		{name: "another seed", text: "one", settings: `{"seed":2}`, why: " had --seed 2"},
		{name: "fewer cases", text: "one", settings: `{"cases":5,"options":{"system":["a.yaml"],"quick":["true"]}}`, why: " had --cases 5, --quick, --system a.yaml, no --seed"},
		{name: "another text", text: "two", settings: `{"seed":1}`, why: "starter.json has changed since run r"},
		{name: "another document", text: "two", settings: `{"seed":1}`, path: "b/starter.json", why: "ran another document of that name, b/starter.json"},
		{name: "cut short", text: "one", settings: `{"seed":1}`, stopped: "interrupted", why: "did not complete"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			path := "starter.json"
			if x.path != "" {
				path = x.path
			}
			m := asked(s, t, 0, path, x.text, x.settings)
			m.Identities[0].Digest += x.program
			w, err := s.Begin(m)
			must(t, err)
			rec := campaign.Record{RunID: w.RunID(), Verdict: "pass", Complete: x.stopped == "", Stopped: x.stopped, Campaigns: []campaign.CampaignRecord{
				{Contract: "fuzzspec", Name: "starter", Identity: m.Identities[0].Digest, Source: path}}}
			data, err := json.Marshal(rec)
			must(t, err)
			must(t, w.Append(Entry{Kind: KindEnd, Data: data}))
			must(t, w.Close())
			m = asked(s, t, 5, "starter.json", "one", `{"seed":1}`)
			run := writeRun(t, s, m, 3).RunID
			id, why, err := s.Previous(run)
			must(t, err)
			if id == "" || x.found != (why == "") || !strings.Contains(why, x.why) {
				t.Errorf("previous %q because %q", id, why)
			}
			list, err := s.Comparables(run, 9)
			must(t, err)
			if len(list) != 1 && (x.found || x.stopped != "") || len(list) != 0 && !x.found && x.stopped == "" {
				t.Errorf("%d runs to compare with", len(list))
			}
			trend, err := s.Trend("fuzzspec", "starter", "", 9)
			must(t, err)
			if want := 1 + len(list); len(trend.Points) != want {
				t.Errorf("the trend has %d points, want %d", len(trend.Points), want)
			}
			if own, err := s.Trend("fuzzspec", "starter", path, 9); err != nil || own.Source != path || x.path != "" && len(own.Points) != 1 {
				t.Errorf("the trend of %s is of %s and has %d points, %v", path, own.Source, len(own.Points), err)
			}
		})
	}
}

// A comparison goes from the older run to the newer, in whichever order they are named.
func TestCompareGoesByTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	old := writeRun(t, s, aged("demo", 1), 9, finding("F-1", campaign.SeverityHigh)).RunID
	young := writeRun(t, s, aged("demo", 2), 9).RunID
	for _, refs := range [][2]string{{old, young}, {young, old}, {"latest", "latest~1"}} {
		c, err := s.Compare(refs[0], refs[1])
		must(t, err)
		if c.A != old || c.B != young || len(c.Fixed) != 1 || len(c.New) != 0 || c.Swapped != (refs[0] != old) {
			t.Errorf("%v: %+v", refs, c)
		}
	}
}

// A campaign that learns while it runs sends other cases in another run: its rates
// are shown, and nothing is said of chance.
func TestGuidedRatesAreNotTested(t *testing.T) {
	run := func(id string, hits int64) campaign.Record {
		m := &campaign.Matrix{Measures: campaign.OfGuided, Rows: []string{"all"}, Columns: []string{"success"}, Cells: [][]campaign.MatrixCell{{{Hits: hits, Total: 3000}}}}
		return campaign.Record{RunID: id, Campaigns: []campaign.CampaignRecord{{Contract: "operator", Name: "x", Exhibits: []campaign.Exhibit{{Kind: "matrix", Matrix: m}}}}}
	}
	c := (*Store)(nil).CompareRecords(run("a", 1280), run("b", 1898))
	if len(c.Cells) != 1 || !c.Cells[0].Guided || c.Cells[0].Chance != nil || c.Cells[0].Better() || len(c.Tested) != 0 {
		t.Errorf("%+v", c)
	}
}

// 18 of 20, then 14 of 20, may be chance; 20 of 20, then 8 of 20, is not.
func TestChance(t *testing.T) {
	run := func(id string, hits ...int64) campaign.Record {
		m := &campaign.Matrix{Columns: []string{"calm"}}
		for i, h := range hits {
			m.Rows = append(m.Rows, string(rune('a'+i)))
			m.Cells = append(m.Cells, []campaign.MatrixCell{{Hits: h, Total: 20}})
		}
		return campaign.Record{RunID: id, Campaigns: []campaign.CampaignRecord{{Contract: "flakestorm", Name: "x", Exhibits: []campaign.Exhibit{{Kind: "matrix", Matrix: m}}}}}
	}
	c := (*Store)(nil).CompareRecords(run("a", 18, 20, 3, 5), run("b", 14, 8, 20, 5))
	want := []string{"no evidence of a change", "worse", "better"}
	if len(c.Cells) != len(want) {
		t.Fatalf("%+v", c.Cells)
	}
	for i, w := range want {
		if x := c.Cells[i].Chance; x == nil || x.Verdict != w || w == "worse" && x.P >= 0.001 {
			t.Errorf("cell %d: %+v, want %s", i, x, w)
		}
	}
}
