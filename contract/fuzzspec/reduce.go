package fuzzspec

import (
	"context"
	"math/big"
	"path"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/shrink"
)

// Reduce implements [campaign.Reducer].
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	small, _ := shrink.Bytes(ctx, payload, test)
	if len(small) > 1<<20 {
		return small, "" // see [shrink.Bytes]
	}
	return small, "byte"
}

// Promote implements [campaign.Promoter]: a document whose seed is the
// reproducer and whose one case leaves it as it is.
func (c *Campaign) Promote(_ context.Context, f campaign.Finding, payloads [][]byte, _ string) ([]campaign.File, error) {
	promoted := *c.spec
	promoted.CampaignID = f.ID
	about := "Regression test for " + f.ID + ": " + f.Title + ". Its one case is the reproducer as it is."
	promoted.Description = &about
	seed := "reproducer" + path.Ext(c.inputName())
	sum := digest(payloads[0])
	promoted.Seed.Path, promoted.Seed.SHA256 = "./"+seed, &sum
	promoted.Target.WorkRootBase = "./work"
	promoted.Mutations = Mutations{Cases: big.NewInt(1), MaxOpsPerCase: big.NewInt(0)}
	return []campaign.File{
		{Name: "fuzzspec.json", Data: promoted.Snapshot()},
		{Name: seed, Data: payloads[0]},
	}, nil
}
