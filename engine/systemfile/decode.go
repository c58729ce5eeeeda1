package systemfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/sut"
)

// Schema is the schema that every system file names.
const Schema = "thresh.system.v1"

// The codes of diagnostics.
const (
	codeSyntax   = "system.syntax"
	codeMissing  = "system.missing-key"
	codeUnknown  = "system.unknown-key"
	codeType     = "system.type"
	codeValue    = "system.value"
	codeConflict = "system.conflict"
	codeName     = "system.unknown-name"
)

// keys are all keys with the kinds that take them; nil: every kind.
var keys = []struct {
	name  string
	kinds []sut.Kind
}{
	{"schema", nil}, {"name", nil}, {"kind", nil},
	{"command", []sut.Kind{sut.Command, sut.HTTP, sut.Chat, sut.MCP, sut.Driver}},
	{"per", []sut.Kind{sut.HTTP, sut.Chat, sut.MCP, sut.Driver}},
	{"ready", []sut.Kind{sut.HTTP, sut.Chat, sut.MCP}},
	{"url", []sut.Kind{sut.HTTP, sut.Chat, sut.MCP}},
	{"headers", []sut.Kind{sut.HTTP, sut.Chat, sut.MCP}},
	{"openapi", []sut.Kind{sut.HTTP}},
	{"entry", []sut.Kind{sut.Python, sut.WASM}},
	{"api", []sut.Kind{sut.Chat}}, {"model", []sut.Kind{sut.Chat}}, {"system", []sut.Kind{sut.Chat}}, {"stream", []sut.Kind{sut.Chat}},
	{"operations", nil}, {"input", nil}, {"reply", nil}, {"reset", nil}, {"limits", nil},
}

// Detect reports whether a text says that it is a system file.
func Detect(text []byte) bool {
	return regexp.MustCompile(`(?m)^["']?schema["']?\s*:\s*["']?thresh\.system\b`).Match(text)
}

// Decode reads a system file. The plan is nil if the list holds an error.
func Decode(file string, text []byte) (*sut.Plan, diag.List) {
	d := &decoder{file: file}
	tree, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		var e *doctree.Error
		if errors.As(err, &e) {
			return nil, diag.List{{Code: codeSyntax, Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
		}
		return nil, diag.List{{Code: codeSyntax, Pos: diag.Pos{File: file}, Message: err.Error()}}
	}
	d.line = tree.Line
	for _, twice := range tree.Duplicates {
		d.refuse(twice.Repeat, twice.Key, codeConflict, "", "must be given once, but it stands at line %d already", twice.First.Line)
	}
	return d.decode(&tree.Root)
}

func (d *decoder) decode(root *doctree.Node) (*sut.Plan, diag.List) {
	p := d.plan(root)
	d.list.Sort()
	if d.list.HasErrors() {
		return nil, d.list
	}
	return p, d.list
}

// decoder collects what is wrong.
type decoder struct {
	file   string
	line   func(int) string // the text of a line
	within bool             // a mapping in another document
	list   diag.List
}

func (d *decoder) refuse(at doctree.Pos, path, code, hint, format string, args ...any) {
	d.list.Add(diag.Error, func() diag.Diagnostic {
		return diag.Diagnostic{Code: code, Pos: at.In(d.file), Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Source: d.line(at.Line)}
	})
}

// fields checks that a value is a mapping without unknown keys.
func (d *decoder) fields(n *doctree.Node, path string, known ...string) bool {
	if n.Kind != doctree.Map {
		d.refuse(n.Pos, path, codeType, "", "must be a mapping, got %s", n.Kind)
		return false
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		if slices.Contains(known, m.Key.Text) {
			continue
		}
		hint := diag.DidYouMean(m.Key.Text, known)
		if hint == "" {
			hint = "known keys: " + strings.Join(known, ", ")
		}
		d.refuse(m.Key.Pos, join(path, m.Key.Text), codeUnknown, hint, "unknown key %q", m.Key.Text)
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// text is a string, or "" with a diagnostic. Other scalars are taken as written.
func (d *decoder) text(n *doctree.Node, path string) string {
	switch n.Kind {
	case doctree.String:
		if strings.TrimSpace(n.Text) == "" {
			d.refuse(n.Pos, path, codeValue, "", "must not be empty")
		}
		return n.Text
	case doctree.Int, doctree.Float, doctree.Bool: // as written: yes is a word here
		return n.Raw
	}
	d.refuse(n.Pos, path, codeType, "", "must be a string, got %s", n.Kind)
	return ""
}

func (d *decoder) word(n *doctree.Node, path string, words ...string) string {
	w := d.text(n, path)
	if w != "" && !slices.Contains(words, w) {
		d.refuse(n.Pos, path, codeValue, diag.DidYouMean(w, words), "must be one of %s, got %q", strings.Join(words, ", "), w)
		return ""
	}
	return w
}

// texts is a list of strings.
func (d *decoder) texts(n *doctree.Node, path, example string) (list []string) {
	if n.Kind != doctree.Seq || len(n.Items()) == 0 {
		d.refuse(n.Pos, path, codeType, "", "must be a list such as %s, got %s", example, n.Kind)
		return nil
	}
	for i := range n.Items() {
		list = append(list, d.text(&n.Items()[i], fmt.Sprintf("%s[%d]", path, i)))
	}
	return list
}

// keyText is a key as written: no and 1 are names as any other.
func keyText(m *doctree.Member) string {
	if m.Key.Kind != doctree.String && m.Key.Raw != "" {
		return m.Key.Raw
	}
	return m.Key.Text
}

// pairs is a mapping of strings.
func (d *decoder) pairs(n *doctree.Node, path string) (list [][2]string) {
	if n.Kind != doctree.Map {
		d.refuse(n.Pos, path, codeType, "", "must be a mapping of names to texts, got %s", n.Kind)
		return nil
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		list = append(list, [2]string{keyText(m), d.text(&m.Value, join(path, keyText(m)))})
	}
	return list
}

func (d *decoder) path(n *doctree.Node, path string) string {
	text := d.text(n, path)
	if _, err := agentcall.ParsePath(text); err != nil {
		d.refuse(n.Pos, path, codeValue, "a path is of the form $.orders[0].left", "must be a JSON path: %v", err)
	}
	return text
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Variables are the names of the variables in a text; bad is one that is none.
func Variables(text string) (names []string, bad string) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			return names, ""
		}
		name, more, closed := strings.Cut(after, "}")
		if !closed || !variable.MatchString(name) {
			return names, "${" + name
		}
		names, rest = append(names, name), more
	}
}

func (d *decoder) variables(n *doctree.Node, path, text string) {
	if _, bad := Variables(text); bad != "" {
		d.refuse(n.Pos, path, codeValue, "a variable is of the form ${NAME}", "%q names no variable", bad)
	}
}

// plan decodes the whole file.
func (d *decoder) plan(root *doctree.Node) *sut.Plan {
	top := doctree.Pos{Line: 1, Col: 1}
	if d.within {
		top = root.Pos
	}
	if root.Kind != doctree.Map {
		d.refuse(top, "", codeType, "", "must be a mapping, got %s", root.Kind)
		return nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	d.fields(root, "", names...)
	if n := root.Get("schema"); n == nil && !d.within {
		d.refuse(top, "schema", codeMissing, "", "must be given: schema: %s", Schema)
	} else if n == nil {
	} else if s := d.text(n, "schema"); s != "" && s != Schema {
		d.refuse(n.Pos, "schema", codeValue, "", "must be %s, got %q", Schema, s)
	}
	p := &sut.Plan{Dir: filepath.Dir(d.file), Per: sut.PerWorker, Name: strings.TrimSuffix(filepath.Base(d.file), filepath.Ext(d.file))}
	p.Name = strings.TrimSuffix(p.Name, ".system")
	if n := root.Get("kind"); n == nil {
		d.refuse(top, "kind", codeMissing, "", "must be given: one of %s", strings.Join(kindWords(), ", "))
	} else {
		p.Kind = sut.Kind(d.word(n, "kind", kindWords()...))
	}
	if p.Kind == "" {
		return nil // what else there may be depends on it
	}
	for _, k := range keys {
		if m := root.Member(k.name); m != nil && k.kinds != nil && !slices.Contains(k.kinds, p.Kind) {
			d.foreign(m, k.name, p.Kind, k.kinds)
		}
	}
	d.reached(root, p)
	d.asked(root, p)
	return p
}

// foreign refuses a key of other kinds.
func (d *decoder) foreign(m *doctree.Member, path string, kind sut.Kind, kinds []sut.Kind) {
	of := make([]string, len(kinds))
	for i, k := range kinds {
		of[i] = string(k)
	}
	d.refuse(m.Key.Pos, path, codeUnknown, "", "is not a key of kind %s; it belongs to %s", kind, doctree.Either(of))
}

func kindWords() (list []string) {
	for _, k := range sut.Kinds() {
		list = append(list, string(k))
	}
	return list
}
