package model

import (
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/splitmix"
)

// None is the instance of a variable that is bound to none.
const None int32 = -1

// Observer answers what only a module can say: the value of an observer
// function for instances. An error makes the expression unknown.
type Observer interface {
	Observe(function int, args []int32) (Value, error)
	// Knows reports whether it can be asked about instances.
	Knows(instances ...int32) bool
}

// Machine is one state of the model. It is for one goroutine.
type Machine struct {
	p      *Program
	insts  []instance
	fields []Value
	live   [][]int32 // instances by entity, in order of creation
	envs   [][]int32 // by thread: the instance of each variable
	marks  []mark    // what temporal rules remember
	undo   []change
	dirty  uint64 // columns changed since invariants were looked at

	held     []Value  // by condition of the effect that is carried out: how it turned out
	past     past     // the state before the action, for properties
	found    past     // the state that the action which is carried out found, if it asks for it
	excesses []Excess // of the effect that was applied last

	thread   int     // the acting one
	env      []int32 // its variables
	inputs   []Value // by domain
	observer Observer
	alone    bool // nobody is asked: see Modelled
	empty    bool // a quantifier went over no instance at all

	looks  []looks // what instances are like, in the memory of Canonical
	hashes []uint64
	place  []int64

	locals []int32
	base   int
	fuel   int
	fault  Fault

	// Tried counts, by property, how often it was put to the test.
	Tried []int64
}

type instance struct{ entity, base int32 }

// mark is something that a temporal rule remembers: that it was triggered,
// for which instance, and with which variables.
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
	of   int32 // thread of a variable, entity of a creation
	was  Value
}

// New returns a machine without instances, for a number of threads.
func (p *Program) New(threads int) *Machine {
	m := &Machine{p: p, live: make([][]int32, len(p.entities)), locals: make([]int32, 64), Tried: make([]int64, len(p.properties)), inputs: make([]Value, len(p.doc.Inputs.Domains))}
	m.Reset(threads)
	return m
}

// Program returns what the machine runs.
func (m *Machine) Program() *Program { return m.p }

// SetObserver says who answers for observer functions; nil leaves them to
// the derived functions that they are paired with.
func (m *Machine) SetObserver(o Observer) { m.observer = o }

// Reset empties the model. Tried counts go on.
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

// SetInput gives an input its value.
func (m *Machine) SetInput(domain int, v Value) { m.inputs[domain] = v }

// Input returns the value of an input.
func (m *Machine) Input(domain int) Value { return m.inputs[domain] }

// Create makes an instance with its defaults.
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

// Set gives a field of an instance a value.
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

// Bind lets a variable of the acting thread stand for an instance.
func (m *Machine) Bind(slot int, i int32) {
	m.undo = append(m.undo, change{kind: changedVar, at: int32(slot), of: int32(m.thread), was: Value{N: int64(m.env[slot])}})
	m.env[slot] = i
	m.dirty |= variables
}

// Var returns the instance that a variable of the acting thread stands for, or None.
func (m *Machine) Var(slot int) int32 { return m.env[slot] }

// Mark returns a point to come back to.
func (m *Machine) Mark() int { return len(m.undo) }

// Undo takes all changes since a mark back.
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

// Commit forgets how to take changes back: a mark taken before it is void.
func (m *Machine) Commit() { m.undo = m.undo[:0] }

// Live returns the instances of an entity, in order of creation. The slice is the
// machine's own.
func (m *Machine) Live(entity int) []int32 { return m.live[entity] }

// Instances returns the number of instances of all entities.
func (m *Machine) Instances() int { return len(m.insts) }

// EntityOf returns the entity of an instance.
func (m *Machine) EntityOf(i int32) int { return int(m.insts[i].entity) }

// Sketch returns a number for what the model's state is like: how many instances of
// each entity have which truths and enum values, whichever they are. Integers
// and texts do not count, nor do instances of one entity (-1: of none), such as
// those that only act. Equal states have equal sketches.
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

// The causes of faults. Unbound and Unobservable are no faults of the document:
// there is nothing yet, or nobody, to speak of.
const (
	NoFault      Cause = iota
	Unbound            // a variable that stands for no instance
	Unobservable       // an observer without a module and without a pair
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

// String returns the fault without its place.
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

// failed notes a fault, the first of an evaluation, and is the value of what
// could not be evaluated.
func (m *Machine) failed(c Cause, e *ir.Expr, detail string) Value {
	if m.fault.Cause == NoFault {
		m.fault = Fault{Cause: c, Expr: e, Detail: detail}
	}
	return Value{}
}

// maxFuel bounds the work of one evaluation.
const maxFuel = 1_000_000

// begin makes the machine ready for an evaluation. It is on the path of every
// step, and to clear a fault that is not there costs as much as a small expression.
func (m *Machine) begin() {
	if m.fault.Cause != NoFault {
		m.fault = Fault{}
	}
	m.fuel, m.base = maxFuel, 0
}

// Value evaluates an expression for the acting thread. It reports whether there
// is a value; if not, Fault says why.
func (m *Machine) Value(c Code) (Value, bool) {
	m.begin()
	v := c(m)
	if v.Kind == Unset && m.fault.Cause == NoFault {
		m.fault.Cause = UnsetField
	}
	return v, v.Kind != Unset
}

// Fault returns why the evaluation that was made last has no value.
func (m *Machine) Fault() Fault { return m.fault }

// Eval is Value and Fault in one.
func (m *Machine) Eval(c Code) (Value, Fault) {
	if v, ok := m.Value(c); ok {
		return v, Fault{}
	}
	return Value{}, m.fault
}

// Modelled is Value by the model alone: observers are answered by the derived
// functions that they are paired with.
func (m *Machine) Modelled(c Code) (Value, bool) {
	m.alone = true
	v, ok := m.Value(c)
	m.alone = false
	return v, ok
}
