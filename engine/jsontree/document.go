package jsontree

import (
	"fmt"
	"sort"
	"strings"
)

// Document is a parsed text.
type Document struct {
	Root     Node
	Repeated []string // keys that their object already has; the last value counts
	lines    lines
}

// Position is a place in the text. Line and Col are 1-based; Col counts bytes.
type Position struct{ Line, Col int }

// Position returns the line and column of a byte offset.
func (d *Document) Position(offset int) Position { return d.lines.position(offset) }

// Line returns a line of the text without its line end; lines count from 1.
func (d *Document) Line(n int) string { return d.lines.line(n) }

// Class says which rule a text breaks.
type Class uint8

// The classes of errors.
const (
	Syntax   Class = iota // not JSON
	Encoding              // not UTF-8
	Depth                 // nested deeper than Options.MaxDepth
	Digits                // an integer longer than Options.MaxDigits
	Nodes                 // more values and keys than Options.MaxNodes
)

// Error says why a text was refused. Parsing ends at the first error, since the
// consequences of a syntax error cannot be distinguished from further errors.
type Error struct {
	Class    Class
	Offset   int
	Position Position
	Problem  string // what is there: "unexpected '}'"
	Expected string // what could be there instead: "a value"; may be empty
	Source   string // the offending line
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Position.Line, e.Position.Col, e.Message())
}

// Message returns the error without its position.
func (e *Error) Message() string {
	if e.Expected == "" {
		return e.Problem
	}
	return e.Problem + ", expected " + e.Expected
}

// lines finds lines in a text; the index is made on first use.
type lines struct {
	text   string
	starts []int
}

func (l *lines) index() {
	if l.starts != nil {
		return
	}
	l.starts = make([]int, 1, 1+strings.Count(l.text, "\n"))
	for at := 0; ; {
		i := strings.IndexByte(l.text[at:], '\n')
		if i < 0 {
			return
		}
		at += i + 1
		l.starts = append(l.starts, at)
	}
}

func (l *lines) position(offset int) Position {
	l.index()
	i := sort.SearchInts(l.starts, offset+1) - 1
	return Position{Line: i + 1, Col: offset - l.starts[i] + 1}
}

func (l *lines) line(n int) string {
	l.index()
	if n < 1 || n > len(l.starts) {
		return ""
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n] - 1
	}
	return strings.TrimSuffix(l.text[l.starts[n-1]:end], "\r")
}
