package spectest

import (
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// typeJudge is the case type of an assertion tree that belongs to no case.
const typeJudge = "judge"

// Tree is an assertion tree without a case; the caller provides its subjects.
type Tree struct{ c *Case }

// JudgeTargets returns the targets of such a tree.
func JudgeTargets() []string { return []string{"reply", "prompt", "events", "trace"} }

// ReadTree compiles the assertion tree at a node of a document with the given text.
func ReadTree(file string, text []byte, n *doctree.Node) (*Tree, diag.List) {
	set, list := decodeSettings(campaign.Settings{}, func(string) string { return "" })
	d := newDecoder(newDocument(file, text), set, &Case{Type: typeJudge, at: n.Pos, From: n.Pos.Line})
	d.c.limits, d.c.timeout = speclang.DefaultLimits(), defaultPredicateTime
	d.assertions(n)
	return &Tree{d.c}, append(append(list, d.faults...), d.warnings...)
}

// Judge reports whether the tree holds for some subjects, and the reason. The result is unknown if
// a subject that it needs is missing or has the wrong form.
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

// lookup provides subjects from a function, or the reason why one is missing.
type lookup func(target string) (speclang.Value, string)

func (g lookup) subject(target string) (speclang.Value, *Failure) {
	v, why := g(target)
	if why != "" {
		return v, &Failure{Category: Runtime, Message: why}
	}
	return v, nil
}
