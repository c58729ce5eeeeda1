package score_test

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/engine/score"
)

func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0.0%", 1: "100.0%", 0.6645: "66.5%", 0.4727: "47.3%", 0.0004: "<0.1%", 0.9996: ">99.9%", math.Inf(1): "–", math.Inf(-1): "–", math.NaN(): "–",
		0.001: "0.1%", 0.999: "99.9%", 0.00099: "<0.1%", 0.9991: ">99.9%",
	} {
		if got := score.Percent(p); got != want {
			t.Errorf("%g is %s, want %s", p, got, want)
		}
	}
	if got := score.Percents(0.573, 0.844); got != "57.3% to 84.4%" {
		t.Errorf("an interval is %s", got)
	}
}
