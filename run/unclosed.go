package run

import (
	"fmt"

	"github.com/thresh-dev/thresh/store"
)

func (a *attempt) closeLanes() error {
	if a.lanes == nil {
		return nil
	}
	notes, err := a.lanes.close()
	a.lanes, a.opened = nil, true
	for _, n := range notes {
		a.r.notes = appendNew(a.r.notes, a.id.Name+": "+n)
	}
	if err != nil {
		return fmt.Errorf("closing the target: %w", err)
	}
	return nil
}

// campaignEnd is the payload of [store.KindCampaignEnd].
type campaignEnd struct {
	Unclosed string `json:"unclosed,omitempty"` // why the target could not be closed
}

// stillUnclosed returns why the target could not be closed, and journals it: a process that resumes
// the run may have no case left, and so no target that it could close.
func (a *attempt) stillUnclosed() error {
	was := a.r.history.unclosed[a.k]
	switch {
	case a.unclosed != nil:
		return joined(a.unclosed, a.r.note(store.KindCampaignEnd, a.k, campaignEnd{a.unclosed.Error()}))
	case was != "" && a.opened:
		return a.r.note(store.KindCampaignEnd, a.k, campaignEnd{})
	case was != "":
		return fmt.Errorf("%s (before the run was resumed, which had no case left; start a new run)", was)
	}
	return nil
}
