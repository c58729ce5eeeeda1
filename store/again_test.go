package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// Cases that close a campaign are among those that a comparison looks for, until the campaign
// goes on.
func TestClosingCasesAreCompared(t *testing.T) {
	for journal, want := range map[string]string{"0 1 /8 /9": "0 1 8 9", "0 1 /8 2": "0 1 2", "0 /8 1 /9": "0 1 9"} {
		s := openStore(t, t.TempDir())
		m := manifest("a")
		w, err := s.Begin(m)
		must(t, err)
		for word := range strings.FieldsSeq(journal) {
			e := Entry{Kind: KindOutcome}
			place, closing := strings.CutPrefix(word, "/")
			if closing {
				e.Kind, e.After = KindClosing, 2
			}
			fmt.Sscan(place, &e.Case.Index)
			must(t, w.Append(e))
		}
		must(t, w.Close())
		id := m.Identities[0]
		var got []string
		s.outcomes(w.RunID(), &campaign.CampaignRecord{Contract: id.Contract, Name: id.Name, Identity: id.Digest}, func(e Entry, _ bool) {
			got = append(got, fmt.Sprint(e.Case.Index))
		})
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %q, want %q", journal, g, want)
		}
	}
}
