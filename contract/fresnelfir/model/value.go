package model

import (
	"math"
	"strconv"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Unset is the kind of a field without a value, and of an expression that
// could not be evaluated.
const (
	Unset Kind = iota
	Bool
	Int
	Symbol
)

// Value is a value of the model. Equal values are equal as Go values.
type Value struct {
	Kind Kind
	// N is the integer, 0 or 1 for a bool, or the number of a text. Texts of the document are
	// numbered from 0; ^n is the id of instance n.
	N int64
}

// True and False are the values of kind Bool.
var (
	True  = Value{Bool, 1}
	False = Value{Bool, 0}
)

// Foreign is a text that the document does not contain, for example from a module's answer. It
// equals no text of the document.
var Foreign = Value{Symbol, math.MaxInt64}

func truth(b bool) Value {
	if b {
		return True
	}
	return False
}

// Number returns an integer as a value.
func Number(n int64) Value { return Value{Int, n} }

// Identity returns the id of an instance as a value.
func Identity(instance int32) Value { return Value{Symbol, ^int64(instance)} }

// symbols are the texts of a document.
type symbols struct {
	texts []string
	index map[string]int64
}

func (s *symbols) intern(text string) Value {
	i, ok := s.index[text]
	if !ok {
		i = int64(len(s.texts))
		s.texts = append(s.texts, text)
		s.index[text] = i
	}
	return Value{Symbol, i}
}

// Text formats a value for people.
func (m *Machine) Text(v Value) string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.N != 0)
	case Int:
		return strconv.FormatInt(v.N, 10)
	case Symbol:
		if v.N < 0 {
			return m.Name(int32(^v.N))
		}
		if v.N == Foreign.N {
			return "something that the document does not name"
		}
		return m.p.symbols.texts[v.N]
	}
	return "unset"
}

// Name returns an instance's name: "Document#2", counting from 1 within its entity.
func (m *Machine) Name(instance int32) string {
	if instance < 0 || int(instance) >= len(m.insts) {
		return "nothing"
	}
	e := m.insts[instance].entity
	for i, x := range m.live[e] {
		if x == instance {
			return m.p.entities[e].name + "#" + strconv.Itoa(i+1)
		}
	}
	return "nothing"
}
