package ir

import (
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/engine/doctree"
)

func (d *decoder) document(doc *Document) {
	o := d.Section(d.root, "$", format().document)
	if !o.There() {
		return
	}
	effects := d.beside(len(o.Node("effects").Members()), func(d *decoder) {
		doc.Effects = nil
		d.eachNamed(o, "effects", func(name string, at Place, v *doctree.Node) {
			doc.Effects = append(doc.Effects, share(d, effects, v, at, "", func() *Effect { return d.effect(name, at, v) }))
		})
	})
	d.eachNamed(o, "entities", func(name string, at Place, v *doctree.Node) {
		doc.Entities = append(doc.Entities, d.entity(name, at, v))
	})
	d.eachNamed(o, "refinements", func(name string, at Place, v *doctree.Node) {
		doc.Refinements = append(doc.Refinements, d.refinement(name, at, v))
	})
	d.eachNamed(o, "functions", func(name string, at Place, v *doctree.Node) {
		doc.Functions = append(doc.Functions, d.function(name, at, v))
	})
	d.eachNamed(o, "protocols", func(name string, at Place, v *doctree.Node) {
		p := &Protocol{Place: at, Name: name}
		if n, path := d.valueAt(d.Section(v, at.Path(), format().protocol), "root"); n != nil {
			p.Root = d.node(n, path, name+"/root")
		}
		doc.Protocols = append(doc.Protocols, p)
	})
	effects()
	d.eachNamed(o, "properties", func(name string, at Place, v *doctree.Node) {
		doc.Properties = append(doc.Properties, d.property(name, at, v))
	})
	d.eachNamed(o, "generators", func(name string, at Place, v *doctree.Node) {
		doc.Generators = append(doc.Generators, d.generator(name, at, v))
	})
	d.exploration(&doc.Exploration, o.Sub("exploration"))
	d.inputs(&doc.Inputs, o.Sub("inputs"))
	d.bindings(&doc.Bindings, o.Sub("bindings"))
	if c := o.Sub("capsule"); c.There() {
		doc.Capsule = d.capsule(c)
	}
}

// valueAt returns the value of a key and its path, if the key is present.
func (d *decoder) valueAt(s *doctree.Section, key string) (n *doctree.Node, path string) {
	if n = s.Node(key); n != nil {
		path = s.At(key)
	}
	return n, path
}

func (d *decoder) entity(name string, at Place, n *doctree.Node) *Entity {
	e := &Entity{Place: at, Name: name}
	d.eachNamed(d.Section(n, at.Path(), format().entity), "fields", func(name string, at Place, v *doctree.Node) { e.Fields = append(e.Fields, d.field(name, at, v)) })
	return e
}

// typeOf returns the type with a name.
func typeOf(name string) Type { return Type(max(slices.Index(typeNames, name), 0)) }

func (d *decoder) field(name string, at Place, n *doctree.Node) *Field {
	s := d.Section(n, at.Path(), format().field)
	s.Text("type")
	return &Field{
		Place: at, Name: name, Type: typeOf(s.Tag), Format: s.Text("format"), Min: d.i64(s, "min"), Max: d.i64(s, "max"),
		Values: s.Texts("values"), Entity: s.Text("entity"), Default: d.exprOf(s, "default"),
	}
}

func (d *decoder) params(s *doctree.Section) []Param {
	var list []Param
	s.Each("params", func(n *doctree.Node, path string) {
		if p := d.Section(n, path, format().param); p.There() {
			list = append(list, Param{placeOf(p), p.Text("name"), p.Text("type")})
		}
	})
	return list
}

// exprOf reads the expression of a key; nil if it is absent or null.
func (d *decoder) exprOf(s *doctree.Section, key string) *Expr {
	if n, path := d.valueAt(s, key); n != nil {
		return d.expr(n, path)
	}
	return nil
}

// readExpr reads the expression of a key. If "full" is given, it replaces the expression and may
// use operators that the published format lacks.
func (d *decoder) readExpr(s *doctree.Section, key string) *Expr {
	e := d.exprOf(s, key)
	if full := d.value(s, "full"); full != nil {
		return full
	}
	return e
}

func (d *decoder) refinement(name string, at Place, n *doctree.Node) *Refinement {
	s := d.Section(n, at.Path(), format().refinement)
	r := &Refinement{Place: at, Name: name, Base: s.Text("base"), Params: d.params(s), Predicate: d.readExpr(s, "predicate")}
	if r.Predicate == nil && s.There() {
		s.Missing("predicate", "")
	}
	return r
}

func (d *decoder) function(name string, at Place, n *doctree.Node) *Function {
	s := d.Section(n, at.Path(), format().function)
	class := s.Text("classification")
	f := &Function{
		Place: at, Name: name, Observer: class == "observer", Params: d.params(s), Body: d.readExpr(s, "body"),
		Binding: s.Text("binding"), Part: d.part(s), Models: s.Text("models"), Returns: s.Text("returns"),
	}
	if why := s.Text("guess"); why != "" {
		f.Guess = &Guess{Place: valueOf(s, "guess"), Of: name, Claim: "models", Why: why}
	}
	switch {
	case !s.There():
	case f.Observer && !s.Given("binding"):
		d.fail(at, "observer-binding", "an observer must name the export that it calls as its binding")
	case f.Observer && s.Given("body"):
		d.fail(valueOf(s, "body"), "observer-binding", "an observer has no body: it asks the module")
	case class == "derived" && !s.Given("body") && !s.Given("full"):
		d.fail(at, "derived-body", "a derived function must have a body")
	case class == "derived" && s.Given("binding"):
		d.fail(valueOf(s, "binding"), "derived-body", "a derived function has no binding: it is computed from the model")
	}
	return f
}

// node reads a protocol node. Its id is the path that names it in traces.
func (d *decoder) node(n *doctree.Node, path, id string) *Node {
	s := d.Section(n, path, format().node)
	s.Text("type")
	x := &Node{
		Place: place(n, path), ID: id, Kind: NodeKind(max(slices.Index([]string{"seq", "alt", "repeat", "call", "ref"}, s.Tag), 0)),
		Min: uint32(s.Float("min")), Max: uint32(s.Float("max")), Action: s.Text("action"), Protocol: s.Text("protocol"),
	}
	s.Each("children", func(n *doctree.Node, path string) {
		x.Children = append(x.Children, d.node(n, path, id+"/"+strconv.Itoa(len(x.Children))))
	})
	s.Each("branches", func(n *doctree.Node, path string) {
		at := place(n, path)
		x.Branches = append(x.Branches, share(d, branches, n, at, id, func() *Branch { return d.branch(n, path, id) }))
	})
	if v, path := d.valueAt(s, "body"); v != nil {
		x.Body = d.node(v, path, id+"/body")
	}
	return x
}

func (d *decoder) branch(n *doctree.Node, path, id string) *Branch {
	s := d.Section(n, path, format().branch)
	b := &Branch{Place: place(n, path), ID: s.Text("id"), Guard: d.readExpr(s, "guard"), Weight: 1} // a branch with an unreadable weight counts as one without a weight
	if before := len(d.List); s.Given("weight") {
		if w := uint32(s.Float("weight")); len(d.List) == before {
			b.Weight = w
		}
	}
	if v, path := d.valueAt(s, "body"); v != nil {
		b.Body = d.node(v, path, id+"#"+b.ID)
	}
	return b
}

func (d *decoder) effect(name string, at Place, n *doctree.Node) *Effect {
	s := d.Section(n, at.Path(), format().effect)
	e := &Effect{Place: at, Action: name}
	if c := s.Sub("creates"); c.There() {
		e.Creates = &Creates{placeOf(c), c.Text("entity"), c.Text("assign")}
	}
	s.Each("sets", func(n *doctree.Node, path string) {
		if x := d.Section(n, path, format().set); x.There() {
			e.Sets = append(e.Sets, d.set(x))
		}
	})
	s.Each("picks", func(n *doctree.Node, path string) {
		if x := d.Section(n, path, format().pick); x.There() {
			e.Picks = append(e.Picks, Pick{Place: placeOf(x), Var: x.Text("var"), Entity: x.Text("entity"), Where: d.value(x, "where")})
		}
	})
	if s.Given("steps") {
		e.Sets = nil
		d.steps(s, "steps", e, nil)
	}
	return e
}

// steps reads sets, and conditions with sets below them.
func (d *decoder) steps(s *doctree.Section, key string, e *Effect, under []Under) {
	s.Each(key, func(n *doctree.Node, path string) {
		if n.Kind == doctree.Map && n.Get("if") == nil {
			if x := d.Section(n, path, format().set); x.There() {
				set := d.set(x)
				set.Under = under
				e.Sets = append(e.Sets, set)
			}
			return
		}
		x := d.Section(n, path, format().fork)
		if !x.There() {
			return
		}
		at := len(e.Conds)
		e.Conds = append(e.Conds, d.value(x, "if"))
		for _, want := range []bool{true, false} {
			d.steps(x, map[bool]string{true: "then", false: "else"}[want], e, append(slices.Clip(under), Under{at, want}))
		}
	})
}

func (d *decoder) set(s *doctree.Section) Set {
	x := Set{Place: valueOf(s, "target")}
	if n := s.Node("target"); n != nil {
		target := s.Texts("target")
		if n.Kind == doctree.Seq && len(n.Items()) != 2 {
			d.fail(x.Place, "target", "must be a variable and a field, got %d names", len(n.Items()))
		}
		if len(target) == 2 {
			x.Var, x.Field = target[0], target[1]
		}
	}
	x.Value = d.value(s, "value")
	return x
}

// value reads an expression that may use arithmetic.
func (d *decoder) value(s *doctree.Section, key string) *Expr {
	n := s.Node(key)
	if n == nil {
		return nil
	}
	p := exprReader{decoder: d, arithmetic: true}
	return p.read(n, place(n, s.At(key)), 0)
}

func (d *decoder) property(name string, at Place, n *doctree.Node) *Property {
	s := d.Section(n, at.Path(), format().property)
	kind := s.Text("type")
	p := &Property{Place: at, Name: name}
	if kind != "invariant" && kind != "temporal" {
		return p
	}
	p.Temporal = kind == "temporal"
	p.Predicate, p.Description = d.readExpr(s, "predicate"), s.Text("description")
	rule, path := d.valueAt(s, "rule")
	if rule != nil {
		p.Rule = d.rule(rule, path)
	}
	switch {
	case !p.Temporal && rule != nil:
		d.fail(place(rule, path), "property-rule", "an invariant has no rule; only temporal properties have")
	case !p.Temporal && !s.Given("predicate") && !s.Given("full"):
		d.fail(at, "property-predicate", "an invariant must have a predicate")
	case p.Temporal && rule == nil:
		d.fail(at, "property-rule", "a temporal property must have a rule")
	}
	return p
}
