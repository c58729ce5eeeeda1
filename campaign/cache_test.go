package campaign_test

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// thing counts how often it is closed.
type thing struct{ closed int }

func (t *thing) Close() error { t.closed++; return nil }

func TestCache(t *testing.T) {
	s := &campaign.Cache{}
	a, b := &thing{}, &thing{}
	if s.Put("x", a) != nil || a.closed != 0 {
		t.Error("what is put in the cache is closed")
	}
	if _, ok := s.Take("y"); ok {
		t.Error("there is something of another name")
	}
	if got, ok := s.Take("x"); !ok || got != a {
		t.Error("what was put there is gone")
	}
	if _, ok := s.Take("x"); ok {
		t.Error("it is there twice")
	}
	if s.Put("x", a) != nil || s.Close() != nil || a.closed != 1 {
		t.Errorf("what is left is closed %d times", a.closed)
	}
	if s.Put("x", b) != nil || b.closed != 1 {
		t.Error("behind the end of the run something stays open")
	}
	var none *campaign.Cache
	if _, ok := none.Take("x"); ok || none.Put("x", b) != nil || b.closed != 2 {
		t.Error("without a cache something stays open")
	}
}
