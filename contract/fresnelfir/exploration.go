package fresnelfir

import (
	"github.com/thresh-dev/thresh/engine/walk"
)

// Exploration is how far a campaign is, at a moment, for those who follow it
// while it runs.
type Exploration struct {
	Traversals int64
	Planned    int64 // traversals in all
	Actions    int64
	Epochs     int
	Targets    []Target
	Curve      [][2]float64 // percent of calls and branches that were reached, by actions
	Alone      string       // why the model is explored without a module; "": it is not
}

// Target is something that a campaign is to cover: a call or a branch of a
// protocol, or a combination of inputs.
type Target struct {
	Name   string
	Status string // "hit", "pending" or "unreachable"
	Hits   int64  // of a combination of inputs: 1 once it was hit
	Why    string // why it is unreachable
}

// Explored is how far the campaign is in a state of it, as package run has it:
// what [Campaign.Start] or [Campaign.Fold] returned.
func (c *Campaign) Explored(of any) Exploration {
	s, ok := of.(*state)
	if !ok {
		s = newState(c.plan)
	}
	x := Exploration{Traversals: s.cases, Planned: c.budget, Actions: s.actions, Epochs: s.epoch, Curve: s.curve.all()}
	if c.module == nil {
		x.Alone = c.alone
	}
	for at := range c.plan.nodes {
		n := &c.plan.nodes[at]
		if n.kind == walk.Call {
			hits := s.hits.of(event{kind: eventNode, node: at})
			x.Targets = append(x.Targets, Target{Name: n.id + " " + n.action, Status: status(hits), Hits: hits})
		}
		for i, b := range n.branches {
			hits := s.branchHits(at, i)
			t := Target{Name: n.id + "#" + b.id, Status: status(hits), Hits: hits}
			if b.weight == 0 {
				t.Status, t.Why = "unreachable", "its weight is 0"
			}
			x.Targets = append(x.Targets, t)
		}
	}
	for i, k := range c.plan.space.targets {
		t := Target{Name: k.label, Status: "pending", Why: k.unreachable}
		switch {
		case k.unreachable != "":
			t.Status = "unreachable"
		case s.reached[i]:
			t.Status, t.Hits = "hit", 1
		}
		x.Targets = append(x.Targets, t)
	}
	return x
}

// Trigger is the last action of the traversal that a case's payload stands for,
// and how many actions were applied to the model up to it.
func (c *Campaign) Trigger(payload []byte) (action string, generation int, err error) {
	tr, _, err := c.retold(payload)
	if err != nil {
		return "", 0, err
	}
	if n := len(tr.Steps); n > 0 {
		action = tr.Steps[n-1].Action
	}
	return action, tr.Generation, nil
}

// LeastBudget is the budget that the format's rule gives the document: the
// least number of traversals, and of seconds that they may take.
func (c *Campaign) LeastBudget() (iterations, seconds int64) {
	n := Budget(c.plan.doc)
	return n, max(n/100, 10)
}
