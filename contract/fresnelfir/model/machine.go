package model

import (
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/splitmix"
)

// None is the instance of an unbound variable.
const None int32 = -1

// Observer answers what only a module knows: the value of an observer function for instances. An
// error makes the expression unknown.
type Observer interface {
	Observe(function int, args []int32) (Value, error)
	// Knows reports whether the module knows the instances, so that it can be asked about them.
	Knows(instances ...int32) bool
}

// Machine is one state of the model. It is not safe for concurrent use.
type Machine struct {
	p      *Program
	insts  []instance
	fields []Value
	live   [][]int32 // instances by entity, in order of creation
	envs   [][]int32 // by thread: the instance of each variable
	marks  []mark    // memory of temporal rules
	undo   []change
	dirty  uint64 // columns changed since invariants were checked

	held     []Value  // results of the current effect's conditions, by index
	past     past     // the state before the action, for properties
	found    past     // the state before the current effect, if the effect refers to it
	excesses []Excess // of the last applied effect

	thread   int     // the acting thread
	env      []int32 // its variables
	inputs   []Value // by domain
	observer Observer
	alone    bool // observers are not asked; see Modelled
	empty    bool // a quantifier ranged over no instances

	looks  []looks // memory of Canonical
	hashes []uint64
	place  []int64

	locals []int32
	base   int
	fuel   int
	fault  Fault

	// Tried counts how often each property was tested.
	Tried []int64
}

type instance struct{ entity, base int32 }

// mark is a memory of a temporal rule: that it was triggered, for which instance, and with which
// variables.
type mark struct {
	rule int32
	key  int32
	env  []int32
}

type changeKind uint8

const (
	changedField changeKind = iota
	changedVar
	created
	marked
)

// change is an entry of the undo log.
type change struct {
	kind changeKind
	at   int32 // field or variable
	of   int32 // thread of a variable, or entity of a creation
	was  Value
}

// New returns a machine without instances for a number of threads.
func (p *Program) New(threads int) *Machine {
	m := &Machine{p: p, live: make([][]int32, len(p.entities)), locals: make([]int32, 64), Tried: make([]int64, len(p.properties)), inputs: make([]Value, len(p.doc.Inputs.Domains))}
	m.Reset(threads)
	return m
}

// Program returns the machine's program.
func (m *Machine) Program() *Program { return m.p }

// SetObserver sets who answers for observer functions. nil leaves that to their derived functions.
func (m *Machine) SetObserver(o Observer) { m.observer = o }

// Reset empties the model. It keeps the Tried counts.
func (m *Machine) Reset(threads int) {
	m.insts, m.fields, m.marks, m.undo = m.insts[:0], m.fields[:0], m.marks[:0], m.undo[:0]
	for i := range m.live {
		m.live[i] = m.live[i][:0]
	}
	for len(m.envs) < threads {
		m.envs = append(m.envs, make([]int32, len(m.p.vars)))
	}
	m.envs = m.envs[:threads]
	for _, e := range m.envs {
		for i := range e {
			e[i] = None
		}
	}
	for i := range m.inputs {
		m.inputs[i] = m.p.DomainValue(i, 0)
	}
	m.dirty = ^uint64(0)
	m.past.known = false
	m.Act(0)
}

// Act makes a thread the acting one.
func (m *Machine) Act(thread int) { m.thread, m.env = thread, m.envs[thread] }

// SetInput sets the value of an input.
func (m *Machine) SetInput(domain int, v Value) { m.inputs[domain] = v }

// Input returns the value of an input.
func (m *Machine) Input(domain int) Value { return m.inputs[domain] }

// Create creates an instance with its defaults.
func (m *Machine) Create(entity int) int32 {
	e := &m.p.entities[entity]
	i := int32(len(m.insts))
	m.insts = append(m.insts, instance{int32(entity), int32(len(m.fields))})
	m.fields = append(m.fields, e.defaults...)
	if e.id >= 0 {
		m.fields[len(m.fields)-len(e.defaults)+e.id] = Identity(i)
	}
	m.live[entity] = append(m.live[entity], i)
	m.undo = append(m.undo, change{kind: created, of: int32(entity)})
	m.dirty |= e.columns
	return i
}

// Set sets a field of an instance.
func (m *Machine) Set(i int32, field int, v Value) {
	at := m.insts[i].base + int32(field)
	if m.fields[at] == v {
		return
	}
	m.undo = append(m.undo, change{kind: changedField, at: at, was: m.fields[at]})
	m.fields[at] = v
	m.dirty |= m.p.entities[m.insts[i].entity].column(field)
}

// Get returns the value of a field of an instance.
func (m *Machine) Get(i int32, field int) Value { return m.fields[m.insts[i].base+int32(field)] }

// Bind binds a variable of the acting thread to an instance.
func (m *Machine) Bind(slot int, i int32) {
	m.undo = append(m.undo, change{kind: changedVar, at: int32(slot), of: int32(m.thread), was: Value{N: int64(m.env[slot])}})
	m.env[slot] = i
	m.dirty |= variables
}

// Var returns the instance to which a variable of the acting thread is bound, or None.
func (m *Machine) Var(slot int) int32 { return m.env[slot] }

// Mark returns a point that Undo can return to.
func (m *Machine) Mark() int { return len(m.undo) }

// Undo undoes all changes since a mark.
func (m *Machine) Undo(to int) {
	for len(m.undo) > to {
		c := m.undo[len(m.undo)-1]
		m.undo = m.undo[:len(m.undo)-1]
		switch c.kind {
		case changedField:
			m.fields[c.at] = c.was
		case changedVar:
			m.envs[c.of][c.at] = int32(c.was.N)
		case created:
			last := m.insts[len(m.insts)-1]
			m.insts, m.fields = m.insts[:len(m.insts)-1], m.fields[:last.base]
			m.live[c.of] = m.live[c.of][:len(m.live[c.of])-1]
		case marked:
			m.marks = m.marks[:len(m.marks)-1]
		}
	}
	m.dirty = ^uint64(0)
}

// Commit discards the undo log, which invalidates all marks.
func (m *Machine) Commit() { m.undo = m.undo[:0] }

// Live returns the instances of an entity, in order of creation. The slice is the
// machine's own.
func (m *Machine) Live(entity int) []int32 { return m.live[entity] }

// Instances returns the number of instances of all entities.
func (m *Machine) Instances() int { return len(m.insts) }

// EntityOf returns the entity of an instance.
func (m *Machine) EntityOf(i int32) int { return int(m.insts[i].entity) }

// Sketch returns a hash of a rough view of the model's state: how many instances of each entity
// have which bool and enum values, whichever instances they are. It ignores integers, texts, and
// instances of one entity (-1: of none), such as those that only act. Equal states have equal
// sketches.
func (m *Machine) Sketch(except int) uint64 {
	sum := uint64(0)
	for i := range m.insts {
		x := &m.insts[i]
		if int(x.entity) == except {
			continue
		}
		h := uint64(x.entity) + 1
		for _, k := range m.p.entities[x.entity].plain {
			h = mix(h ^ uint64(m.fields[int(x.base)+k].N)<<2 ^ uint64(m.fields[int(x.base)+k].Kind))
		}
		sum += mix(h)
	}
	return sum
}

// mix mixes the bits of a number.
func mix(z uint64) uint64 { return splitmix.Next(&z) }

// Cause says why an expression has no value.
type Cause uint8

// The causes of faults. Unbound and Unobservable are not the document's fault: nothing exists yet,
// or nobody can be asked.
const (
	NoFault      Cause = iota
	Unbound            // a variable without an instance
	Unobservable       // an observer without a module and without a derived function
	UnsetField         // a field that was never set
	NotACondition
	NotAnInteger
	Overflow   // arithmetic beyond 64 bits
	Endless    // too much work for one expression
	Unanswered // the module failed to answer an observer
)

// Fault is why an expression or an effect could not be evaluated.
type Fault struct {
	Cause  Cause
	Expr   *ir.Expr // where
	Detail string
}

// Spec reports whether the document is at fault.
func (f Fault) Spec() bool { return f.Cause >= UnsetField && f.Cause != Unanswered }

// String describes the fault without its place.
func (f Fault) String() string {
	name := func() string {
		if f.Expr != nil && f.Expr.Op == ir.FieldOf {
			return f.Expr.Var + "." + f.Expr.Text
		}
		return f.Detail
	}
	switch f.Cause {
	case NoFault:
		return "no fault"
	case Unbound:
		return "the variable " + f.Detail + " stands for nothing yet"
	case Unobservable:
		return "only a module can say what " + f.Detail + " is"
	case UnsetField:
		return name() + " is read before it has a value"
	case NotACondition:
		return "a condition is neither true nor false"
	case NotAnInteger:
		return "an operand is not an integer"
	case Overflow:
		return "arithmetic exceeds 64 bits or divides by 0"
	case Endless:
		return "an expression takes more than 1000000 steps"
	}
	return "the module does not answer " + f.Detail
}

// failed notes a fault, if it is the first of an evaluation, and returns Unset.
func (m *Machine) failed(c Cause, e *ir.Expr, detail string) Value {
	if m.fault.Cause == NoFault {
		m.fault = Fault{Cause: c, Expr: e, Detail: detail}
	}
	return Value{}
}

// maxFuel limits the work of one evaluation.
const maxFuel = 1_000_000

// begin prepares the machine for an evaluation. Every step calls it, and clearing a fault that is
// not there would cost as much as a small expression.
func (m *Machine) begin() {
	if m.fault.Cause != NoFault {
		m.fault = Fault{}
	}
	m.fuel, m.base = maxFuel, 0
}

// Value evaluates an expression for the acting thread. False means that it has no value; Fault says
// why.
func (m *Machine) Value(c Code) (Value, bool) {
	m.begin()
	v := c(m)
	if v.Kind == Unset && m.fault.Cause == NoFault {
		m.fault.Cause = UnsetField
	}
	return v, v.Kind != Unset
}

// Fault returns why the last evaluation has no value.
func (m *Machine) Fault() Fault { return m.fault }

// Eval is Value and Fault combined.
func (m *Machine) Eval(c Code) (Value, Fault) {
	if v, ok := m.Value(c); ok {
		return v, Fault{}
	}
	return Value{}, m.fault
}

// Modelled is Value without a module: the derived functions answer for observers.
func (m *Machine) Modelled(c Code) (Value, bool) {
	m.alone = true
	v, ok := m.Value(c)
	m.alone = false
	return v, ok
}
