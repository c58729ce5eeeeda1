package spectest

import (
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// typeJudge stands for a tree of assertions that belongs to no case.
const typeJudge = "judge"

// Tree is a tree of assertions by itself, which looks at what it is given.
type Tree struct{ c *Case }

// JudgeTargets returns what such a tree can look at.
func JudgeTargets() []string { return []string{"reply", "prompt", "events", "trace"} }

// ReadTree compiles the tree of assertions that a node is, in a document whose
// text is given.
func ReadTree(file string, text []byte, n *doctree.Node) (*Tree, diag.List) {
	set, list := decodeSettings(campaign.Settings{}, func(string) string { return "" })
	d := newDecoder(newDocument(file, text), set, &Case{Type: typeJudge, at: n.Pos, From: n.Pos.Line})
	d.c.limits, d.c.timeout = speclang.DefaultLimits(), defaultPredicateTime
	d.assertions(n)
	return &Tree{d.c}, append(append(list, d.faults...), d.warnings...)
}

// Judge says whether the tree holds for some subjects, and why not. It is unknown
// if a subject that it looks at is missing, or cannot be looked at as it asks.
func (t *Tree) Judge(subject func(target string) (speclang.Value, string)) (holds, known bool, reason string) {
	f := newEvaluator().judge(t.c, lookup(subject))
	switch {
	case f == nil:
		return true, true, "holds"
	case f.Category != Assertion:
		return false, false, f.detail()
	}
	reason = strings.TrimPrefix(f.summary(), "expected ")
	if f.Saw != "" {
		reason += ": " + f.Saw
	}
	return false, true, "expected " + reason
}

// lookup are subjects that a function gives, or says why there is none.
type lookup func(target string) (speclang.Value, string)

func (g lookup) subject(target string) (speclang.Value, *Failure) {
	v, why := g(target)
	if why != "" {
		return v, &Failure{Category: Runtime, Message: why}
	}
	return v, nil
}
