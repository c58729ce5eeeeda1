package spectest

import (
	"errors"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// Lanes of a campaign share the document's text while one of them is open; what
// was compiled stays as it is, so that a campaign can be run again.
func TestSessions(t *testing.T) {
	t.Chdir(t.TempDir())
	c := soleCampaign(t, blockDocument("id: A\ntype: text.file\nassert: [{target: text, must: [{contain: ['id: A']}]}]\n"), nil)
	held := len(c.held)
	for range 2 {
		s := c.Open(nil)
		var lanes []*executor
		for i := range 2 {
			e, err := s.Executor(t.Context(), campaign.Lane{Index: i, Of: 2})
			if err != nil {
				t.Fatal(err)
			}
			lanes = append(lanes, e.(*executor))
		}
		one, other := lanes[0], lanes[1]
		if one.session.own() != other.session.own() {
			t.Error("each lane has a text of its own")
		}
		if err := one.Close(); err != nil {
			t.Error(err)
		}
		if o, err := other.Execute(t.Context(), &state{}, campaign.Case{}); err != nil || o.Verdict != campaign.VerdictPass {
			t.Errorf("with another lane closed: %+v %v", o, err)
		}
		if err := errors.Join(other.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if len(c.held) != held {
			t.Errorf("%d cases are held of %d", len(c.held), held)
		}
	}
}
