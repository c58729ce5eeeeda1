package spectest

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// missed notes the blocks of a page that were not run.
func (s *state) missed(c *Campaign, at campaign.Case, o *campaign.Outcome) {
	if c.Case(at.Index).page == nil || o.Verdict == campaign.VerdictError {
		return
	}
	var r result
	if json.Unmarshal(o.Data, &r) != nil {
		return
	}
	for _, why := range r.Skipped {
		s.unread = append(slices.Clip(s.unread), "not run: "+why)
	}
}

// skipReason is why a case or a page was not run.
func (c *Campaign) skipReason(at campaign.Case, _ *campaign.Outcome) string {
	if cs := c.Case(at.Index); cs.page == nil {
		return cs.skip
	}
	return "no block of the page could be run"
}

// unrepeatable is why a case must not be executed again; "": it may be.
func (c *Campaign) unrepeatable(at campaign.Case) string {
	if at.Index < 0 || at.Index >= int64(len(c.slots)) {
		return ""
	}
	return c.Case(at.Index).unrepeatable
}
