package ir

import (
	"math/big"
	"strconv"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Sections are the ten keys that every document has.
func Sections() []string {
	return []string{"entities", "refinements", "functions", "protocols", "effects", "properties", "generators", "exploration", "inputs", "bindings"}
}

func (d *decoder) document(doc *Document) {
	o, ok := d.object(&d.src.tree.Root, "$", append(Sections(), "$schema?", "capsule?")...)
	if !ok {
		return
	}
	each := func(key string, visit func(name string, at Place, v *jsontree.Node)) {
		if n, path := o.get(key); n != nil {
			d.named(n, path, visit)
		}
	}
	each("entities", func(name string, at Place, v *jsontree.Node) {
		doc.Entities = append(doc.Entities, d.entity(name, at, v))
	})
	each("refinements", func(name string, at Place, v *jsontree.Node) {
		doc.Refinements = append(doc.Refinements, d.refinement(name, at, v))
	})
	each("functions", func(name string, at Place, v *jsontree.Node) {
		doc.Functions = append(doc.Functions, d.function(name, at, v))
	})
	each("protocols", func(name string, at Place, v *jsontree.Node) {
		p := &Protocol{Place: at, Name: name}
		if f, ok := d.object(v, at.Path, "root"); ok {
			if n, path := f.get("root"); n != nil {
				p.Root = d.node(n, path, name+"/root")
			}
		}
		doc.Protocols = append(doc.Protocols, p)
	})
	each("effects", func(name string, at Place, v *jsontree.Node) {
		doc.Effects = append(doc.Effects, d.effect(name, at, v))
	})
	each("properties", func(name string, at Place, v *jsontree.Node) {
		doc.Properties = append(doc.Properties, d.property(name, at, v))
	})
	each("generators", func(name string, at Place, v *jsontree.Node) {
		doc.Generators = append(doc.Generators, d.generator(name, at, v))
	})
	if n, path := o.get("exploration"); n != nil {
		d.exploration(&doc.Exploration, n, path)
	}
	if n, path := o.get("inputs"); n != nil {
		d.inputs(&doc.Inputs, n, path)
	}
	if n, path := o.get("bindings"); n != nil {
		d.bindings(&doc.Bindings, n, path)
	}
	if n, path := o.some("capsule"); n != nil {
		doc.Capsule = d.capsule(n, path)
	}
}

func (d *decoder) entity(name string, at Place, n *jsontree.Node) *Entity {
	e := &Entity{Place: at, Name: name}
	if o, ok := d.object(n, at.Path, "fields"); ok {
		if f, path := o.get("fields"); f != nil {
			d.named(f, path, func(name string, at Place, v *jsontree.Node) { e.Fields = append(e.Fields, d.field(name, at, v)) })
		}
	}
	return e
}

// kindOf reads the type of a tagged object, which decides its other keys.
func (d *decoder) kindOf(n *jsontree.Node, path string, allowed ...string) (string, bool) {
	if n.Kind != jsontree.Object {
		d.fail(place(n, path), "type", "must be an object with a type, got %s", describe(n))
		return "", false
	}
	t := n.Get("type")
	if t == nil {
		d.fail(place(n, path), "missing-key", "must have the key %q", "type")
		return "", false
	}
	word, ok := t.Str()
	for _, a := range allowed {
		if ok && a == word {
			return word, true
		}
	}
	d.failHint(place(t, child(path, "type")), "unknown-type", diag.DidYouMean(word, allowed), "must be one of %s, got %s", either(allowed), describe(t))
	return "", false
}

func (d *decoder) field(name string, at Place, n *jsontree.Node) *Field {
	f := &Field{Place: at, Name: name}
	kind, ok := d.kindOf(n, at.Path, typeNames[1:]...)
	if !ok {
		return f
	}
	keys := map[string][]string{
		"string": {"type", "format?", "default?"}, "bool": {"type", "default?"}, "int": {"type", "min?", "max?", "default?"}, "enum": {"type", "values", "default?"}, "ref": {"type", "entity"},
	}[kind]
	o, _ := d.object(n, at.Path, keys...)
	switch kind {
	case "string":
		f.Type, f.Format = String, o.optional("format")
	case "bool":
		f.Type = Bool
	case "int":
		f.Type, f.Min, f.Max = Int, o.i64("min"), o.i64("max")
	case "enum":
		f.Type, f.Values = Enum, o.texts("values")
	case "ref":
		f.Type, f.Entity = Ref, o.text("entity")
		return f
	}
	f.Default = o.exprOf("default")
	return f
}

func (d *decoder) params(o object) []Param {
	n, path := o.get("params")
	if n == nil {
		return nil
	}
	var list []Param
	d.items(n, path, func(path string, v *jsontree.Node) {
		if p, ok := d.object(v, path, "name", "type"); ok {
			list = append(list, Param{p.Place, p.text("name"), p.text("type")})
		}
	})
	return list
}

// exprOf reads the expression of a key; an absent one, or null, is nil.
func (o object) exprOf(key string) *Expr {
	n, path := o.some(key)
	if n == nil {
		return nil
	}
	return o.d.expr(n, path)
}

func (d *decoder) refinement(name string, at Place, n *jsontree.Node) *Refinement {
	r := &Refinement{Place: at, Name: name}
	if o, ok := d.object(n, at.Path, "base", "params?", "predicate"); ok {
		r.Base, r.Params = o.text("base"), d.params(o)
		if v, path := o.get("predicate"); v != nil {
			r.Predicate = d.expr(v, path)
		}
	}
	return r
}

func (d *decoder) function(name string, at Place, n *jsontree.Node) *Function {
	f := &Function{Place: at, Name: name}
	o, ok := d.object(n, at.Path, "classification", "params", "body?", "binding?", "models?", "returns")
	if !ok {
		return f
	}
	class := o.text("classification")
	if v, path := o.get("classification"); v != nil && class != "derived" && class != "observer" {
		d.failHint(place(v, path), "unknown-type", diag.DidYouMean(class, []string{"derived", "observer"}), "must be derived or observer, got %s", describe(v))
	}
	f.Observer = class == "observer"
	f.Params, f.Body, f.Binding, f.Returns = d.params(o), o.exprOf("body"), o.optional("binding"), o.text("returns")
	f.Models = o.optional("models")
	body, bodyPath := o.some("body")
	binding, bindingPath := o.some("binding")
	switch {
	case f.Observer && binding == nil:
		d.fail(at, "observer-binding", "an observer must name the export that it calls as its binding")
	case f.Observer && body != nil:
		d.fail(place(body, bodyPath), "observer-binding", "an observer has no body: it asks the module")
	case class == "derived" && body == nil:
		d.fail(at, "derived-body", "a derived function must have a body")
	case class == "derived" && binding != nil:
		d.fail(place(binding, bindingPath), "derived-body", "a derived function has no binding: it is computed from the model")
	}
	return f
}

// node reads a protocol node. Its id is the path that names it in traces.
func (d *decoder) node(n *jsontree.Node, path, id string) *Node {
	x := &Node{Place: place(n, path), ID: id}
	kind, ok := d.kindOf(n, path, "seq", "alt", "repeat", "call", "ref")
	if !ok {
		return x
	}
	keys := map[string][]string{
		"seq": {"children"}, "alt": {"branches"}, "repeat": {"min", "max", "body"}, "call": {"action"}, "ref": {"protocol"},
	}[kind]
	o, _ := d.object(n, path, append(keys, "type")...)
	switch kind {
	case "seq":
		x.Kind = Seq
		if v, p := o.get("children"); v != nil {
			d.items(v, p, func(p string, v *jsontree.Node) {
				x.Children = append(x.Children, d.node(v, p, id+"/"+strconv.Itoa(len(x.Children))))
			})
		}
	case "alt":
		x.Kind = Alt
		if v, p := o.get("branches"); v != nil {
			d.items(v, p, func(p string, v *jsontree.Node) { x.Branches = append(x.Branches, d.branch(v, p, id)) })
		}
	case "repeat":
		x.Kind, x.Min, x.Max = Repeat, o.u32("min"), o.u32("max")
		if v, p := o.get("body"); v != nil {
			x.Body = d.node(v, p, id+"/body")
		}
	case "call":
		x.Kind, x.Action = Call, o.text("action")
	case "ref":
		x.Kind, x.Protocol = RefTo, o.text("protocol")
	}
	return x
}

func (d *decoder) branch(n *jsontree.Node, path, id string) *Branch {
	b := &Branch{Place: place(n, path)}
	if o, ok := d.object(n, path, "id", "weight", "guard?", "body"); ok {
		b.ID, b.Guard, b.Weight = o.text("id"), o.exprOf("guard"), 1 // what has no weight that can be read is no branch without one
		if w, ok := o.number("weight", u32, new(big.Int), limit(32)); ok {
			b.Weight = uint32(w.Uint64())
		}
		if v, p := o.get("body"); v != nil {
			b.Body = d.node(v, p, id+"#"+b.ID)
		}
	}
	return b
}

func (d *decoder) effect(name string, at Place, n *jsontree.Node) *Effect {
	e := &Effect{Place: at, Action: name}
	o, ok := d.object(n, at.Path, "creates?", "sets?")
	if !ok {
		return e
	}
	if v, path := o.some("creates"); v != nil {
		if c, ok := d.object(v, path, "entity", "assign"); ok {
			e.Creates = &Creates{c.Place, c.text("entity"), c.text("assign")}
		}
	}
	if v, path := o.get("sets"); v != nil {
		d.items(v, path, func(path string, v *jsontree.Node) {
			if s, ok := d.object(v, path, "target", "value"); ok {
				e.Sets = append(e.Sets, d.set(s))
			}
		})
	}
	return e
}

func (d *decoder) set(o object) Set {
	s := Set{Place: o.Place}
	if v, path := o.get("target"); v != nil {
		target := o.texts("target")
		s.Place = place(v, path)
		if v.Kind == jsontree.Array && len(target) != 2 {
			d.fail(place(v, path), "target", "must be a variable and a field, got %d names", len(target))
		}
		if len(target) == 2 {
			s.Var, s.Field = target[0], target[1]
		}
	}
	s.Value = o.value("value")
	return s
}

// value reads an expression in which arithmetic may be used.
func (o object) value(key string) *Expr {
	v, path := o.get(key)
	if v == nil {
		return nil
	}
	p := exprReader{decoder: o.d, arithmetic: true}
	return p.read(v, path, 0)
}

func (d *decoder) property(name string, at Place, n *jsontree.Node) *Property {
	p := &Property{Place: at, Name: name}
	o, ok := d.object(n, at.Path, "type", "predicate?", "rule?", "description?")
	if !ok {
		return p
	}
	kind := o.text("type")
	if v, path := o.get("type"); v != nil && kind != "invariant" && kind != "temporal" {
		d.failHint(place(v, path), "unknown-type", diag.DidYouMean(kind, []string{"invariant", "temporal"}), "must be invariant or temporal, got %s", describe(v))
		return p
	}
	p.Temporal = kind == "temporal"
	p.Predicate, p.Description = o.exprOf("predicate"), o.optional("description")
	rule, path := o.some("rule")
	if rule != nil {
		p.Rule = d.rule(rule, path)
	}
	predicate, _ := o.some("predicate")
	if kind == "invariant" && predicate == nil {
		d.fail(at, "property-predicate", "an invariant must have a predicate")
	}
	if kind == "temporal" && rule == nil {
		d.fail(at, "property-rule", "a temporal property must have a rule")
	}
	if kind == "invariant" && rule != nil {
		d.fail(place(rule, path), "property-rule", "an invariant has no rule; only temporal properties have")
	}
	return p
}

func either(words []string) string {
	s := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			s += " or "
		default:
			s += ", "
		}
		s += w
	}
	return s
}
