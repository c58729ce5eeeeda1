package match

// op is what a node of a pattern's tree does.
type op uint8

const (
	opSet         op = iota // one character of the set
	opCat                   // all subs, one after the other
	opAlt                   // the first of the subs that lets the rest match
	opRepeat                // subs[0], min to max times
	opGroup                 // subs[0], captured as group
	opAtomic                // subs[0], without its other ways to match
	opLook                  // subs[0] matches (or, negated, does not match) here
	opBackref               // what group captured
	opCond                  // subs[0] if group matched, subs[1] otherwise
	opTextStart             // \A, and ^ without (?m)
	opLineStart             // ^ with (?m)
	opTextEnd               // \Z
	opLastLineEnd           // $: at the end, or before a line feed that ends the text
	opLineEnd               // $ with (?m)
	opBoundary              // \b, or \B if negated
)

// repeatMode is how a quantifier tries its other ways to match.
type repeatMode uint8

const (
	greedy repeatMode = iota
	lazy
	possessive
)

// unlimited is the max of a repeat without one, and the width of anything
// without a limit.
const unlimited = 1<<31 - 1

type node struct {
	op       op
	set      runeSet
	subs     []*node
	min, max int // of opRepeat
	mode     repeatMode
	group    int  // of opGroup, opBackref and opCond
	negated  bool // of opLook and opBoundary
	behind   bool // of opLook
	ascii    bool // of opBoundary: words are made of ASCII
	fold     bool // of opBackref: case is ignored
}

// width returns the least and the largest number of characters that a node can
// match. Groups record their width when they are closed.
func (n *node) width(groups []span) span {
	switch n.op {
	case opSet:
		return span{1, 1}
	case opCat:
		var w span
		for _, s := range n.subs {
			w = w.plus(s.width(groups))
		}
		return w
	case opAlt, opCond:
		w := n.subs[0].width(groups)
		for _, s := range n.subs[1:] {
			o := s.width(groups)
			w = span{min(w.min, o.min), max(w.max, o.max)}
		}
		return w
	case opRepeat:
		w := n.subs[0].width(groups)
		return span{times(w.min, n.min), times(w.max, n.max)}
	case opGroup, opAtomic:
		return n.subs[0].width(groups)
	case opBackref:
		return groups[n.group]
	}
	return span{}
}

// span is a count from min to max.
type span struct{ min, max int }

func (s span) plus(o span) span {
	return span{min(s.min+o.min, unlimited), min(s.max+o.max, unlimited)}
}

func times(a, b int) int {
	if a != 0 && b > unlimited/a {
		return unlimited
	}
	return a * b
}
