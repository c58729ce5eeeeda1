package spectest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// variables are the values that documents use as ${NAME}: from the command line, from files, and
// captured by cases.
type variables map[string]given

// given is the value of a variable.
type given struct {
	node   doctree.Node // a scalar, list or mapping that can replace a whole value
	secret bool         // never stored or shown
	file   bool         // it came from a file, so the options do not contain it
}

func textValue(s string) given {
	return given{node: doctree.Node{Kind: doctree.String, Style: doctree.Quoted}.As(s, s)}
}

// text is the value as part of a longer text.
func (g given) text() string {
	if k := g.node.Kind; k == doctree.Map || k == doctree.Seq || k == doctree.Null {
		return string(jsonBytes(&g.node))
	}
	if g.node.Kind == doctree.Bool { // as in JSON
		return fmt.Sprint(g.node.Bool)
	}
	return textOf(&g.node)
}

// use matches ${NAME}; $${NAME} stands for the literal text ${NAME}.
var use = lazy.Pattern(`\$?\$\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// variableName matches the name of a variable.
var variableName = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// expand replaces variables in a text. Unknown names stay: documents contain them for shells and
// other tools.
func (v variables) expand(text string) string {
	if len(v) == 0 || !strings.Contains(text, "${") {
		return text
	}
	return use().ReplaceAllStringFunc(text, func(m string) string {
		name := m[strings.Index(m, "{")+1 : len(m)-1]
		g, known := v[name]
		switch {
		case !known:
			return m
		case strings.HasPrefix(m, "$$"):
			return m[1:]
		}
		return g.text()
	})
}

// kept are the keys of a case that contain no variables.
var kept = []string{"capture", "expect", "id", "purpose", "requires", "tags", "title", "type"}

// fill returns a case with its variables replaced. The original tree does not change.
func (v variables) fill(n *doctree.Node) *doctree.Node {
	if len(v) == 0 || n == nil || n.Kind != doctree.Map {
		return n
	}
	out := *n
	out = out.WithMembers(slices.Clone(n.Members()))
	for i := range out.Members() {
		if m := &out.Members()[i]; !slices.Contains(kept, m.Key.Text) {
			m.Value = v.filled(m.Value)
		}
	}
	return &out
}

func (v variables) filled(n doctree.Node) doctree.Node {
	switch n.Kind {
	case doctree.String:
		if m := use().FindStringSubmatch(n.Text); m != nil && m[0] == n.Text && !strings.HasPrefix(m[0], "$$") {
			if g, ok := v[m[1]]; ok { // a value that is one variable keeps its type
				x := g.node
				x.Pos = n.Pos
				return x
			}
		}
		n.Text = v.expand(n.Text)
	case doctree.Seq:
		n = n.WithItems(slices.Clone(n.Items()))
		for i := range n.Items() {
			n.Items()[i] = v.filled(n.Items()[i])
		}
	case doctree.Map:
		n = n.WithMembers(slices.Clone(n.Members()))
		for i := range n.Members() {
			n.Members()[i].Value = v.filled(n.Members()[i].Value)
		}
	}
	return n
}

// uses returns the names of the variables that a case uses, known or not.
func uses(n *doctree.Node) (names []string) {
	var walk func(n *doctree.Node)
	walk = func(n *doctree.Node) {
		if n.Kind == doctree.String {
			names = usedIn(n.Text, names)
		}
		for i := range n.Items() {
			walk(&n.Items()[i])
		}
		for i := range n.Members() {
			walk(&n.Members()[i].Value)
		}
	}
	for i := range n.Members() {
		if m := &n.Members()[i]; !slices.Contains(kept, m.Key.Text) {
			walk(&m.Value)
		}
	}
	return names
}

// usedIn adds the variables that a text uses to names.
func usedIn(text string, names []string) []string {
	for _, m := range use().FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[0], "$$") && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// redactor removes values from stored and shown output; nil if there is nothing to remove. It
// removes secrets and, if captured is set, all captured values long enough to be distinguished from
// other text, because they differ from run to run.
func (v variables) redactor(captured bool) *secret.Redactor {
	var list []secret.Secret
	for _, name := range v.names() {
		if g := v[name]; g.secret || captured {
			list = append(list, secret.Secret{Name: name, Value: g.text()})
		}
	}
	return secret.New(list)
}

func (v variables) names() []string { return slices.Sorted(maps.Keys(v)) }

// hide removes values from a failure and its evidence.
func hide(r *secret.Redactor, f *Failure, notes evidence) (*Failure, evidence) {
	if r == nil {
		return f, notes
	}
	plain := func(s string) string { return string(r.Template([]byte(s))) }
	if f != nil {
		g := *f
		for _, s := range []*string{&g.Message, &g.Want, &g.Text, &g.Saw} {
			*s = plain(*s)
		}
		for _, s := range []**string{&g.actual, &g.expected, &g.steps} {
			if *s != nil {
				text := plain(**s)
				*s = &text
			}
		}
		g.more = seq.Map(g.more, func(m *Failure) *Failure { m, _ = hide(r, m, nil); return m })
		f = &g
	}
	for i := range notes {
		notes[i].Data = r.Template(notes[i].Data)
	}
	return f, notes
}

// readVariables reads the variables of the command line: --var NAME=VALUE, --var NAME for a secret
// of the environment, and files of variables, which --var overrides. An error belongs to the
// returned option.
func readVariables(set campaign.Settings, getenv func(string) string) (v variables, option string, err error) {
	v = variables{}
	for _, path := range set.Options[optVarFile] {
		if err := v.readFile(path, set.Read, getenv); err != nil {
			return nil, optVarFile, err
		}
	}
	for _, text := range set.Options[optVar] {
		name, value, valued := strings.Cut(text, "=")
		if !variableName().MatchString(name) {
			return nil, optVar, fmt.Errorf("must be NAME=VALUE, or NAME for a secret of the environment, not %q", text)
		}
		g := textValue(value)
		if !valued {
			if g = textValue(getenv(name)); g.node.Text == "" {
				return nil, optVar, fmt.Errorf("the environment has no variable %s; give %s=VALUE, or export it", name, name)
			}
			g.secret = true
		}
		v[name] = g
	}
	return v, "", nil
}

// hiding returns the settings with these variables marked secret, because the document uses them
// where only secrets belong.
func (s *settings) hiding(names []string) *settings {
	out := *s
	out.vars = maps.Clone(s.vars)
	for _, name := range names {
		if g, ok := out.vars[name]; ok {
			g.secret = true
			out.vars[name] = g
		}
	}
	out.hidden = out.vars.redactor(false)
	return &out
}

// readFile reads a mapping of names to values in YAML or JSON, or lines of NAME=VALUE. {env: NAME}
// is a secret from the environment.
func (v variables) readFile(path string, read func(string) ([]byte, error), getenv func(string) string) error {
	text, err := read(path)
	if err != nil {
		return fmt.Errorf("%s: %s", path, diag.Reason(err))
	}
	root := doctree.Node{}
	if doc, err := doctree.Parse(text, doctree.Options{}); err == nil {
		root = doc.Root
	}
	if root.Kind != doctree.Map {
		number := 0
		for l := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
			number++
			if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
				continue
			}
			name, value, ok := strings.Cut(strings.TrimPrefix(l, "export "), "=")
			if name = strings.TrimSpace(name); !ok || !variableName().MatchString(name) {
				return fmt.Errorf("%s:%d: neither a mapping in YAML nor a line NAME=VALUE: %q", path, number, diag.Cut(l, 60))
			}
			g := textValue(strings.Trim(strings.TrimSpace(value), `"'`))
			g.file = true
			v[name] = g
		}
		return nil
	}
	for i := range root.Members() {
		m := &root.Members()[i]
		name := textOf(&m.Key)
		if !variableName().MatchString(name) {
			return fmt.Errorf("%s:%d: %q is not a name of a variable: letters, digits, _, - and points", path, m.Key.Pos.Line, name)
		}
		g := given{node: m.Value, file: true}
		if e := m.Value.Get("env"); e != nil && len(m.Value.Members()) == 1 {
			if g = textValue(getenv(textOf(e))); g.node.Text == "" {
				return fmt.Errorf("%s:%d: the environment has no variable %s", path, e.Pos.Line, textOf(e))
			}
			g.secret = true
		}
		v[name] = g
	}
	return nil
}

// textOf is the text form of a value, as Python writes it: existing documents say True for a
// boolean and 1.0 for a float.
func textOf(n *doctree.Node) string {
	if n == nil {
		return "None"
	}
	switch n.Kind {
	case doctree.String, doctree.Date, doctree.Time, doctree.Binary:
		return n.Text
	}
	j := n.JSON()
	return speclang.OfJSON(&j).Text()
}

// trimmed is the text form without surrounding blanks.
func trimmed(n *doctree.Node) string { return strings.TrimSpace(textOf(n)) }

// keys returns the text forms of a mapping's keys, in order.
func keys(n *doctree.Node) []string {
	list := make([]string, len(n.Members()))
	for i := range n.Members() {
		list[i] = textOf(&n.Members()[i].Key)
	}
	return list
}
