package run

import (
	"encoding/json"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// What a record shows of findings, and of campaigns, beside their facts: about so
// many bytes of JSON. It bounds the memory of runs in which very many things fail.
const (
	findingsShown  = 8 << 20
	campaignsShown = 8 << 20
	// briefShown is the size up to which a finding that is not shown in full
	// keeps the first of what shows it.
	briefShown = 1 << 10
)

// showing decides what of a list is shown in full: as much from its beginning as
// there is room for. It does not matter in which order parts of it are offered.
type showing struct {
	mu    sync.Mutex
	room  int
	next  int         // the first that was not offered
	sizes map[int]int // of those offered beyond it
	over  int         // the first that there was no room for; -1: none yet
}

func newShowing(room int) *showing { return &showing{room: room, over: -1, sizes: make(map[int]int)} }

// offer reports whether part n, of a size, can be among those shown for all that
// is known.
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

// brief makes what could not be shown in full short, once all parts have been
// offered, and returns how many such there are.
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

// shortFirst is the first of some exhibits, if it is short.
func shortFirst(list []campaign.Exhibit) []campaign.Exhibit {
	if len(list) > 0 && sizeOf(list[:1]) <= briefShown {
		return []campaign.Exhibit{list[0]}
	}
	return []campaign.Exhibit{}
}

// show keeps what a campaign has to show of itself as a whole, while there is
// room for it.
func (r *runner) show(rec *campaign.CampaignRecord, list []campaign.Exhibit) {
	if r.campaignRoom <= 0 && len(list) > 0 {
		r.unshownCampaigns++
		return
	}
	rec.Exhibits = list
	r.campaignRoom -= sizeOf(list)
}

// tellUnshown warns of what there was no room for.
func (r *runner) tellUnshown() {
	if n := r.unshown; n > 0 {
		r.warn("little or no evidence could be kept for %s, because that of the others takes %d MiB; thresh replay shows it for one", diag.Plural(n, "finding"), findingsShown>>20)
	}
	if n := r.unshownCampaigns; n > 0 {
		r.warn("%s cannot be shown as a whole, because the exhibits of the others take %d MiB", diag.Plural(n, "campaign"), campaignsShown>>20)
	}
}

// sizeOf is about how much room exhibits take.
func sizeOf(list []campaign.Exhibit) int {
	data, err := json.Marshal(list)
	if err != nil {
		return 0 // saving the record says so
	}
	return len(data)
}
