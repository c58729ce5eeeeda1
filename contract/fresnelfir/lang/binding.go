package lang

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// options are the arguments of call(...) that are not passed to the export.
var options = []string{"function", "returns", "part", "rejects", "answer", "mutates", "idempotent", "reads", "writes", "reuses", "guess"}

// operators are the words with which an expression of the IR begins.
var operators = slices.Concat(further, strings.Fields("field eq neq lt lte gt gte and or not implies forall exists derived observer is"))

// bind writes the binding: the export that the action calls, and what the call claims.
func (b *body) bind() {
	c, name := b.c, b.d.name
	b.s.calling = true
	at := c.pos(b.d.def.Name.NamePos)
	args, values := texts(at, b.args...), object(at)
	var writes []string
	for v := range b.wrote {
		if e, _ := b.s.variable(v); e != "" && !slices.Contains(writes, e) {
			writes = append(writes, e)
		}
	}
	if b.made != nil && !slices.Contains(writes, b.made.Get("entity").Text) {
		writes = append(writes, b.made.Get("entity").Text)
	}
	slices.Sort(writes)
	members := append(make([]doctree.Member, 0, 7), // room for args
		member(at, "function", text(at, name)), member(at, "returns", *object(at, member(at, "type", text(at, "void")))),
		member(at, "mutates", truth(at, b.made != nil || len(b.sets) > 0)), member(at, "idempotent", truth(at, false)),
		member(at, "reads", list(at)), member(at, "writes", texts(at, writes...)))
	n := object(at, members...)
	if b.call != nil {
		pos, named := c.arguments(b.call)
		args = args.WithItems(args.Items()[:0])
		if len(pos) > 0 {
			set(n, c.position(pos[0]), "function", c.reading(pos[0]))
			for i, e := range pos[1:] {
				b.argument(&args, values, "", i+1, e)
			}
		}
		for _, a := range named {
			if a.odd {
				b.argument(&args, values, a.name, 0, a.value)
				continue
			}
			if slices.Contains(options, a.name) {
				b.option(n, a)
				continue
			}
			if near := diag.DidYouMean(a.name, options); near != "" && c.decls[declInput][a.name] == nil {
				if e, _ := b.s.variable(a.name); e == "" {
					c.fail(a.at, "unknown-key", near, "%q is not an option of call: the export gets it as an argument", a.name)
					c.list[len(c.list)-1].Level = diag.Warning
				}
			}
			b.argument(&args, values, a.name, 0, a.value)
		}
	}
	if len(n.Members()) == len(members) { // they are still where there is room
		*n = *object(at, append(members, member(at, "args", args))...)
	} else {
		set(n, at, "args", args)
	}
	if len(values.Members()) > 0 {
		set(n, at, "values", *values)
		c.noteExtension(at, func() (key, what string) { return "$.bindings.actions." + name + ".values", "computed arguments" })
	}
	b.binding = *n
}

// argument adds an argument of the export: a name of the model, or a value, which gets a name.
func (b *body) argument(args, values *node, name string, place int, e syntax.Expr) {
	c, at := b.c, b.c.position(e)
	if place > 0 {
		name = "arg" + strconv.Itoa(place)
	}
	plain := ""
	before := len(c.list)
	word := "list"
	if p := c.place(e, b.s); p != nil && p.shape != nil {
		word = p.word
	} else if _, dict := e.(*syntax.DictExpr); dict {
		word = "map"
	} else if x, is := e.(*syntax.ListExpr); !is || len(x.List) > 0 && slices.Contains(operators, c.literalOrNone(x.List[0]).Text) {
		word = ""
	}
	if word != "" {
		c.fail(e, "argument-type", `write the list or object in the system file, such as tags: ["{tag}"], or let an input be the text of its JSON`, "an argument is one value, not a %s", word)
	}
	if len(c.list) > before {
		return
	}
	switch x := e.(type) {
	case *syntax.Ident:
		if x.Name == "None" && place == 0 { // a name of the model
			args.Add(text(at, name))
			return
		}
		if _, local := b.s.values[x.Name]; !local && x.Name != "True" && x.Name != "False" {
			plain = b.s.name(x.Name)
		}
	case *syntax.DotExpr:
		if of, ok := x.X.(*syntax.Ident); ok {
			plain = b.s.name(of.Name) + "." + x.Name.Name
		}
	}
	if plain != "" && (place > 0 || plain == name) {
		args.Add(text(at, plain))
		return
	}
	args.Add(text(at, name))
	if plain != "" {
		v := object(at)
		set(v, at, "is", text(at, plain))
		set(values, at, name, *v)
		return
	}
	v, _ := c.condition(e, b.s)
	set(values, at, name, v)
}

// option sets a claim of a call.
func (b *body) option(n *node, a argument) {
	c, at := b.c, b.c.position(a.at)
	switch a.name {
	case "answer":
		v, _ := c.condition(a.value, b.s)
		set(n, at, "answer", v)
		if words(&v) != "" {
			c.noteExtension(v.Pos, func() (key, what string) {
				return "$.bindings.actions." + b.d.name + ".answer", "an answer with " + words(&v)
			})
		}
	case "returns":
		v := c.returned(a.value)
		returns := object(v.Pos)
		set(returns, v.Pos, "type", v)
		set(n, v.Pos, "returns", *returns)
	case "rejects":
		v := c.literal(a.value)
		switch x := object(v.Pos); {
		case v.Kind == doctree.String && v.Text == "trap", v.Kind == doctree.Bool && v.Bool:
			set(x, v.Pos, "trap", truth(v.Pos, true))
			v = *x
		case v.Kind == doctree.String:
			set(x, v.Pos, "return", v)
			v = *x
		case v.Kind != doctree.Map:
			c.fail(a.value, "rejects", "", "must be True for a system that can refuse by itself, \"trap\", or a comparison such as \"<0\"")
			return
		}
		set(n, at, "rejects", v)
	case "guess", "part":
		set(n, at, a.name, c.literal(a.value))
	default:
		set(n, at, a.name, c.reading(a.value))
	}
}

// returned reads the type of an answer, which is a name: bounds and values belong to fields.
func (c *compiler) returned(e syntax.Expr) node {
	if call, ok := e.(*syntax.CallExpr); ok {
		if fn, ok := call.Fn.(*syntax.Ident); ok {
			hint := "a field that has the bounds or values is a type: ENTITY.FIELD"
			if plain := []string{"int", "bool", "string"}; slices.Contains(plain, fn.Name) {
				hint = "write " + fn.Name + "; " + hint
			}
			c.fail(e, "type", hint, "must be the name of a type: int, bool, string, an entity, or ENTITY.FIELD")
			return text(c.position(e), fn.Name)
		}
	}
	return c.reading(e)
}
