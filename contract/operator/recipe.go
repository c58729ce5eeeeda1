package operator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/shrink"
	"github.com/thresh-dev/thresh/engine/textop"
)

// recipe is a child as an explicit input: everything that makes it, except the operators themselves
// and the document.
type recipe struct {
	Seed struct {
		ID      string `json:"seed_id"`
		Text    string `json:"text"`
		Bucket  string `json:"bucket_id,omitempty"`
		Surface string `json:"surface,omitempty"`
		Goal    string `json:"goal,omitempty"` // the goal that an attacker wrote the text for
		// As in the seed's file; absent if it is not set there.
		Strength    int             `json:"strength,omitempty"`
		Constraints json.RawMessage `json:"constraints,omitempty"`
	} `json:"seed"`
	Testcase string             `json:"testcase_id"`
	Child    int64              `json:"child_index"`
	Odds     map[string]float64 `json:"odds,omitempty"` // of the operators, if learned
	GivenUp  []string           `json:"given_up,omitempty"`
	Chain    []Step             `json:"chain,omitempty"` // instead of drawn operators
	Turns    []int              `json:"turns,omitempty"` // numbers, from 1, of the messages to send; none: all
	Verbatim bool               `json:"verbatim,omitempty"`
	Only     string             `json:"only,omitempty"` // the only judge; "": all judge
}

func (c *Campaign) recipe(s *state, job mutator.Job) *recipe {
	r := &recipe{Testcase: job.ID, Child: job.Index, Odds: s.m.Odds(job.Seed.Bucket, job.Seed.Surface)}
	r.Seed.ID, r.Seed.Text, r.Seed.Goal = job.Seed.ID, job.Seed.Text, job.Seed.Goal
	r.Seed.Bucket, r.Seed.Surface = job.Seed.BucketTag, job.Seed.SurfaceTag
	if r.Seed.Bucket == "" {
		r.Seed.Bucket = string(job.Seed.Bucket)
	}
	if r.Seed.Surface == "" {
		r.Seed.Surface = string(job.Seed.Surface)
	}
	r.Seed.Strength = job.Seed.Strength.Min
	if job.Seed.Constraints != nil {
		values := (&textop.Context{Constraints: *job.Seed.Constraints}).Values("")
		r.Seed.Constraints, _ = json.Marshal(values["constraints"]) // it was read from JSON
	}
	if job.Chain != nil {
		r.Chain, r.Odds = c.steps(*job.Chain), nil
		r.Verbatim = len(r.Chain) == 0
	}
	for _, op := range s.m.GivenUp() {
		r.GivenUp = append(r.GivenUp, c.base.Registry().Entries()[op].Meta.ID)
	}
	return r
}

func (r *recipe) encode() []byte {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil { // cannot fail: numbers and text
		panic(err)
	}
	return append(b, '\n')
}

// decodeRecipe returns the job of a recipe, and the mutator for it.
func (c *Campaign) decodeRecipe(payload []byte) (*mutator.Mutator, mutator.Job, error) {
	var r recipe
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, mutator.Job{}, fmt.Errorf("reading a case: %w", err)
	}
	seed := &mutator.Seed{ID: r.Seed.ID, Goal: r.Seed.Goal, Text: textop.Normalize(r.Seed.Text, textop.Constraints{}), BucketTag: r.Seed.Bucket, SurfaceTag: r.Seed.Surface}
	if r.Seed.Bucket != "" {
		seed.Bucket, _ = textop.ParseBucket(r.Seed.Bucket) // already parsed once
	}
	if r.Seed.Surface != "" {
		seed.Surface, _ = textop.ParseSurface(r.Seed.Surface)
	}
	if r.Seed.Strength > 0 {
		seed.Strength = textop.Range{Min: r.Seed.Strength, Max: r.Seed.Strength}
	}
	if len(r.Seed.Constraints) > 0 {
		ctx, found := textop.ParseContext([]byte(`{"constraints":` + string(r.Seed.Constraints) + `}`))
		if err := found.Err(); err != nil {
			return nil, mutator.Job{}, fmt.Errorf("reading a case: %w", err)
		}
		seed.Constraints = &ctx.Constraints
	}
	m := c.base
	if r.Odds != nil {
		m = m.Fixed(seed.Bucket, r.Odds)
	}
	for _, id := range r.GivenUp {
		if op := m.Registry().Find(id); op >= 0 {
			m = m.GivingUp(op)
		}
	}
	job := mutator.Job{Seed: seed, ID: r.Testcase, Index: r.Child}
	if r.Verbatim {
		job.Chain = &[]mutator.Link{}
	}
	if r.Chain != nil {
		chain := links(c.base.Registry(), r.Chain)
		if len(chain) < len(r.Chain) {
			return nil, mutator.Job{}, errors.New("reading a case: an operator of its chain is gone")
		}
		job.Chain = &chain
	}
	return m, job, nil
}

// Reduce implements [campaign.Reducer]. For a child that got past a system, it minimizes the
// operators and their strengths, and the seed's text. For other children it shrinks only the text
// and keeps what chooses the operators. Verbatim prompts do not change: a promoted finding has
// been shrunk before, and its document should make as many calls as it has prompts.
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (smallest []byte, parts string) {
	if c.spec.Verbatim {
		return payload, ""
	}
	if c.spec.Budget != nil {
		all := test
		test = func(payload []byte) (bool, error) {
			if c.after.exceeds(c.spec.Budget, forShrink) {
				return false, errSpent
			}
			return all(payload)
		}
	}
	if c.plan == nil && c.spec.Policy != mutator.Search {
		return c.shorter(ctx, payload, test)
	}
	for {
		before := payload
		payload, parts = c.shorter(ctx, c.shrinkRecipe(ctx, payload, test), test)
		if bytes.Equal(before, payload) {
			return payload, parts
		}
	}
}

// errSpent ends a reduction; the smallest result so far counts.
var errSpent = errors.New("the budget is spent")

// shrinkRecipe shortens the chain of a case, lowers its strengths and drops messages, one step at a
// time, until no step succeeds.
func (c *Campaign) shrinkRecipe(ctx context.Context, payload []byte, test func([]byte) (bool, error)) []byte {
	var r recipe
	if json.Unmarshal(payload, &r) != nil {
		return payload
	}
	try := func(chain []Step, turns []int) bool {
		next := r
		if next.Turns = turns; !r.Verbatim {
			next.Chain, next.Odds = chain, nil
		}
		text := next.encode()
		if ok, err := test(text); !ok || err != nil {
			return false
		}
		r, payload = next, text
		return true
	}
	if r.Chain == nil && !r.Verbatim {
		chain, strength := c.chainOf(payload)
		for i := range chain {
			chain[i].Strength = strength
		}
		if len(chain) == 0 || !try(chain, r.Turns) {
			return payload
		}
	}
	for c.fewerOperators(&r, try) || c.lessStrength(&r, try) || c.fewerTurns(ctx, &payload, &r, try) {
	}
	return payload
}

func (*Campaign) fewerOperators(r *recipe, try func([]Step, []int) bool) bool {
	for at := range r.Chain {
		if len(r.Chain) > 1 && try(slices.Delete(slices.Clone(r.Chain), at, at+1), r.Turns) {
			return true
		}
	}
	return false
}

func (c *Campaign) lessStrength(r *recipe, try func([]Step, []int) bool) bool {
	for at := range r.Chain {
		least := 1
		if e := c.base.Registry().Find(r.Chain[at].Op); e >= 0 {
			least = max(least, c.base.Registry().Entries()[e].Meta.Strength.Min)
		}
		for strength := least; strength < r.Chain[at].Strength; strength++ {
			chain := slices.Clone(r.Chain)
			if chain[at].Strength = strength; try(chain, r.Turns) {
				return true
			}
		}
	}
	return false
}

// fewerTurns drops a message of the conversation.
func (c *Campaign) fewerTurns(ctx context.Context, payload *[]byte, r *recipe, try func([]Step, []int) bool) bool {
	if r.Seed.Surface != string(textop.Conversation) {
		return false
	}
	turns := r.Turns
	if turns == nil {
		child, err := c.remade(ctx, *payload)
		if err != nil {
			return false
		}
		for i := range textop.Turns(textop.Conversation, child.Text) {
			turns = append(turns, i+1)
		}
	}
	for at := range turns {
		if len(turns) > 1 && try(r.Chain, slices.Delete(slices.Clone(turns), at, at+1)) {
			return true
		}
	}
	return false
}

// onlyJudge is the judge that judges the child of a case alone; "": all judge.
func onlyJudge(payload []byte) string {
	var r recipe
	if payload == nil || json.Unmarshal(payload, &r) != nil {
		return ""
	}
	return r.Only
}

// keepTurns drops the messages that the reduction of a case has dropped from its child.
func keepTurns(payload []byte, child *mutator.Child) {
	var r recipe
	if json.Unmarshal(payload, &r) == nil && r.Turns != nil && child.Status == textop.OK {
		child.Text = textop.KeepTurns(child.Text, r.Turns)
	}
}

// shorter shrinks the seed's text, and reports whether no single character can be dropped.
func (c *Campaign) shorter(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (small []byte, parts string) {
	var r recipe
	if json.Unmarshal(payload, &r) != nil {
		return payload, ""
	}
	with := func(text []byte) []byte {
		smaller := r
		smaller.Seed.Text = textop.Normalize(string(text), textop.Constraints{})
		return smaller.encode()
	}
	text, stats := shrink.Bytes(ctx, []byte(r.Seed.Text), func(text []byte) (bool, error) {
		if len(bytes.TrimSpace(text)) == 0 || !wholeCharacters(r.Seed.Text, text) { // seeds are never blank
			return false, nil
		}
		return test(with(text))
	})
	if stats.Err == nil {
		parts = "character"
	}
	if string(text) == r.Seed.Text {
		return payload, parts
	}
	if small = with(text); len(small) < len(payload) {
		return small, parts
	}
	return payload, ""
}

// wholeCharacters reports whether a smaller text consists of whole characters, as readers see them:
// none of the original's is cut in two.
func wholeCharacters(whole string, text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	left := make(map[string]bool)
	for c := range textop.Clusters(whole) {
		left[c] = true
	}
	for c := range textop.Clusters(string(text)) {
		if !left[c] && (len(c) > 1 || c[0] >= utf8.RuneSelf) {
			return false
		}
	}
	return true
}

// gauge counts the characters of a seed's text.
func gauge(_ context.Context, payload []byte) (size int64, unit string) {
	var r recipe
	if json.Unmarshal(payload, &r) != nil {
		return 0, ""
	}
	return int64(utf8.RuneCountInString(r.Seed.Text)), "character"
}

// maxPartners limits the texts that operators may cross a seed with.
const maxPartners = 1000

// partners are the seeds that others may be crossed with, selected by a hash of their ids, so that
// the order of the seeds does not matter.
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

// PartnerTexts returns the texts of the seeds that others may be crossed with.
func PartnerTexts(seeds []mutator.Seed) []string {
	var texts []string
	for _, s := range partners(seeds) {
		texts = append(texts, s.Text)
	}
	return texts
}
