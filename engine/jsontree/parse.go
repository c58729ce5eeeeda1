package jsontree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Options say which texts are accepted. The zero value is [Strict] without
// limits on keys and with the default depth.
type Options struct {
	NonFinite      bool // accept NaN, Infinity and -Infinity
	LoneSurrogates bool // accept \ud800 without its partner
	UniqueKeys     bool // refuse repeated keys; otherwise the last one wins and they are reported
	MaxDigits      int  // digits of an integer; 0: no limit
	MaxDepth       int  // arrays and objects inside each other; 0: 10000
	MaxNodes       int  // values and keys; 0: no limit
}

const defaultDepth = 10000

// Python accepts what CPython's json.loads accepts: its 4300-digit limit on
// integers, and the depth that its most permissive release (3.13) reaches;
// older ones give up between 988 and 1494.
func Python() Options {
	return Options{NonFinite: true, LoneSurrogates: true, MaxDigits: 4300, MaxDepth: 9995}
}

// Parse reads one JSON value that makes up the whole text, apart from white
// space. An error is always an [*Error].
func Parse(text []byte, o Options) (*Document, error) {
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultDepth
	}
	p := parser{text: string(text), o: o}
	p.lines.text = p.text
	if err := p.encoding(); err != nil {
		return nil, err
	}
	if err := p.few(); err != nil {
		return nil, err
	}
	p.space()
	var root Node
	if err := p.value(&root, "a value"); err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, p.unexpected("the end of the text")
	}
	return &Document{Root: root, Duplicates: p.duplicates, lines: p.lines}, nil
}

type parser struct {
	text       string
	at         int
	depth      int
	o          Options
	duplicates []Duplicate
	lines      lines
}

// encoding refuses text that is not UTF-8 before anything else is looked at,
// as a decoder that reads text would.
func (p *parser) encoding() error {
	if utf8.ValidString(p.text) {
		if strings.HasPrefix(p.text, "\ufeff") {
			return p.fail(Syntax, 0, "a byte order mark at the start", "JSON text without it")
		}
		return nil
	}
	for i, r := range p.text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(p.text[i:]); n == 1 {
				return p.fail(Encoding, i, fmt.Sprintf("byte 0x%02x is not UTF-8", p.text[i]), "UTF-8 text")
			}
		}
	}
	return nil
}

// few refuses a text of too many values and keys before any of them takes
// memory. Of a text that is not JSON it counts what looks like them.
func (p *parser) few() error {
	if p.o.MaxNodes <= 0 || len(p.text) <= p.o.MaxNodes {
		return nil
	}
	word := false
	nodes := 0
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}':
			word = false
			continue
		case '"', '[', '{':
			word = false
		default:
			if word {
				continue
			}
			word = true
		}
		if nodes++; nodes > p.o.MaxNodes {
			return p.fail(Nodes, i, fmt.Sprintf("more than %d values and keys", p.o.MaxNodes), "")
		}
		if p.text[i] == '"' {
			for i++; i < len(p.text) && p.text[i] != '"'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		}
	}
	return nil
}

func (p *parser) fail(c Class, offset int, problem, expected string) *Error {
	pos := p.lines.position(offset)
	return &Error{Class: c, Offset: offset, Position: pos, Problem: problem, Expected: expected, Source: p.lines.line(pos.Line)}
}

// unexpected reports what stands at the current place.
func (p *parser) unexpected(expected string) *Error {
	if p.at >= len(p.text) {
		return p.fail(Syntax, len(p.text), "the text ends too early", expected)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return p.fail(Syntax, p.at, fmt.Sprintf("unexpected %q", r), expected)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(n *Node, expected string) error {
	n.Offset = p.at
	if p.at >= len(p.text) {
		return p.unexpected(expected)
	}
	var err error
	switch c := p.text[p.at]; {
	case c == '{':
		err = p.object(n)
	case c == '[':
		err = p.array(n)
	case c == '"':
		n.Kind = String
		n.Text, err = p.str()
	case c == '-' || '0' <= c && c <= '9':
		err = p.number(n)
	case p.literal("null"):
	case p.literal("true"):
		n.Kind, n.Bool = Bool, true
	case p.literal("false"):
		n.Kind = Bool
	case p.o.NonFinite && (p.literal("NaN") || p.literal("Infinity")):
		n.Kind, n.Text = Float, p.text[n.Offset:p.at]
	default:
		return p.unexpected(expected)
	}
	n.End = p.at
	return err
}

func (p *parser) literal(word string) bool {
	if strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

func (p *parser) enter() error {
	if p.depth++; p.depth > p.o.MaxDepth {
		return p.fail(Depth, p.at, fmt.Sprintf("nested deeper than %d levels", p.o.MaxDepth), "")
	}
	p.at++
	p.space()
	return nil
}

func (p *parser) array(n *Node) error {
	n.Kind = Array
	if err := p.enter(); err != nil {
		return err
	}
	if p.literal("]") {
		p.depth--
		return nil
	}
	for {
		n.Items = append(n.Items, Node{})
		if err := p.value(&n.Items[len(n.Items)-1], "a value"); err != nil {
			return err
		}
		p.space()
		if p.literal("]") {
			p.depth--
			return nil
		}
		if !p.literal(",") {
			return p.unexpected("',' or ']'")
		}
		p.space()
	}
}

// manyKeys is the number of keys from which a map beats looking through them.
const manyKeys = 16

func (p *parser) object(n *Node) error {
	n.Kind = Object
	if err := p.enter(); err != nil {
		return err
	}
	if p.literal("}") {
		p.depth--
		return nil
	}
	var seen map[string]int
	for {
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return p.unexpected("a key in double quotes")
		}
		offset := p.at
		key, err := p.str()
		if err != nil {
			return err
		}
		p.space()
		if !p.literal(":") {
			return p.unexpected("':'")
		}
		p.space()
		i, again := find(n.Members, seen, key)
		if again {
			if p.o.UniqueKeys {
				return p.fail(Repetition, offset, fmt.Sprintf("key %q is repeated", key), "each key once")
			}
			p.duplicates = append(p.duplicates, Duplicate{Key: key, First: n.Members[i].KeyOffset, Repeat: offset})
			n.Members[i].Value = Node{}
		} else {
			i = len(n.Members)
			n.Members = append(n.Members, Member{Key: key, KeyOffset: offset})
			if seen != nil {
				seen[key] = i
			} else if len(n.Members) == manyKeys {
				seen = make(map[string]int, 2*manyKeys)
				for j := range n.Members {
					seen[n.Members[j].Key] = j
				}
			}
		}
		if err := p.value(&n.Members[i].Value, "a value"); err != nil {
			return err
		}
		p.space()
		if p.literal("}") {
			p.depth--
			return nil
		}
		if !p.literal(",") {
			return p.unexpected("',' or '}'")
		}
		p.space()
	}
}

func find(members []Member, seen map[string]int, key string) (int, bool) {
	if seen != nil {
		i, ok := seen[key]
		return i, ok
	}
	for i := range members {
		if members[i].Key == key {
			return i, true
		}
	}
	return 0, false
}
