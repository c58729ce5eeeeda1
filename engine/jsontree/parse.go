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
	MaxDigits      int  // digits of an integer; 0: no limit
	MaxDepth       int  // arrays and objects inside each other; 0: 10000
	MaxNodes       int  // values and keys; 0: no limit
}

const defaultDepth = 10000

// Python accepts what CPython's json.loads accepts, with its 4300-digit limit on
// integers, and the depth of its most permissive release (3.13); older ones give
// up between 988 and 1494.
func Python() Options {
	return Options{NonFinite: true, LoneSurrogates: true, MaxDigits: 4300, MaxDepth: 9995}
}

// Parse reads one JSON value that is the whole text, apart from white space. An
// error is always an [*Error].
func Parse(text []byte, o Options) (*Document, error) {
	root, doc, err := Build(text, o, nodes)
	if err != nil {
		return nil, err
	}
	doc.Root = root
	return doc, nil
}

type parser struct {
	text  string
	at    int
	depth int
	o     Options
	lines *lines
}

// encoding refuses text that is not UTF-8 before anything else, like a decoder
// that reads text.
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

// limitNodes refuses a text with too many values and keys before any of them
// takes memory. In a text that is not JSON it counts what looks like them.
func (p *parser) limitNodes() error {
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

// unexpected reports what is at the current position.
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
