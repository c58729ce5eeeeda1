// Package cache writes the module of the cache example: the component that the model in cache.json
// describes, and versions of it with one fault each.
//
// A cache holds two keys with their values and evicts the least recently used one. get answers the
// value or -1 and counts hits; keys are positive.
package cache

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/tools/modules/record"
)

// Fault is the fault of a version of the module.
type Fault string

// The faults. None is the correct component.
const (
	None         Fault = ""
	GetIsNoUse   Fault = "reading a key does not count as use"
	EvictsNewest Fault = "the key that was used last gives way"
	MissIsZero   Fault = "a miss answers 0"
	KeepsOld     Fault = "a value is not replaced"
	ClearsOne    Fault = "clearing leaves the second key"
	MissCounts   Fault = "a miss counts as a hit"
	WrongValue   Fault = "a hit of the second key answers the value of the first"
	SwapLoses    Fault = "using the second key loses the first"
	HitsEnd      Fault = "no more than three hits are counted"
	FourIsZero   Fault = "the key 4 is taken for an empty place"
	ClearTwice   Fault = "clearing twice fails"
	PutCounts    Fault = "putting counts as a hit"
)

// Faults returns all faulty versions.
func Faults() []Fault {
	return []Fault{GetIsNoUse, EvictsNewest, MissIsZero, KeepsOld, ClearsOne, MissCounts, WrongValue, SwapLoses, HitsEnd, FourIsZero, ClearTwice, PutCounts}
}

// Fields of a cache.
const (
	key1 = iota
	value1
	key2
	value2
	hits
)

// Module returns the module with a fault.
func Module(fault Fault) []byte {
	m := record.New()
	m.Open("cache_open")
	put(m, fault)
	get(m, fault)

	clear := m.On("cache_clear", 0)
	if fault == ClearTwice {
		clear.When(clear.Of(e.I32Eq, clear.Field(0, key1), clear.Const(-1)), func() { clear.Op(e.Unreachable) })
	}
	fields := []uint32{key1, value1, key2, value2, hits}
	if fault == ClearsOne {
		fields = []uint32{key1, value1, hits}
	}
	for _, n := range fields {
		clear.Store(0, n, clear.Const(0))
	}
	if fault == ClearTwice {
		clear.Store(0, key1, clear.Const(-1))
	}
	clear.Last(clear.Const(0))

	observe(m, "first_key", key1, fault)
	observe(m, "second_key", key2, fault)
	observe(m, "hits", hits, fault)
	return m.Bytes()
}

func observe(m *record.Module, name string, field uint32, fault Fault) {
	f := m.On(name, 0)
	if fault == ClearTwice && field == key1 {
		f.When(f.Of(e.I32LtS, f.Field(0, key1), f.Const(0)), func() { f.Answer(f.Const(0)) })
	}
	f.Last(f.Field(0, field))
}

// move copies the first key to the second.
func move(f record.Func) {
	f.Store(0, key2, f.Field(0, key1))
	f.Store(0, value2, f.Field(0, value1))
}

func put(m *record.Module, fault Fault) {
	f := m.On("cache_put", 2)
	if fault == PutCounts {
		f.Store(0, hits, f.Of(e.I32Add, f.Field(0, hits), f.Const(1)))
	}
	f.When(f.Of(e.I32Eq, f.Field(0, key1), f.Local(1)), func() {
		if fault != KeepsOld {
			f.Store(0, value1, f.Local(2))
		}
		f.Answer(f.Const(0))
	})
	if fault != EvictsNewest {
		move(f)
	}
	f.Store(0, key1, f.Local(1))
	f.Store(0, value1, f.Local(2))
	f.Last(f.Const(0))
}

func get(m *record.Module, fault Fault) {
	f := m.On("cache_get", 1)
	was, value := f.Func.Local(e.I32), f.Func.Local(e.I32)
	count := func() {
		grow := func() { f.Store(0, hits, f.Of(e.I32Add, f.Field(0, hits), f.Const(1))) }
		if fault == HitsEnd {
			f.When(f.Of(e.I32LtS, f.Field(0, hits), f.Const(3)), grow)
			return
		}
		grow()
	}
	if fault == FourIsZero {
		f.Get(1).I32(3).Op(e.I32And).Set(1)
	}
	f.When(f.Of(e.I32Eq, f.Field(0, key1), f.Local(1)), func() {
		count()
		f.Answer(f.Field(0, value1))
	})
	f.When(f.Of(e.I32Eq, f.Field(0, key2), f.Local(1)), func() {
		count()
		f.Field(0, key2)()
		f.Set(was)
		f.Field(0, value2)()
		f.Set(value)
		switch fault {
		case GetIsNoUse:
			f.Answer(f.Local(value))
		case WrongValue:
			f.Field(0, value1)()
			f.Set(value)
		}
		right := f.Func.Local(e.I32)
		f.Field(0, value2)()
		f.Set(right)
		if fault != SwapLoses {
			move(f)
		}
		f.Store(0, key1, f.Local(was))
		f.Store(0, value1, f.Local(right))
		f.Answer(f.Local(value))
	})
	if fault == MissCounts {
		count()
	}
	miss := int32(-1)
	if fault == MissIsZero {
		miss = 0
	}
	f.Last(f.Const(miss))
}
