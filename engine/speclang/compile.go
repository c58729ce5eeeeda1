package speclang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/match"
)

// opcode is what an expression does.
type opcode uint8

const (
	opConst opcode = iota
	opBad          // fails with bad
	opSubject
	opVar
	opIf
	opLet
	opFn
	opCall
	opAnd
	opOr
	opBuiltin
)

// expr is a compiled expression. A variable is found by the number of scopes
// outward, and its number in that scope.
type expr struct {
	op         opcode
	value      Value   // of opConst
	operands   []*expr // of opLet the bindings, then the body; of opFn the body
	symbol     string
	params     int   // of opFn
	form       *Form // of opFn, to compare closures
	outward    int   // of opVar
	slot       int   // of opVar
	builtin    *builtin
	pattern    *match.Pattern // of a regex_match whose pattern is written out
	patternErr error
	bad        *Error
	line, col  int
}

func (e *expr) fail(c Category, format string, args ...any) *Error {
	return &Error{Category: c, Message: fmt.Sprintf(format, args...), Symbol: e.symbol, Line: e.line, Col: e.col}
}

// scope has the variables of one let or closure.
type scope struct {
	names  []string
	parent *scope
}

type compiler struct {
	options  Options
	problems []*Error
}

// The errors of lists that are not calls, in the words of the contract.
const (
	noItems = "spec_lang expression list must not be empty"
	noHead  = "spec_lang expression head must be non-empty string symbol"
)

func (c *compiler) expr(f *Form, s *scope) *expr {
	e := &expr{line: f.Line, col: f.Col}
	switch {
	case f.Kind == Scalar:
		e.value = f.Value
		return e
	case f.Kind == Foreign:
		return c.refuse(e, "spec_lang expression must be list-based s-expr or scalar literal, got %s", f.What)
	case len(f.Items) == 0:
		return c.refuse(e, noItems)
	}
	head := &f.Items[0]
	symbol, ok := head.Value.Str()
	if head.Kind != Scalar || !ok || symbol == "" {
		return c.refuse(e, noHead)
	}
	e.symbol = symbol
	operands := f.Items[1:]
	switch symbol {
	case "subject":
		e.op = opSubject
		return c.arity(e, operands, 0)
	case "var":
		return c.variable(e, operands, s)
	case "if":
		e.op = opIf
		c.arity(e, operands, 3)
	case "let":
		return c.let(e, operands, s)
	case "fn":
		return c.fn(e, f, s)
	case "call", "and", "or":
		e.op = map[string]opcode{"call": opCall, "and": opAnd, "or": opOr}[symbol]
		if len(operands) == 0 {
			c.refuse(e, "spec_lang arity error for %s: expected at least 1 got 0", symbol)
		}
	default:
		c.builtin(e, operands)
	}
	if e.op == opBad {
		return e
	}
	e.operands = make([]*expr, len(operands))
	for i := range operands {
		e.operands[i] = c.expr(&operands[i], s)
	}
	if symbol == "regex_match" {
		c.literalPattern(e)
	}
	return e
}

// refuse makes an expression fail when it is reached.
func (c *compiler) refuse(e *expr, format string, args ...any) *expr {
	e.op, e.bad = opBad, e.fail(Schema, format, args...)
	c.problems = append(c.problems, e.bad)
	return e
}

func (c *compiler) arity(e *expr, operands []Form, want int) *expr {
	if len(operands) != want {
		return c.refuse(e, "spec_lang arity error for %s: expected %d got %d", e.symbol, want, len(operands))
	}
	return e
}

func (c *compiler) builtin(e *expr, operands []Form) {
	i := slices.IndexFunc(builtins[:], func(b builtin) bool { return b.symbol == e.symbol })
	if i < 0 {
		c.refuse(e, "unsupported spec_lang symbol: %s", e.symbol)
		return
	}
	b := &builtins[i]
	e.op, e.builtin = opBuiltin, b
	if !b.subject {
		c.arity(e, operands, b.operands)
	} else if n := len(operands); n != b.operands && n != b.operands-1 {
		c.refuse(e, "spec_lang arity error for %s: expected %d or %d got %d", e.symbol, b.operands-1, b.operands, n)
	}
}

// literalPattern compiles a pattern that is a literal.
func (c *compiler) literalPattern(e *expr) {
	operand := e.operands[1]
	if operand.op != opConst {
		return
	}
	e.pattern, e.patternErr = match.Compile(operand.value.Text(), match.Options{Timeout: c.options.RegexTimeout})
	if e.patternErr != nil {
		bad := operand.fail(Runtime, "%v", e.patternErr)
		bad.Symbol, bad.Cause = e.symbol, e.patternErr
		c.problems = append(c.problems, bad)
	}
}

func (c *compiler) variable(e *expr, operands []Form, s *scope) *expr {
	if c.arity(e, operands, 1); e.op == opBad {
		return e
	}
	name, ok := operands[0].Value.Str()
	if operands[0].Kind != Scalar || !ok || trim(name) == "" {
		return c.refuse(e, "spec_lang var requires non-empty string name")
	}
	e.op = opVar
	for ; s != nil; s = s.parent {
		if i := slices.Index(s.names, name); i >= 0 {
			e.slot = i
			e.value = StringValue(name)
			return e
		}
		e.outward++
	}
	return c.refuse(e, "undefined variable: %s", name)
}

// names reads the names of a let or fn; blanks around them are ignored.
func (c *compiler) names(e *expr, forms []*Form, what, duplicate string) ([]string, bool) {
	list := make([]string, 0, len(forms))
	for _, f := range forms {
		name, ok := f.Value.Str()
		name = trim(name)
		if f.Kind != Scalar || !ok || name == "" {
			c.refuse(e, "spec_lang %s must be non-empty string", what)
			return nil, false
		}
		list = append(list, name)
	}
	seen := make(map[string]bool, len(list))
	for _, name := range list {
		if seen[name] {
			c.refuse(e, "duplicate %s: %s", duplicate, name)
			return nil, false
		}
		seen[name] = true
	}
	return list, true
}

func (c *compiler) let(e *expr, operands []Form, s *scope) *expr {
	if c.arity(e, operands, 2); e.op == opBad {
		return e
	}
	if operands[0].Kind != Call {
		return c.refuse(e, "spec_lang let bindings must be a list")
	}
	bindings := operands[0].Items
	forms := make([]*Form, len(bindings))
	for i := range bindings {
		if bindings[i].Kind != Call || len(bindings[i].Items) != 2 {
			return c.refuse(e, "spec_lang let binding must be [name, expr]")
		}
		forms[i] = &bindings[i].Items[0]
	}
	names, ok := c.names(e, forms, "let binding name", "let binding")
	if !ok {
		return e
	}
	e.op = opLet
	inner := &scope{names: names, parent: s}
	for i := range bindings {
		e.operands = append(e.operands, c.expr(&bindings[i].Items[1], inner))
	}
	e.operands = append(e.operands, c.expr(&operands[1], inner))
	return e
}

func (c *compiler) fn(e *expr, f *Form, s *scope) *expr {
	operands := f.Items[1:]
	if c.arity(e, operands, 2); e.op == opBad {
		return e
	}
	if operands[0].Kind != Call {
		return c.refuse(e, "spec_lang fn params must be a list")
	}
	forms := make([]*Form, len(operands[0].Items))
	for i := range forms {
		forms[i] = &operands[0].Items[i]
	}
	names, ok := c.names(e, forms, "fn param", "fn param")
	if !ok {
		return e
	}
	e.op, e.params, e.form = opFn, len(names), f
	e.operands = []*expr{c.expr(&operands[1], &scope{names: names, parent: s})}
	return e
}

// Unknown returns the unknown symbol of an error, so that callers can suggest
// what the writer meant; ok is false for other errors.
func (e *Error) Unknown() (symbol string, ok bool) {
	return strings.CutPrefix(e.Message, "unsupported spec_lang symbol: ")
}
