package lazy_test

import (
	"testing"

	"github.com/thresh-dev/thresh/engine/lazy"
)

func TestPattern(t *testing.T) {
	digits := lazy.Pattern(`\d+`)
	if first := digits(); digits() != first {
		t.Error("a pattern is compiled more than once")
	}
	if got := digits().FindString("case 21"); got != "21" {
		t.Errorf("found %q", got)
	}
	invalid := lazy.Pattern(`(`) // compiled by nobody yet
	defer func() {
		if recover() == nil {
			t.Error("an invalid pattern was accepted")
		}
	}()
	invalid()
}
