package operator

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/redteam"
	"github.com/thresh-dev/thresh/engine/textop"
)

// disguise names what a guard would have to see through to recognize the seed in a child, and what
// a guard that lets the child pass does not. "" means nothing: the child contains the seed.
func disguise(child *mutator.Child) string {
	var codes, characters int
	for i, a := range child.Applied {
		if a.Status != textop.OK || !bundled()[child.Steps[i].OpID] {
			continue // only the text shows what a plug-in does, whatever its name
		}
		switch family, _, _ := strings.Cut(strings.TrimPrefix(child.Steps[i].OpID, "op_"), "_"); family {
		case "enc", "cipher":
			codes++
		case "uni", "inv", "aug", "ws":
			characters++
		}
	}
	messages := textop.Turns(child.Seed.Surface, child.Text)
	holds := func(s string) bool { return strings.Contains(s, child.Seed.Text) }
	switch {
	case child.Text == child.Seed.Text:
		return ""
	case len(messages) > 1:
		return "over several messages"
	case codes > 1:
		return "encoded more than once"
	case codes == 1:
		return "encoded"
	case holds(child.Text):
		return "readable in another context"
	case characters > 0 || strings.Contains(letters(child.Text), letters(child.Seed.Text)):
		return "in other characters"
	}
	return "reworded"
}

// bundled are the ids of the operators that are not plug-ins.
var bundled = sync.OnceValue(func() map[string]bool {
	ids := make(map[string]bool)
	for _, op := range slices.Concat(textop.Builtins(), textop.Extended(), textop.Third()) {
		ids[op.Meta().ID] = true
	}
	return ids
})

// letters are the letters and digits of a text without marks, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// Group implements [campaign.Grouper]: a finding has the cause of the shortest successful chain
// that its own chain contains. All failures of one child have one cause.
func (c *Campaign) Group(s *state, out campaign.Outcome) string {
	child, ok := childOf(&out)
	if !ok || out.Kind != kindVerdict || c.plan == nil {
		return ""
	}
	var has []int
	for _, x := range child.Trace {
		if x.Status == string(textop.OK) {
			has = append(has, c.base.Registry().Find(x.OpID))
		}
	}
	root := slices.Clone(has)
	for _, x := range s.tally.attacks.chains {
		if x.best != nil && len(x.ops) > 0 && within(x.ops, has) && (len(x.ops) < len(root) || len(x.ops) == len(root) && slices.Compare(x.ops, root) < 0) {
			root = x.ops
		}
	}
	links := make([]mutator.Link, len(root))
	for i, op := range root {
		links[i].Op = op
	}
	parts := strings.SplitN(out.Signature, "\n", 4)
	if len(parts) > 1 {
		parts[1] = s.cause(parts[1])
	}
	return strings.Join(parts[:min(len(parts), 3)], "\n") + "\n" + redteam.Key(links)
}

// within reports whether part is a subsequence of whole.
func within(part, whole []int) bool {
	for _, x := range whole {
		if len(part) > 0 && part[0] == x {
			part = part[1:]
		}
	}
	return len(part) == 0
}
