package fresnelfir

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// What is not counted itself was entered as often as the branch that it is, also
// where protocols refer to themselves.
func TestGraph(t *testing.T) {
	c := compileText(t, article(t, `"looking": {`, `"looking": { "root": { "type": "alt", "branches": [
		{ "id": "once", "weight": 1, "body": { "type": "call", "action": "read_article" } },
		{ "id": "again", "weight": 1, "body": { "type": "seq", "children": [ { "type": "call", "action": "read_article" }, { "type": "ref", "protocol": "looking" } ] } } ] } },
		"unused": {`))
	c.budget = 300
	s, _ := explore(t, c, "")
	e := c.graph(s)
	from := map[string]campaign.Node{}
	for _, n := range e.Graph.Nodes {
		from[n.ID] = n
		if n.Hits == 0 && !strings.HasPrefix(n.Label, "repeat") {
			t.Errorf("%s was never entered", n.Label)
		}
	}
	seen := map[string]int{}
	for _, x := range e.Graph.Edges {
		to := from[x.To]
		switch {
		case x.Label == "pause" && to.Label == "nothing", x.Label == "look" && to.Label == "all of looking":
			if seen[to.Label]++; x.Hits != to.Hits {
				t.Errorf("%s: %d times, its branch %s %d times", to.Label, to.Hits, x.Label, x.Hits)
			}
		case to.Label == "all of looking": // the one that stands in itself
			if seen["again"]++; to.Hits != from[x.From].Hits || to.Hits == 0 {
				t.Errorf("%s: %d times in what was entered %d times", to.Label, to.Hits, from[x.From].Hits)
			}
		}
	}
	if seen["nothing"] != 1 || seen["all of looking"] != 1 || seen["again"] != 1 {
		t.Errorf("edges seen: %v", seen)
	}
}

// A model is known by most of its sections, or by some that are rare, also where
// it cannot be read.
func TestDetect(t *testing.T) {
	all := document(map[string]string{})
	for text, want := range map[string]bool{
		all: true, "\ufeff" + all: true, all[:300]: true, `{"entities": {}, "effects": {}, "bindings": {}}`: true,
		`{"properties": {}, "functions": {}, "inputs": {}}`: false, `["entities", "effects", "bindings"]`: false, "": false,
	} {
		if got := New(nil).Detect(campaign.Spec{Data: []byte(text)}); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}
