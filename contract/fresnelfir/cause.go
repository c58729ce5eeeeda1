package fresnelfir

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Group implements [campaign.Grouper]. Differences that appear after the same calls are attributed
// to the last of these calls: it does not matter which answer reveals that an effect was lost.
func (c *Campaign) Group(_ *state, o campaign.Outcome) string {
	var x trace
	if o.Kind != kindDiscrepancy || len(o.Cause) == 0 || json.Unmarshal(o.Attached("steps"), &x) != nil || len(x.Steps) == 0 {
		return ""
	}
	var calls []string
	repeats := false
	for _, s := range x.Steps {
		for _, before := range calls {
			repeats = repeats || before == s.Action
		}
		calls = append(calls, s.Action)
	}
	last := calls[len(calls)-1]
	switch cause := o.Cause[0]; {
	case strings.HasPrefix(cause, "after "): // an observer, or a property that reads observers
	case cause != "returns" && cause != "refused" && cause != "not refused":
		return ""
	case len(calls) < 2 || !repeats && !c.reads(last):
		return "" // the call itself may be wrong, and the earlier ones only make it possible
	default:
		calls = calls[:len(calls)-1]
	}
	return strings.Join(calls, "\n")
}

// reads reports whether an action changes nothing in the model.
func (c *Campaign) reads(action string) bool {
	e := c.plan.doc.Effect(action)
	return e == nil || e.Creates == nil && len(e.Sets) == 0
}
