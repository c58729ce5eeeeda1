package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/score"
)

// Comparison is how the findings of run B differ from those of run A. Each list is
// ordered by severity, worst first, then by id.
type Comparison struct {
	A            string             `json:"a"` // names of the runs; A is the older one
	B            string             `json:"b"`
	Swapped      bool               `json:"swapped,omitempty"` // the newer run was named first
	New          []campaign.Finding `json:"new"`               // only in B
	Fixed        []campaign.Finding `json:"fixed"`             // only in A, and B ran the cases that showed them in A
	StillFailing []StillFailing     `json:"still_failing"`     // in both
	NotRun       []campaign.Finding `json:"not_run"`           // only in A, but not known to be fixed: B did not run those cases, could not, or did not exercise them
	Known        []KnownFinding     `json:"known,omitempty"`   // in B and accepted by their owner: neither new nor still failing
	SameDigest   bool               `json:"same_digest"`       // every case has the same result
	// Scores are those of campaigns that both runs have, changed or not; Cells are the
	// cells of their matrices that differ.
	Scores []ScoreChange `json:"scores"`
	Cells  []CellChange  `json:"cells"`
	Tested []Tested      `json:"tested,omitempty"` // campaigns of which both runs have cells, changed or not
	// Differences say what differs besides the target: campaigns that one run lacks or
	// that have other cases, and runs that did not complete.
	Differences []string `json:"differences"`
}

// KnownFinding is a finding that a file beside its document accepts.
type KnownFinding struct {
	Finding campaign.Finding `json:"finding"`
	Owner   string           `json:"owner"`
	Note    string           `json:"note"`
	Until   string           `json:"until"`
	Before  *int64           `json:"cases_before,omitempty"` // failing cases in A; nil: A does not have it
}

// Accept moves accepted findings out of New and StillFailing; known returns the
// acceptance of a finding.
func (c *Comparison) Accept(known func(id string) (k KnownFinding, ok bool)) {
	take := func(f *campaign.Finding, before *int64) bool {
		k, ok := known(f.ID)
		if ok {
			k.Finding, k.Before = *f, before
			c.Known = append(c.Known, k)
		}
		return ok
	}
	c.New = slices.DeleteFunc(c.New, func(f campaign.Finding) bool { return take(&f, nil) })
	c.StillFailing = slices.DeleteFunc(c.StillFailing, func(x StillFailing) bool { return take(&x.B, &x.A.Cases) })
}

// StillFailing is a finding that both runs have.
type StillFailing struct {
	A campaign.Finding `json:"a"`
	B campaign.Finding `json:"b"`
}

// Compare compares two runs, named as for [Store.Record], by the ids of their findings.
// It reports what changed from the older run to the newer one, whichever is named first.
func (s *Store) Compare(a, b string) (Comparison, error) { return s.compareIn(a, b, s.record) }

func (s *Store) compareIn(a, b string, read func(id string) (campaign.Record, error)) (c Comparison, err error) {
	if a, err = s.resolveRun(a); err != nil {
		return c, err
	}
	if b, err = s.resolveRun(b); err != nil {
		return c, err
	}
	ids, err := s.runNames()
	if err != nil {
		return c, diag.Environment("list the runs of the store %s: %w", s.dir, err)
	}
	swapped := slices.Index(ids, a) < slices.Index(ids, b) // the list is newest first
	if swapped {
		a, b = b, a
	}
	ra, err := read(a)
	if err != nil {
		return c, err
	}
	rb, err := read(b)
	if err != nil {
		return c, err
	}
	c = s.compare(ra, rb)
	c.Swapped = swapped
	return c, nil
}

// CompareBriefly is Compare with only what lists of findings show: each finding has the
// fields of its [FindingSummary] and no others. Its time and memory are those of two
// lists, whatever evidence the runs hold.
func (s *Store) CompareBriefly(a, b string) (Comparison, error) { return s.compareIn(a, b, s.Brief) }

// Brief returns the record of a run, named in full, with what lists show of its findings.
func (s *Store) Brief(id string) (campaign.Record, error) {
	rec, err := s.Outline(id)
	if err != nil {
		return rec, err
	}
	list, err := s.Findings(FindingQuery{RunID: id})
	for _, f := range list.Findings {
		rec.Findings = append(rec.Findings, f.Finding())
	}
	return rec, err
}

// compare compares two records. The store adds what their journals say; a nil store adds
// nothing.
func (s *Store) compare(a, b campaign.Record) Comparison {
	both := Counterparts(a, b)
	names := renamed(both)
	c := Comparison{
		Scores: scores(both),
		A:      a.RunID, B: b.RunID, SameDigest: a.Digest == b.Digest && a.Digest != "",
		New: []campaign.Finding{}, Fixed: []campaign.Finding{}, StillFailing: []StillFailing{}, NotRun: []campaign.Finding{},
		Differences: differences(a, b, names),
	}
	var guided map[campaignKey]pairs
	c.Cells, c.Tested, guided = cells(both, s.pair(a.RunID, b.RunID))
	for _, x := range a.Campaigns {
		if sent, is := guided[campaignKey{x.Contract, x.Name}]; is && score.McNemar(sent.onlyA, sent.onlyB) >= significant {
			c.Differences = append(c.Differences, sent.few(x.Name))
		}
	}
	inA, inB := byIdentity(a, names), byIdentity(b, names)
	same := sameFindings(inA, inB, names)
	inBoth := make(map[string]bool, len(same))
	for _, id := range same {
		inBoth[id] = true
	}
	for id, f := range inB {
		if !inBoth[id] {
			c.New = append(c.New, f)
		}
	}
	var gone []campaign.Finding
	for id, f := range inA {
		if to, still := same[id]; still {
			c.StillFailing = append(c.StillFailing, StillFailing{f, inB[to]})
		} else {
			gone = append(gone, f)
		}
	}
	ran := s.ran(both, a.RunID, b.RunID, gone)
	for _, f := range gone {
		if b.Complete && ran(f) {
			c.Fixed = append(c.Fixed, f)
		} else {
			c.NotRun = append(c.NotRun, f)
		}
	}
	slices.SortFunc(c.New, worstFirst)
	slices.SortFunc(c.Fixed, worstFirst)
	slices.SortFunc(c.NotRun, worstFirst)
	slices.SortFunc(c.StillFailing, func(x, y StillFailing) int { return worstFirst(x.B, y.B) })
	return c
}

type campaignKey struct{ contract, name string }

func (k campaignKey) String() string { return k.contract + " " + k.name }

// nameIn returns the name that a finding's campaign has in run B.
func nameIn(names map[campaignKey]campaignKey, f campaign.Finding) campaignKey {
	k := campaignKey{f.Contract, f.Campaign}
	if to, ok := names[k]; ok {
		return to
	}
	return k
}

// byIdentity maps findings by their ids or, if their campaign has another name in run B,
// on which ids depend, by their fingerprints.
func byIdentity(r campaign.Record, names map[campaignKey]campaignKey) map[string]campaign.Finding {
	other := make(map[campaignKey]bool)
	for _, to := range names {
		other[to] = true
	}
	m := make(map[string]campaign.Finding, len(r.Findings))
	for _, f := range r.Findings {
		id := f.ID
		if to := nameIn(names, f); other[to] && f.Fingerprint != "" {
			id = to.String() + " " + f.Fingerprint
		}
		m[id] = f
	}
	return m
}

// sameFindings maps each finding of A to the same finding of B. A finding whose cause
// ends in a line of a source file changes its id when lines are added above, and another
// one may then have its old id, so what failed there, and how, is compared first.
func sameFindings(inA, inB map[string]campaign.Finding, names map[campaignKey]campaignKey) map[string]string {
	same, taken, at := make(map[string]string), make(map[string]bool), make(map[string][]string)
	pair := func(a, b string) { same[a], taken[b] = b, true }
	for _, id := range slices.Sorted(maps.Keys(inB)) {
		f := inB[id]
		if place := placeOf(campaignKey{f.Contract, f.Campaign}, f); place != "" {
			at[place] = append(at[place], id)
		}
	}
	lines := func(id string) string { return placeOf(nameIn(names, inA[id]), inA[id]) }
	ids := slices.Sorted(maps.Keys(inA))
	for _, id := range ids {
		if _, both := inB[id]; both && (lines(id) == "" || slices.Contains(at[lines(id)], id)) {
			pair(id, id)
		}
	}
	for _, id := range ids {
		if _, done := same[id]; !done {
			if i := slices.IndexFunc(at[lines(id)], func(b string) bool { return !taken[b] }); i >= 0 {
				pair(id, at[lines(id)][i])
			}
		}
	}
	for _, id := range ids {
		if _, done := same[id]; !done && inB[id].ID != "" && !taken[id] {
			pair(id, id)
		}
	}
	return same
}

// Place identifies what failed in a finding, and how, whatever the number of program
// lines above it; "" if the id does so already.
func Place(f *campaign.Finding) string {
	place := placeOf(campaignKey{f.Contract, f.Campaign}, *f)
	if place == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(place))
	return "P-" + hex.EncodeToString(sum[:5])
}

// placeOf identifies what failed, and how, without line numbers; "" if the finding has
// none.
func placeOf(k campaignKey, f campaign.Finding) string {
	lines := false
	place := []string{k.String(), f.Kind, digits().ReplaceAllString(f.Title, "0")}
	for _, c := range f.Cause {
		file := lineOfFile().ReplaceAllString(c, "$1")
		lines = lines || file != c
		place = append(place, file)
	}
	if !lines {
		return ""
	}
	return strings.Join(place, "\n")
}

var (
	digits     = lazy.Pattern(`\d+`)
	lineOfFile = lazy.Pattern(`(\.\w+):\d+$`)
)

func worstFirst(x, y campaign.Finding) int {
	return cmp.Or(cmp.Compare(y.Severity, x.Severity), cmp.Compare(x.ID, y.ID))
}

// differences says why the runs may differ although the target does not.
func differences(a, b campaign.Record, names map[campaignKey]campaignKey) []string {
	list := []string{}
	// Several campaigns of a run may have one name; they are distinguished by order.
	identities := func(r campaign.Record) (map[campaignKey][]string, []campaignKey) {
		m := make(map[campaignKey][]string)
		var order []campaignKey
		for _, c := range r.Campaigns {
			k := campaignKey{c.Contract, c.Name}
			if len(m[k]) == 0 {
				order = append(order, k)
			}
			m[k] = append(m[k], c.Identity)
		}
		return m, order
	}
	inA, orderA := identities(a)
	inB, orderB := identities(b)
	other := make(map[campaignKey]bool)
	for _, k := range orderA {
		if to, ok := names[k]; ok {
			other[to] = true
			list = append(list, fmt.Sprintf("campaign %v of %s is compared with %v of %s", k, a.RunID, to, b.RunID))
			continue
		}
		switch digests, there := inB[k]; {
		case !there:
			list = append(list, fmt.Sprintf("campaign %v is in %s only", k, a.RunID))
		case !slices.Equal(inA[k], digests):
			list = append(list, fmt.Sprintf("campaign %v has other cases: its document, seeds, system or options were changed", k))
		}
	}
	for _, k := range orderB {
		if len(inA[k]) == 0 && !other[k] {
			list = append(list, fmt.Sprintf("campaign %v is in %s only", k, b.RunID))
		}
	}
	why := func(r campaign.Record) string { return cmp.Or(r.Stopped, "no reason kept") }
	switch {
	case !a.Complete && !b.Complete && why(a) == why(b):
		list = append(list, fmt.Sprintf("neither run completed (%s)", why(a)))
	case !a.Complete && !b.Complete:
		list = append(list, fmt.Sprintf("neither run completed (%s: %s; %s: %s)", a.RunID, why(a), b.RunID, why(b)))
	case !a.Complete:
		list = append(list, fmt.Sprintf("run %s did not complete (%s)", a.RunID, why(a)))
	case !b.Complete:
		list = append(list, fmt.Sprintf("run %s did not complete (%s)", b.RunID, why(b)))
	}
	return list
}
