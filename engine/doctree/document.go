package doctree

import (
	"fmt"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Options bound what is read. The zero value has the default limits.
type Options struct {
	LineOffset int // added to every line: for a block inside a document, the lines before it
	MaxDepth   int // lists and mappings inside each other; 0: 500
	MaxNodes   int // values and keys, each alias counted as everything it stands for; 0: 5,000,000
}

const defaultDepth = 500

// MostNodes is how many values and keys a document may have.
const MostNodes = 5_000_000

// Document is a parsed text. An empty text, or one with only comments, is null.
type Document struct {
	Root       Node
	Duplicates []Duplicate        // repeated keys, in the order of their repetition
	json       *jsontree.Document // of a text in JSON: its lines
	lines      *lines             // of one in YAML
}

// Line returns a line of the text without its line end. Lines are numbered as in
// positions, with the offset of the options.
func (d *Document) Line(n int) string {
	if d.json != nil {
		return d.json.Line(n)
	}
	return d.lines.line(n)
}

// Duplicate is a key that a mapping holds more than once; the last value counts.
type Duplicate struct {
	Key    string
	First  Pos // the key's first place
	Repeat Pos // the place of this repetition
}

// Class says which rule a text breaks.
type Class uint8

// The classes of errors.
const (
	Syntax    Class = iota // not YAML
	Encoding               // not UTF-8, or a character that YAML forbids
	Depth                  // nested deeper than Options.MaxDepth
	Size                   // more nodes than Options.MaxNodes
	Alias                  // an unknown, repeated or recursive anchor
	Tag                    // a tag outside the standard set, or a value that its tag does not allow
	Key                    // a key that cannot be one, or a malformed merge
	Documents              // more than one document
	Digits                 // an integer that is too long
)

// Error says why a text was refused.
type Error struct {
	Class    Class
	Pos      Pos
	Problem  string // what is there: "unknown tag !foo"
	Expected string // what could be there instead; may be empty
	Source   string // the offending line
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Col, e.Message())
}

// Message returns the error without its position.
func (e *Error) Message() string {
	if e.Expected == "" {
		return e.Problem
	}
	return e.Problem + ", expected " + e.Expected
}
