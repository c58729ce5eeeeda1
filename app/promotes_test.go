package app

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// What cannot be promoted is not offered.
func TestPromotes(t *testing.T) {
	a := New()
	for _, c := range a.Contracts {
		if got, want := a.Promotes(&campaign.Finding{Contract: c.Name()}), c.Name() != "spectest" && c.Name() != "system"; got != want {
			t.Errorf("findings of %s are promoted: %v", c.Name(), got)
		}
		if a.Promotes(&campaign.Finding{Contract: c.Name(), Kind: campaign.KindNondeterminism}) {
			t.Errorf("%s: a test is made of a case that differs from itself", c.Name())
		}
	}
}
