package modelfile

import (
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/logic"
)

// actsConstraint reads a constraint in ACTS's language: comparisons of
// parameters, values and arithmetic, joined by !, &&, || and =>.
func (r *reader) actsConstraint(text string, from int, place func(at int) diag.Pos) {
	s := &scanner{reader: r, text: text, at: from, place: place}
	s.space()
	begin := s.at
	n := s.expression(0)
	s.space()
	if !s.failed && s.at < len(s.text) {
		s.fail(s.at, "syntax", "a constraint must end here, or go on with an operator; here is "+s.next(), "")
	}
	if c := s.boolean(n); !s.failed {
		r.constrain(text[begin:], place(begin), c)
	}
}

// node is a part of an expression: a condition, or an operand.
type node struct {
	at    int
	truth bool
	cond  solve.Cond

	vars  []int
	param int    // index of the parameter, or -1
	word  string // the literal, if param is -1 and calc is nil
	bare  bool   // without quotes
	calc  func(row []int) float64
}

// operators are the binary operators with their precedence. An operator that begins like another
// one but is longer comes first.
var operators = []struct {
	text string
	bind int
}{
	{"=>", 1}, {"->", 1}, {"||", 2}, {"&&", 3},
	{"<>", 4}, {"!=", 4}, {"<=", 4}, {">=", 4}, {"==", 4}, {"=", 4}, {"<", 4}, {">", 4},
	{"+", 5}, {"-", 5}, {"*", 6}, {"/", 6}, {"%", 6},
}

// expression reads operators with a higher precedence than outer.
func (s *scanner) expression(outer int) node {
	if s.depth++; s.depth > maxNesting {
		s.fail(s.at, "nesting", "this constraint is nested too deeply", "")
		return node{}
	}
	defer func() { s.depth-- }()
	left := s.primary()
	for !s.failed {
		s.space()
		at := s.at
		i := slices.IndexFunc(operators, func(o struct {
			text string
			bind int
		}) bool {
			return strings.HasPrefix(s.text[at:], o.text)
		})
		if i < 0 || operators[i].bind <= outer {
			return left
		}
		o := operators[i]
		s.at += len(o.text)
		bind := o.bind
		if bind == 1 { // a => b => c is a => (b => c)
			bind = 0
		}
		right := s.expression(bind)
		if !s.failed {
			left = s.join(o.text, o.bind, left, right)
		}
	}
	return left
}

func (s *scanner) primary() node {
	s.space()
	at := s.at
	switch {
	case s.accept("("):
		n := s.expression(0)
		if !s.failed && !s.accept(")") {
			s.fail(s.at, "syntax", "a parenthesis must be closed here, before "+s.next(), "")
		}
		n.at = at
		return n
	case s.accept("!"):
		n := s.expression(4) // precedence between && and a comparison
		return node{at: at, truth: true, cond: logic.Not(s.boolean(n))}
	case s.accept("-"):
		n := s.number(s.expression(6))
		return node{at: at, param: -1, vars: n.vars, calc: func(row []int) float64 { return -n.calc(row) }}
	case s.accept(`"`):
		text, closed := s.until('"')
		if !closed {
			s.fail(at, "syntax", "this text is not closed", "")
		}
		return node{at: at, param: -1, word: text}
	}
	if p := s.longest(); p >= 0 {
		return node{at: at, param: p, vars: []int{p}}
	}
	for s.at < len(s.text) && (isWord(s.text[s.at]) || s.text[s.at] == '.') {
		s.at++
	}
	if s.at == at {
		s.fail(at, "syntax", "a parameter, a value or a parenthesis must stand here, not "+s.next(), "")
	}
	return node{at: at, param: -1, word: s.text[at:s.at], bare: true}
}

// longest reads the longest parameter name that comes next; names may contain more than letters and
// digits.
func (s *scanner) longest() int {
	best, length := -1, 0
	for i, p := range s.f.Params {
		end := s.at + len(p.Name)
		if len(p.Name) > length && strings.HasPrefix(s.text[s.at:], p.Name) && (end == len(s.text) || !isWord(s.text[end]) || !isWord(s.text[end-1])) {
			best, length = i, len(p.Name)
		}
	}
	s.at += length
	return best
}

// join makes one node of an operator and its operands.
func (s *scanner) join(op string, bind int, a, b node) node {
	n := node{at: a.at, param: -1}
	switch {
	case bind <= 3:
		x, y := s.boolean(a), s.boolean(b)
		n.truth = true
		switch {
		case s.failed:
		case op == "||":
			n.cond = logic.Or(x, y)
		case op == "&&":
			n.cond = logic.And(x, y)
		default:
			n.cond = logic.Implies(x, y)
		}
	case bind == 4:
		i := slices.IndexFunc(relations, func(r struct {
			text string
			relation
		}) bool {
			return r.text == op
		})
		n.truth, n.cond = true, s.comparison(relations[i].relation, a, b)
	default:
		x, y := s.number(a), s.number(b)
		n.vars = append(slices.Clone(x.vars), y.vars...)
		n.calc = func(row []int) float64 { return calculate(op, x.calc(row), y.calc(row)) }
	}
	return n
}

// calculate does arithmetic; the quotient of integers is truncated. An undefined result is NaN, and
// no comparison with it holds.
func calculate(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "%":
		return math.Mod(a, b)
	}
	if b == 0 {
		return math.NaN()
	}
	if a == math.Trunc(a) && b == math.Trunc(b) {
		return math.Trunc(a / b)
	}
	return a / b
}

// boolean converts a node to a condition: a comparison, or a parameter with the values true and
// false.
func (s *scanner) boolean(n node) solve.Cond {
	if s.failed || n.truth {
		return n.cond
	}
	if n.param >= 0 && !slices.ContainsFunc(s.f.Params[n.param].Values, func(v Value) bool {
		return !strings.EqualFold(v.Name(), "true") && !strings.EqualFold(v.Name(), "false")
	}) {
		return s.choose(n.param, s.place(n.at), "", func(v *Value) bool { return strings.EqualFold(v.Name(), "true") })
	}
	if n.bare && s.param(n.word) < 0 {
		s.fail(n.at, "unknown-parameter", "there is no parameter "+quote(n.word), diag.DidYouMean(n.word, s.f.Names()))
	}
	s.fail(n.at, "syntax", "a comparison must stand here", "")
	return solve.Cond{}
}

// number converts a node to a number.
func (s *scanner) number(n node) node {
	switch {
	case s.failed || n.calc != nil:
	case n.truth:
		s.fail(n.at, "type", "a number must stand here, not a comparison", "")
	case n.param >= 0:
		p := &s.f.Params[n.param]
		if !p.Numeric {
			s.fail(n.at, "type", "a number must stand here: "+kindOf(*p), "")
		}
		v := n.param
		n.calc = func(row []int) float64 { return p.Values[row[v]].number }
	default:
		x, ok := number(n.word)
		if !ok && n.bare {
			s.fail(n.at, "unknown-parameter", "there is no parameter "+quote(n.word), diag.DidYouMean(n.word, s.f.Names()))
		} else if !ok {
			s.fail(n.at, "type", "a number must stand here, not "+quote(n.word), "")
		}
		n.calc = func([]int) float64 { return x }
	}
	if n.calc == nil {
		n.calc = func([]int) float64 { return 0 }
	}
	return n
}

// comparison compares two nodes.
func (s *scanner) comparison(rel relation, a, b node) solve.Cond {
	switch {
	case s.failed:
		return solve.Cond{}
	case a.truth || b.truth:
		s.fail(a.at, "type", "a comparison cannot be compared: put && or || between", "")
		return solve.Cond{}
	case a.param >= 0 && b.param >= 0 && s.f.Params[a.param].Numeric == s.f.Params[b.param].Numeric:
		return s.both(a.param, b.param, rel)
	case a.param >= 0 && b.param < 0 && b.calc == nil:
		return s.literalOf(a, rel, b)
	case b.param >= 0 && a.param < 0 && a.calc == nil:
		return s.literalOf(b, relation{rel.greater, rel.equal, rel.less}, a)
	}
	x, y := s.number(a), s.number(b)
	if s.failed {
		return solve.Cond{}
	}
	vars := append(slices.Clone(x.vars), y.vars...)
	return logic.Relation(vars, func(row []int) bool {
		m, n := x.calc(row), y.calc(row)
		switch {
		case math.IsNaN(m) || math.IsNaN(n):
			return false
		case m < n:
			return rel.less
		case m > n:
			return rel.greater
		}
		return rel.equal
	})
}

// literalOf compares a parameter with a literal.
func (s *scanner) literalOf(n node, rel relation, literal node) solve.Cond {
	p := &s.f.Params[n.param]
	v := Value{Names: []string{literal.word}}
	isNumber := false
	if v.number, isNumber = number(literal.word); p.Numeric && !isNumber {
		if literal.bare {
			s.fail(literal.at, "unknown-parameter", "there is no parameter "+quote(literal.word), diag.DidYouMean(literal.word, s.f.Names()))
		}
		s.fail(literal.at, "type", "a number must stand here: "+kindOf(*p), "")
		return solve.Cond{}
	}
	if literal.bare && !isNumber && s.valueOf(n.param, literal.word) < 0 {
		near := s.f.Names()
		for i := range p.Values {
			near = append(near, p.Values[i].Name())
		}
		s.fail(literal.at, "unknown-value", quote(literal.word)+" is neither a parameter nor a value of "+quote(p.Name), diag.DidYouMean(literal.word, near))
		return solve.Cond{}
	}
	if x := s.valueOf(n.param, literal.word); x >= 0 && !p.Numeric {
		v = p.Values[x] // true, as the file writes it
	}
	hint := ""
	if rel.equal != (rel.less || rel.greater) {
		hint = s.nearest(n.param, literal.word)
	}
	return s.choose(n.param, s.place(n.at), hint, func(x *Value) bool { return rel.holds(s.order(p.Numeric, x, &v)) })
}
