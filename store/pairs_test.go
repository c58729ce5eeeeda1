package store

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// byteSent reads facts that are what was sent, and "!" where the system failed.
type byteSent struct{}

func (byteSent) Sent(data []byte) (what uint64, failed, ok bool) {
	if len(data) == 0 {
		return 0, false, false
	}
	return uint64(data[0]), len(data) > 1, true
}

// Of two runs of a search, what both sent is compared, and a finding is fixed only if
// its prompt was sent again.
func TestCompareSearches(t *testing.T) {
	s := openStore(t, t.TempDir())
	s.Contract = func(string) any { return byteSent{} }
	minutes := 0
	search := func(found bool, sent string) string {
		minutes++
		m := aged("demo", minutes)
		w, err := s.Begin(m)
		must(t, err)
		hits := 0
		for i, x := range strings.Fields(sent) {
			hits += strings.Count(x, "!")
			must(t, w.Append(Entry{Kind: KindOutcome, Case: campaign.Case{Index: int64(i)}, Outcome: campaign.Outcome{Data: []byte(x)}}))
		}
		rec := campaign.Record{RunID: w.RunID(), Complete: true, Campaigns: []campaign.CampaignRecord{{
			Contract: "fuzzspec", Name: "demo", Identity: m.Identities[0].Digest, Cases: campaign.Counts{Run: 13},
			Exhibits: []campaign.Exhibit{{Kind: "matrix", Matrix: &campaign.Matrix{Rows: []string{"all"}, Columns: []string{"success"}, Measures: campaign.OfGuided,
				Cells: [][]campaign.MatrixCell{{{Hits: int64(hits), Total: 12}}}}}},
		}}}
		if found {
			f := finding("F-1", campaign.SeverityHigh)
			f.First = 2
			rec.Findings = []campaign.Finding{f}
		}
		must(t, w.SaveRecord(rec, statusDone))
		must(t, w.Close())
		return w.RunID()
	}
	weak := search(true, "a b c! d! e! f! g! h! i j! k! k")
	for _, x := range []struct {
		sent, verdict string
		found, fixed  int // of the first finding
		total         int64
	}{
		{"a b c d e f g h i j k l", "better", 0, 1, 11},
		{"a b d e! g h! i! z z! y x w", noEvidence, 0, 0, 7},
		{"A B C D E! F!", "", 0, 0, 0},
	} {
		c, err := s.Compare(weak, search(x.found > 0, x.sent))
		must(t, err)
		if len(c.Fixed) != x.fixed || len(c.NotRun) != 1-x.fixed {
			t.Errorf("%s: fixed %d, not run %d", x.sent, len(c.Fixed), len(c.NotRun))
		}
		both, alone := c.CellsOfBoth()
		switch {
		case alone != 0:
			t.Errorf("%s: %d cells of one run only", x.sent, alone)
		case x.verdict == "":
			if len(both) != 0 || !strings.Contains(strings.Join(c.Differences, "\n"), "--policy uniform") {
				t.Errorf("%s: %+v, %q", x.sent, both, c.Differences)
			}
		case len(both) != 1 || !both[0].Paired || both[0].Chance.Verdict != x.verdict || both[0].A.Total != x.total:
			t.Errorf("%s: %+v", x.sent, both)
		}
	}
}
