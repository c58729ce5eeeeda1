package ir

import (
	"slices"
	"strings"
)

// Document is a decoded IR. Lists of named things are ordered by name, so that everything derived
// from a document has one order.
type Document struct {
	Entities    []*Entity
	Refinements []*Refinement
	Functions   []*Function
	Protocols   []*Protocol
	Effects     []*Effect
	Properties  []*Property
	Generators  []*Generator
	Exploration Exploration
	Inputs      Inputs
	Bindings    Bindings
	Capsule     *Capsule // extension: one finding to reproduce

	// Actor is the entity of the acting instances; "" if nobody acts. ActorWhy says why. Check sets
	// both, and Vars and Newest.
	Actor, ActorWhy string
	// Vars are the variables that live as long as a traversal, with their entities: "actor", those
	// that effects assign, and those that generators bind.
	Vars map[string]string
	// Newest are variables that nothing binds. They stand for the newest instance of an entity, as
	// in existing tools.
	Newest map[string]string
}

// Type is the type of a field or a domain.
type Type uint8

// The types.
const (
	NoType Type = iota
	String
	Bool
	Int
	Enum
	Ref
)

var typeNames = []string{"", "string", "bool", "int", "enum", "ref"}

func (t Type) String() string { return typeNames[t] }

// Entity is a type of instances.
type Entity struct {
	Place
	Name   string
	Fields []*Field
}

// Field returns the field of that name, or nil.
func (e *Entity) Field(name string) *Field {
	for _, f := range e.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Field is a property of an entity.
type Field struct {
	Place
	Name    string
	Type    Type
	Format  string   // of a string; informative
	Default *Expr    // a literal; an extension, except for a bool
	Min     *int64   // of an int; nil: no bound
	Max     *int64   // likewise
	Values  []string // of an enum, in declared order
	Entity  string   // of a ref
	Texts   []string // of a string: values in instances that the harness creates; none: ""
}

// Param is a parameter: an instance of an entity.
type Param struct {
	Place
	Name, Entity string
}

// Refinement is a named subset of an entity's instances.
type Refinement struct {
	Place
	Name, Base string
	Params     []Param
	Predicate  *Expr
}

// Function is derived, with a body, or an observer, with a binding.
type Function struct {
	Place
	Name     string
	Observer bool
	Params   []Param
	Body     *Expr  // of a derived function
	Binding  string // of an observer: the export that it calls
	Part     string // extension: the part of a system's answer that is compared, a JSON path
	Models   string // extension: the derived function that predicts the observer's answer
	Guess    *Guess // extension: marks Models as a guess; nil: it is none
	Returns  string
	Result   ValueType // the type that Returns names; set by Check
}

// Protocol is a grammar of action sequences.
type Protocol struct {
	Place
	Name string
	Root *Node
}

// NodeKind is the kind of a protocol node.
type NodeKind uint8

// The kinds of nodes.
const (
	Seq NodeKind = iota
	Alt
	Repeat
	Call
	RefTo
)

// Node is a part of a protocol. Its Path is stable: it names the node in
// traces, coverage and weights.
type Node struct {
	Place
	Kind     NodeKind
	ID       string // "lifecycle/root/1/body#publish"
	Children []*Node
	Branches []*Branch
	Min, Max uint32
	Body     *Node  // of a repeat
	Action   string // of a call
	Protocol string // of a ref
}

// Walk visits a node and all nodes below it. It does not enter the protocol that a ref names.
func (n *Node) Walk(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, c := range n.Children {
		c.Walk(visit)
	}
	for _, b := range n.Branches {
		b.Body.Walk(visit)
	}
	n.Body.Walk(visit)
}

// Branch is an alternative.
type Branch struct {
	Place
	ID     string
	Weight uint32
	Guard  *Expr // nil: always open
	Body   *Node
}

// Effect is what an action does to the model.
type Effect struct {
	Place
	Action  string
	Creates *Creates
	Sets    []Set
	Picks   []Pick  // extension: instances that the action is about, in order
	Conds   []*Expr // extension: conditions of sets, see [Set.Under]
}

// Pick is an instance chosen when an action is taken: one for which Where holds. From then on the
// variable stands for it.
type Pick struct {
	Place
	Var, Entity string
	Where       *Expr // nil: any
}

// Under is a condition, by its index among those of the effect, and the result that it must have.
// It is evaluated once, when the first set that depends on it is reached.
type Under struct {
	Cond int
	Want bool
}

// Creates creates an instance and binds it to a variable.
type Creates struct {
	Place
	Entity, Assign string
}

// Set assigns a value to a field of an instance.
type Set struct {
	Place
	Var, Field string
	Value      *Expr
	Under      []Under
}

// Property is an invariant, with a predicate, or a temporal property, with a rule.
type Property struct {
	Place
	Name        string
	Temporal    bool
	Predicate   *Expr
	Rule        *Rule
	Description string
}

// Generator is a sequence of actions that leads to a start state.
type Generator struct {
	Place
	Name          string
	Description   string
	Steps         []GeneratorStep
	Postcondition *Expr
}

// GeneratorStep is one action of a generator.
type GeneratorStep struct {
	Place
	Action string
	With   []With
}

// With binds a parameter of a generator's step: to a new instance of Generate for which Where
// holds, to the instance named Bind (created on first use), or to a literal.
type With struct {
	Place
	Name     string
	Generate string
	Where    *Expr // over "self"
	Bind     string
	Literal  *Expr
}

// Parallel is the concurrency mode in which actors call a system at the same time.
const Parallel = "parallel"

// Exploration says how the state space is searched.
type Exploration struct {
	Place
	Scope, Initial, Decay string // of weights
	Directives            []string
	Signals               []string
	Strategy, Fallback    string
	EpochSize             uint32
	CoverageFloor         float64
	Mode                  string // of concurrency
	Threads               uint32
	Faults                []string // extension: faults that the environment injects between calls
	Actor                 string   // extension: the entity of the acting instances
	Budget                int64    // extension: number of traversals; 0: as the rule says
	Vary                  bool     // extension: choices that a traversal has made before lose weight
}

// Inputs is the space of inputs.
type Inputs struct {
	Place
	Domains      []*Domain
	Constraints  []Constraint
	Targets      []Target
	Seed         uint64
	Reproducible bool
}

// Constraint is a rule over domains.
type Constraint struct {
	Place
	Name string
	Rule *Expr
}

// TargetKind is the kind of a coverage target.
type TargetKind uint8

// The kinds of coverage targets. TWay is an extension.
const (
	AllPairs TargetKind = iota
	EachTransition
	Boundary
	TWay
)

// Target is something that inputs or traversals must cover.
type Target struct {
	Place
	Kind     TargetKind
	Over     []string // of all_pairs and t_way
	Strength int      // of t_way
	Machine  string   // of each_transition
	Domain   string   // of boundary
	Values   []*Expr  // of boundary: literals
}

// Bindings tie actions to exports of a module.
type Bindings struct {
	Place
	Runtime, Entry string
	Actions        []*ActionBinding
	HookMode       string
	Observe        []string
	Capture        []string
}

// ActionBinding ties one action to an export.
type ActionBinding struct {
	Place
	Action, Function string
	Args             []string
	Returns          string    // its type; "" for none
	Result           ValueType // the type that Returns names; set by Check
	Mutates          bool
	Idempotent       bool
	Reads, Writes    []string
	Rejects          *Rejects // extension: how the module refuses
	Answer           *Expr    // extension: the predicted answer, evaluated in the state before the effect
	Part             string   // extension: the part of a system's answer that is compared, a JSON path
	Reuses           string   // extension: the refinement of instances that are gone, whose handles a new one may get
	Values           []Computed
	Guesses          []Guess // extension
}

// Guess marks a claim of a document that nobody has confirmed.
type Guess struct {
	Place
	Of    string // the action or observer
	Claim string // one of [Claims]; "models" for an observer
	Why   string
}

// Claims are what can be guessed about an action: when it is allowed, what it changes, what it
// answers, and what its binding says about the call.
var Claims = []string{"requires", "effect", "answer", "returns", "mutates", "idempotent"}

// Computed is an argument that is not a name in the model: a value, evaluated in the state before
// the effect, or another name for an argument. An extension.
type Computed struct {
	Place
	Name   string
	Value  *Expr
	Is     string
	Result ValueType // set by Check
}

// Computed returns the computed argument of that name; nil if there is none.
func (b *ActionBinding) Computed(name string) *Computed {
	for i := range b.Values {
		if b.Values[i].Name == name {
			return &b.Values[i]
		}
	}
	return nil
}

// Rejects says which answers of a module mean that it refused the action.
type Rejects struct {
	Place
	Trap  bool   // a trap counts as a refusal
	Op    string // "<", "<=", "==", "!=", ">=", ">"; "" if no return value does
	Value int64
}

// find returns the item with a name, or the zero value (nil) if there is none.
func find[T any](list []T, name string, key func(T) string) (none T) {
	if i, ok := slices.BinarySearchFunc(list, name, func(t T, n string) int { return strings.Compare(key(t), n) }); ok {
		return list[i]
	}
	return none
}

// Entity returns the entity of that name, or nil.
func (d *Document) Entity(name string) *Entity {
	return find(d.Entities, name, func(e *Entity) string { return e.Name })
}

// Refinement returns the refinement of that name, or nil.
func (d *Document) Refinement(name string) *Refinement {
	return find(d.Refinements, name, func(r *Refinement) string { return r.Name })
}

// Function returns the function of that name, or nil.
func (d *Document) Function(name string) *Function {
	return find(d.Functions, name, func(f *Function) string { return f.Name })
}

// Protocol returns the protocol of that name, or nil.
func (d *Document) Protocol(name string) *Protocol {
	return find(d.Protocols, name, func(p *Protocol) string { return p.Name })
}

// Effect returns the effect of an action, or nil.
func (d *Document) Effect(action string) *Effect {
	return find(d.Effects, action, func(e *Effect) string { return e.Action })
}

// Domain returns the domain of that name, or nil.
func (d *Document) Domain(name string) *Domain {
	return find(d.Inputs.Domains, name, func(x *Domain) string { return x.Name })
}

// Binding returns the binding of an action, or nil.
func (d *Document) Binding(action string) *ActionBinding {
	return find(d.Bindings.Actions, action, func(b *ActionBinding) string { return b.Action })
}

// sameParameters reports whether two functions have parameters of the same types.
func (f *Function) sameParameters(as *Function) bool {
	return slices.EqualFunc(f.Params, as.Params, func(a, b Param) bool { return a.Entity == b.Entity })
}

// Pair returns the derived function that predicts an observer's answer: the one that the observer
// names, else the only one with the same parameter types and return type. It returns nil for
// another function, and if there is no such function or more than one.
func (d *Document) Pair(observer *Function) *Function {
	if !observer.Observer {
		return nil
	}
	if observer.Models != "" {
		return d.Function(observer.Models)
	}
	if fit := d.fitting(observer); len(fit) == 1 {
		return fit[0]
	}
	return nil
}

// fitting returns the derived functions with an observer's parameter types and return type.
func (d *Document) fitting(observer *Function) (list []*Function) {
	for _, f := range d.Functions {
		if !f.Observer && f.Returns == observer.Returns && f.sameParameters(observer) {
			list = append(list, f)
		}
	}
	return list
}
