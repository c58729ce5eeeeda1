package speclang

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Infix defines the meaning of names in infix expressions: status == 200 and $.name ==
// "Ada".
type Infix struct {
	// Names stand for members of the subject: status is ["get", ["subject"], "status"].
	Names []string
	// Root is the member of the subject that $ stands for; "." is the subject itself.
	Root string
}

// InfixError says what is wrong with an expression, and at which character of it, from 0.
type InfixError struct {
	At            int
	Message, Hint string
}

func (e *InfixError) Error() string { return e.Message }

// Parse compiles an expression to the list form of the language. used are the members of
// the subject that it reads.
func (x Infix) Parse(text string) (f Form, used []string, err error) {
	p := &infix{Infix: x, text: text}
	defer func() {
		if r := recover(); r != nil {
			e, ours := r.(*InfixError)
			if !ours {
				panic(r)
			}
			f, used, err = Form{}, nil, e
		}
	}()
	p.next()
	f = p.or()
	if p.kind != 0 {
		p.fail(p.join(), "the expression ends before %s", p.shown())
	}
	return f, p.used, nil
}

// infix reads an expression from left to right. kind is that of the current token: 0 at the
// end, 'n' a number, 's' a string, 'w' a word, '$' a path, otherwise an operator or sign.
type infix struct {
	Infix
	text  string
	pos   int // after the token
	at    int // of the token
	kind  byte
	token string
	depth int
	used  []string
}

func (p *infix) fail(hint, format string, args ...any) {
	panic(&InfixError{p.at, fmt.Sprintf(format, args...), hint})
}

func (p *infix) shown() string {
	if p.kind == 0 {
		return "the end"
	}
	return strconv.Quote(p.text[p.at:p.pos])
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func (p *infix) next() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.at = p.pos
	if p.kind = 0; p.pos == len(p.text) {
		return
	}
	take := func(ok func(c byte) bool) {
		for p.pos < len(p.text) && ok(p.text[p.pos]) {
			p.pos++
		}
		p.token = p.text[p.at:p.pos]
	}
	switch c := p.text[p.pos]; {
	case digit(c):
		p.kind = 'n'
		take(func(c byte) bool { return digit(c) || c == '.' })
	case letter(c):
		p.kind = 'w'
		take(func(c byte) bool { return letter(c) || digit(c) })
	case c == '$':
		p.kind = '$'
		p.path()
	case c == '"' || c == '\'':
		p.kind = 's'
		p.quoted(c)
	default:
		p.kind, p.pos = 'o', p.pos+1
		if two := p.text[p.at:min(p.at+2, len(p.text))]; slices.Contains([]string{"==", "!=", "<=", ">=", "&&", "||"}, two) {
			p.pos++
		}
		p.token = p.text[p.at:p.pos]
	}
}

func (p *infix) quoted(quote byte) {
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == quote:
			p.pos++
			p.token = b.String()
			return
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			switch e := p.text[p.pos]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\', '"', '\'':
				b.WriteByte(e)
			default: // as in patterns
				b.WriteString(p.text[p.pos-1 : p.pos+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	p.fail("", "the quote is never closed")
}

// path reads $.a.b[0] and what follows it.
func (p *infix) path() {
	for p.pos++; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '.' && p.pos+1 < len(p.text) && letter(p.text[p.pos+1]):
			for p.pos++; p.pos < len(p.text) && (letter(p.text[p.pos]) || digit(p.text[p.pos]) || p.text[p.pos] == '-'); {
				p.pos++
			}
		case c == '[':
			end := strings.IndexByte(p.text[p.pos:], ']')
			if end < 0 {
				p.fail("", "the bracket is never closed")
			}
			p.pos += end + 1
		default:
			p.token = p.text[p.at:p.pos]
			return
		}
	}
	p.token = p.text[p.at:p.pos]
}

func (p *infix) is(words ...string) bool {
	return (p.kind == 'o' || p.kind == 'w') && slices.Contains(words, p.token)
}

func (p *infix) want(sign string) {
	if !p.is(sign) {
		p.fail("", "expected %q, got %s", sign, p.shown())
	}
	p.next()
}

func (p *infix) or() Form {
	f := p.and()
	for p.is("or", "||") {
		p.next()
		f = CallForm("or", f, p.and())
	}
	return f
}

func (p *infix) and() Form {
	f := p.not()
	for p.is("and", "&&") {
		p.next()
		f = CallForm("and", f, p.not())
	}
	return f
}

func (p *infix) not() Form {
	if p.is("not", "!") {
		p.next()
		return CallForm("not", p.not())
	}
	return p.compared()
}

// signs are operators between two operands, and their functions.
var signs = map[string]string{"==": "eq", "!=": "neq", "in": "in", "contains": "contains", "matches": "regex_match",
	"starts_with": "starts_with", "ends_with": "ends_with", "has": "has_key"}

// The language has no order, so a < b is ["regex_match", ["sub", a, b], negative]. For a >=
// b the difference must be neither negative nor "nan", for which no order holds.
const (
	negative        = "^-(.*[1-9]|inf)"
	negativeOrNoNum = negative + "|nan"
)

// Orders reports whether [Infix] uses a pattern to match a difference.
func Orders(pattern string) bool { return pattern == negative || pattern == negativeOrNoNum }

func (p *infix) compared() Form {
	f := p.sum()
	if p.is("<", ">", "<=", ">=") {
		sign := p.token
		p.next()
		g := p.sum()
		if sign == ">" || sign == "<=" {
			f, g = g, f
		}
		matches := func(pattern string) Form {
			return CallForm("regex_match", CallForm("sub", f, g), ScalarForm(StringValue(pattern)))
		}
		if sign == "<=" || sign == ">=" {
			return CallForm("not", matches(negativeOrNoNum))
		}
		return matches(negative)
	}
	if p.is("=") {
		p.fail("write ==", "= is not a comparison")
	}
	if p.kind != 'o' && p.kind != 'w' {
		return f
	}
	sign, at := p.token, p.at
	if p.is("not") { // "x" not in $.tags
		if p.next(); p.kind != 'w' || signs[p.token] == "" {
			p.at = at
			p.fail("such as not in, not contains", "not needs a comparison after it")
		}
	}
	symbol := signs[p.token]
	if symbol == "" {
		return f
	}
	p.next()
	if f = CallForm(symbol, f, p.sum()); sign == "not" {
		f = CallForm("not", f)
	}
	return f
}

// join says what may be missing before a token that cannot continue an expression.
func (p *infix) join() string {
	if p.kind == 'w' {
		means := Alias(p.token)
		for sign, symbol := range signs {
			if symbol == means {
				return "did you mean " + sign + "?"
			}
		}
		if hint := diag.DidYouMean(p.token, slices.Concat(slices.Collect(maps.Keys(signs)), []string{"and", "or"})); hint != "" {
			return hint
		}
	}
	if p.is("|") {
		return "filters follow a target or a path in when, such as $.ref | last == 7"
	}
	return "conditions are joined by and, or"
}

func (p *infix) sum() Form {
	f := p.operand()
	for p.is("+", "-") {
		symbol := map[string]string{"+": "add", "-": "sub"}[p.token]
		p.next()
		f = CallForm(symbol, f, p.operand())
	}
	return f
}

func (p *infix) operand() Form {
	if p.depth++; p.depth > 200 {
		p.fail("", "brackets are nested too deeply")
	}
	defer func() { p.depth-- }()
	token, at := p.token, p.at
	switch {
	case p.kind == 'n':
		p.next()
		return p.number(token, at)
	case p.is("-"):
		p.next()
		if p.kind != 'n' {
			p.fail("", "expected a number after -, got %s", p.shown())
		}
		token = "-" + p.token
		p.next()
		return p.number(token, at)
	case p.kind == 's':
		p.next()
		return ScalarForm(StringValue(token))
	case p.kind == '$':
		p.next()
		return p.member(token, at)
	case p.is("("):
		p.next()
		f := p.or()
		p.want(")")
		return f
	case p.is("["):
		return p.list()
	case p.kind == 'w':
		p.next()
		return p.word(token, at)
	}
	p.fail("", "expected a value, got %s", p.shown())
	return Form{}
}

// list reads a list of values in JSON, since the language has no lists of its own.
func (p *infix) list() Form {
	d := json.NewDecoder(strings.NewReader(p.text[p.at:]))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		p.fail(`such as [1, "a"]`, "a list holds values as JSON has them")
	}
	p.pos = p.at + int(d.InputOffset())
	p.next()
	return CallForm("json_parse", ScalarForm(StringValue(string(raw))))
}

func (p *infix) number(text string, at int) Form {
	if i, ok := new(big.Int).SetString(text, 10); ok {
		return ScalarForm(BigValue(i))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.at = at
		p.fail("", "%s is not a number", text)
	}
	return ScalarForm(FloatValue(x))
}

func (p *infix) of(name string) Form {
	if !slices.Contains(p.used, name) {
		p.used = append(p.used, name)
	}
	return CallForm("get", CallForm("subject"), ScalarForm(StringValue(name)))
}

// member returns the form for a path in the root.
func (p *infix) member(path string, at int) Form {
	if p.Root == "" {
		p.at = at
		p.fail("", "there is no JSON value for $ to refer to")
	}
	f := CallForm("subject")
	if p.Root != "." {
		f = p.of(p.Root)
	}
	for rest := path[1:]; rest != ""; {
		var key Value
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			key, rest = StringValue(rest[1:end+1]), rest[end+1:]
		} else {
			end := strings.IndexByte(rest, ']')
			inside := rest[1:end]
			if n, err := strconv.ParseInt(inside, 10, 64); err == nil {
				key = IntValue(n)
			} else if key = StringValue(strings.Trim(inside, `'"`)); len(inside) < 3 || inside[0] != '\'' && inside[0] != '"' {
				p.at = at
				p.fail(`such as [0] or ["name"]`, "%q is neither a number nor a quoted name", inside)
			}
			rest = rest[end+1:]
		}
		f = CallForm("get", f, ScalarForm(key))
	}
	return f
}

// word reads a name, a constant or a call.
func (p *infix) word(name string, at int) Form {
	if p.is("(") {
		p.next()
		f := CallForm(Alias(name))
		for !p.is(")") {
			f.Items = append(f.Items, p.or())
			if !p.is(")") {
				p.want(",")
			}
		}
		p.next()
		if !slices.Contains(Symbols(), Alias(name)) {
			p.at = at
			p.fail(Near(name), "there is no function %s", name)
		}
		return f
	}
	switch name {
	case "true", "false":
		return ScalarForm(BoolValue(name == "true"))
	case "null", "none":
		return ScalarForm(NullValue())
	case "subject":
		return CallForm("subject")
	}
	if slices.Contains(p.Names, name) {
		return p.of(name)
	}
	p.at = at
	hint := diag.DidYouMean(name, p.Names)
	if hint == "" {
		hint = "known are " + strings.Join(append(slices.Clone(p.Names), "$"), ", ") + " and functions such as len(...); put text in quotes"
	}
	p.fail(hint, "there is no value %s", name)
	return Form{}
}
