package operator

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// maxPartners bounds the texts that operators may cross a seed with.
const maxPartners = 1000

// partners are the seeds that others may be crossed with, by a hash of their
// ids: the order of the seeds changes nothing.
func partners(seeds []mutator.Seed) []mutator.Seed {
	type ranked struct {
		hash uint64
		at   int
	}
	list := make([]ranked, len(seeds))
	for i := range seeds {
		list[i] = ranked{mutator.FingerprintOf(seeds[i].ID).Exact, i}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(seeds[a.at].ID, seeds[b.at].ID))
	})
	chosen := make([]mutator.Seed, min(len(list), maxPartners))
	for i := range chosen {
		chosen[i] = seeds[list[i].at]
	}
	return chosen
}

// PartnerTexts are the texts of the seeds that others may be crossed with.
func PartnerTexts(seeds []mutator.Seed) []string {
	var texts []string
	for _, s := range partners(seeds) {
		texts = append(texts, s.Text)
	}
	return texts
}
