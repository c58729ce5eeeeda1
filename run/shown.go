package run

import (
	"encoding/json"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// The largest size of exhibits in a record, in bytes of JSON, for findings and for
// campaigns. It bounds the memory of runs in which very many cases fail.
const (
	findingsShown  = 8 << 20
	campaignsShown = 8 << 20
	// briefShown is the largest size of a first exhibit that a finding keeps if it
	// is not shown in full.
	briefShown = 1 << 10
)

// showing decides which parts of a list are shown in full: from the beginning, as
// many as fit, whatever the order in which they are offered.
type showing struct {
	mu    sync.Mutex
	room  int
	next  int         // the first part that was not offered
	sizes map[int]int // sizes of parts offered beyond it
	over  int         // the first part that did not fit; -1: none yet
}

func newShowing(room int) *showing { return &showing{room: room, over: -1, sizes: make(map[int]int)} }

// offer reports whether part n, with this size, fits as far as is known.
func (s *showing) offer(n, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over >= 0 {
		return n < s.over
	}
	s.sizes[n] = size
	for s.room > 0 {
		size, known := s.sizes[s.next]
		if !known {
			return true
		}
		s.room -= size
		delete(s.sizes, s.next)
		s.next++
	}
	s.over = s.next
	clear(s.sizes)
	return n < s.over
}

// brief shortens the findings that did not fit, once all were offered, and returns
// their number.
func (s *showing) brief(found []campaign.Finding) int {
	if s.over < 0 || s.over >= len(found) {
		return 0
	}
	for i := range found[s.over:] {
		f := &found[s.over+i]
		f.Evidence = shortFirst(f.Evidence)
	}
	return len(found) - s.over
}

// shortFirst returns the first exhibit, if it is short.
func shortFirst(list []campaign.Exhibit) []campaign.Exhibit {
	if len(list) > 0 && sizeOf(list[:1]) <= briefShown {
		return []campaign.Exhibit{list[0]}
	}
	return []campaign.Exhibit{}
}

// show adds the exhibits of a campaign as a whole to its record, as long as there
// is room.
func (r *runner) show(rec *campaign.CampaignRecord, list []campaign.Exhibit) {
	if r.campaignRoom <= 0 && len(list) > 0 {
		r.unshownCampaigns++
		return
	}
	rec.Exhibits = list
	r.campaignRoom -= sizeOf(list)
}

// tellUnshown warns about what did not fit.
func (r *runner) tellUnshown() {
	if n := r.unshown; n > 0 {
		r.warn("little or no evidence could be kept for %s, because that of the others takes %d MiB; thresh replay shows it for one", diag.Plural(n, "finding"), findingsShown>>20)
	}
	if n := r.unshownCampaigns; n > 0 {
		r.warn("%s cannot be shown as a whole, because the exhibits of the others take %d MiB", diag.Plural(n, "campaign"), campaignsShown>>20)
	}
}

// sizeOf estimates the size of exhibits, in bytes.
func sizeOf(list []campaign.Exhibit) int {
	data, err := json.Marshal(list)
	if err != nil {
		return 0 // saving the record reports the error
	}
	return len(data)
}
