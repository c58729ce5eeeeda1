package spectest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"index/suffixarray"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
)

// Campaign is a compiled document. A case is an index into slots; it has no input to minimize.
type Campaign struct {
	id       campaign.Identity
	contract *Contract
	name     string
	doc      *document
	set      *settings
	slots    []slot
	written  int            // cases of the document, whether they run or not
	torn     map[int32]bool // blocks with a part that cannot be parsed alone
	prose    *suffixarray.Index
	scanned  int                 // bytes searched so far for texts that cases look for
	held     map[int32][]decoded // decoded cases of units that are not decoded again when they run
	keeps    *int64              // number of cases in held; nil: none
	chained  map[slot]*chain     // cases that pass values on
	chains   map[slot]*chain     // chains to run, by their first case
	repeats  map[slot]int        // cases whose id is used above: 2 for the second one
	uses     map[idKey]int       // how often such an id was used again
}

// slot locates one case to run in the document.
type slot struct{ unit, item int32 }

// state is what a campaign knows between rounds: the verdicts so far.
type state struct {
	verdicts []campaign.Verdict
	faults   []campaign.Block // failing lines, of the first cases that fail
	unread   []string         // page blocks that did not run, with the reason
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Planned returns the number of cases to run.
func (c *Campaign) Planned() int64 { return int64(len(c.slots)) }

// Probe implements [campaign.Campaign]. There is nothing to probe: what a case needs is opened when
// the first such case runs.
func (c *Campaign) Probe(context.Context) (campaign.Facts, error) { return campaign.Facts{}, nil }

// CaseName implements [campaign.Namer]: the id of a case, or its place if it has no id.
func (c *Campaign) CaseName(_ *state, at campaign.Case) string {
	if at.Index < 0 || at.Index >= int64(len(c.slots)) {
		return ""
	}
	cs := c.Case(at.Index)
	if cs.ID == "" {
		return fmt.Sprintf("%s:%d", c.name, cs.From)
	}
	return cs.ID
}

// Start implements [campaign.Campaign].
func (c *Campaign) Start(campaign.Facts) *state { return &state{} }

// Round implements [campaign.Campaign]: all cases at once.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	return campaign.Round{Len: int64(len(c.slots))}, len(s.verdicts) == 0
}

// Fold implements [campaign.Campaign].
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := &state{verdicts: slices.Clone(s.verdicts), faults: slices.Clip(s.faults), unread: slices.Clip(s.unread)}
	for at, o := range results {
		next.missed(c, at, &o)
		next.verdicts = append(next.verdicts, o.Verdict)
		if b, ok := fault(at, &o); ok && len(next.faults) < shownFaults {
			next.faults = append(next.faults, b)
		}
	}
	return next
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(cache *campaign.Cache) campaign.Session[*state] { return c.open(cache) }

func (c *Campaign) open(cache *campaign.Cache) *session {
	return &session{c: c, cache: cache, own: sync.OnceValue(c.doc.ownText)}
}

// Case returns case i of the campaign as it is written; a case without an id gets one made from its
// place.
func (c *Campaign) Case(i int64) *Case {
	s := c.slots[i]
	if ch := c.chains[s]; ch != nil {
		return ch.c
	}
	if held := c.held[s.unit]; held != nil {
		return held[s.item].c
	}
	return c.doc.decodeUnit(int(s.unit), c.set)[s.item].c
}

// Path returns the document as the user named it.
func (c *Campaign) Path() string { return c.doc.path }

// Name returns the document's name in reports.
func (c *Campaign) Name() string { return c.name }

// pathExists answers path_exists. An empty path is the current folder, as in Python.
func pathExists(p string) bool {
	p = cmp.Or(p, ".")
	_, err := os.Stat(p)
	return err == nil
}

var (
	_ campaign.Campaign[*state]   = (*Campaign)(nil)
	_ campaign.WithTraits         = (*Campaign)(nil)
	_ campaign.Namer[*state]      = (*Campaign)(nil)
	_ campaign.Describer[*state]  = (*Campaign)(nil)
	_ campaign.Summarizer[*state] = (*Campaign)(nil)
)

var errNoTarget = errors.New("this program was built without it")

// missed records the blocks of a page that did not run.
func (s *state) missed(c *Campaign, at campaign.Case, o *campaign.Outcome) {
	// Few outcomes skip a block, and decoding a case again costs more than this search.
	if !bytes.Contains(o.Data, []byte(`"skipped"`)) || o.Verdict == campaign.VerdictError || c.Case(at.Index).page == nil {
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

// skipReason is why a case or a page did not run.
func (c *Campaign) skipReason(at campaign.Case, _ *campaign.Outcome) string {
	if cs := c.Case(at.Index); cs.page == nil {
		return cs.skip
	}
	return "no block of the page could be run"
}

// unrepeatable is why a case must not run again; "" if it may.
func (c *Campaign) unrepeatable(at campaign.Case) string {
	if at.Index < 0 || at.Index >= int64(len(c.slots)) {
		return ""
	}
	return c.Case(at.Index).unrepeatable
}
