package ir

import (
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
)

func (d *decoder) generator(name string, at Place, n *doctree.Node) *Generator {
	s := d.Section(n, at.Path(), format().generator)
	g := &Generator{Place: at, Name: name, Description: s.Text("description"), Postcondition: d.exprOf(s, "postcondition")}
	s.Each("sequence", func(n *doctree.Node, path string) {
		x := d.Section(n, path, format().step)
		if !x.There() {
			return
		}
		step := GeneratorStep{Place: placeOf(x), Action: x.Text("action")}
		d.eachNamed(x, "with", func(name string, at Place, v *doctree.Node) {
			step.With = append(step.With, d.readBinding(name, at, v))
		})
		g.Steps = append(g.Steps, step)
	})
	return g
}

// readBinding reads what a generator's step binds a name to.
func (d *decoder) readBinding(name string, at Place, n *doctree.Node) With {
	w := With{Place: at, Name: name}
	if n.Kind != doctree.Map {
		w.Literal = d.expr(n, at.Path())
		return w
	}
	s := d.Section(n, at.Path(), format().with)
	if !s.Given("bind") && !s.Given("generate") {
		s.Missing("generate", "")
	}
	w.Bind, w.Generate, w.Where = s.Text("bind"), s.Text("generate"), d.exprOf(s, "where")
	return w
}

func (d *decoder) exploration(x *Exploration, s *doctree.Section) {
	if !s.There() {
		return
	}
	x.Place = placeOf(s)
	w := s.Sub("weights")
	x.Scope, x.Initial, x.Decay = w.Text("scope"), w.Text("initial"), w.Text("decay")
	t := s.Sub("strategy")
	x.Strategy, x.Fallback = t.Text("initial"), t.Text("fallback")
	c := s.Sub("concurrency")
	x.Mode, x.Threads, x.Faults = c.Text("mode"), uint32(c.Float("threads")), c.Texts("faults")
	x.Directives, x.Signals = d.kinds(s, "directives_allowed", "type", format().directive), d.kinds(s, "adaptation_signals", "signal", format().signal)
	x.EpochSize, x.Actor, x.CoverageFloor = uint32(s.Float("epoch_size")), s.Text("actor"), s.Float("coverage_floor_threshold")
	x.Budget, x.Vary = int64(s.Integer("budget")), s.True("vary")
}

// kinds reads a list of objects that name a kind and may describe it.
func (d *decoder) kinds(s *doctree.Section, key, kind string, shape *doctree.Shape) []string {
	var list []string
	s.Each(key, func(n *doctree.Node, path string) {
		if e := d.Section(n, path, shape); e.There() {
			e.Text("description")
			list = append(list, e.Text(kind))
		}
	})
	return list
}

func (d *decoder) inputs(x *Inputs, s *doctree.Section) {
	if !s.There() {
		return
	}
	x.Place = placeOf(s)
	d.eachNamed(s, "domains", func(name string, at Place, v *doctree.Node) { x.Domains = append(x.Domains, d.domain(name, at, v)) })
	s.Each("constraints", func(n *doctree.Node, path string) {
		if c := d.Section(n, path, format().constraint); c.There() {
			x.Constraints = append(x.Constraints, Constraint{Place: placeOf(c), Name: c.Text("name"), Rule: d.exprOf(c, "rule")})
		}
	})
	c := s.Sub("coverage")
	x.Seed, x.Reproducible = d.u64(c, "seed"), c.True("reproducible")
	c.Each("targets", func(n *doctree.Node, path string) {
		if t, ok := d.target(n, path); ok {
			x.Targets = append(x.Targets, t)
		}
	})
}

func (d *decoder) domain(name string, at Place, n *doctree.Node) *Domain {
	s := d.Section(n, at.Path(), format().domain)
	s.Text("type")
	x := &Domain{Place: at, Name: name, Type: typeOf(s.Tag), Values: s.Texts("values")}
	if v := d.i64(s, "min"); v != nil {
		x.Min = *v
	}
	if v := d.i64(s, "max"); v != nil {
		x.Max = *v
	}
	return x
}

func (d *decoder) target(n *doctree.Node, path string) (Target, bool) {
	s := d.Section(n, path, format().target)
	s.Text("type")
	t := Target{
		Place: place(n, path), Kind: TargetKind(max(slices.Index([]string{"all_pairs", "each_transition", "boundary", "t_way"}, s.Tag), 0)),
		Over: s.Texts("over"), Strength: s.Integer("strength"), Machine: s.Text("machine"), Domain: s.Text("domain"),
	}
	if t.Kind == AllPairs {
		t.Strength = 2
	}
	s.Each("values", func(n *doctree.Node, path string) {
		e := d.expr(n, path)
		if e.Op > LitString && e.Op != Faulty {
			d.fail(e.Place, "type", "must be a value, got %s", d.Describe(n))
		} else if e.Op != Faulty {
			t.Values = append(t.Values, e)
		}
	})
	return t, s.Tag != ""
}

func (d *decoder) bindings(x *Bindings, s *doctree.Section) {
	if !s.There() {
		return
	}
	x.Place, x.Runtime, x.Entry = placeOf(s), s.Text("runtime"), s.Text("entry")
	d.eachNamed(s, "actions", func(name string, at Place, v *doctree.Node) {
		x.Actions = append(x.Actions, share(d, bindings, v, at, "", func() *ActionBinding { return d.binding(name, at, v) }))
	})
	h := s.Sub("event_hooks")
	x.HookMode, x.Observe, x.Capture = h.Text("mode"), h.Texts("observe"), h.Texts("capture")
}

func (d *decoder) binding(name string, at Place, n *doctree.Node) *ActionBinding {
	s := d.Section(n, at.Path(), format().binding)
	b := &ActionBinding{
		Place: at, Action: name, Function: s.Text("function"), Args: s.Texts("args"), Mutates: s.True("mutates"), Idempotent: s.True("idempotent"),
		Reads: s.Texts("reads"), Writes: s.Texts("writes"), Returns: d.returns(s), Answer: d.value(s, "answer"),
	}
	b.Part, b.Reuses = d.part(s), s.Text("reuses")
	if r := s.Sub("rejects"); r.There() {
		b.Rejects = d.rejects(r)
	}
	d.eachNamed(s, "values", func(name string, at Place, v *doctree.Node) {
		x := Computed{Place: at, Name: name}
		if v.Kind == doctree.Map {
			x.Is = d.Section(v, at.Path(), format().alias).Text("is")
		} else {
			x.Value = (&exprReader{decoder: d, arithmetic: true}).read(v, place(v, at.Path()), 0)
		}
		b.Values = append(b.Values, x)
	})
	d.eachNamed(s, "guess", func(claim string, at Place, v *doctree.Node) {
		if !slices.Contains(Claims, claim) {
			d.failHint(at, "unknown-word", diag.DidYouMean(claim, Claims), "must be %s, got %q", doctree.Either(Claims), claim)
		} else if v.Kind != doctree.String || v.Text == "" {
			d.fail(at, "type", "must be a text that says why it is guessed, got %s", d.Describe(v))
		} else {
			b.Guesses = append(b.Guesses, Guess{Place: at, Of: name, Claim: claim, Why: v.Text})
		}
	})
	return b
}

// part reads the path of the part of an answer that is compared.
func (d *decoder) part(s *doctree.Section) string {
	text := s.Text("part")
	if _, err := agentcall.ParsePath(text); err != nil {
		d.fail(valueOf(s, "part"), "part", "must be a JSON path such as $.order.total: %v", err)
	}
	return text
}

// returns reads the type of an action's answer: {"type": T}, the bare name T, or null. "void" means
// none.
func (d *decoder) returns(s *doctree.Section) string {
	name := s.Text("returns")
	if n := s.Node("returns"); n != nil && n.Kind == doctree.Map {
		name = d.Section(n, s.At("returns"), format().returns).Text("type")
	}
	if name == "void" {
		return ""
	}
	return name
}

// rejects reads {"return": "<0"}, {"trap": true} or both.
func (d *decoder) rejects(s *doctree.Section) *Rejects {
	r := &Rejects{Place: placeOf(s), Trap: s.True("trap")}
	if text := s.Text("return"); text != "" {
		ok := false
		if r.Op, r.Value, ok = comparison(text); !ok {
			d.failHint(valueOf(s, "return"), "rejects", diag.DidYouMean(text, []string{"<0", "==0"}), "must be a comparison with an integer such as %q, got %q", "<0", text)
		}
	}
	if n := s.Node("return"); (n == nil || n.Kind == doctree.String && n.Text == "") && !r.Trap {
		d.fail(r.Place, "rejects", "must name a return value or a trap")
	}
	return r
}
