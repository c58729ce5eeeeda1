package operator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// promoted is a document of one child, in its written form.
type promoted struct {
	Version     string                        `json:"schema_version"`
	Name        string                        `json:"name"`
	Description string                        `json:"description"`
	Seeds       []string                      `json:"seeds"`
	Testcases   []string                      `json:"testcases"`
	Operators   []string                      `json:"operators,omitempty"`
	Builtins    bool                          `json:"builtins"`
	Select      promotedSelect                `json:"select"`
	Chain       []Step                        `json:"chain,omitempty"`
	Steps       int                           `json:"steps,omitempty"`
	Redraws     *int                          `json:"redraws,omitempty"`
	Strength    [2]int                        `json:"strength"`
	SeedBase    json.Number                   `json:"seed_base"`
	Rule        textop.Rule                   `json:"rng_rule"`
	Policy      mutator.Policy                `json:"policy,omitempty"`
	Weights     map[string]map[string]float64 `json:"weights,omitempty"`
	Constraints any                           `json:"constraints"`
	Oracle      *promotedOracle               `json:"oracle,omitempty"`
	System      any                           `json:"system,omitempty"`
	Judges      []any                         `json:"judges,omitempty"`
}

type promotedSelect struct {
	Buckets []textop.Bucket `json:"buckets,omitempty"`
	Surface textop.Surface  `json:"surface,omitempty"`
	RiskMax textop.Risk     `json:"risk_max,omitempty"`
	Include []string        `json:"include,omitempty"`
	Exclude []string        `json:"exclude,omitempty"`
}

type promotedOracle struct {
	Command   []string `json:"command"`
	Folder    string   `json:"folder"`
	TimeoutS  float64  `json:"timeout_s"`
	Retries   int      `json:"retries"`
	OnTimeout string   `json:"on_timeout,omitempty"`
}

// promotedSeed is a line of its seed file.
type promotedSeed struct {
	ID          string          `json:"id"`
	Text        string          `json:"text"`
	Bucket      string          `json:"bucket_id,omitempty"`
	Surface     string          `json:"surface,omitempty"`
	Strength    int             `json:"strength,omitempty"`
	Constraints json.RawMessage `json:"constraints,omitempty"`
}

const promotedSeeds = "seeds.jsonl"

// Promote implements [campaign.Promoter]: a document of the one child that shows the finding, made
// from the smallest seed. It refers to the operators in place, so that the test passes once they
// are fixed. What a learning policy learned becomes weights.
func (c *Campaign) Promote(ctx context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	if files, err := c.promoteVerbatim(ctx, f, payloads, dir); err != nil || files != nil {
		return files, err
	}
	var r recipe
	if err := json.Unmarshal(payloads[0], &r); err != nil {
		return nil, fmt.Errorf("reading the reproducer of %s: %w", f.ID, err)
	}
	if c.verdicts != nil && f.Kind == kindVerdict {
		return nil, diag.WithHint(diag.Refused("%s rests on a verdict from a file: it would always show again, whatever the system does", f.ID),
			"name a program that judges children in oracle, and promote what it finds")
	}
	s := &c.spec
	p := promoted{
		Version: SchemaVersion, Name: f.ID, Seeds: []string{promotedSeeds}, Testcases: []string{r.Testcase},
		Description: f.About("Its one child is the one that shows it."),
		Builtins:    s.Builtins, Chain: s.Chain, Strength: [2]int{s.Strength.Min, s.Strength.Max},
		SeedBase: json.Number(s.SeedBase.String()), Rule: s.Rule,
		Select:      promotedSelect{s.Buckets, s.Surface, s.RiskMax, s.Include, s.Exclude},
		Constraints: (&textop.Context{Constraints: s.Constraints}).Values("")["constraints"],
	}
	for _, folder := range c.folders {
		path, err := seenFrom(dir, folder)
		if err != nil {
			return nil, err
		}
		p.Operators = append(p.Operators, path)
	}
	weights := s.Weights
	if s.Chain == nil {
		p.Steps, p.Redraws, p.Policy = s.Steps, &s.Redraws, s.Policy
	}
	if r.Chain != nil {
		p.Chain, p.Steps, p.Redraws, p.Policy = r.Chain, 0, nil, ""
	} else if chain, _ := c.chainOf(payloads[0]); r.Odds != nil && chain != nil {
		p.Chain, p.Steps, p.Redraws, p.Policy = chain, 0, nil, ""
	} else if r.Odds != nil {
		bucket, _ := textop.ParseBucket(r.Seed.Bucket) // already parsed once
		p.Policy, weights = mutator.Weighted, mutator.Weights{bucket: r.Odds}
	}
	if p.Policy == mutator.Weighted {
		p.Weights = make(map[string]map[string]float64, len(weights))
		for b, factors := range weights {
			key := string(b)
			key = cmp.Or(key, "*")
			p.Weights[key] = factors
		}
	}
	about := judgedKind(f.Kind) // otherwise it is about the operators
	if o := s.Oracle; o != nil && about {
		p.Oracle = &promotedOracle{Command: slices.Clone(o.Command), TimeoutS: o.TimeoutS, Retries: o.Retries}
		var err error
		if p.Oracle.Folder, err = seenFrom(dir, c.folder); err != nil {
			return nil, err
		}
		if found := slices.Contains(filepath.SplitList(oracleFolders), filepath.Dir(c.oracle)); !found && !filepath.IsAbs(o.Command[0]) {
			if p.Oracle.Command[0], err = seenFrom(dir, c.oracle); err != nil {
				return nil, err
			}
		}
		if o.HangFails {
			p.Oracle.OnTimeout = "fail"
		}
	}
	if about {
		if err := c.promoteSystem(&p, &f, dir); err != nil {
			return nil, err
		}
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

// promotedJudge is a judge in its written form.
type promotedJudge struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Value    string   `json:"value,omitempty"`
	Values   []string `json:"values,omitempty"`
	Pattern  string   `json:"pattern,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
	Exact    bool     `json:"case_sensitive,omitempty"`
	Negate   bool     `json:"negate,omitempty"`
}

// judgesOf returns the judges of a finding: the one that failed, so that the test passes once that
// is fixed; or, for a call without a reply, that there is one at all.
func (c *Campaign) judgesOf(f *campaign.Finding) []Judge {
	own := slices.IndexFunc(c.spec.Judges, func(j Judge) bool {
		return f.Kind == kindVerdict && slices.Contains(f.Cause[:min(2, len(f.Cause))], j.ID)
	})
	switch {
	case own >= 0:
		return c.spec.Judges[own : own+1]
	case sut.End(f.Kind).Failed():
		return []Judge{{ID: "completes", Demand: judge.Demand{Type: "completes"}}}
	}
	return c.spec.Judges
}

// promoteSystem refers to the system in place, so that the test passes once it is fixed. A system
// within the document would lose the folder that its paths are relative to.
func (c *Campaign) promoteSystem(p *promoted, f *campaign.Finding, dir string) error {
	if c.plan == nil {
		return nil
	}
	if c.inDocument && !movable(c.spec.Inline) {
		return diag.WithHint(diag.Refused("the system is part of the document, and its paths start at the document's folder"),
			"put the system into a separate file, and name that")
	}
	var err error
	if c.inDocument {
		p.System = json.RawMessage(c.spec.Inline)
	} else if p.System, err = seenFrom(dir, c.systemFile); err != nil {
		return err
	}
	for _, j := range c.judgesOf(f) {
		if j.node != nil {
			tree := j.node.JSON()
			var all map[string]any
			if err := json.Unmarshal([]byte(jsontree.Compact.Format(&tree)), &all); err != nil {
				return fmt.Errorf("writing the judge %s: %w", j.ID, err)
			}
			if j.Model != "" {
				if all["system"], err = seenFrom(dir, besideDocument(c.document, j.Model)); err != nil {
					return err
				}
			}
			p.Judges = append(p.Judges, all)
			continue
		}
		p.Judges = append(p.Judges, promotedJudge{j.Type, j.ID, j.Value, j.Values, j.Pattern, j.Patterns, j.Exact, j.Negate})
	}
	return nil
}

// seenFrom is the path of a file relative to a folder, so that both can be moved together, for
// example to another machine.
func seenFrom(dir, file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", file, err)
	}
	rel, err := filepath.Rel(dir, abs)
	if err != nil { // on another volume
		return abs, nil //nolint:nilerr // the absolute path serves
	}
	return filepath.ToSlash(rel), nil
}

// movable reports whether a system works from another folder: nothing in it looks like a relative
// path.
func movable(inline []byte) bool {
	var s struct {
		Command        []string
		Entry, OpenAPI string
	}
	return json.Unmarshal(inline, &s) == nil && s.Entry == "" && (s.OpenAPI == "" || strings.HasPrefix(s.OpenAPI, "/") || strings.HasPrefix(s.OpenAPI, "http")) &&
		!slices.ContainsFunc(s.Command, func(w string) bool { return !filepath.IsAbs(w) && strings.ContainsAny(w, "./") })
}

// chainOf returns the operators that made a child, including those that skipped, and its strength,
// so that a document needs nothing that was learned; nil if another seed is involved, or if the
// child cannot be made here.
func (c *Campaign) chainOf(payload []byte) (chain []Step, strength int) {
	ctx := context.Background()
	m, job, err := c.decodeRecipe(payload)
	if err != nil {
		return nil, 0
	}
	host, err := c.plugins.Open(ctx)
	if err != nil {
		return nil, 0
	}
	if host != nil {
		defer host.Close()
	}
	lane := c.base.NewLane(host)
	lane.Use(m)
	err = lane.Make(ctx, []mutator.Job{job}, func(child *mutator.Child) error {
		strength = child.Strength
		for _, a := range child.Applied {
			e := &c.base.Registry().Entries()[a.Op]
			if chain = append(chain, Step{Op: e.Meta.ID}); e.Crosses() {
				chain = nil
				return errCrossed
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0
	}
	return chain, strength
}

// errCrossed ends the search for a chain.
var errCrossed = errors.New("an operator crosses two seeds")

// promoteSeeds writes the reproducer's seed. If an operator may have crossed it with other seeds,
// those are included.
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

// crosses reports whether an operator may have crossed the text with another seed's.
func (c *Campaign) crosses(r *recipe) bool {
	f := c.base.Filter()
	f.Bucket, _ = textop.ParseBucket(r.Seed.Bucket) // already parsed once
	f.Surface, _ = textop.ParseSurface(r.Seed.Surface)
	f.Controls = true
	registry := c.base.Registry()
	return slices.ContainsFunc(registry.Select(f), func(i int) bool { return registry.Entries()[i].Crosses() })
}
