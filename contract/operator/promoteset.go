package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// verbatimDocument is a campaign of prompts that are sent unchanged.
type verbatimDocument struct {
	Version     string   `json:"schema_version"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Seeds       []string `json:"seeds"`
	Verbatim    bool     `json:"verbatim"`
	System      any      `json:"system"`
	Judges      []any    `json:"judges"`
}

// promoteVerbatim makes a document of prompts that got past a system, as they were sent. It needs
// neither the operators nor what was learned. It returns no files if such a document cannot be
// made.
func (c *Campaign) promoteVerbatim(ctx context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	if c.plan == nil || !judgedKind(f.Kind) {
		return nil, nil
	}
	var p promoted
	if err := c.promoteSystem(&p, &f, dir); err != nil {
		return nil, err
	}
	var seeds bytes.Buffer
	enc := json.NewEncoder(&seeds)
	enc.SetEscapeHTML(false)
	texts, ids := map[string]bool{}, map[string]int{}
	for _, payload := range payloads {
		child, err := c.remade(ctx, payload)
		if err != nil {
			return nil, err
		}
		if texts[child.Text] || child.Status != textop.OK || textop.Normalize(child.Text, textop.Constraints{}) != child.Text {
			continue
		}
		texts[child.Text] = true
		s := promotedSeed{ID: child.ID, Text: child.Text, Bucket: string(child.Seed.Bucket), Surface: string(child.Seed.Surface)}
		if ids[child.ID]++; ids[child.ID] > 1 {
			s.ID = fmt.Sprintf("%s-%d", child.ID, ids[child.ID])
		}
		if err := enc.Encode(s); err != nil {
			return nil, fmt.Errorf("writing the prompts of %s: %w", f.ID, err)
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	var doc bytes.Buffer
	enc = json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(verbatimDocument{
		Version: SchemaVersion, Name: f.ID, Seeds: []string{promotedSeeds}, Verbatim: true, System: p.System, Judges: p.Judges,
		Description: f.About("The prompts are as they were sent."),
	}); err != nil {
		return nil, fmt.Errorf("writing the document of %s: %w", f.ID, err)
	}
	return []campaign.File{{Name: "operators.json", Data: doc.Bytes()}, {Name: promotedSeeds, Data: seeds.Bytes()}}, nil
}

// judgedKind reports whether a finding is about the system, not about an operator.
func judgedKind(kind string) bool {
	switch kind {
	case kindVerdict, "crashed", "hung", "flooded":
		return true
	}
	return false
}

// errOnce stops making children.
var errOnce = errors.New("one child is enough")

// remade is the child of an explicit case.
func (c *Campaign) remade(ctx context.Context, payload []byte) (out mutator.Child, err error) {
	m, job, err := c.decodeRecipe(payload)
	if err != nil {
		return out, err
	}
	host, err := c.plugins.Open(ctx)
	if err != nil {
		return out, err
	}
	if host != nil {
		defer host.Close()
	}
	lane := c.base.NewLane(host)
	lane.Use(m)
	err = lane.Make(ctx, []mutator.Job{job}, func(child *mutator.Child) error {
		keepTurns(payload, child)
		out = *child
		return errOnce
	})
	if errors.Is(err, errOnce) {
		err = nil
	}
	return out, err
}
