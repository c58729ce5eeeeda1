package lang

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Format writes the tree of an IR document in the language. It compiles the result and adds calls
// of ir for whatever the language cannot express or expresses differently.
func Format(root *doctree.Node) (string, error) {
	p := &printer{root: root, explicit: map[string]bool{}, called: map[string]int{}, branches: map[string]*node{}, vars: map[string]bool{"actor": true}}
	p.survey()
	for {
		m, list := Compile("", []byte(p.print()))
		if list.HasErrors() {
			return "", fmt.Errorf("writing the model: %w", list)
		}
		before := len(p.explicit)
		p.differ(&m.Tree.Root)
		if len(p.explicit) == before {
			p.patches = nil
			p.compare(root, &m.Tree.Root, nil)
			break
		}
	}
	out := p.print()
	m, _ := Compile("", []byte(out))
	if a, b := root.JSON(), m.Tree.Root.JSON(); !a.Equal(&b) {
		return "", errors.New("writing the model: the language cannot express this document")
	}
	return out, nil
}

// printer writes a document.
type printer struct {
	b        strings.Builder
	root     *node
	explicit map[string]bool  // parts that must be written out because their defaults differ
	called   map[string]int   // by action: how often protocols call it
	branches map[string]*node // by action: the branch that its function represents
	vars     map[string]bool
	local    []string // variables of the current expression
	rules    bool     // inside a rule over inputs
	patches  []string
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var keywords = strings.Fields("and break continue def elif else for if in lambda load not or pass return while as assert async await class del except " +
	"finally from global import is nonlocal raise try with yield True False None")

// isIdentifier reports whether a text is a valid name in the language.
func isIdentifier(name string) bool {
	return identifier.MatchString(name) && !slices.Contains(keywords, name)
}

func quote(s string) string { return syntax.Quote(s, false) }

// survey finds where actions are called.
func (p *printer) survey() {
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		if a, ok := n.Get("action").Str(); ok {
			p.called[a]++
		}
		for i := range itemsOf(n.Get("children")) {
			visit(&n.Get("children").Items()[i])
		}
		for i := range itemsOf(n.Get("branches")) {
			x := &n.Get("branches").Items()[i]
			if a, ok := x.Get("body").Get("action").Str(); ok && a == textOf(x, "id") {
				p.branches[a] = x
			}
			visit(x.Get("body"))
		}
		visit(n.Get("body"))
	}
	for _, m := range p.members("protocols") {
		visit(m.Value.Get("root"))
	}
	for a := range p.branches {
		if p.called[a] > 1 || !p.actable(a) {
			delete(p.branches, a)
		}
	}
	for _, m := range p.members("effects") {
		if v, ok := m.Value.Get("creates").Get("assign").Str(); ok {
			p.vars[v] = true
		}
		for _, x := range itemsOf(m.Value.Get("picks")) {
			p.vars[textOf(&x, "var")] = true
		}
	}
}

// members returns the entries of a section, ordered by name.
func (p *printer) members(keys ...string) []doctree.Member {
	n := p.root
	for _, k := range keys {
		n = n.Get(k)
	}
	if n == nil {
		return nil
	}
	sorted := n.WithMembers(slices.Clone(n.Members()))
	ordered(&sorted)
	return sorted.Members()
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *printer) print() string {
	p.b.Reset()
	b := p.root.Get("bindings")
	entry, _ := b.Get("entry").Str()
	switch runtime, _ := b.Get("runtime").Str(); runtime {
	case "system":
		p.line("system(%s)", quote(entry))
	case "wasm":
		p.line("module(%s)", quote(entry))
	}
	for _, m := range p.members("entities") {
		p.entity(m)
	}
	p.inputs()
	for _, m := range p.members("refinements") {
		p.function(m, "refinements")
	}
	for _, m := range p.members("functions") {
		p.function(m, "functions")
	}
	for _, m := range p.members("effects") {
		if p.actable(m.Key.Text) {
			p.action(m)
		}
	}
	for _, m := range p.members("protocols") {
		if root := m.Value.Get("root"); isIdentifier(m.Key.Text) && root != nil && len(m.Value.Members()) == 1 {
			p.line("\n%s = %s", m.Key.Text, p.call("protocol", []string{p.node(root, 1)}, 0))
		}
	}
	for _, m := range p.members("properties") {
		p.property(m)
	}
	for _, m := range p.members("generators") {
		p.generator(m)
	}
	p.settings()
	if len(p.patches) > 0 {
		p.line("")
	}
	for _, x := range p.patches {
		p.line("%s", x)
	}
	return strings.TrimLeft(p.b.String(), "\n")
}

// width is the maximum width of a line; longer calls get one argument per line.
const width = 100

// call writes a call on one line, or with one argument per line.
func (p *printer) call(name string, args []string, level int) string {
	one := name + "(" + strings.Join(args, ", ") + ")"
	if len(one)+4*level <= width && !strings.Contains(one, "\n") || len(args) == 0 {
		return one
	}
	pad := strings.Repeat("    ", level)
	return name + "(\n" + pad + "    " + strings.Join(args, ",\n"+pad+"    ") + ",\n" + pad + ")"
}

// value writes a JSON value.
func value(n *node) string {
	switch n.Kind {
	case doctree.Null:
		return "None"
	case doctree.Bool:
		return map[bool]string{true: "True", false: "False"}[n.Bool]
	case doctree.String:
		return quote(n.Text)
	case doctree.Seq:
		var items []string
		for i := range n.Items() {
			items = append(items, value(&n.Items()[i]))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case doctree.Map:
		var items []string
		for i := range n.Members() {
			items = append(items, quote(n.Members()[i].Key.Text)+": "+value(&n.Members()[i].Value))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case doctree.Float:
		j := n.JSON()
		return j.Text
	}
	return n.Text
}

// reading writes a name or a value, and a list of them in brackets.
func reading(n *node) string {
	if s, ok := n.Str(); ok {
		a, b, dotted := strings.Cut(s, ".")
		if isIdentifier(s) || dotted && isIdentifier(a) && isIdentifier(b) {
			return s
		}
	}
	if n.Kind == doctree.Seq {
		var items []string
		for i := range n.Items() {
			items = append(items, reading(&n.Items()[i]))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return value(n)
}

// differ notes what must be written out.
func (p *printer) differ(got *node) {
	note := func(keys ...string) {
		a, b := p.root, got
		for _, k := range keys {
			a, b = a.Get(k), b.Get(k)
		}
		if a != nil && b != nil {
			if x, y := a.JSON(), b.JSON(); x.Equal(&y) {
				return
			}
		}
		if a != nil {
			p.explicit[strings.Join(keys, "\x00")] = true
		}
	}
	for _, m := range p.members("functions") {
		note("functions", m.Key.Text, "returns")
	}
	for _, m := range p.members("bindings", "actions") {
		for _, key := range options {
			note("bindings", "actions", m.Key.Text, key)
		}
		note("bindings", "actions", m.Key.Text, "args")
	}
	for _, keys := range [][]string{
		{"exploration", "actor"}, {"exploration", "budget"}, {"exploration", "epoch_size"}, {"exploration", "coverage_floor_threshold"}, {"exploration", "weights"},
		{"exploration", "strategy"}, {"exploration", "concurrency", "threads"}, {"exploration", "concurrency", "mode"}, {"exploration", "concurrency", "faults"},
		{"exploration", "directives_allowed"}, {"exploration", "adaptation_signals"}, {"inputs", "coverage", "targets"},
		{"inputs", "coverage", "seed"}, {"inputs", "coverage", "reproducible"}, {"bindings", "event_hooks", "mode"},
		{"bindings", "event_hooks", "observe"}, {"bindings", "event_hooks", "capture"},
	} {
		note(keys...)
	}
}

func (p *printer) isExplicit(keys ...string) bool { return p.explicit[strings.Join(keys, "\x00")] }

// compare adds a call of ir for each part of a document that is missing or different.
func (p *printer) compare(want, got *node, path []string) {
	if a, b := want.JSON(), got.JSON(); a.Equal(&b) {
		return
	}
	if got == nil || want.Kind != doctree.Map || got.Kind != doctree.Map {
		args := make([]string, 0, len(path)+1)
		for _, k := range path {
			args = append(args, quote(k))
		}
		p.patches = append(p.patches, p.call("ir", append(args, value(want)), 0))
		return
	}
	sorted := want.WithMembers(slices.Clone(want.Members()))
	ordered(&sorted)
	for i := range got.Members() {
		if sorted.Get(got.Members()[i].Key.Text) == nil && len(path) > 0 { // got has a further key, so write the whole value
			p.compare(&sorted, &node{Kind: doctree.Null}, path)
			return
		}
	}
	for i := range sorted.Members() {
		m := &sorted.Members()[i]
		was := got.Get(m.Key.Text)
		if was == nil {
			was = &node{Kind: doctree.Null, Text: "\x00"}
		}
		p.compare(&m.Value, was, append(slices.Clip(path), m.Key.Text))
	}
}

// extensions lists keys that existing readers ignore, except those noted where they are translated.
// A * matches any name.
var extensions = [...]struct{ key, what string }{
	{"entities.*.fields.*.default", "what a field begins with"},
	{"functions.*.models", "what an observer is compared with"},
	{"functions.*.part", "which part of an answer counts"},
	{"exploration.actor", "who acts"},
	{"exploration.budget", "how many traversals a run makes"},
	{"exploration.vary", "what was done already loses weight"},
	{"exploration.concurrency.faults", "faults between calls"},
	{"bindings.actions.*.rejects", "how a call is refused"},
	{"bindings.actions.*.answer", "what a call answers"},
	{"bindings.actions.*.part", "which part of an answer counts"},
	{"bindings.actions.*.reuses", "whose handle a new instance may get"},
}

// noteExtensions notes each of these keys once, at its first occurrence.
func (c *compiler) noteExtensions() {
	for _, x := range extensions {
		if at := first(c.root, strings.Split(x.key, ".")); at != nil {
			c.noteExtension(at.Pos, func() (key, what string) { return "$." + x.key, x.what })
		}
	}
}

// first returns the first node at a path. It skips the default of a bool, which the published
// format has.
func first(n *node, path []string) *node {
	if n == nil || len(path) == 0 {
		return n
	}
	if path[0] != "*" {
		if path[0] == "default" && textOf(n, "type") == "bool" {
			return nil
		}
		return first(n.Get(path[0]), path[1:])
	}
	members := membersOf(n)
	for i := range members {
		if found := first(&members[i].Value, path[1:]); found != nil {
			return found
		}
	}
	return nil
}
