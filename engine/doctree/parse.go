package doctree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Parse reads the one YAML document of a text. An error is always an [*Error].
func Parse(text []byte, o Options) (*Document, error) { return new(Reader).Parse(text, o) }

// Reader reads texts one after the other and reuses its memory. Only one
// goroutine at a time may use it; the zero value is ready to use.
type Reader struct {
	members jsontree.Stack[Member]
	items   jsontree.Stack[Node]
}

// Parse is [Parse].
func (r *Reader) Parse(text []byte, o Options) (*Document, error) { return r.parse(text, o, true) }

// parse reads a text; direct says whether it may be read without the parser.
func (r *Reader) parse(text []byte, o Options, direct bool) (*Document, error) {
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = MostNodes
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	b := &builder{o: o, r: r, lines: newLines(string(text), o.LineOffset)}
	if err := b.characters(); err != nil {
		return nil, err
	}
	if err := b.size(); err != nil {
		return nil, err
	}
	d := &Document{lines: b.lines}
	if direct {
		root, ok, err := b.direct()
		if err != nil {
			return nil, err
		}
		if ok {
			d.Root, d.Duplicates = root, b.duplicates
			return d, nil
		}
	}
	root, err := b.read(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		d.Root.Pos, d.Root.Text = b.lines.at(0), "None"
		return d, nil
	}
	if d.Root, err = b.node(root, 0); err != nil {
		return nil, err
	}
	d.Duplicates = b.duplicates
	return d, nil
}

func (b *builder) fail(c Class, at Pos, expected, format string, args ...any) *Error {
	return &Error{Class: c, Pos: at, Problem: fmt.Sprintf(format, args...), Expected: expected, Source: b.lines.line(at.Line)}
}

// characters refuses what PyYAML's reader refuses, before anything else.
func (b *builder) characters() error {
	text := b.lines.text
	for i := 0; i < len(text); {
		c := text[i]
		if ' ' <= c && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return b.fail(Encoding, b.lines.at(i), "UTF-8 text", "byte 0x%02x is not UTF-8", c)
		case r < ' ' || 0x7f <= r && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff:
			return b.fail(Encoding, b.lines.at(i), `an escape such as "\x07" in double quotes`, "character U+%04X is not allowed in YAML", r)
		}
		i += size
	}
	return nil
}

// size refuses a text with so many indicators that it must have too many nodes,
// before the parser allocates them. Each node but the first needs one.
func (b *builder) size() error {
	text, limit := b.lines.text, 2*b.o.MaxNodes
	if len(text) <= limit {
		return nil
	}
	indicators := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ',', '[', '{':
		case ':', '-', '?':
			if i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\n' && (c != ':' || i == 0 || text[i-1] != '"') {
				continue
			}
		default:
			continue
		}
		if indicators++; indicators > limit {
			return b.fail(Size, b.lines.at(i), "", "more than %d values", b.o.MaxNodes)
		}
	}
	return nil
}

// read returns the root of the only document, or nil if there is none.
func (b *builder) read(text []byte) (root *yaml.Node, err error) {
	b.anchors, b.done = make(map[string]*yaml.Node), make(map[*yaml.Node]built)
	defer func() {
		// The parser panics if its own invariants break; a text must not be able
		// to crash the program.
		if r := recover(); r != nil {
			root, err = nil, b.fail(Syntax, b.lines.at(0), "", "YAML that the parser cannot read: %v", r)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(b.standIns(text)))
	var first, second yaml.Node
	if err := d.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, b.syntax(err)
	}
	switch err := d.Decode(&second); {
	case err == nil:
		at := b.lines.pos(second.Line, second.Column)
		return nil, b.fail(Documents, at, "one document, or each in a text of its own; items of a list begin with a dash", "a second document starts here")
	case !errors.Is(err, io.EOF):
		return nil, b.syntax(err)
	}
	if len(first.Content) == 0 {
		return nil, nil
	}
	return first.Content[0], nil
}

// syntax makes an error with a position from the parser's error, "yaml: line N:
// problem". The line counts from 0 in errors of its grammar and from 1 in those
// of its scanner, and is missing if it is the first.
func (b *builder) syntax(err error) *Error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(problem, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, problem = n, message
				if isGrammar(problem) {
					line++
				}
			}
		}
	}
	class := Syntax
	switch {
	case strings.HasPrefix(problem, "unknown anchor"):
		class = Alias
		problem = strings.TrimSuffix(problem, " referenced") + " is used before it is defined"
	case strings.HasPrefix(problem, "exceeded max depth"):
		class = Depth
	}
	line = min(line, len(b.lines.starts))
	start := b.lines.starts[line-1]
	text := b.lines.text[start:]
	col := len(text) - len(strings.TrimLeft(text, " "))
	if class == Alias {
		name := strings.Split(problem, "'")
		if i := strings.Index(text, "*"+name[1]); i >= 0 {
			return b.fail(class, b.lines.at(start+i), "", "%s", problem)
		}
		if i := strings.Index(b.lines.text, "*"+name[1]); i >= 0 {
			return b.fail(class, b.lines.at(i), "", "%s", problem)
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return b.fail(class, b.lines.at(start+col), remedy(problem, first), "%s", problem)
}

// openedInText matches a bracket after a word, where no list or mapping begins.
var openedInText = regexp.MustCompile(`[A-Za-z0-9_$)] *[\[{]`)

// remedy says what a line usually lacks if the parser reports this problem.
func remedy(problem, line string) string {
	if strings.HasPrefix(problem, "did not find expected ',' or") { // the parser was in the middle of brackets
		if strings.Contains(line, "?") {
			return `quotes around text that contains "?"`
		}
		if m := openedInText.FindString(line); m != "" {
			return fmt.Sprintf("quotes around text that contains %q", m[len(m)-1:])
		}
	}
	switch problem {
	case "mapping values are not allowed in this context":
		return `quotes around text that contains ": "`
	case "could not find expected ':'":
		return "a colon and a space after the key"
	case "found character that cannot start any token":
		return "spaces for indentation, quotes around text that starts with @, ` or %"
	case "did not find expected ',' or ']'":
		return "a closing bracket"
	case "did not find expected ',' or '}'":
		return "a closing brace"
	case "did not find expected key", "did not find expected '-' indicator":
		return "the indentation of the lines before"
	case "found unexpected end of stream":
		return "a closing quote"
	case "found unknown escape character":
		return "another backslash before it, or single quotes"
	}
	return ""
}

func isGrammar(problem string) bool {
	switch problem {
	case "did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected key",
		"did not find expected '-' indicator", "did not find expected node content", "did not find expected <stream-start>",
		"did not find expected <document start>", "found duplicate %YAML directive", "found incompatible YAML document",
		"found duplicate %TAG directive", "found undefined tag handle":
		return true
	}
	return false
}
