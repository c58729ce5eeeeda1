package agentcall

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Path is where something stands in a JSON document: names of members and
// numbers of items, separated by points or in brackets, in quotes if they hold
// points or brackets. A leading $ is the document. All of these are the same:
//
//	choices.0.message.content
//	$.choices[0].message.content
//	$['choices'][0]["message"].content
//
// A negative number counts from the end: [-1] is the last item.
type Path struct{ steps []string }

// ParsePath reads a path. "" and "$" are the whole document.
func ParsePath(text string) (Path, error) {
	var p Path
	rest := strings.TrimLeft(strings.TrimSpace(text), "$.")
	for rest != "" {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			if rest == "" || rest[0] == '.' || rest[0] == '[' {
				return p, fmt.Errorf("%q: a name is missing after the dot", text)
			}
		case '[':
			step, after, err := bracket(rest[1:])
			if err != nil {
				return p, fmt.Errorf("%q: %w", text, err)
			}
			p.steps, rest = append(p.steps, step), after
		case ']':
			return p, fmt.Errorf("%q: ] without [", text)
		default:
			end := strings.IndexAny(rest, ".[]")
			if end < 0 {
				end = len(rest)
			}
			p.steps, rest = append(p.steps, rest[:end]), rest[end:]
		}
	}
	return p, nil
}

// bracket reads what follows a [.
func bracket(rest string) (step, after string, err error) {
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		end := strings.Index(rest[1:], rest[:1]+"]")
		if end < 0 {
			return "", "", fmt.Errorf("%c is not closed", rest[0])
		}
		return rest[1 : 1+end], rest[1+end+2:], nil
	}
	step, after, ok := strings.Cut(rest, "]")
	step = strings.TrimSpace(step)
	switch {
	case !ok:
		return "", "", fmt.Errorf("[ is not closed")
	case step == "" || strings.ContainsAny(step, "[*?:@"):
		return "", "", fmt.Errorf("[%s] is not supported: use a number or a quoted name", step)
	}
	return step, after, nil
}

// Empty reports whether the path is the whole document.
func (p Path) Empty() bool { return len(p.steps) == 0 }

// In returns the value at the path, or nil.
func (p Path) In(n *jsontree.Node) *jsontree.Node {
	for _, s := range p.steps {
		if n == nil {
			return nil
		}
		if n.Kind == jsontree.Object {
			n = n.Get(s)
			continue
		}
		i, err := strconv.Atoi(s)
		if i < 0 {
			i += len(n.Items)
		}
		if n.Kind != jsontree.Array || err != nil || i < 0 || i >= len(n.Items) {
			return nil
		}
		n = &n.Items[i]
	}
	return n
}
