package systemfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/sut"
)

// Schema is the schema that every system file names.
const Schema = "thresh.system.v1"

// The codes of diagnostics, besides those of [doctree.Decoder].
const (
	codeValue    = "value"
	codeConflict = "conflict"
	codeName     = "unknown-name"
)

// Detect reports whether a text claims to be a system file.
func Detect(text []byte) bool {
	return regexp.MustCompile(`(?m)^["']?schema["']?\s*:\s*["']?thresh\.system\b`).Match(text)
}

// parse returns the root of a system file, or nil with the errors in the decoder's list.
func parse(file string, text []byte) (*decoder, *doctree.Node) {
	tree, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		e := err.(*doctree.Error) // Parse returns no other
		d := newDecoder(file, nil)
		d.List = diag.List{{Code: "system.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
		return d, nil
	}
	d := newDecoder(file, tree.Line)
	d.Repeats(tree, "", func(doctree.Duplicate) diag.Level { return diag.Error })
	if tree.Root.Kind == doctree.Map && tree.Root.Get("schema") == nil {
		d.Report(diag.Error, tree.Root.Pos, "missing-key", "schema", "schema: "+Schema, "must be given")
	}
	return d, &tree.Root
}

// decoder collects errors.
type decoder struct{ *doctree.Decoder }

func newDecoder(file string, line func(int) string) *decoder {
	return &decoder{&doctree.Decoder{Format: "system", File: file, Line: line, Unknown: diag.Error, Written: true}}
}

// decode returns the plan, or nil if the list has an error.
func (d *decoder) decode(root *doctree.Node) *sut.Plan {
	if root == nil {
		return nil
	}
	p := &sut.Plan{Dir: filepath.Dir(d.File), Per: sut.PerWorker, Name: strings.TrimSuffix(filepath.Base(d.File), filepath.Ext(d.File))}
	p.Name = strings.TrimSuffix(p.Name, ".system")
	s := d.Section(root, "", format().file)
	s.Value("schema")
	s.Value("kind")
	p.Kind = sut.Kind(s.Tag)
	d.reached(s, p)
	d.asked(s, p)
	d.List.Sort()
	if d.List.HasErrors() {
		return nil
	}
	return p
}

func (d *decoder) refuse(at doctree.Pos, path, code, hint, format string, args ...any) {
	d.Report(diag.Error, at, code, path, hint, format, args...)
}

// pairs reads a mapping of texts.
func (d *decoder) pairs(s *doctree.Section, key string) (list [][2]string) {
	for _, e := range s.Entries(key) {
		if t := doctree.Text(); d.Is(e.Node, e.Path, &t) {
			list = append(list, [2]string{e.Name, d.TextOf(e.Node)})
		}
	}
	return list
}

// path reads a JSON path.
func (d *decoder) path(s *doctree.Section, key string) string {
	text := s.Text(key)
	if text != "" {
		if _, err := agentcall.ParsePath(text); err != nil {
			d.refuse(s.PosOf(key), s.At(key), codeValue, "a path is of the form $.orders[0].left", "must be a JSON path: %v", err)
		}
	}
	return text
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Variables returns the names of the variables in a text; bad is an invalid one.
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

// variables reports whether the variables of a text are well-formed, and reports an error
// if not.
func (d *decoder) variables(n *doctree.Node, path string) bool {
	_, bad := Variables(d.TextOf(n))
	if bad != "" {
		d.refuse(n.Pos, path, codeValue, "a variable is of the form ${NAME}", "%q names no variable", bad)
	}
	return bad == ""
}

// describeValue returns a value as written, or its kind.
func describeValue(n *doctree.Node) string {
	if n.Raw() != "" {
		return fmt.Sprintf("%q", n.Raw())
	}
	return n.Kind.String()
}
