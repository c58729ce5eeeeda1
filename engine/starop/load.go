package starop

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/starbox"
	"github.com/thresh-dev/thresh/engine/textop"
)

// names of the contract in a file.
const (
	metaName  = "OPERATOR_META"
	applyName = "apply"
)

// Source is a checked file. It is safe for concurrent use; New makes operators from it.
type Source struct {
	Meta  textop.Meta
	Apply diag.Pos // of the definition of apply
	prog  *starbox.Program
}

// Load compiles and checks a file. It returns everything that is wrong with the file, with
// positions.
func Load(path string, src []byte) (*Source, diag.List) {
	prog, list := starbox.Compile(path, src, extraNames()...)
	if list.HasErrors() {
		return nil, list
	}
	s := &Source{prog: prog}
	lines := strings.Split(string(src), "\n")
	add := func(pos syntax.Position, d diag.Diagnostic) {
		d.Pos = diag.Pos{File: path, Line: max(1, int(pos.Line)), Col: max(1, int(pos.Col))}
		if n := d.Pos.Line; n <= len(lines) {
			d.Source = strings.TrimSuffix(lines[n-1], "\r")
		}
		list = append(list, d)
	}
	fault := func(pos syntax.Position, code, format string, args ...any) {
		add(pos, diag.Diagnostic{Code: "operator." + code, Message: fmt.Sprintf(format, args...)})
	}
	meta, apply := find(prog.File())
	s.Apply = diag.Pos{File: path, Line: int(apply.Line), Col: int(apply.Col)}
	box, err := prog.Open(starbox.DefaultLimits(), environment)
	if err != nil {
		e := err.(*starbox.Error) // Open returns no other
		fault(syntax.MakePosition(&path, int32(e.Pos.Line), int32(e.Pos.Col)), "load", "cannot be loaded: %s", e.Message)
		return nil, list
	}
	if text := box.Printed(); text != "" {
		add(apply, diag.Diagnostic{Code: "operator.prints", Level: diag.Warning, Message: fmt.Sprintf("prints while it is loaded: %q", diag.FirstLine(text))})
	}
	switch v := box.Global(metaName).(type) {
	case nil:
		fault(meta.pos, "meta", "%s is missing: the contract requires it (OC-2.0)", metaName)
	case *starlark.Dict:
		raw, err := jsonValue(v, 0)
		if err != nil {
			fault(meta.pos, "meta", "%s: %v", metaName, err)
			break
		}
		var found diag.List
		s.Meta, found = textop.ParseMeta(raw.(map[string]any))
		for _, d := range found {
			d.Message, d.Path = metaName+"."+d.Path+": "+d.Message, ""
			add(meta.place(d.Message), d)
		}
	default:
		fault(meta.pos, "meta", "%s is %s: expected a dict", metaName, named(v))
	}
	switch v := box.Global(applyName).(type) {
	case nil:
		fault(apply, "apply", "apply(seed_text, ctx, rng) is missing: the contract requires it (OC-3.1)")
	case *starlark.Function:
		if why := signature(v); why != "" {
			fault(apply, "apply", "%s: expected apply(seed_text, ctx, rng) (OC-3.1)", why)
		}
	default:
		fault(apply, "apply", "apply is %s: expected a function", named(v))
	}
	if list.HasErrors() {
		return nil, list
	}
	return s, list
}

// signature says why a function cannot be called with three arguments; "": it can.
func signature(f *starlark.Function) string {
	required := 0
	for i := range f.NumParams() - f.NumKwonlyParams() - variadic(f) {
		if f.ParamDefault(i) == nil {
			required++
		}
	}
	positional := f.NumParams() - f.NumKwonlyParams() - variadic(f)
	switch {
	case required > 3:
		return fmt.Sprintf("apply needs %d arguments", required)
	case positional < 3 && !f.HasVarargs():
		return fmt.Sprintf("apply takes %d arguments", positional)
	}
	for i := range f.NumKwonlyParams() {
		if f.ParamDefault(positional+i) == nil {
			return "apply has a required keyword-only argument"
		}
	}
	return ""
}

func variadic(f *starlark.Function) int {
	n := 0
	if f.HasVarargs() {
		n++
	}
	if f.HasKwargs() {
		n++
	}
	return n
}

// metaPlaces are the positions of OPERATOR_META and its keys.
type metaPlaces struct {
	pos  syntax.Position
	keys map[string]syntax.Position
}

// place returns the position of the key that a message is about.
func (m metaPlaces) place(message string) syntax.Position {
	field := strings.TrimPrefix(message, metaName+".")
	if i := strings.IndexAny(field, ":[."); i >= 0 {
		field = field[:i]
	}
	if p, ok := m.keys[field]; ok {
		return p
	}
	return m.pos
}

// find finds the top-level definitions.
func find(f *syntax.File) (meta metaPlaces, apply syntax.Position) {
	meta.pos = syntax.MakePosition(&f.Path, 1, 1)
	apply = meta.pos
	for _, s := range f.Stmts {
		switch s := s.(type) {
		case *syntax.DefStmt:
			if s.Name.Name == applyName {
				apply = s.Def
			}
		case *syntax.AssignStmt:
			id, ok := s.LHS.(*syntax.Ident)
			if !ok || id.Name != metaName {
				continue
			}
			meta.pos, meta.keys = id.NamePos, make(map[string]syntax.Position)
			dict, ok := s.RHS.(*syntax.DictExpr)
			if !ok {
				continue
			}
			for _, e := range dict.List {
				entry := e.(*syntax.DictEntry) // the parser makes no other
				if key, ok := entry.Key.(*syntax.Literal); ok && key.Token == syntax.STRING {
					meta.keys[key.Value.(string)] = key.TokenPos
				}
			}
		}
	}
	return meta, apply
}

// extraNames returns the names that files have in addition to the language.
func extraNames() []string { return environment(nil).Keys() }

// named returns the type of a value in the words of Python: "an int", "a str", "None".
func named(v starlark.Value) string {
	switch kind := v.Type(); kind {
	case "NoneType":
		return "None"
	case "string":
		return "a str"
	case "builtin_function_or_method":
		return "a function"
	default:
		return diag.A(kind)
	}
}
