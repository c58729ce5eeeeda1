package run

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// What is shown in full depends on the list, not on the order in which its parts
// were done.
func TestShowing(t *testing.T) {
	for round := range 50 {
		r := rand.New(rand.NewPCG(1, uint64(round)))
		found := make([]campaign.Finding, 40)
		for i := range found {
			found[i].Evidence = []campaign.Exhibit{campaign.TextExhibit("Failure", "short"), campaign.TextExhibit("Output", strings.Repeat("x", 1000))}
		}
		found[3].Evidence[0] = campaign.TextExhibit("Failure", strings.Repeat("x", 2*briefShown))
		s := newShowing(20_000)
		if round > 0 {
			s = newShowing(3000)
		}
		for _, i := range r.Perm(len(found)) {
			if !s.offer(i, sizeOf(found[i].Evidence)) {
				found[i].Evidence = shortFirst(found[i].Evidence)
			}
		}
		want := 40 - s.over
		if n := s.brief(found); n != want || s.over < 2 {
			t.Fatalf("round %d: %d are short, from %d on", round, n, s.over)
		}
		for i, f := range found {
			if full := len(f.Evidence) == 2; full != (i < s.over) || !full && i != 3 && len(f.Evidence) != 1 || f.Evidence == nil {
				t.Fatalf("round %d: finding %d has %d exhibits, all before %d are shown", round, i, len(f.Evidence), s.over)
			}
		}
		if round > 0 && s.over != 3 {
			t.Fatalf("round %d: %d are shown in full", round, s.over)
		}
	}
	s := newShowing(1 << 20)
	if !s.offer(1, 10) || !s.offer(0, 10) || s.brief(make([]campaign.Finding, 2)) != 0 {
		t.Error("something is short though there is room")
	}
}
