package ir

import (
	"math"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

func (d *decoder) generator(name string, at Place, n *jsontree.Node) *Generator {
	g := &Generator{Place: at, Name: name}
	o, ok := d.object(n, at.Path, "sequence", "description?", "postcondition?")
	if !ok {
		return g
	}
	g.Description, g.Postcondition = o.optional("description"), o.exprOf("postcondition")
	if v, path := o.get("sequence"); v != nil {
		d.items(v, path, func(path string, v *jsontree.Node) {
			s, ok := d.object(v, path, "action", "with?")
			if !ok {
				return
			}
			step := GeneratorStep{Place: s.Place, Action: s.text("action")}
			if w, path := s.some("with"); w != nil {
				d.named(w, path, func(name string, at Place, v *jsontree.Node) { step.With = append(step.With, d.with(name, at, v)) })
			}
			g.Steps = append(g.Steps, step)
		})
	}
	return g
}

// with reads what a generator's step binds a name to.
func (d *decoder) with(name string, at Place, n *jsontree.Node) With {
	w := With{Place: at, Name: name}
	if n.Kind != jsontree.Object {
		w.Literal = d.expr(n, at.Path)
		return w
	}
	if n.Get("bind") != nil {
		if o, ok := d.object(n, at.Path, "bind", "generate?", "where?"); ok {
			w.Bind, w.Generate, w.Where = o.text("bind"), o.optional("generate"), o.exprOf("where")
		}
		return w
	}
	if o, ok := d.object(n, at.Path, "generate", "where?"); ok {
		w.Generate, w.Where = o.text("generate"), o.exprOf("where")
	}
	return w
}

func (d *decoder) exploration(x *Exploration, n *jsontree.Node, path string) {
	o, ok := d.object(n, path, "weights", "directives_allowed", "adaptation_signals", "strategy", "epoch_size", "coverage_floor_threshold", "concurrency", "actor?")
	if !ok {
		return
	}
	x.Place = o.Place
	part := func(key string, keys ...string) object {
		v, path := o.get(key)
		if v == nil {
			return object{d, &jsontree.Node{}, o.Place}
		}
		p, _ := d.object(v, path, keys...)
		return p
	}
	w := part("weights", "scope", "initial", "decay")
	x.Scope, x.Initial, x.Decay = w.text("scope"), w.text("initial"), w.text("decay")
	s := part("strategy", "initial", "fallback")
	x.Strategy, x.Fallback = s.text("initial"), s.text("fallback")
	c := part("concurrency", "mode", "threads")
	x.Mode, x.Threads = c.text("mode"), c.u32("threads")
	x.Directives, x.Signals = d.kinds(o, "directives_allowed", "type"), d.kinds(o, "adaptation_signals", "signal")
	x.EpochSize, x.Actor = o.u32("epoch_size"), o.optional("actor")
	if v, path := o.get("coverage_floor_threshold"); v != nil {
		f, ok := v.Float()
		if !ok || math.IsInf(f, 0) {
			o.wrong(v, path, "a number")
		}
		x.CoverageFloor = f
	}
}

// kinds reads a list of objects that name a kind and may describe it.
func (d *decoder) kinds(o object, key, kind string) []string {
	var list []string
	if v, path := o.get(key); v != nil {
		d.items(v, path, func(path string, v *jsontree.Node) {
			if e, ok := d.object(v, path, kind, "description?"); ok {
				e.optional("description")
				list = append(list, e.text(kind))
			}
		})
	}
	return list
}

func (d *decoder) inputs(x *Inputs, n *jsontree.Node, path string) {
	o, ok := d.object(n, path, "domains", "constraints", "coverage")
	if !ok {
		return
	}
	x.Place = o.Place
	if v, path := o.get("domains"); v != nil {
		d.named(v, path, func(name string, at Place, v *jsontree.Node) { x.Domains = append(x.Domains, d.domain(name, at, v)) })
	}
	if v, path := o.get("constraints"); v != nil {
		d.items(v, path, func(path string, v *jsontree.Node) {
			if c, ok := d.object(v, path, "name", "rule"); ok {
				con := Constraint{Place: c.Place, Name: c.text("name")}
				if r, path := c.get("rule"); r != nil {
					con.Rule = d.expr(r, path)
				}
				x.Constraints = append(x.Constraints, con)
			}
		})
	}
	v, path := o.get("coverage")
	if v == nil {
		return
	}
	if c, ok := d.object(v, path, "targets", "seed", "reproducible"); ok {
		x.Seed, x.Reproducible = c.u64("seed"), c.truth("reproducible")
		if t, path := c.get("targets"); t != nil {
			d.items(t, path, func(path string, v *jsontree.Node) {
				if target, ok := d.target(v, path); ok {
					x.Targets = append(x.Targets, target)
				}
			})
		}
	}
}

func (d *decoder) domain(name string, at Place, n *jsontree.Node) *Domain {
	x := &Domain{Place: at, Name: name}
	kind, ok := d.kindOf(n, at.Path, "enum", "bool", "int", "string")
	if !ok {
		return x
	}
	switch kind {
	case "enum", "string":
		o, _ := d.object(n, at.Path, "type", "values")
		x.Type, x.Values = map[string]Type{"enum": Enum, "string": String}[kind], o.texts("values")
	case "bool":
		d.object(n, at.Path, "type")
		x.Type = Bool
	case "int":
		o, _ := d.object(n, at.Path, "type", "min", "max")
		x.Type = Int
		for key, into := range map[string]*int64{"min": &x.Min, "max": &x.Max} {
			if v := o.i64(key); v != nil {
				*into = *v
			} else if v, path := o.get(key); v != nil && v.Kind == jsontree.Null {
				o.wrong(v, path, "a 64-bit integer")
			}
		}
	}
	return x
}

func (d *decoder) target(n *jsontree.Node, path string) (Target, bool) {
	t := Target{Place: place(n, path)}
	kind, ok := d.kindOf(n, path, "all_pairs", "each_transition", "boundary", "t_way")
	if !ok {
		return t, false
	}
	switch kind {
	case "all_pairs":
		o, _ := d.object(n, path, "type", "over")
		t.Kind, t.Strength, t.Over = AllPairs, 2, o.texts("over")
	case "t_way":
		o, _ := d.object(n, path, "type", "over", "strength")
		t.Kind, t.Over, t.Strength = TWay, o.texts("over"), int(o.u32("strength"))
	case "each_transition":
		o, _ := d.object(n, path, "type", "machine")
		t.Kind, t.Machine = EachTransition, o.text("machine")
	case "boundary":
		o, _ := d.object(n, path, "type", "domain", "values")
		t.Kind, t.Domain = Boundary, o.text("domain")
		if v, path := o.get("values"); v != nil {
			d.items(v, path, func(path string, v *jsontree.Node) {
				e := d.expr(v, path)
				if e.Op > LitString && e.Op != Faulty {
					d.fail(e.Place, "type", "must be a value, got %s", describe(v))
				} else if e.Op != Faulty {
					t.Values = append(t.Values, e)
				}
			})
		}
	}
	return t, true
}

func (d *decoder) bindings(x *Bindings, n *jsontree.Node, path string) {
	o, ok := d.object(n, path, "runtime", "entry", "actions", "event_hooks")
	if !ok {
		return
	}
	x.Place, x.Runtime, x.Entry = o.Place, o.text("runtime"), o.text("entry")
	if v, path := o.get("actions"); v != nil {
		d.named(v, path, func(name string, at Place, v *jsontree.Node) { x.Actions = append(x.Actions, d.binding(name, at, v)) })
	}
	if v, path := o.get("event_hooks"); v != nil {
		if h, ok := d.object(v, path, "mode", "observe", "capture"); ok {
			x.HookMode, x.Observe, x.Capture = h.text("mode"), h.texts("observe"), h.texts("capture")
		}
	}
}

func (d *decoder) binding(name string, at Place, n *jsontree.Node) *ActionBinding {
	b := &ActionBinding{Place: at, Action: name}
	o, ok := d.object(n, at.Path, "function", "args", "returns", "mutates", "idempotent", "reads", "writes", "rejects?", "answer?")
	if !ok {
		return b
	}
	b.Function, b.Args = o.text("function"), o.texts("args")
	b.Mutates, b.Idempotent, b.Reads, b.Writes = o.truth("mutates"), o.truth("idempotent"), o.texts("reads"), o.texts("writes")
	if v, path := o.get("returns"); v != nil {
		b.Returns = d.returns(v, path)
	}
	if v, _ := o.some("answer"); v != nil {
		b.Answer = o.value("answer")
	}
	if v, path := o.some("rejects"); v != nil {
		b.Rejects = d.rejects(v, path)
	}
	return b
}

// returns reads the type of an action's answer: {"type": T}, the bare name T,
// or null; "void" is none.
func (d *decoder) returns(n *jsontree.Node, path string) string {
	name := ""
	switch n.Kind {
	case jsontree.Null:
	case jsontree.String:
		name = n.Text
	case jsontree.Object:
		if o, ok := d.object(n, path, "type"); ok {
			name = o.optional("type")
		}
	default:
		d.fail(place(n, path), "type", "must be an object with a type, got %s", describe(n))
	}
	if name == "void" {
		return ""
	}
	return name
}

// rejects reads {"return": "<0"}, {"trap": true} or both.
func (d *decoder) rejects(n *jsontree.Node, path string) *Rejects {
	o, ok := d.object(n, path, "return?", "trap?")
	if !ok {
		return nil
	}
	r := &Rejects{Place: o.Place, Trap: o.truth("trap")}
	if text := o.optional("return"); text != "" {
		v, at := o.get("return")
		if r.Op, r.Value, ok = comparison(text); !ok {
			d.failHint(place(v, at), "rejects", diag.DidYouMean(text, []string{"<0", "==0"}), "must be a comparison with an integer such as %q, got %s", "<0", describe(v))
		}
	}
	if r.Op == "" && !r.Trap && !d.list.HasErrors() {
		d.fail(o.Place, "rejects", "must name a return value or a trap")
	}
	return r
}
