package markup

import (
	"fmt"
	"io"
	"reflect"
	"text/template"
	"text/template/parse"
)

// failure is what ends an execution.
type failure struct{ error }

type variable struct {
	name  string
	value reflect.Value
}

// execution is one execution of a template.
type execution struct {
	set  *Set
	tree *parse.Tree
	w    io.Writer
	vars []variable
}

func (x *execution) fail(at parse.Node, format string, a ...any) {
	where, _ := x.tree.ErrorContext(at)
	panic(failure{fmt.Errorf("template %s: %w", where, fmt.Errorf(format, a...))})
}

func (x *execution) write(s string) {
	if _, err := io.WriteString(x.w, s); err != nil {
		panic(failure{err})
	}
}

func (x *execution) call(tree *parse.Tree, dot reflect.Value) {
	inner := execution{set: x.set, tree: tree, w: x.w, vars: []variable{{"$", dot}}}
	inner.list(tree.Root, dot)
}

func (x *execution) list(l *parse.ListNode, dot reflect.Value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		x.node(n, dot)
	}
}

func (x *execution) node(n parse.Node, dot reflect.Value) {
	switch n := n.(type) {
	case *parse.TextNode:
		x.write(string(n.Text))
	case *parse.ActionNode:
		v := x.pipe(n.Pipe, dot)
		if len(n.Pipe.Decl) > 0 {
			return
		}
		var value any = ""
		if v = settle(v); v.IsValid() {
			value = v.Interface()
		}
		s, err := x.set.escapers[n](value)
		if err != nil {
			x.fail(n, "%w", err)
		}
		x.write(s)
	case *parse.IfNode:
		x.branch(&n.BranchNode, dot, false)
	case *parse.WithNode:
		x.branch(&n.BranchNode, dot, true)
	case *parse.RangeNode:
		x.each(n, dot)
	case *parse.TemplateNode:
		tree := x.set.trees[n.Name]
		if tree == nil {
			x.fail(n, "there is no template %q", n.Name)
		}
		x.call(tree, x.pipe(n.Pipe, dot))
	}
}

func (x *execution) branch(b *parse.BranchNode, dot reflect.Value, with bool) {
	defer x.forget(len(x.vars))
	v := x.pipe(b.Pipe, dot)
	if !truth(v) {
		x.list(b.ElseList, dot)
		return
	}
	if with {
		dot = v
	}
	x.list(b.List, dot)
}

func (x *execution) forget(from int) { x.vars = x.vars[:from] }

func (x *execution) each(n *parse.RangeNode, dot reflect.Value) {
	defer x.forget(len(x.vars))
	v := settle(x.eval(n.Pipe.Cmds[0], dot))
	if v.IsValid() && v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		x.fail(n, "range over a %s", v.Type())
	}
	if !v.IsValid() || v.Len() == 0 {
		x.list(n.ElseList, dot)
		return
	}
	base := len(x.vars)
	for i := range v.Len() {
		item := v.Index(i)
		switch decl := n.Pipe.Decl; len(decl) {
		case 1:
			x.vars = append(x.vars, variable{decl[0].Ident[0], item})
		case 2:
			x.vars = append(x.vars, variable{decl[0].Ident[0], reflect.ValueOf(i)}, variable{decl[1].Ident[0], item})
		}
		x.list(n.List, item)
		x.forget(base)
	}
}

// pipe evaluates a pipe and declares its variable.
func (x *execution) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	v := x.eval(p.Cmds[0], dot)
	for _, d := range p.Decl {
		x.vars = append(x.vars, variable{d.Ident[0], v})
	}
	return v
}

func (x *execution) eval(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.CommandNode:
		if id, ok := n.Args[0].(*parse.IdentifierNode); ok {
			return x.function(n, id.Ident, n.Args[1:], dot)
		}
		if len(n.Args) > 1 {
			x.fail(n, "%s is not a function", n.Args[0])
		}
		return x.eval(n.Args[0], dot)
	case *parse.PipeNode:
		return x.eval(n.Cmds[0], dot)
	case *parse.IdentifierNode:
		return x.function(n, n.Ident, nil, dot)
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return x.fields(n, dot, n.Ident)
	case *parse.ChainNode:
		return x.fields(n, x.eval(n.Node, dot), n.Field)
	case *parse.VariableNode:
		for i := len(x.vars) - 1; i >= 0; i-- {
			if x.vars[i].name == n.Ident[0] {
				return x.fields(n, x.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	x.fail(n, "cannot evaluate %s", n)
	return reflect.Value{}
}

func (x *execution) fields(n parse.Node, v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		v = settle(v)
		switch {
		case !v.IsValid():
			x.fail(n, "%s of nothing", name)
		case v.Kind() == reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name))
		case v.Kind() == reflect.Struct:
			f, ok := v.Type().FieldByName(name)
			if !ok || !f.IsExported() {
				x.fail(n, "a %s has no field %s", v.Type(), name)
			}
			var err error
			if v, err = v.FieldByIndexErr(f.Index); err != nil {
				x.fail(n, "%w", err)
			}
		default:
			x.fail(n, "a %s has no field %s", v.Type(), name)
		}
	}
	return v
}

// settle follows pointers and interfaces.
func settle(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func truth(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	is, _ := template.IsTrue(v.Interface())
	return is
}

func (x *execution) function(n parse.Node, name string, args []parse.Node, dot reflect.Value) reflect.Value {
	if name == "and" || name == "or" {
		var v reflect.Value
		for _, a := range args {
			if v = x.eval(a, dot); truth(v) == (name == "or") {
				break
			}
		}
		return v
	}
	f := reflect.ValueOf(x.set.funcs[name])
	t := f.Type()
	if len(args) != t.NumIn() {
		x.fail(n, "%s takes %d arguments, not %d", name, t.NumIn(), len(args))
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		v, want := x.eval(a, dot), t.In(i)
		if !v.IsValid() {
			v = reflect.Zero(want)
		}
		if !v.Type().AssignableTo(want) {
			v = settle(v)
		}
		switch {
		case v.IsValid() && v.Type().AssignableTo(want):
		case v.IsValid() && a.Type() == parse.NodeNumber && v.CanConvert(want):
			v = v.Convert(want)
		default:
			x.fail(n, "%s takes a %s, not %s", name, want, a)
		}
		in[i] = v
	}
	return f.Call(in)[0]
}

// builtins are the functions of every template. The scanner of package parse
// needs the names of all; "and" and "or" evaluate only what they need.
var builtins = map[string]any{
	"and": true, "or": true,
	"print": func(v any) string { return fmt.Sprint(v) },
	"not":   func(v any) bool { return !truth(reflect.ValueOf(v)) },
	"len":   func(v any) int { return settle(reflect.ValueOf(v)).Len() },
	"index": func(v any, i int) any { return settle(reflect.ValueOf(v)).Index(i).Interface() },
	"eq":    func(a, b any) bool { return order(a, b) == 0 },
	"ne":    func(a, b any) bool { return order(a, b) != 0 },
	"lt":    func(a, b any) bool { return order(a, b) < 0 },
	"gt":    func(a, b any) bool { return order(a, b) > 0 },
	"ge":    func(a, b any) bool { return order(a, b) >= 0 },
}

// order compares two whole numbers or two texts.
func order(a, b any) int {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.CanInt() && w.CanInt() {
		return int(max(-1, min(1, v.Int()-w.Int())))
	}
	switch s, t := fmt.Sprint(a), fmt.Sprint(b); {
	case s < t:
		return -1
	case s > t:
		return 1
	}
	return 0
}
