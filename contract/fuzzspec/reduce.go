package fuzzspec

import (
	"context"
	"math/big"
	"path"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/shrink"
)

// Reduce implements [campaign.Reducer].
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) []byte {
	small, _ := shrink.Bytes(ctx, payload, test)
	return small
}

// OneMinimal implements [campaign.OneMinimal].
func (*Campaign) OneMinimal(payload []byte) string {
	if len(payload) > 1<<20 {
		return "" // see [shrink.Bytes]
	}
	return "byte"
}

// Promote implements [campaign.Promoter]: a document whose seed is the
// reproducer and whose one case leaves it as it is.
func (c *Campaign) Promote(_ context.Context, f campaign.Finding, payload []byte, _ string) ([]campaign.File, error) {
	promoted := *c.spec
	promoted.CampaignID = f.ID
	about := "Regression test for " + f.ID + ": " + f.Title + ". Its one case is the reproducer as it is."
	promoted.Description = &about
	seed := "reproducer" + path.Ext(c.inputName())
	sum := digest(payload)
	promoted.Seed.Path, promoted.Seed.SHA256 = "./"+seed, &sum
	promoted.Target.WorkRootBase = "./work"
	promoted.Mutations = Mutations{Cases: big.NewInt(1), MaxOpsPerCase: big.NewInt(0)}
	return []campaign.File{
		{Name: "fuzzspec.json", Data: promoted.Snapshot()},
		{Name: seed, Data: payload},
	}, nil
}
