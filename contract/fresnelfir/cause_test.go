package fresnelfir

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// What shows that an effect was lost is grouped by the calls before.
func TestGroup(t *testing.T) {
	set := []ir.Set{{}}
	c := &Campaign{plan: &plan{doc: &ir.Document{Effects: []*ir.Effect{{Action: "add", Creates: &ir.Creates{}}, {Action: "lease", Sets: set}, {Action: "release", Sets: set}, {Action: "remove", Sets: set}, {Action: "read"}}}}}
	for _, x := range []struct{ calls, cause, want string }{
		{"add remove", "after remove", "add remove"},
		{"add remove read", "returns", "add remove"},
		{"add remove remove", "not refused", "add remove"},
		{"add lease release lease release", "refused", "add lease release lease"},
		{"add lease release", "refused", ""},
		{"read", "returns", ""},
		{"add remove read", "linearizability", ""},
	} {
		var steps []string
		for _, call := range strings.Fields(x.calls) {
			steps = append(steps, `{"thread": 1, "action": "`+call+`"}`)
		}
		o := campaign.Outcome{Kind: kindDiscrepancy, Cause: []string{x.cause, byModule}, Evidence: []campaign.Attachment{{Name: "steps", Data: []byte(`{"steps": [` + strings.Join(steps, ",") + `]}`)}}}
		if got := strings.ReplaceAll(c.Group(nil, o), "\n", " "); got != x.want {
			t.Errorf("%s, %s: %q, want %q", x.calls, x.cause, got, x.want)
		}
	}
	if got := c.Group(nil, campaign.Outcome{Kind: kindCrash, Cause: []string{"after add"}}); got != "" {
		t.Errorf("a crash: %q", got)
	}
}
