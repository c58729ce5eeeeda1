package walk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/walk"
)

// script answers from lists; beyond their end it takes the first child and stops.
type script struct {
	choose []int
	more   []bool
}

func (s *script) Choose(int) int {
	if len(s.choose) == 0 {
		return 0
	}
	i := s.choose[0]
	s.choose = s.choose[1:]
	return i
}

func (s *script) More(int, int) bool {
	if len(s.more) == 0 {
		return false
	}
	b := s.more[0]
	s.more = s.more[1:]
	return b
}

// A walk is over after a node if nothing that the node stands in has more to come.
func TestLast(t *testing.T) {
	call := walk.Node{Kind: walk.Call}
	for _, c := range []struct {
		name  string
		nodes []walk.Node
		want  bool
	}{
		{"a call alone", []walk.Node{call}, true},
		{"the last of a sequence", []walk.Node{{Kind: walk.Seq, Children: []int{1}}, call}, true},
		{"the first of a sequence", []walk.Node{{Kind: walk.Seq, Children: []int{1, 1}}, call}, false},
		{"a repetition that goes on", []walk.Node{{Kind: walk.Repeat, Min: 1, Max: 2, Children: []int{1}}, call}, false},
		{"a repetition's last", []walk.Node{{Kind: walk.Repeat, Min: 1, Max: 1, Children: []int{1}}, call}, true},
	} {
		var w walk.Walker
		w.Start(&walk.Grammar{Nodes: c.nodes, Rules: []int{0}}, 0)
		w.Settle(&script{})
		if got := w.Last(); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestWalk(t *testing.T) {
	call := func(a int) walk.Node { return walk.Node{Kind: walk.Call, Action: a} }
	for _, c := range []struct {
		name  string
		nodes []walk.Node
		rules []int
		by    script
		want  []int
		end   walk.Status
	}{
		{"a call", []walk.Node{call(7)}, []int{0}, script{}, []int{7}, walk.Done},
		{"a sequence", []walk.Node{{Kind: walk.Seq, Children: []int{1, 2}}, call(1), call(2)}, []int{0}, script{}, []int{1, 2}, walk.Done},
		{"nothing", []walk.Node{{Kind: walk.Seq}}, []int{0}, script{}, nil, walk.Done},
		{"an alternative", []walk.Node{{Kind: walk.Alt, Children: []int{1, 2}}, call(1), call(2)}, []int{0}, script{choose: []int{1}}, []int{2}, walk.Done},
		{"none open", []walk.Node{{Kind: walk.Alt, Children: []int{1}}, call(1)}, []int{0}, script{choose: []int{-1}}, nil, walk.Stuck},
		{"exactly three times", []walk.Node{{Kind: walk.Repeat, Min: 3, Max: 3, Children: []int{1}}, call(1)}, []int{0}, script{}, []int{1, 1, 1}, walk.Done},
		{"at least once", []walk.Node{{Kind: walk.Repeat, Min: 1, Max: 9, Children: []int{1}}, call(1)}, []int{0}, script{more: []bool{true, false}}, []int{1, 1}, walk.Done},
		{"a reference", []walk.Node{{Kind: walk.Seq, Children: []int{1, 2}}, {Kind: walk.Refer, Rule: 1}, call(2), call(3)}, []int{0, 3}, script{}, []int{3, 2}, walk.Done},
		{"nothing many times", []walk.Node{{Kind: walk.Repeat, Min: 1 << 40, Max: 1 << 40, Children: []int{1}}, {Kind: walk.Seq}}, []int{0}, script{}, nil, walk.Idle},
		{"without end", []walk.Node{{Kind: walk.Seq, Children: []int{1, 2}}, call(1), {Kind: walk.Refer, Rule: 0}}, []int{0}, script{}, slices.Repeat([]int{1}, walk.MaxDepth+1), walk.Deep},
	} {
		g := &walk.Grammar{Nodes: c.nodes, Rules: c.rules}
		var w walk.Walker
		w.Start(g, 0)
		var got []int
		for {
			a, s := w.Next(&c.by)
			if s != walk.Called {
				break
			}
			got = append(got, a)
		}
		if _, s := w.Next(&c.by); !slices.Equal(got, c.want) || s != c.end {
			t.Errorf("%s: %v then %d, want %v then %d", c.name, got, s, c.want, c.end)
		}
	}
}

// Any grammar can be walked: every walk ends or goes on
// giving actions, and repetitions keep to their bounds.
func TestAnyGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		g := &walk.Grammar{Rules: []int{0, n - 1}}
		for i := range n {
			x := walk.Node{Kind: walk.Kind(rapid.IntRange(0, 4).Draw(t, "kind")), Action: i, Rule: rapid.IntRange(0, 1).Draw(t, "rule")}
			// Children come after their parents, as they do in a tree.
			if i == n-1 {
				x.Kind = walk.Call
			} else if x.Kind <= walk.Repeat {
				x.Children = rapid.SliceOfN(rapid.IntRange(i+1, n-1), 1, 3).Draw(t, "children")
			}
			if x.Kind == walk.Repeat {
				x.Children = x.Children[:1]
				x.Max = rapid.IntRange(0, 5).Draw(t, "max")
				x.Min = rapid.IntRange(0, x.Max).Draw(t, "min")
			}
			g.Nodes = append(g.Nodes, x)
		}
		var w walk.Walker
		more := rapid.SliceOf(rapid.Bool()).Draw(t, "more")
		through := func(settle bool) (actions []int, end walk.Status) {
			w.Start(g, 0)
			by := &script{more: more}
			for range 1000 {
				a, s := w.Next(by)
				if s != walk.Called {
					return actions, s
				}
				if k := g.Nodes[w.Node()].Kind; k != walk.Call {
					t.Fatalf("an action of node kind %d", k)
				}
				actions = append(actions, a)
				if settle {
					w.Settle(by)
				}
			}
			return actions, walk.Called
		}
		actions, end := through(false)
		if again, s := through(true); !slices.Equal(actions, again) || s != end {
			t.Fatalf("settled, a walk becomes another: %v %d, %v %d", actions, end, again, s)
		}
	})
}
