// Package walk generates sequences of actions from grammars: sequences,
// weighted alternatives with guards, bounded repetitions, calls, and references
// from one rule to another.
//
// A grammar is not flattened: a [Walker] keeps a stack of frames, so that rules may
// refer to each other in cycles, as deep as a bound allows. It decides nothing
// itself: it asks a [Guide] which alternative to take and whether to continue a
// repetition, so that the same walk can be random, guided, replayed or minimized.
//
// The package is pure: it imports the standard library alone, and knows neither
// what actions do nor what guards mean. Start reading at [Grammar] and
// [Walker.Next].
package walk

import "encoding/binary"

// Kind is what a node does.
type Kind uint8

// The kinds of nodes.
const (
	Seq    Kind = iota // its children in order
	Alt                // one of its children
	Repeat             // its only child, Min to Max times
	Call               // an action
	Refer              // another rule
)

// Node is a node of a grammar, identified by its number.
type Node struct {
	Kind     Kind
	Children []int
	Min, Max int // of a repeat
	Action   int // of a call
	Rule     int // of a reference
}

// Grammar has nodes, and rules that name one node each.
type Grammar struct {
	Nodes []Node
	Rules []int
}

// Guide decides.
type Guide interface {
	// Choose picks a child of an alternative by index; negative: none is open.
	Choose(node int) int
	// More reports whether to continue a repetition whose body was walked count
	// times; it is called only between the node's bounds.
	More(node, count int) bool
}

// Status is the state of a walk.
type Status uint8

// The states of a walk.
const (
	Called Status = iota // an action is to be taken
	Done                 // the walk has ended
	Stuck                // no alternative was open
	Deep                 // references are nested deeper than MaxDepth
	Idle                 // MaxIdle nodes were passed without an action
)

// MaxDepth is how deep references may be nested.
const MaxDepth = 64

// MaxIdle is how many nodes may be passed between two actions.
const MaxIdle = 10_000

// Walker is one walk through a grammar.
type Walker struct {
	g      *Grammar
	stack  []frame
	depth  int // references on the stack
	status Status
	at     int // the last node of the walk
}

// frame is an unfinished node: next is the index of the next child, or how often a
// body was walked.
type frame struct{ node, next int }

// Start begins a walk at a rule, reusing the memory of w.
func (w *Walker) Start(g *Grammar, rule int) {
	w.g, w.stack, w.depth, w.status, w.at = g, w.stack[:0], 0, Called, g.Rules[rule]
	w.push(g.Rules[rule])
}

func (w *Walker) push(node int) {
	w.stack = append(w.stack, frame{node: node})
	if w.g.Nodes[node].Kind == Refer {
		w.depth++
	}
}

func (w *Walker) pop() {
	last := len(w.stack) - 1
	if w.g.Nodes[w.stack[last].node].Kind == Refer {
		w.depth--
	}
	w.stack = w.stack[:last]
}

// Node returns the last node of the walk: that of the call, or the alternative at
// which it is stuck.
func (w *Walker) Node() int { return w.at }

// Over reports whether a walk has nothing left to do.
func (w *Walker) Over() bool { return len(w.stack) == 0 || w.status != Called }

// Last reports whether the walk ends as soon as it leaves its current node.
func (w *Walker) Last() bool {
	for _, f := range w.stack[:max(0, len(w.stack)-1)] {
		n := &w.g.Nodes[f.node]
		if n.Kind == Seq && f.next < len(n.Children) || n.Kind == Repeat && f.next < n.Max {
			return false
		}
	}
	return true
}

// Sketch appends the position of a walk to b. For a repetition that may continue or
// end, the count is ignored, since the possible continuations are about the same.
func (w *Walker) Sketch(b []byte) []byte {
	b = append(b, byte(w.status))
	for _, f := range w.stack {
		next := f.next
		if n := &w.g.Nodes[f.node]; n.Kind == Repeat && next >= n.Min && next < n.Max {
			next = n.Min
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.node)), uint64(next))
	}
	return append(b, 0xff)
}

// Pack appends the position of a walk to b, for Unpack on a walk of the same
// grammar.
func (w *Walker) Pack(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(w.status)), uint64(w.at))
	b = binary.AppendUvarint(b, uint64(len(w.stack)))
	for _, f := range w.stack {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.node)), uint64(f.next))
	}
	return b
}

// Unpack sets w to the walk that Pack wrote, and returns the remaining bytes.
func (w *Walker) Unpack(g *Grammar, b []byte) []byte {
	next := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	w.g, w.stack, w.depth, w.status = g, w.stack[:0], 0, Status(next())
	w.at = next()
	for range next() {
		w.push(next())
		w.stack[len(w.stack)-1].next = next()
	}
	return b
}

// Copy sets w to a copy of another walk, reusing the memory of w.
func (w *Walker) Copy(of *Walker) {
	stack := append(w.stack[:0], of.stack...)
	*w = *of
	w.stack = stack
}

// Settle continues as far as possible without an alternative or an action: it leaves
// finished nodes, enters the next ones, and asks whether to continue repetitions.
// Next would do the same; but when Settle is called right after an action, or at the
// start, these decisions do not mix with those for the next action.
func (w *Walker) Settle(by Guide) { w.prune(by, MaxIdle) }

// prune passes at most left nodes, and returns how many it did not use.
func (w *Walker) prune(by Guide, left int) int {
	for ; left > 0; left-- {
		if w.status != Called || len(w.stack) == 0 {
			return left
		}
		f := &w.stack[len(w.stack)-1]
		n := &w.g.Nodes[f.node]
		next := -1
		switch n.Kind {
		case Seq:
			if f.next < len(n.Children) {
				next = n.Children[f.next]
			}
		case Repeat:
			if f.next < n.Max && (f.next < n.Min || by.More(f.node, f.next)) {
				next = n.Children[0]
			}
		case Refer:
			if f.next == 0 {
				if w.depth > MaxDepth {
					return left // Next reports it
				}
				next = w.g.Rules[n.Rule]
			}
		default:
			if n.Kind == Call || f.next == 0 {
				return left
			}
		}
		if next < 0 {
			w.pop()
			continue
		}
		f.next++
		w.push(next)
	}
	return 0
}

// Next continues to the next action and returns it with Called, or says why there is
// none; from then on there is none.
func (w *Walker) Next(by Guide) (action int, s Status) {
	for left := MaxIdle; w.status == Called; left-- {
		if left = w.prune(by, left); left == 0 {
			w.status = Idle
			break
		}
		if len(w.stack) == 0 {
			w.status = Done
			break
		}
		f := &w.stack[len(w.stack)-1]
		n := &w.g.Nodes[f.node]
		w.at = f.node
		switch n.Kind {
		case Call:
			w.pop()
			return n.Action, Called
		case Alt:
			i := by.Choose(f.node)
			if i < 0 {
				w.status = Stuck
				break
			}
			f.next++
			w.push(n.Children[i])
		default:
			w.status = Deep
		}
	}
	return -1, w.status
}
