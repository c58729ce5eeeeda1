package match

import (
	"fmt"
	"slices"
	"strings"
)

// maxNesting is how deep groups may be nested; CPython gives up somewhere in
// the hundreds.
const maxNesting = 500

// maxRepeat is the first count that CPython refuses.
const maxRepeat = 1<<32 - 1

// flags are the switches of (?aimsux).
type flags struct{ ascii, fold, multiline, dotAll, verbose bool }

// parser reads a pattern as CPython 3.11 does. It reads tokens: a character, or
// a backslash with the character after it. Any error ends the parse with a
// panic of *SyntaxError, which parse turns into an error.
type parser struct {
	text       []rune
	at         int
	names      map[string]int
	widths     []span // of closed groups; min -1: open
	lookbehind int    // count of groups before the outermost lookbehind; 0: not in one
	later      []reference
	classes    map[string]*node // by their text, since long patterns repeat them
	depth      int
}

// reference is a condition on a group that may be defined later.
type reference struct{ group, at int }

// parse returns the tree of a pattern.
func parse(pattern string, f flags) (tree *node, err error) {
	p := &parser{text: decode(pattern), names: map[string]int{}, classes: map[string]*node{}, widths: []span{{-1, -1}}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *SyntaxError:
			tree, err = nil, r
		default:
			panic(r)
		}
	}()
	for i := 0; i < len(p.text); i++ {
		if p.text[i] == '\\' {
			if i++; i == len(p.text) {
				p.failAt(i-1, "a backslash ends the pattern")
			}
		}
	}
	tree = p.alternatives(f, true)
	if p.at < len(p.text) {
		p.fail("unbalanced parenthesis")
	}
	for _, r := range p.later {
		if r.group >= len(p.widths) {
			p.failAt(r.at, "invalid group reference %d", r.group)
		}
	}
	return tree, nil
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.at, format, args...) }

func (p *parser) failAt(at int, format string, args ...any) {
	panic(&SyntaxError{Offset: at, Problem: fmt.Sprintf(format, args...)})
}

// peek returns the next character, or -1 at the end. If the next token is an
// escape, that is a backslash.
func (p *parser) peek() rune {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return -1
}

func (p *parser) accept(r rune) bool {
	if p.peek() == r {
		p.at++
		return true
	}
	return false
}

// next reads a token; escaped is the second character of an escape, or 0.
func (p *parser) next() (r, escaped rune) {
	r = p.peek()
	if r < 0 {
		return r, 0
	}
	p.at++
	if r == '\\' {
		escaped = p.text[p.at]
		p.at++
	}
	return r, escaped
}

// until reads everything before a terminator, and the terminator.
func (p *parser) until(terminator rune, what string) string {
	start := p.at
	for {
		switch r, _ := p.next(); {
		case r < 0 && p.at == start:
			p.fail("missing %s", what)
		case r < 0:
			p.failAt(start, "missing %c, unterminated name", terminator)
		case r == terminator:
			if p.at-1 == start {
				p.failAt(start, "missing %s", what)
			}
			return string(p.text[start : p.at-1])
		}
	}
}

// alternatives reads a|b|c up to the end or a closing parenthesis. Only the
// first alternative of the whole pattern may set global flags.
func (p *parser) alternatives(f flags, outermost bool) *node {
	if p.depth++; p.depth > maxNesting {
		p.fail("groups nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	var subs []*node
	for {
		subs = append(subs, p.sequence(&f, outermost && len(subs) == 0))
		if !p.accept('|') {
			break
		}
	}
	if len(subs) == 1 {
		return subs[0]
	}
	return &node{op: opAlt, subs: subs}
}

func (p *parser) sequence(f *flags, first bool) *node {
	seq := &node{op: opCat}
	for {
		c := p.peek()
		if c < 0 || c == '|' || c == ')' {
			return seq
		}
		start := p.at
		_, escaped := p.next()
		if f.verbose {
			if strings.ContainsRune(" \t\n\r\v\f", c) {
				continue
			}
			if c == '#' {
				for r, _ := p.next(); r >= 0 && r != '\n'; r, _ = p.next() {
				}
				continue
			}
		}
		switch c {
		case '\\':
			seq.subs = append(seq.subs, p.escape(escaped, *f))
		case '[':
			seq.subs = append(seq.subs, p.class(start, *f))
		case '*', '+', '?', '{':
			p.repeat(seq, c, start)
		case '.':
			any := single('\n').complement()
			if f.dotAll {
				any = runeSet(nil).complement()
			}
			seq.subs = append(seq.subs, &node{op: opSet, set: any})
		case '^':
			at := opTextStart
			if f.multiline {
				at = opLineStart
			}
			seq.subs = append(seq.subs, &node{op: at})
		case '$':
			at := opLastLineEnd
			if f.multiline {
				at = opLineEnd
			}
			seq.subs = append(seq.subs, &node{op: at})
		case '(':
			if n := p.group(start, f, first && len(seq.subs) == 0); n != nil {
				seq.subs = append(seq.subs, n)
			}
		default:
			seq.subs = append(seq.subs, literal(c, *f))
		}
	}
}

func literal(r rune, f flags) *node {
	set := single(r)
	if f.fold {
		set = set.foldCase(f.ascii)
	}
	return &node{op: opSet, set: set}
}

// repeat reads a quantifier, after its first character c, and wraps it around
// the last node of the sequence. A brace that opens no quantifier stands for
// itself.
func (p *parser) repeat(seq *node, c rune, start int) {
	n := &node{op: opRepeat, max: unlimited}
	switch c {
	case '?':
		n.max = 1
	case '+':
		n.min = 1
	case '{':
		if !p.counts(n, start) {
			seq.subs = append(seq.subs, &node{op: opSet, set: single('{')})
			return
		}
	}
	if len(seq.subs) == 0 {
		p.failAt(start, "nothing to repeat")
	}
	last := &seq.subs[len(seq.subs)-1]
	switch (*last).op {
	case opTextStart, opLineStart, opTextEnd, opLastLineEnd, opLineEnd, opBoundary:
		p.failAt(start, "nothing to repeat")
	case opRepeat:
		p.failAt(start, "multiple repeat")
	}
	switch {
	case p.accept('?'):
		n.mode = lazy
	case p.accept('+'):
		n.mode = possessive
	}
	n.subs = []*node{*last}
	*last = n
}

// counts reads {m}, {m,}, {,n} or {m,n} after its brace. If there is none of
// these, it returns to the place after the brace.
func (p *parser) counts(n *node, start int) bool {
	after := p.at
	if p.peek() == '}' {
		return false
	}
	low := p.digits()
	high := low
	if p.accept(',') {
		high = p.digits()
	}
	if !p.accept('}') {
		p.at = after
		return false
	}
	if low != "" {
		n.min = p.count(low, start)
	}
	if high != "" {
		if n.max = p.count(high, start); n.max < n.min {
			p.failAt(start, "min repeat greater than max repeat")
		}
	}
	return true
}

func (p *parser) digits() string {
	start := p.at
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.at++
	}
	return string(p.text[start:p.at])
}

// count returns the value of digits. No text is so long that counts above
// unlimited could differ from it.
func (p *parser) count(digits string, at int) int {
	n := 0
	for _, d := range digits {
		if n = n*10 + int(d-'0'); n >= maxRepeat {
			p.failAt(at, "the repetition number is too large")
		}
	}
	return min(n, unlimited)
}

// open starts a capturing group and returns its number.
func (p *parser) open(name string, at int) int {
	number := len(p.widths)
	if name != "" {
		if first, ok := p.names[name]; ok {
			p.failAt(at, "redefinition of group name %q as group %d; it was group %d", name, number, first)
		}
		p.names[name] = number
	}
	p.widths = append(p.widths, span{-1, -1})
	return number
}

func (p *parser) close(number int, n *node) { p.widths[number] = n.width(p.widths) }

// refer checks a back-reference to a group.
func (p *parser) refer(group, at int) {
	if group >= len(p.widths) {
		p.failAt(at, "invalid group reference %d", group)
	}
	if p.widths[group].min < 0 {
		p.failAt(at, "cannot refer to an open group")
	}
	p.referBehind(group, at)
}

// referBehind checks that a reference in a lookbehind leads out of it: inside,
// matching does not follow the order of the text.
func (p *parser) referBehind(group, at int) {
	if p.lookbehind == 0 {
		return
	}
	if group >= len(p.widths) || p.widths[group].min < 0 {
		p.failAt(at, "cannot refer to an open group")
	}
	if group >= p.lookbehind {
		p.failAt(at, "cannot refer to group defined in the same lookbehind subpattern")
	}
}

// uses returns the numbers of the groups that something refers to.
func (n *node) uses() []int {
	var list []int
	if n.op == opBackref || n.op == opCond {
		list = append(list, n.group)
	}
	for _, s := range n.subs {
		list = append(list, s.uses()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
