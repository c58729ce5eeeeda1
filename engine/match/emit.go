package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// dialect is the engine for which a pattern is written.
type dialect uint8

const (
	linear       dialect = iota // Go's regexp
	backtracking                // regexp2
)

// emitter writes a tree as a pattern of a dialect.
type emitter struct {
	strings.Builder
	to         dialect
	uses       []int                // groups that must be captured, in order
	asciiWords bool                 // the linear pattern is right only for texts of ASCII
	impossible bool                 // the tree has something that the linear dialect lacks
	sets       map[*interval]string // of the sets written so far
}

// emitLinear writes a tree for Go's regexp. The pattern finds a match in the
// same texts, but perhaps not in the same places. If asciiWords is true, that
// holds only for non-empty texts of ASCII; ok is false if there is no such
// pattern.
func emitLinear(n *node) (pattern string, asciiWords, ok bool) {
	e := emitter{to: linear, sets: map[*interval]string{}}
	e.node(n, true)
	return e.String(), e.asciiWords, !e.impossible
}

func emitBacktracking(n *node) string {
	e := emitter{to: backtracking, uses: n.uses(), sets: map[*interval]string{}}
	e.node(n, true)
	return e.String()
}

// node writes one node. last means that nothing after it takes or looks at
// characters.
func (e *emitter) node(n *node, last bool) {
	switch n.op {
	case opSet:
		e.set(n.set)
	case opCat:
		for i, s := range n.subs {
			e.node(s, last && i == len(n.subs)-1)
		}
	case opAlt:
		e.WriteString("(?:")
		for i, s := range n.subs {
			if i > 0 {
				e.WriteByte('|')
			}
			e.node(s, last)
		}
		e.WriteByte(')')
	case opGroup:
		if i, used := slices.BinarySearch(e.uses, n.group); used {
			fmt.Fprintf(e, "(?<%d>", i+1)
		} else {
			e.WriteString("(?:")
		}
		e.node(n.subs[0], last)
		e.WriteByte(')')
	case opRepeat:
		e.repeat(n)
	case opTextStart:
		e.WriteString(`\A`)
	case opLineStart:
		e.WriteString(`(?m:^)`)
	case opTextEnd:
		e.WriteString(`\z`)
	case opLineEnd:
		e.WriteString(`(?m:$)`)
	case opLastLineEnd:
		e.lastLineEnd(last)
	case opBoundary:
		e.boundary(n)
	default:
		e.context(n)
	}
}

func (e *emitter) repeat(n *node) {
	if n.mode == possessive {
		e.impossible = e.impossible || e.to == linear
		e.WriteString("(?>")
		defer e.WriteByte(')')
	}
	e.WriteString("(?:")
	e.node(n.subs[0], false)
	e.WriteByte(')')
	switch {
	case n.min == 0 && n.max == unlimited:
		e.WriteByte('*')
	case n.min == 1 && n.max == unlimited:
		e.WriteByte('+')
	case n.min == 0 && n.max == 1:
		e.WriteByte('?')
	case n.max == unlimited:
		fmt.Fprintf(e, "{%d,}", n.min)
	default:
		fmt.Fprintf(e, "{%d,%d}", n.min, n.max)
	}
	if n.mode == lazy {
		e.WriteByte('?')
	}
}

// lastLineEnd writes $. Go's regexp has no such anchor, but where nothing
// follows, consuming the last line feed is as good as looking at it.
func (e *emitter) lastLineEnd(last bool) {
	if e.to == backtracking {
		e.WriteString(`\Z`)
		return
	}
	e.impossible = e.impossible || !last
	e.WriteString(`(?:\n?\z)`)
}

// boundary writes \b and \B, which in Python never hold in an empty text. Go's
// regexp knows only the boundaries of ASCII words.
func (e *emitter) boundary(n *node) {
	if e.to == linear {
		e.asciiWords = e.asciiWords || !n.ascii || n.negated
		if n.negated {
			e.WriteString(`\B`)
		} else {
			e.WriteString(`\b`)
		}
		return
	}
	word := wordSet()
	if n.ascii {
		word = asciiWordSet
	}
	w := e.to.class(word)
	if n.negated {
		e.WriteString(`(?:(?<=` + w + `)(?=` + w + `)|(?!\A\z)(?<!` + w + `)(?!` + w + `))`)
	} else {
		e.WriteString(`(?:(?<=` + w + `)(?!` + w + `)|(?<!` + w + `)(?=` + w + `))`)
	}
}

// context writes what only the backtracking dialect has.
func (e *emitter) context(n *node) {
	if e.to == linear {
		e.impossible = true
		return
	}
	number := 0
	if n.op == opBackref || n.op == opCond {
		i, _ := slices.BinarySearch(e.uses, n.group)
		number = i + 1
	}
	switch n.op {
	case opAtomic:
		e.WriteString("(?>")
		e.node(n.subs[0], false)
		e.WriteByte(')')
	case opLook:
		e.WriteString(map[bool]string{false: "(?", true: "(?<"}[n.behind])
		e.WriteByte(map[bool]byte{false: '=', true: '!'}[n.negated])
		e.node(n.subs[0], false)
		e.WriteByte(')')
	case opBackref:
		if n.fold {
			fmt.Fprintf(e, `(?i:\k<%d>)`, number)
		} else {
			fmt.Fprintf(e, `(?:\k<%d>)`, number)
		}
	case opCond:
		fmt.Fprintf(e, "(?(%d)(?:", number)
		e.node(n.subs[0], false)
		e.WriteString(")|(?:")
		e.node(n.subs[1], false)
		e.WriteString("))")
	}
}

// set writes one character class. Long sets of letters are written by the names
// of their categories.
func (e *emitter) set(s runeSet) {
	if r, ok := s.only(); ok {
		e.rune(r)
		return
	}
	all := runeSet(nil).complement()
	switch {
	case len(s) == 0 && e.to == linear:
		e.WriteString(`[^\x00-\x{10ffff}]`)
		return
	case len(s) == 0:
		e.WriteString(`(?!)`)
		return
	case slices.Equal(s, all):
		e.WriteString(`(?s:.)`)
		return
	}
	text, ok := e.sets[&s[0]]
	if !ok {
		text = e.to.class(s)
		e.sets[&s[0]] = text
	}
	e.WriteString(text)
}

// class returns the text of a set of more than one character.
func (to dialect) class(s runeSet) string {
	e := emitter{to: to}
	open := "["
	if c := s.complement(); len(c) < len(s) || len(c) == len(s) && len(s) > 1 && s[len(s)-1].hi == unicode.MaxRune {
		open, s = "[^", c
	}
	e.WriteString(open)
	if len(s) > 50 {
		switch {
		case len(wordSet().minus(s)) == 0:
			e.WriteString(`\p{L}\p{N}`)
			s = s.minus(wordSet()).union(single('_'))
		case len(digitSet().minus(s)) == 0:
			e.WriteString(`\p{Nd}`)
			s = s.minus(digitSet())
		}
	}
	for _, i := range s {
		e.rune(i.lo)
		if i.hi > i.lo {
			e.WriteByte('-')
			e.rune(i.hi)
		}
	}
	e.WriteByte(']')
	return e.String()
}

// rune writes one character so that it stands for itself, inside and outside
// classes.
func (e *emitter) rune(r rune) {
	switch {
	case strings.ContainsRune(`\.+*?()|[]{}^$-`, r):
		e.WriteByte('\\')
		e.WriteRune(r)
	case ' ' <= r && r < 0x7f:
		e.WriteRune(r) // no backslash, which could change its meaning: \' and \< start references
	case e.to == linear:
		fmt.Fprintf(e, `\x{%x}`, r)
	case r <= 0xffff:
		fmt.Fprintf(e, `\u%04x`, r)
	default:
		e.WriteRune(r)
	}
}
