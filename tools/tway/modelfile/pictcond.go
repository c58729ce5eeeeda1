package modelfile

import (
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/logic"
)

// constraints reads PICT's constraints, from a line to the end of the file.
func (r *reader) constraints(line int) {
	var text strings.Builder
	starts := make([]int, 0, len(r.lines)-line)
	for _, l := range r.lines[line:] {
		starts = append(starts, text.Len())
		if skip(l) {
			l = ""
		}
		text.WriteString(l + "\n")
	}
	s := &scanner{reader: r, text: text.String(), place: func(at int) diag.Pos {
		i := sort.SearchInts(starts, at+1) - 1
		return r.pos(line+i, at-starts[i])
	}}
	for s.space(); s.at < len(s.text); s.space() {
		s.constraint()
	}
}

// constraint reads IF predicate THEN predicate [ELSE predicate]; or predicate;
func (s *scanner) constraint() {
	s.failed, s.depth = false, 0
	from := s.at
	c := s.statement()
	if s.failed || !s.accept(";") {
		s.space()
		s.fail(min(s.at, len(strings.TrimRight(s.text, "\n"))), "syntax", "a constraint must go on with AND or OR, or end with a semicolon; here is "+s.next(), "")
		s.recover()
		return
	}
	s.constrain(s.text[from:s.at-1], s.place(from), c)
}

// recover skips to the end of a faulty constraint.
func (s *scanner) recover() {
	quoted := false
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
		case ';':
			if !quoted {
				s.at++
				return
			}
		}
	}
}

func (s *scanner) statement() solve.Cond {
	if !s.word("IF") {
		return s.predicate()
	}
	when := s.predicate()
	if !s.word("THEN") {
		s.space()
		s.fail(s.at, "syntax", "IF needs a THEN here, not "+s.next(), "")
		return solve.Cond{}
	}
	then := s.predicate()
	if s.failed {
		return solve.Cond{}
	}
	c := logic.Implies(when, then)
	if s.word("ELSE") {
		otherwise := s.predicate()
		if s.failed {
			return solve.Cond{}
		}
		c = logic.And(c, logic.Or(when, otherwise))
	}
	return c
}

// predicate reads clauses joined by OR; AND has a higher precedence and NOT the highest.
func (s *scanner) predicate() solve.Cond {
	return s.series("OR", logic.Or, func() solve.Cond { return s.series("AND", logic.And, s.clause) })
}

func (s *scanner) series(word string, join func(...solve.Cond) solve.Cond, part func() solve.Cond) solve.Cond {
	list := []solve.Cond{part()}
	for !s.failed && s.word(word) {
		list = append(list, part())
	}
	switch {
	case s.failed:
		return solve.Cond{}
	case len(list) == 1:
		return list[0]
	}
	return join(list...)
}

func (s *scanner) clause() solve.Cond {
	s.space()
	from := s.at
	if s.depth++; s.depth > maxNesting {
		s.fail(from, "nesting", "this constraint is nested too deeply", "")
		return solve.Cond{}
	}
	defer func() { s.depth-- }()
	switch {
	case s.accept("("):
		c := s.predicate()
		if !s.failed && !s.accept(")") {
			s.space()
			s.fail(s.at, "syntax", "a parenthesis must be closed here, before "+s.next(), "")
		}
		return c
	case s.word("NOT"):
		if c := s.clause(); !s.failed {
			return logic.Not(c)
		}
		return solve.Cond{}
	case s.word("IsNegative"):
		return s.sign(true)
	case s.word("IsPositive"):
		return s.sign(false)
	}
	return s.term()
}

// sign reads the parameter of IsNegative or IsPositive.
func (s *scanner) sign(negative bool) solve.Cond {
	if !s.accept("(") {
		s.fail(s.at, "syntax", "a parameter in parentheses must follow", "")
		return solve.Cond{}
	}
	s.space()
	from := s.at
	end := strings.IndexAny(s.text[from:], ")\n")
	if end < 0 || s.text[from+end] != ')' {
		s.fail(from, "syntax", "this parenthesis is not closed", "")
		return solve.Cond{}
	}
	s.at = from + end + 1
	name := strings.TrimSpace(s.text[from : from+end])
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	p := s.known(name, s.place(from))
	if p < 0 {
		s.failed = true
		return solve.Cond{}
	}
	return s.choose(p, s.place(from), s.f.dialect.Negative+" before a value makes it negative", func(v *Value) bool { return v.Invalid == negative })
}

// term reads [PARAMETER] RELATION and a value, a set of values, a pattern or another parameter.
func (s *scanner) term() solve.Cond {
	s.space()
	from := s.at
	p, ok := s.parameterName()
	if !ok {
		return solve.Cond{}
	}
	negated := s.word("NOT")
	var c solve.Cond
	switch {
	case s.word("IN"):
		c = s.oneOf(p, from)
	case s.word("LIKE"):
		c = s.pattern(p, from)
	default:
		s.space()
		rel, found := s.relation()
		if !found || negated {
			s.fail(s.at, "syntax", "=, <>, <, <=, >, >=, IN or LIKE must follow a parameter, not "+s.next(), "")
			return solve.Cond{}
		}
		return s.compared(p, rel, from)
	}
	if negated && !s.failed {
		c = logic.Not(c)
	}
	return c
}

// parameterName reads [NAME].
func (s *scanner) parameterName() (int, bool) {
	s.space()
	from := s.at
	if !s.accept("[") {
		hint := ""
		if rest := s.next(); s.param(strings.Trim(rest, `"`)) >= 0 {
			hint = "did you mean [" + strings.Trim(rest, `"`) + "]?"
		}
		s.fail(from, "syntax", "a parameter in brackets must stand here, not "+s.next(), hint)
		return 0, false
	}
	name, closed := s.until(']')
	if !closed {
		s.at = from + 1
		s.fail(from, "syntax", "this bracket is not closed", "")
		return 0, false
	}
	p := s.known(strings.TrimSpace(name), s.place(from+1))
	if p < 0 {
		s.failed = true // continue after this constraint: its other faults follow from this one
	}
	return p, p >= 0
}

// compared reads the right operand of a comparison.
func (s *scanner) compared(p int, rel relation, from int) solve.Cond {
	s.space()
	if strings.HasPrefix(s.text[s.at:], "[") {
		at := s.at
		q, ok := s.parameterName()
		if !ok {
			return solve.Cond{}
		}
		a, b := s.f.Params[p], s.f.Params[q]
		if a.Numeric != b.Numeric {
			s.fail(at, "type", "numbers cannot be compared with text: "+kindOf(a)+", "+kindOf(b), "")
			return solve.Cond{}
		}
		if p == q {
			s.warn(s.place(at), "all-match", "a parameter is compared with itself", "")
		}
		return s.both(p, q, rel)
	}
	v, ok := s.literal(p)
	if !ok {
		return solve.Cond{}
	}
	hint := ""
	if rel.equal != (rel.less || rel.greater) { // = or <>
		hint = s.nearest(p, v.Name())
	}
	numeric := s.f.Params[p].Numeric
	return s.choose(p, s.place(from), hint, func(x *Value) bool { return rel.holds(s.order(numeric, x, &v)) })
}

func kindOf(p Param) string {
	if p.Numeric {
		return quote(p.Name) + " has numbers only"
	}
	return quote(p.Name) + " has text"
}

// literal reads a value of the type of parameter p.
func (s *scanner) literal(p int) (Value, bool) {
	s.space()
	from := s.at
	numeric := s.f.Params[p].Numeric
	if s.accept(`"`) {
		text, closed := s.until('"')
		switch {
		case !closed:
			s.at = from + 1 // its constraint may still end on this line
			s.fail(from, "syntax", "this text is not closed on its line", "")
		case numeric:
			s.fail(from, "type", "a number must stand here: "+kindOf(s.f.Params[p]), "")
		}
		return Value{Names: []string{text}}, !s.failed
	}
	for s.at < len(s.text) && strings.IndexByte("0123456789+-.eE", s.text[s.at]) >= 0 {
		s.at++
	}
	text := s.text[from:s.at]
	n, ok := number(text)
	switch {
	case !ok:
		s.at = from
		s.fail(from, "syntax", `a value must stand here, a number or text in quotes, not `+s.next(), "")
	case !numeric:
		s.fail(from, "type", "text in quotes must stand here: "+kindOf(s.f.Params[p]), `write "`+text+`"`)
	}
	return Value{Names: []string{text}, number: n}, !s.failed
}

// oneOf reads { VALUE, VALUE }.
func (s *scanner) oneOf(p, from int) solve.Cond {
	if !s.accept("{") {
		s.space()
		s.fail(s.at, "syntax", "IN needs values in braces, not "+s.next(), "")
		return solve.Cond{}
	}
	var list []Value
	hint := ""
	for {
		v, ok := s.literal(p)
		if !ok {
			return solve.Cond{}
		}
		if list = append(list, v); hint == "" {
			hint = s.nearest(p, v.Name())
		}
		if s.accept(",") {
			continue
		}
		if s.accept("}") {
			break
		}
		s.fail(s.at, "syntax", "a comma or the closing brace must stand here, not "+s.next(), "")
		return solve.Cond{}
	}
	numeric := s.f.Params[p].Numeric
	return s.choose(p, s.place(from), hint, func(x *Value) bool {
		for i := range list {
			if s.order(numeric, x, &list[i]) == 0 {
				return true
			}
		}
		return false
	})
}

// pattern reads the operand of LIKE.
func (s *scanner) pattern(p, from int) solve.Cond {
	s.space()
	if s.f.Params[p].Numeric {
		s.fail(from, "type", "LIKE compares text: "+kindOf(s.f.Params[p]), "")
		return solve.Cond{}
	}
	at := s.at
	if !s.accept(`"`) {
		s.fail(at, "syntax", "LIKE needs a pattern in quotes, not "+s.next(), "")
		return solve.Cond{}
	}
	text, closed := s.until('"')
	if !closed {
		s.at = at + 1
		s.fail(at, "syntax", "this text is not closed on its line", "")
		return solve.Cond{}
	}
	pattern := []rune(s.folded(text))
	return s.choose(p, s.place(from), "", func(v *Value) bool { return like(pattern, []rune(s.folded(v.Name()))) })
}
