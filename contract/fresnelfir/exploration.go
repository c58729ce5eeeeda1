package fresnelfir

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/tools"
	"github.com/thresh-dev/thresh/engine/walk"
)

// Explored returns the campaign's progress in a state of it, as package run holds it: a result of
// [Campaign.Start] or [Campaign.Fold].
func (c *Campaign) Explored(of any) campaign.Exploration {
	s, ok := of.(*state)
	if !ok {
		s = newState(c.plan)
	}
	x := campaign.Exploration{Mode: tools.Mode(c.module == nil), Traversals: s.cases, Planned: c.budget, Actions: s.actions, Epochs: s.epoch, Curve: s.curve.all()}
	if c.module == nil {
		x.Alone = c.alone
	}
	x.Targets = c.transitions(s)
	for i := range c.plan.space.targets {
		x.Targets = append(x.Targets, c.combination(s, i))
	}
	return x
}

// combination returns one of the combinations of inputs to cover.
func (c *Campaign) combination(s *state, i int) campaign.Target {
	k, hits := &c.plan.space.targets[i], int64(0)
	if s.reached[i] {
		hits = 1
	}
	return s.target(k.label, hits, k.unreachable)
}

// transitions returns every call and every branch.
func (c *Campaign) transitions(s *state) (list []campaign.Target) {
	for at := range c.plan.nodes {
		n := &c.plan.nodes[at]
		if n.kind == walk.Call {
			list = append(list, s.target(n.id+" "+n.action, s.hits.of(event{kind: eventNode, node: at}), n.unreachable))
		}
		for i, b := range n.branches {
			list = append(list, s.target(n.id+"#"+b.id, s.branchHits(at, i), b.unreachable))
		}
	}
	return list
}

// target returns the status of one target. A target that was not proven unreachable may be so all
// the same; if the search for it has ended, Why says so.
func (s *state) target(name string, hits int64, unreachable string) campaign.Target {
	t := campaign.Target{Name: name, Status: "pending", Hits: hits}
	switch {
	case hits > 0:
		t.Status = "hit"
	case unreachable != "":
		t.Status, t.Why = "unreachable", unreachable
	case s.moves > 0 && s.gaveUp():
		t.Why = fmt.Sprintf("the search gave up after %d moves of the model", s.moves)
	}
	return t
}

// Trigger returns the last action of the traversal in a case's payload, and how many actions were
// applied to the model until then.
func (c *Campaign) Trigger(ctx context.Context, payload []byte) (action string, generation int, err error) {
	tr, _, err := c.retold(ctx, payload)
	if err != nil {
		return "", 0, err
	}
	if n := len(tr.Steps); n > 0 {
		action = tr.Steps[n-1].Action
	}
	return action, tr.Generation, nil
}

// LeastBudget returns the budget that the format's rule gives the document: the minimum number of
// traversals, and of seconds for them.
func (c *Campaign) LeastBudget() (iterations, seconds int64) {
	n := Budget(c.plan.doc)
	return n, max(n/100, 10)
}
