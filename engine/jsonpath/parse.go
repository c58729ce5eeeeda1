package jsonpath

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// parser reads a path from left to right; fault is the error that stops it.
type parser struct {
	text  string
	pos   int
	depth int
}

type fault string

func (p *parser) fail(format string, args ...any) { panic(fault(fmt.Sprintf(format, args...))) }

func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) take(sign string) bool {
	if strings.HasPrefix(p.rest(), sign) {
		p.pos += len(sign)
		return true
	}
	return false
}

func (p *parser) want(sign string) {
	if p.space(); !p.take(sign) {
		got := "the end"
		if r := p.rest(); r != "" {
			got = strconv.Quote(r)
		}
		p.fail("expected %s, got %s", sign, got)
	}
}

// name reads letters, digits, _ and -, which many people use too.
func (p *parser) name() string {
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c < 0x80 && c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (p.pos == start || c != '-' && (c < '0' || c > '9')) {
			break
		}
		p.pos++
	}
	return p.text[start:p.pos]
}

// segments reads steps as long as there are any. A point without a name after it does
// not belong to the path.
func (p *parser) segments() (list []segment) {
	for {
		start := p.pos
		switch {
		case p.take(".."):
			s := segment{deep: true}
			switch {
			case p.take("["):
				s.list = p.selectors()
			case p.take("*"):
				s.list = []selector{{kind: byAll}}
			default:
				name := p.name()
				if name == "" {
					p.fail("expected a name, * or [ after ..")
				}
				s.list = []selector{{name: name}}
			}
			list = append(list, s)
		case p.take(".*"):
			list = append(list, segment{list: []selector{{kind: byAll}}})
		case p.take("."):
			name := p.name()
			if name == "" {
				p.pos = start
				return list
			}
			list = append(list, segment{list: []selector{{name: name}}})
		case p.take("["):
			list = append(list, segment{list: p.selectors()})
		default:
			return list
		}
	}
}

func (p *parser) selectors() (list []selector) {
	for {
		p.space()
		list = append(list, p.selector())
		if p.space(); !p.take(",") {
			p.want("]")
			return list
		}
	}
}

func (p *parser) selector() selector {
	switch {
	case p.take("*"):
		return selector{kind: byAll}
	case p.take("?"):
		return selector{kind: byFilter, test: p.or()}
	}
	if text, ok := p.quoted(); ok {
		return selector{name: text}
	}
	from := p.integer()
	if p.space(); !p.take(":") {
		if from == nil {
			p.fail("expected a number, a quoted name, * or ? in [...], got %q", p.rest())
		}
		return selector{kind: byIndex, index: *from}
	}
	s := selector{kind: bySlice, from: from}
	p.space()
	s.to = p.integer()
	if p.space(); p.take(":") {
		p.space()
		s.step = p.integer()
	}
	return s
}

func (p *parser) integer() *int {
	start := p.pos
	p.take("-")
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	i, err := strconv.Atoi(p.text[start:p.pos])
	if err != nil || i > 1<<31 || i < -1<<31 {
		if start == p.pos {
			return nil
		}
		p.fail("%q is not an index", p.text[start:p.pos])
	}
	return &i
}

func (p *parser) quoted() (text string, ok bool) {
	if p.pos == len(p.text) || p.text[p.pos] != '\'' && p.text[p.pos] != '"' {
		return "", false
	}
	quote := p.text[p.pos]
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == quote:
			p.pos++
			return b.String(), true
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			b.WriteByte(p.text[p.pos])
		default:
			b.WriteByte(c)
		}
	}
	p.fail("the quote is never closed")
	return "", false
}

func (p *parser) or() test {
	t := p.and()
	for p.space(); p.take("||"); p.space() {
		a, b := t, p.and()
		t = func(root, at *jsontree.Node) (bool, error) {
			if ok, err := a(root, at); ok || err != nil {
				return ok, err
			}
			return b(root, at)
		}
	}
	return t
}

func (p *parser) and() test {
	t := p.not()
	for p.space(); p.take("&&"); p.space() {
		a, b := t, p.not()
		t = func(root, at *jsontree.Node) (bool, error) {
			if ok, err := a(root, at); !ok || err != nil {
				return ok, err
			}
			return b(root, at)
		}
	}
	return t
}

func (p *parser) not() test {
	if p.depth++; p.depth > 100 {
		p.fail("brackets are nested too deeply")
	}
	defer func() { p.depth-- }()
	switch p.space(); {
	case strings.HasPrefix(p.rest(), "!") && !strings.HasPrefix(p.rest(), "!="):
		p.pos++
		t := p.not()
		return func(root, at *jsontree.Node) (bool, error) {
			ok, err := t(root, at)
			return !ok, err
		}
	case p.take("("):
		t := p.or()
		p.want(")")
		return t
	}
	left, exists := p.operand()
	p.space()
	signs := []string{"==", "!=", "<=", ">=", "<", ">"}
	i := slices.IndexFunc(signs, p.take)
	if i < 0 {
		if exists == nil {
			p.fail("a value alone is not a filter: compare it, such as @.id == 7")
		}
		return exists
	}
	p.space()
	right, _ := p.operand()
	return func(root, at *jsontree.Node) (bool, error) {
		a, err := left(root, at)
		if err != nil {
			return false, err
		}
		b, err := right(root, at)
		return err == nil && compared(signs[i], a, b), err
	}
}

// operand reads a side of a comparison: a value, or a path, for which exists reports
// whether it finds something.
func (p *parser) operand() (value func(root, at *jsontree.Node) (*jsontree.Node, error), exists test) {
	from := p.take("@")
	if !from && !p.take("$") {
		n := p.literal()
		return func(_, _ *jsontree.Node) (*jsontree.Node, error) { return n, nil }, nil
	}
	segs := p.segments()
	all := func(root, at *jsontree.Node) ([]*jsontree.Node, error) {
		if !from {
			at = root
		}
		return find(segs, root, at)
	}
	exists = func(root, at *jsontree.Node) (bool, error) {
		list, err := all(root, at)
		return len(list) > 0, err
	}
	return func(root, at *jsontree.Node) (*jsontree.Node, error) {
		list, err := all(root, at)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		return list[0], nil
	}, exists
}

func (p *parser) literal() *jsontree.Node {
	var v any
	if text, ok := p.quoted(); ok {
		v = text
	} else {
		start := p.pos
		for p.pos < len(p.text) && strings.IndexByte(" \t\r\n)]&|,=!<>", p.text[p.pos]) < 0 {
			p.pos++
		}
		word := p.text[start:p.pos]
		i, whole := new(big.Int).SetString(word, 10)
		x, ferr := strconv.ParseFloat(word, 64)
		switch {
		case word == "true" || word == "false":
			v = word == "true"
		case word == "null":
		case whole:
			v = i
		case ferr == nil:
			v = x
		default:
			p.fail("%q is not a value: use a number, a quoted string, true, false, null, or a path that begins with @ or $", word)
		}
	}
	n, err := jsontree.Of(v)
	if err != nil {
		p.fail("%v", err)
	}
	return &n
}
