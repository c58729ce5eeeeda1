package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// promoted is a document of one child, as it is written.
type promoted struct {
	Version     string                        `json:"schema_version"`
	Name        string                        `json:"name"`
	Description string                        `json:"description"`
	Seeds       []string                      `json:"seeds"`
	Testcases   []string                      `json:"testcases"`
	Operators   []string                      `json:"operators,omitempty"`
	Builtins    bool                          `json:"builtins"`
	Select      promotedSelect                `json:"select"`
	Steps       int                           `json:"steps"`
	Redraws     int                           `json:"redraws"`
	Strength    [2]int                        `json:"strength"`
	SeedBase    json.Number                   `json:"seed_base"`
	Rule        textop.Rule                   `json:"rng_rule"`
	Policy      mutator.Policy                `json:"policy"`
	Weights     map[string]map[string]float64 `json:"weights,omitempty"`
	Constraints any                           `json:"constraints"`
	Oracle      *promotedOracle               `json:"oracle,omitempty"`
}

type promotedSelect struct {
	Buckets []textop.Bucket `json:"buckets,omitempty"`
	Surface textop.Surface  `json:"surface,omitempty"`
	RiskMax textop.Risk     `json:"risk_max,omitempty"`
	Include []string        `json:"include,omitempty"`
	Exclude []string        `json:"exclude,omitempty"`
}

type promotedOracle struct {
	Command  []string `json:"command"`
	TimeoutS float64  `json:"timeout_s"`
}

// promotedSeed is a line of its seeds.
type promotedSeed struct {
	ID          string          `json:"id"`
	Text        string          `json:"text"`
	Bucket      string          `json:"bucket_id,omitempty"`
	Surface     string          `json:"surface,omitempty"`
	Strength    int             `json:"strength,omitempty"`
	Constraints json.RawMessage `json:"constraints,omitempty"`
}

const promotedSeeds = "seeds.jsonl"

// Promote implements [campaign.Promoter]: a document of the one child that
// shows the finding, made of the smallest seed. The operators stay where they
// are, so that the test passes once they are mended. What a learning policy
// chose by becomes weights.
func (c *Campaign) Promote(f campaign.Finding, payload []byte, _ string) ([]campaign.File, error) {
	var r recipe
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, fmt.Errorf("reading the reproducer of %s: %w", f.ID, err)
	}
	s := &c.spec
	p := promoted{
		Version: SchemaVersion, Name: f.ID, Seeds: []string{promotedSeeds}, Testcases: []string{r.Testcase},
		Description: "Regression test for " + f.ID + ": " + f.Title + ". Its one child is the one that shows it.",
		Builtins:    s.Builtins, Steps: s.Steps, Redraws: s.Redraws, Strength: [2]int{s.Strength.Min, s.Strength.Max},
		SeedBase: json.Number(s.SeedBase.String()), Rule: s.Rule, Policy: s.Policy,
		Select:      promotedSelect{s.Buckets, s.Surface, s.RiskMax, s.Include, s.Exclude},
		Constraints: (&textop.Context{Constraints: s.Constraints}).Values("")["constraints"],
	}
	for _, folder := range c.folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", folder, err)
		}
		p.Operators = append(p.Operators, abs)
	}
	weights := s.Weights
	if r.Odds != nil {
		bucket, _ := textop.ParseBucket(r.Seed.Bucket) // was read before
		p.Policy, weights = mutator.Weighted, mutator.Weights{bucket: r.Odds}
	}
	if p.Policy == mutator.Weighted {
		p.Weights = make(map[string]map[string]float64, len(weights))
		for b, factors := range weights {
			key := string(b)
			if key == "" {
				key = "*"
			}
			p.Weights[key] = factors
		}
	}
	if s.Oracle != nil {
		p.Oracle = &promotedOracle{append([]string{c.oracle}, s.Oracle.Command[1:]...), s.Oracle.TimeoutS}
	}
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("writing the document of %s: %w", f.ID, err)
	}
	seeds, err := c.promoteSeeds(&r)
	if err != nil {
		return nil, fmt.Errorf("writing the seeds of %s: %w", f.ID, err)
	}
	return []campaign.File{{Name: "operators.json", Data: doc.Bytes()}, {Name: promotedSeeds, Data: seeds}}, nil
}

// promoteSeeds is the reproducer's seed. Where an operator may have crossed it
// with another seed, those are there as well.
func (c *Campaign) promoteSeeds(r *recipe) ([]byte, error) {
	list := []promotedSeed{{r.Seed.ID, r.Seed.Text, r.Seed.Bucket, r.Seed.Surface, r.Seed.Strength, r.Seed.Constraints}}
	if c.crosses(r) {
		others := partners(c.seeds)
		at := slices.IndexFunc(others, func(s mutator.Seed) bool { return s.ID == r.Seed.ID })
		own := list[0]
		list = list[:0]
		for i, s := range others {
			if i == at {
				list = append(list, own)
				continue
			}
			list = append(list, promotedSeed{ID: s.ID, Text: s.Text, Bucket: s.BucketTag, Surface: string(s.Surface)})
		}
		if at < 0 {
			list = append(list, own)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, s := range list {
		if err := enc.Encode(s); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// crosses reports whether an operator may have crossed the text with another
// seed's.
func (c *Campaign) crosses(r *recipe) bool {
	f := c.base.Filter()
	f.Bucket, _ = textop.ParseBucket(r.Seed.Bucket) // both were read before
	f.Surface, _ = textop.ParseSurface(r.Seed.Surface)
	f.Controls = true
	registry := c.base.Registry()
	return slices.ContainsFunc(registry.Select(f), func(i int) bool { return registry.Entries()[i].Crosses() })
}
