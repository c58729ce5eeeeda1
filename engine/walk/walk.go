// Package walk generates sequences of actions from grammars: sequences,
// weighted alternatives with guards, bounded repetitions, calls, and references
// from one rule to another.
//
// A grammar is not flattened: a [Walker] keeps a stack of frames, so that rules
// may refer to each other in cycles, each as deep as a bound allows. It decides
// nothing itself. Which alternative is taken and whether a repetition goes on
// is asked of a [Guide], so that the same walk can be random, guided, replayed
// or made smaller.
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

// Node is a node of a grammar, named by its number.
type Node struct {
	Kind     Kind
	Children []int
	Min, Max int // of a repeat
	Action   int // of a call
	Rule     int // of a reference
}

// Grammar is nodes, and rules that name one each.
type Grammar struct {
	Nodes []Node
	Rules []int
}

// Guide decides.
type Guide interface {
	// Choose picks a child of an alternative by its place; a negative answer
	// says that none is open.
	Choose(node int) int
	// More says whether a repetition whose body was walked count times goes on;
	// it is asked only between the node's bounds.
	More(node, count int) bool
}

// Status says where a walk is.
type Status uint8

// The states of a walk.
const (
	Called Status = iota // an action is to be taken
	Done                 // the walk is at its end
	Stuck                // no alternative was open
	Deep                 // references are nested deeper than MaxDepth
	Idle                 // MaxIdle nodes were passed and no action was met
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

// frame is a node that is not done: next is the place of the child that comes
// next, or how often a body was walked.
type frame struct{ node, next int }

// Start begins a walk at a rule, in the memory that w has.
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

// Node returns the last node of the walk: that of the call, or the
// alternative that it is stuck at.
func (w *Walker) Node() int { return w.at }

// Over reports whether a walk has nothing left to do.
func (w *Walker) Over() bool { return len(w.stack) == 0 || w.status != Called }

// Last reports whether the walk is over as soon as it leaves the node that it is in.
func (w *Walker) Last() bool {
	for _, f := range w.stack[:max(0, len(w.stack)-1)] {
		n := &w.g.Nodes[f.node]
		if n.Kind == Seq && f.next < len(n.Children) || n.Kind == Repeat && f.next < n.Max {
			return false
		}
	}
	return true
}

// Sketch adds to b where a walk stands. How often a repetition that may go on
// or end has gone round does not count: what it can come to is about the same.
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

// Pack adds to b where a walk stands, for Unpack of a walk of the same grammar.
func (w *Walker) Pack(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(w.status)), uint64(w.at))
	b = binary.AppendUvarint(b, uint64(len(w.stack)))
	for _, f := range w.stack {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.node)), uint64(f.next))
	}
	return b
}

// Unpack makes w the walk that Pack gave, and returns what follows it.
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

// Copy makes w the same walk as another one, in the memory that w has.
func (w *Walker) Copy(of *Walker) {
	stack := append(w.stack[:0], of.stack...)
	*w = *of
	w.stack = stack
}

// Settle goes on as far as no alternative and no action is met: it leaves nodes
// that are done, enters those that come next, and asks whether repetitions go
// on. Next would do so too; done right after an action, or at the start, the
// decisions that what is over calls for do not mix with those for the next action.
func (w *Walker) Settle(by Guide) { w.prune(by, MaxIdle) }

// prune passes at most so many nodes, and returns how many are left.
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
					return left // Next tells
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

// Next goes on to the next action and returns it with Called, or says why there
// is none; then there is none from there on.
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
