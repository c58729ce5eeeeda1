// Package queue writes the module of the bounded queue example: the component
// that the model in queue.json describes, and versions of it with one fault each.
//
// A queue holds up to three numbers in a ring. push answers 0, or -1 if the
// queue is full; pop and peek answer the oldest number, or -1 if there is none.
package queue

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/tools/modules/record"
)

// Fault is the fault of a version of the module.
type Fault string

// The faults. None is the correct component.
const (
	None           Fault = ""
	TooSmall       Fault = "the third number is refused"
	TooLarge       Fault = "a fourth number is taken"
	NewestFirst    Fault = "pop gives the newest number"
	KeepsSize      Fault = "pop leaves the size as it is"
	NoWrap         Fault = "the ring does not wrap"
	Underflow      Fault = "a refused peek makes the size negative"
	Magic          Fault = "the number 777 cannot be pushed"
	Shared         Fault = "the second queue is the first"
	PeekRemoves    Fault = "peek removes the number"
	FullOverwrites Fault = "a refused push overwrites the oldest number"
	PushAnswers    Fault = "push answers with the number"
	FifthIsLost    Fault = "the fifth number of all is stored as 0"
)

// Faults returns all faulty versions.
func Faults() []Fault {
	return []Fault{TooSmall, TooLarge, NewestFirst, KeepsSize, NoWrap, Underflow, Magic, Shared, PeekRemoves, FullOverwrites, PushAnswers, FifthIsLost}
}

// Fields of a queue.
const (
	size  = 0
	head  = 1
	slots = 2
)

// Module returns the module with a fault.
func Module(fault Fault) []byte {
	m := record.New()
	open := m.Open("queue_open")
	if fault == Shared {
		open.I32(2).Op(e.I32Eq).If(e.Empty, func() { open.I32(1).GlobalSet(m.Count) }, nil)
		open.GlobalGet(m.Count)
	}
	push(m, fault)
	capacity := int32(3)
	next := func(f record.Func) record.Value {
		at := f.Of(e.I32Add, f.Field(0, head), f.Const(1))
		if fault == NoWrap {
			return at
		}
		return f.Of(e.I32RemS, at, f.Const(capacity))
	}
	oldest := func(f record.Func) record.Value { return f.Slot(0, slots, f.Field(0, head)) }
	newest := func(f record.Func) record.Value {
		last := f.Of(e.I32Sub, f.Of(e.I32Add, f.Field(0, head), f.Field(0, size)), f.Const(1))
		return f.Slot(0, slots, f.Of(e.I32RemS, last, f.Const(capacity)))
	}
	remove := func(f record.Func) {
		f.Store(0, head, next(f))
		if fault != KeepsSize {
			f.Store(0, size, f.Of(e.I32Sub, f.Field(0, size), f.Const(1)))
		}
	}
	empty := func(f record.Func) record.Value { return f.Of(e.I32LeS, f.Field(0, size), f.Const(0)) }

	pop := m.On("queue_pop", 0)
	taken := pop.Func.Local(e.I32)
	pop.When(empty(pop), func() { pop.Answer(pop.Const(-1)) })
	oldest(pop)()
	pop.Set(taken)
	if fault == NewestFirst {
		newest(pop)()
		pop.Set(taken)
	}
	remove(pop)
	pop.Last(pop.Local(taken))

	peek := m.On("queue_peek", 0)
	kept := peek.Func.Local(e.I32)
	peek.When(empty(peek), func() {
		if fault == Underflow {
			peek.Store(0, size, peek.Of(e.I32Sub, peek.Field(0, size), peek.Const(1)))
		}
		peek.Answer(peek.Const(-1))
	})
	oldest(peek)()
	peek.Set(kept)
	if fault == PeekRemoves {
		remove(peek)
	}
	peek.Last(peek.Local(kept))

	length := m.On("queue_size", 0)
	length.Last(length.Field(0, size))
	back := m.On("queue_back", 0)
	back.When(empty(back), func() { back.Answer(back.Const(0)) })
	back.Last(newest(back))
	return m.Bytes()
}

// push adds the function that appends a number.
func push(m *record.Module, fault Fault) {
	total := m.Global(e.I32, true, 0)
	f := m.On("queue_push", 1)
	capacity := map[Fault]int32{TooSmall: 2, TooLarge: 4}[fault]
	if capacity == 0 {
		capacity = 3
	}
	f.When(f.Of(e.I32GeS, f.Field(0, size), f.Const(capacity)), func() {
		if fault == FullOverwrites {
			f.SetSlot(0, slots, f.Field(0, head), f.Local(1))
		}
		f.Answer(f.Const(-1))
	})
	if fault == Magic {
		f.When(f.Of(e.I32Eq, f.Local(1), f.Const(777)), func() { f.Op(e.Unreachable) })
	}
	stored := f.Local(1)
	f.GlobalGet(total).I32(1).Op(e.I32Add).GlobalSet(total)
	if fault == FifthIsLost {
		stored = f.Of(e.I32Mul, f.Local(1), func() { f.GlobalGet(total).I32(5).Op(e.I32Ne) })
	}
	at := f.Of(e.I32RemS, f.Of(e.I32Add, f.Field(0, head), f.Field(0, size)), f.Const(3))
	f.SetSlot(0, slots, at, stored)
	f.Store(0, size, f.Of(e.I32Add, f.Field(0, size), f.Const(1)))
	if fault == PushAnswers {
		f.Answer(f.Local(1))
	}
	f.Last(f.Const(0))
}
