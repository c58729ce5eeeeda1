package model

import (
	"maps"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// Program is a compiled document.
type Program struct {
	doc        *ir.Document
	symbols    symbols
	entities   []entity
	vars       []string       // environment variables; "actor" is first, if it exists
	slots      map[string]int // their indices
	newest     map[string]int // variables that stand for the newest instance of an entity
	functions  []function
	refined    map[string]*function
	actions    []Action
	numbers    map[string]int // indices of the actions
	properties []property
	rules      []rule
	old        bool   // some property compares two states
	unread     []bool // by variable; see private
}

type entity struct {
	name     string
	ir       *ir.Entity
	defaults []Value
	plain    []int // fields of type bool or enum
	id       int   // the field with the instance's id; -1: none
	first    int   // index of its first column
	columns  uint64
}

// variables is the column of all environment variables.
const variables = uint64(1) << 63

// column returns the bit of a field, or of the set of instances for field -1. Beyond 62 columns,
// several share a bit, which costs time but not correctness.
func (e *entity) column(field int) uint64 { return 1 << ((e.first + field + 1) % 63) }

// function is a derived function, an observer or a refinement.
type function struct {
	name  string
	index int
	size  int // number of locals that a call needs
	body  Code
	reads uint64
	pair  *function // the derived function of an observer
}

// Action is a compiled action.
type Action struct {
	Name    string
	Effect  *ir.Effect
	Binding *ir.ActionBinding
	creates int // entity; -1: none
	assign  int // slot
	sets    []set
	conds   []Code // conditions of sets
	picks   []pick
	subject int // slot of the instance that the action is about; -1: none
	steady  bool
	old     bool // its effect compares with the state before it
	before  []int
	after   []int // rules that the action triggers or that may forbid it
}

type set struct {
	target   reference
	field    int
	value    Code
	source   ir.Set
	entity   string
	declared *ir.Field
	enum     bool
	allow    []int64 // values of an enum
}

// Compile compiles a document that has no errors.
func Compile(doc *ir.Document) *Program {
	p := &Program{doc: doc, symbols: symbols{index: map[string]int64{}}, slots: map[string]int{}, newest: map[string]int{}, refined: map[string]*function{}}
	p.declare()
	for i, f := range doc.Functions {
		if f.Body != nil {
			p.body(&p.functions[i], f.Body, f.Params...)
		}
	}
	for _, r := range doc.Refinements {
		p.body(p.refined[r.Name], r.Predicate, append([]ir.Param{{Name: "self", Entity: r.Base}}, r.Params...)...)
	}
	p.closeReads()
	p.compileActions()
	p.compileProperties()
	return p
}

// declare numbers entities, variables and functions.
func (p *Program) declare() {
	p.symbols.intern("") // the text fields of instances that the harness creates
	columns := 0
	for _, e := range p.doc.Entities {
		x := entity{name: e.Name, ir: e, id: -1, first: columns}
		columns += len(e.Fields) + 1
		x.columns = x.column(-1)
		for i, f := range e.Fields {
			v := Value{}
			if f.Default != nil {
				v = p.literal(f.Default)
			}
			if f.Type == ir.Bool || f.Type == ir.Enum {
				x.plain = append(x.plain, i)
			}
			if f.Name == "id" && f.Type == ir.String {
				x.id = i
			}
			x.defaults = append(x.defaults, v)
			x.columns |= x.column(i)
			for _, word := range append(slices.Clip(f.Values), f.Texts...) {
				p.symbols.intern(word)
			}
		}
		p.entities = append(p.entities, x)
	}
	names := map[string]bool{}
	for v := range p.doc.Vars {
		names[v] = true
	}
	for _, g := range p.doc.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				if w.Literal == nil {
					names[w.Name] = true
					if w.Bind != "" {
						names[w.Bind] = true
					}
				}
			}
		}
	}
	delete(names, "actor")
	if p.doc.Actor != "" {
		p.vars = []string{"actor"}
	}
	p.vars = append(p.vars, slices.Sorted(maps.Keys(names))...)
	for i, v := range p.vars {
		p.slots[v] = i
	}
	for v, e := range p.doc.Newest {
		p.newest[v] = p.Entity(e)
	}
	for _, x := range p.doc.Inputs.Domains {
		for _, word := range append(slices.Clip(x.Values), x.Variants...) {
			p.symbols.intern(word)
		}
	}
	for i, f := range p.doc.Functions {
		p.functions = append(p.functions, function{name: f.Name, index: i})
	}
	for _, f := range p.doc.Functions {
		if pair := p.doc.Pair(f); pair != nil {
			p.functions[p.function(f.Name)].pair = &p.functions[p.function(pair.Name)]
		}
	}
	for _, r := range p.doc.Refinements {
		p.refined[r.Name] = &function{name: r.Name}
	}
}

// Document returns the document that the program was compiled from.
func (p *Program) Document() *ir.Document { return p.doc }

// Entity returns the number of an entity; -1 if there is none of that name.
func (p *Program) Entity(name string) int {
	return slices.IndexFunc(p.doc.Entities, func(e *ir.Entity) bool { return e.Name == name })
}

// Slot returns the number of an environment variable; -1 if there is none.
func (p *Program) Slot(name string) int {
	if i, ok := p.slots[name]; ok {
		return i
	}
	return -1
}

// Vars returns the environment variables, by slot.
func (p *Program) Vars() []string { return p.vars }

// Symbol returns a text as a value; false if the document does not contain it.
func (p *Program) Symbol(text string) (Value, bool) {
	i, ok := p.symbols.index[text]
	return Value{Symbol, i}, ok
}

func (p *Program) function(name string) int {
	return slices.IndexFunc(p.doc.Functions, func(f *ir.Function) bool { return f.Name == name })
}

// Function returns the number of a function as passed to an [Observer].
func (p *Program) Function(name string) int { return p.function(name) }

// Domain returns the number of an input domain; -1 if there is none of that name.
func (p *Program) Domain(name string) int {
	return slices.IndexFunc(p.doc.Inputs.Domains, func(x *ir.Domain) bool { return x.Name == name })
}

// DomainValue returns value i of a domain: false before true, the values of an enum as declared,
// the values of a string before its variants, and integers nearest to 0 first.
func (p *Program) DomainValue(domain int, i uint64) Value {
	switch x := p.doc.Inputs.Domains[domain]; x.Type {
	case ir.Bool:
		return truth(i == 1)
	case ir.Enum:
		return Value{Symbol, p.symbols.index[x.Values[i]]}
	case ir.String:
		if n := uint64(len(x.Values)); i >= n {
			return Value{Symbol, p.symbols.index[x.Variants[i-n]]}
		}
		return Value{Symbol, p.symbols.index[x.Values[i]]}
	default:
		return Number(x.Integer(i))
	}
}

// body compiles the body of a function or refinement.
func (p *Program) body(fn *function, e *ir.Expr, params ...ir.Param) {
	c := compiler{p: p}
	for _, x := range params {
		c.push(x.Name, x.Entity)
	}
	fn.body = c.expr(e)
	fn.size, fn.reads = c.most, c.reads
}

// closeReads adds to what each function reads what the functions it calls read. No function calls
// itself, directly or not.
func (p *Program) closeReads() {
	closed := map[*function]bool{}
	var visit func(fn *function, body *ir.Expr) (reads uint64)
	visit = func(fn *function, body *ir.Expr) uint64 {
		if closed[fn] {
			return fn.reads
		}
		closed[fn] = true
		body.Walk(func(e *ir.Expr) {
			switch e.Op {
			case ir.Is:
				fn.reads |= visit(p.refined[e.Text], p.doc.Refinement(e.Text).Predicate)
			case ir.Derived:
				i := p.function(e.Text)
				fn.reads |= visit(&p.functions[i], p.doc.Functions[i].Body)
			case ir.Observer:
				fn.reads = math.MaxUint64
			}
		})
		return fn.reads
	}
	for i, f := range p.doc.Functions {
		visit(&p.functions[i], f.Body)
	}
	for _, r := range p.doc.Refinements {
		visit(p.refined[r.Name], r.Predicate)
	}
}

// Condition is a compiled expression over the environment's variables.
type Condition struct {
	Code  Code
	Expr  *ir.Expr
	reads uint64
}

// Condition compiles an expression over the environment's variables.
func (p *Program) Condition(e *ir.Expr) Condition {
	c := compiler{p: p}
	code := c.expr(e)
	return Condition{Code: code, Expr: e, reads: c.reads}
}

// Predicate compiles a condition on one instance, which it calls "self".
func (p *Program) Predicate(e *ir.Expr, entity int) Code {
	c := compiler{p: p}
	c.push("self", p.entities[entity].name)
	return c.expr(e)
}

// Holds evaluates a predicate on an instance.
func (m *Machine) Holds(c Code, i int32) (Value, Fault) {
	m.locals[0] = i
	return m.Eval(c)
}
