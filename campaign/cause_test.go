package campaign_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

func TestByCause(t *testing.T) {
	list := strings.Fields("a1 b1 - a2 - b2")
	got := campaign.ByCause(list, func(s string) string { return strings.Trim(s, "-12") })
	var words []string
	for _, g := range got {
		words = append(words, strings.Join(g, "+"))
	}
	if s := strings.Join(words, " "); s != "a1+a2 b1+b2 - -" {
		t.Error(s)
	}
}
