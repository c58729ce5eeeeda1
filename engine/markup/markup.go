package markup

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"text/template/parse"
)

// HTML is markup that needs no escaping in text.
type HTML string

// Raw is a style sheet or a script. It is written unchanged in the element for
// it, and is allowed nowhere else.
type Raw string

// Set is templates by name, and the functions that they call.
type Set struct {
	trees    map[string]*parse.Tree
	funcs    map[string]any
	escapers map[*parse.ActionNode]func(any) (string, error)
}

// New makes an empty set. Functions return one value.
func New(funcs map[string]any) *Set {
	s := &Set{
		trees: make(map[string]*parse.Tree), funcs: maps.Clone(builtins),
		escapers: make(map[*parse.ActionNode]func(any) (string, error)),
	}
	return s.Funcs(funcs)
}

// Funcs adds functions.
func (s *Set) Funcs(funcs map[string]any) *Set {
	maps.Copy(s.funcs, funcs)
	return s
}

// ParseFS adds the files that match a pattern, each as a template with its base
// name, and the templates that they define.
func (s *Set) ParseFS(files fs.FS, pattern string) (*Set, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if err := s.parse(path.Base(name), string(text)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Set) parse(name, text string) error {
	trees, err := parse.Parse(name, text, "{{", "}}", s.funcs)
	if err != nil {
		return err
	}
	for name, tree := range trees {
		if tree.Root == nil {
			continue
		}
		w := scanner{tree: tree, escapers: s.escapers}
		if end := w.list(tree.Root, place{}); w.err == nil && end != (place{}) {
			w.fail(tree.Root, "the template ends inside a tag or an element of raw text")
		}
		if w.err != nil {
			return w.err
		}
		s.trees[name] = tree
	}
	return nil
}

// ExecuteTemplate writes a template filled in with data.
func (s *Set) ExecuteTemplate(w io.Writer, name string, data any) (err error) {
	tree := s.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	x := execution{set: s, tree: tree, w: w}
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = failed.error
		}
	}()
	x.call(tree, reflect.ValueOf(data))
	return nil
}
