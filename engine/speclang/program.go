package speclang

import (
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/match"
)

// Options say how an expression is compiled.
type Options struct {
	RegexTimeout time.Duration // of one regex_match that backtracks; 0: match.DefaultTimeout
}

// Limits are the budgets of one evaluation.
type Limits struct {
	Steps        int // expressions evaluated, tail iterations included
	Nodes        int // lists, scalars and mappings of the expression
	LiteralBytes int // UTF-8 bytes of all strings of the expression
}

// DefaultLimits returns the budgets of the contract.
func DefaultLimits() Limits { return Limits{Steps: 20000, Nodes: 20000, LiteralBytes: 262144} }

// MaxDepth is how deep evaluations may be nested; tail calls do not count.
// Python's implementation gives up near 330; with the default budget of steps
// the limit is never reached.
const MaxDepth = 50000

// Host is what an evaluation may ask about the world.
type Host struct {
	// Expired reports whether the time limit is over; nil: no limit. It is
	// called at the first step, every 64 steps after that, and at the step
	// after work on a large text or a regular expression.
	Expired func() bool
	// PathExists answers path_exists; nil: no path exists.
	PathExists func(path string) bool
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	Nodes        int // bounded by Limits.Nodes
	LiteralBytes int // bounded by Limits.LiteralBytes

	options  Options
	form     Form
	root     *expr
	problems []*Error
	machines sync.Pool // of *machine, so that a simple predicate allocates nothing
}

// Result is the result of an evaluation.
type Result struct {
	Value Value
	Steps int    // also set if Err is
	Err   *Error // nil on success
}

// Truthy reports whether the evaluation gave a value that is true in Python.
func (r Result) Truthy() bool { return r.Err == nil && r.Value.Truthy() }

// Compile compiles a form. It cannot fail: an invalid form is an error of the
// evaluation that reaches it.
func Compile(f Form, o Options) *Program {
	p := &Program{options: o, form: f}
	p.Nodes, p.LiteralBytes = f.measure()
	c := compiler{options: o}
	p.root = c.expr(&p.form, nil)
	p.problems = c.problems
	return p
}

// Problems lists everything that would be an error whenever it were reached, in
// the order of the text: unknown symbols and variables, malformed forms, wrong
// operand counts, bad literal patterns.
func (p *Program) Problems() []*Error { return slices.Clone(p.problems) }

// String returns the expression as compact JSON, except for what is foreign to
// the language.
func (p *Program) String() string { return p.form.String() }

// Eval evaluates the program against a subject.
func (p *Program) Eval(subject Value, l Limits, h Host) Result {
	if p.Nodes > l.Nodes || p.LiteralBytes > l.LiteralBytes {
		return Result{Err: p.root.fail(Runtime, "spec_lang budget exceeded: %s", p.form.firstExceeded(l))}
	}
	m, ok := p.machines.Get().(*machine)
	if !ok {
		m = new(machine)
	}
	*m = machine{program: p, subject: subject, host: h, maxSteps: l.Steps, poll: 1}
	v, err := m.eval(p.root, nil)
	steps := m.steps
	*m = machine{} // a program outlives its subjects
	p.machines.Put(m)
	if err != nil {
		return Result{Steps: steps, Err: err}
	}
	return Result{Value: v, Steps: steps}
}

// frame holds the variables of one scope while it is evaluated.
type frame struct {
	parent *frame
	slots  []Value
	few    [3]Value // room for the slots of most scopes
}

func newFrame(parent *frame, count int) *frame {
	f := &frame{parent: parent}
	if count <= len(f.few) {
		f.slots = f.few[:count]
	} else {
		f.slots = make([]Value, count)
	}
	return f
}

// machine is one evaluation.
type machine struct {
	program  *Program
	subject  Value
	host     Host
	maxSteps int
	steps    int
	poll     int // the step at which to check the time limit
	depth    int
	patterns map[string]*match.Pattern // patterns that were computed
}

// pollSteps is the number of steps between two checks of the time limit.
const pollSteps = 64

// largeText is the size from which work on a text requires a check of the time
// limit.
const largeText = 4096

// worked notes work on a text of that size.
func (m *machine) worked(size int) {
	if size >= largeText {
		m.poll = m.steps + 1
	}
}

func (m *machine) text(v Value) string {
	s := v.Text()
	m.worked(len(s))
	return s
}

func (m *machine) equal(a, b Value) bool {
	if a.heap != nil && b.heap != nil {
		m.worked(largeText) // trees are compared as a whole
	}
	return a.Equal(b)
}

// tick counts a step of e.
func (m *machine) tick(e *expr) *Error {
	if m.steps++; m.steps > m.maxSteps {
		return e.fail(Runtime, "spec_lang budget exceeded: steps")
	}
	if m.steps >= m.poll {
		m.poll = m.steps + pollSteps
		if m.host.Expired != nil && m.host.Expired() {
			return e.fail(Runtime, "spec_lang budget exceeded: timeout")
		}
	}
	return nil
}

// eval evaluates an expression. In tail position it loops instead of calling
// itself.
func (m *machine) eval(e *expr, f *frame) (Value, *Error) {
	if m.depth++; m.depth > MaxDepth {
		return Value{}, e.fail(Runtime, "spec_lang recursion deeper than %d", MaxDepth)
	}
	defer func() { m.depth-- }()
	for {
		if err := m.tick(e); err != nil {
			return Value{}, err
		}
		switch e.op {
		case opConst:
			return e.value, nil
		case opSubject:
			return m.subject, nil
		case opVar:
			return e.lookup(f)
		case opIf:
			c, err := m.eval(e.operands[0], f)
			if err != nil {
				return Value{}, err
			}
			if c.Truthy() {
				e = e.operands[1]
			} else {
				e = e.operands[2]
			}
		case opLet:
			last := len(e.operands) - 1
			f = newFrame(f, last)
			for i := range f.slots {
				f.slots[i].kind = unset
			}
			for i, x := range e.operands[:last] {
				v, err := m.eval(x, f)
				if err != nil {
					return Value{}, err
				}
				f.slots[i] = v
			}
			e = e.operands[last]
		case opFn:
			return Value{kind: Closure, heap: &heap{fn: e, env: f}}, nil
		case opCall:
			var err *Error
			if e, f, err = m.call(e, f); err != nil {
				return Value{}, err
			}
		case opAnd, opOr:
			return m.connect(e, f)
		case opBuiltin:
			return m.apply(e, f)
		default:
			return Value{}, e.bad
		}
	}
}

func (e *expr) lookup(f *frame) (Value, *Error) {
	for range e.outward {
		f = f.parent
	}
	v := f.slots[e.slot]
	if v.kind == unset {
		return Value{}, e.fail(Schema, "uninitialized variable: %s", e.value.text)
	}
	return v, nil
}

// call evaluates function and arguments, and returns the body and frame with
// which to continue.
func (m *machine) call(e *expr, f *frame) (*expr, *frame, *Error) {
	fn, err := m.eval(e.operands[0], f)
	if err != nil {
		return nil, nil, err
	}
	inner := newFrame(nil, len(e.operands)-1)
	for i, x := range e.operands[1:] {
		if inner.slots[i], err = m.eval(x, f); err != nil {
			return nil, nil, err
		}
	}
	if fn.kind != Closure {
		return nil, nil, e.fail(Schema, "spec_lang call expects fn closure, got %s", fn.TypeName())
	}
	if want := fn.heap.fn.params; want != len(inner.slots) {
		return nil, nil, e.fail(Schema, "spec_lang call argument count mismatch: expected %d got %d", want, len(inner.slots))
	}
	inner.parent = fn.heap.env
	return fn.heap.fn.operands[0], inner, nil
}

// connect evaluates and and or. The result is a boolean, not an operand.
func (m *machine) connect(e *expr, f *frame) (Value, *Error) {
	decisive := e.op == opOr
	for _, x := range e.operands {
		v, err := m.eval(x, f)
		if err != nil {
			return Value{}, err
		}
		if v.Truthy() == decisive {
			return BoolValue(decisive), nil
		}
	}
	return BoolValue(!decisive), nil
}

func (m *machine) apply(e *expr, f *frame) (Value, *Error) {
	var operands [2]Value
	at := e.builtin.operands - len(e.operands)
	if at > 0 {
		operands[0] = m.subject
	}
	for i, x := range e.operands {
		v, err := m.eval(x, f)
		if err != nil {
			return Value{}, err
		}
		operands[at+i] = v
	}
	return e.builtin.apply(m, e, operands[0], operands[1])
}
