package run_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// advised is a counter that gives advice.
type advised struct {
	*counter
	name, advice string
}

func (a advised) Identity() campaign.Identity {
	return campaign.Identity{Contract: "counter", Name: a.name, Digest: "d"}
}
func (a advised) Summarize(sum) campaign.Summary { return campaign.Summary{Advice: []string{a.advice}} }

// Advice that several campaigns give is one hint. Each hint names its campaigns.
func TestHintsNameCampaigns(t *testing.T) {
	f := newFixture(t)
	job := run.Job{Store: f.store}
	var ids []campaign.Identity
	for i := range 8 {
		c := advised{&counter{rounds: 1, perRound: 2}, fmt.Sprint("doc", i+1), "try deep"}
		if i == 1 {
			c.advice = "try text"
		}
		ids = append(ids, c.Identity())
		job.Campaigns, job.Sources = append(job.Campaigns, campaign.Erase[sum](c)), append(job.Sources, c.name)
	}
	var err error
	if job.Writer, err = f.store.Begin(store.Manifest{Identities: ids}); err != nil {
		t.Fatal(err)
	}
	rec, err := run.Run(t.Context(), job, run.Options{Workers: 2})
	if cerr := job.Writer.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if want := []string{"doc1, doc3, doc4, doc5, doc6 and 2 more: try deep", "doc2: try text"}; !slices.Equal(rec.Hints, want) {
		t.Errorf("%q, want %q", rec.Hints, want)
	}
}
