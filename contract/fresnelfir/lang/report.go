package lang

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// fail reports an error.
func (c *compiler) fail(at syntax.Node, code, hint, format string, args ...any) {
	c.failAt(c.position(at), code, hint, format, args...)
}

func (c *compiler) failAt(at doctree.Pos, code, hint, format string, args ...any) {
	at = c.model.Stands(at)
	c.list = append(c.list, diag.Diagnostic{
		Code: "fresnelfir." + code, Pos: at.In(c.file), Message: fmt.Sprintf(format, args...), Hint: hint, Source: c.model.Line(at.Line),
	})
}

// broken reports whether the declaration of a name has an error, so that its uses are not reported.
func (c *compiler) broken(name string, at doctree.Pos) bool {
	if c.model.Broken[name] {
		c.vague(at)
	}
	return c.model.Broken[name]
}

// failUnlessVague is fail where a field of a declaration that has an error may be what is wanted.
func (c *compiler) failUnlessVague(at syntax.Node, code, hint, format string, args ...any) {
	if !c.model.Vague[c.source.Line(c.position(at).Line)] {
		c.fail(at, code, hint, format, args...)
	}
}

// vague marks a line whose other errors follow from reported ones.
func (c *compiler) vague(at doctree.Pos) { c.model.Vague[c.source.Line(at.Line)] = true }

// nearVariable returns a hint at an input or a variable with a similar name. It keeps those at names
// that every action has, since one mistake in a declaration makes all of them search for the same.
func (c *compiler) nearVariable(name string, s scope) string {
	common := len(s.others) > 0
	for v := range s.vars {
		if _, everywhere := s.others[v]; !everywhere {
			common = false
		}
	}
	if hint, found := c.near[name]; common && found {
		return hint
	}
	known := append([]string{"True", "False"}, c.names(declInput)...)
	known = slices.AppendSeq(slices.AppendSeq(known, maps.Keys(s.vars)), maps.Keys(s.others))
	slices.Sort(known)
	hint := diag.DidYouMean(name, known)
	if common && c.near != nil {
		c.near[name] = hint
	}
	return hint
}
