package model

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Snapshot is a state of a machine that can be gone back to. While it is needed it is never
// changed, so that many machines of one program may go back to it.
type Snapshot struct {
	insts  []instance
	fields []Value
	envs   [][]int32
	marks  []mark // what they remember of variables is never changed
	inputs []Value
	dirty  uint64
}

// Save returns the machine's state.
func (m *Machine) Save() *Snapshot {
	s := &Snapshot{}
	m.SaveIn(s)
	return s
}

// SaveIn makes a snapshot that nobody needs any more the machine's state, in the memory that it has.
func (m *Machine) SaveIn(s *Snapshot) {
	s.insts, s.fields, s.marks = append(s.insts[:0], m.insts...), append(s.fields[:0], m.fields...), append(s.marks[:0], m.marks...)
	s.inputs, s.dirty = append(s.inputs[:0], m.inputs...), m.dirty
	s.envs = slices.Grow(s.envs[:0], len(m.envs))[:len(m.envs)]
	for i, e := range m.envs {
		s.envs[i] = append(s.envs[i][:0], e...)
	}
}

// Load brings the machine to a state, in the memory that it has. What came
// before cannot be undone. Tried counts go on.
func (m *Machine) Load(s *Snapshot) {
	m.Reset(len(s.envs))
	m.insts, m.fields, m.marks = append(m.insts, s.insts...), append(m.fields, s.fields...), append(m.marks, s.marks...)
	for i := range m.insts {
		e := m.insts[i].entity
		m.live[e] = append(m.live[e], int32(i))
	}
	for i, e := range s.envs {
		copy(m.envs[i], e)
	}
	copy(m.inputs, s.inputs)
	m.dirty = s.dirty
}

// Size is roughly how many bytes a snapshot takes.
func (s *Snapshot) Size() int {
	n := 8*len(s.insts) + 16*len(s.fields) + 16*len(s.inputs) + 40*len(s.marks) + 24*len(s.envs) + 128
	for _, e := range s.envs {
		n += 4 * len(e)
	}
	return n
}

// Key adds to b what tells the machine's state from others: instances with their
// fields, variables and what rules remember, not the inputs.
func (m *Machine) Key(b []byte) []byte {
	for _, x := range m.insts {
		b = binary.AppendVarint(b, int64(x.entity))
	}
	b = append(b, 0xff)
	for _, v := range m.fields {
		b = binary.AppendVarint(append(b, byte(v.Kind)), v.N)
	}
	for _, e := range m.envs {
		for _, i := range e {
			b = binary.AppendVarint(b, int64(i))
		}
	}
	for _, k := range m.marks {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(k.rule)), int64(k.key))
		for _, i := range k.env {
			b = binary.AppendVarint(b, int64(i))
		}
	}
	return b
}

// maxCounted is how many instances of an entity Facts tells apart.
const maxCounted = 4

// Facts adds to list a number for each thing that is true of the machine's state
// by itself: that some instance's field has a value, or that there are so many
// instances of an entity. Which instance it is does not count.
func (m *Machine) Facts(list []uint64) []uint64 {
	for _, x := range m.insts {
		e := &m.p.entities[x.entity]
		for k := range e.defaults {
			v := m.fields[int(x.base)+k]
			if v.Kind == Symbol && v.N < 0 {
				v.N = -1
			}
			list = append(list, mix(mix(uint64(e.first+k)<<8|uint64(v.Kind))^uint64(v.N)))
		}
	}
	for e, live := range m.live {
		list = append(list, mix(^uint64(e*maxCounted+min(len(live), maxCounted-1))))
	}
	return list
}

// looks is what an instance is like, whichever it is: a range of the machine's text.
type looks struct {
	from, to int
	i        int32
}

// Canonical is Key for a state whose instances may change places: states that differ in
// nothing but which instance is which have, as a rule, the same. States that have the
// same do not differ in more.
func (m *Machine) Canonical(b []byte) []byte {
	if len(m.p.newest) > 0 { // the order of instances means something
		return m.Key(b)
	}
	m.text, m.looks = m.text[:0], m.looks[:0]
	for i, x := range m.insts {
		from := len(m.text)
		m.text = binary.AppendVarint(m.text, int64(x.entity))
		for k := range m.p.entities[x.entity].defaults {
			v := m.fields[int(x.base)+k]
			if v.Kind == Symbol && v.N < 0 {
				v.N = -1
			}
			m.text = binary.AppendVarint(append(m.text, byte(v.Kind)), v.N)
		}
		m.looks = append(m.looks, looks{from, len(m.text), int32(i)})
	}
	list := m.looks
	slices.SortStableFunc(list, func(x, y looks) int { return bytes.Compare(m.text[x.from:x.to], m.text[y.from:y.to]) })
	m.place = append(m.place[:0], make([]int64, len(list))...)
	for at, x := range list {
		m.place[x.i] = int64(at)
	}
	of := func(i int32) int64 {
		if i < 0 {
			return -1
		}
		return m.place[i]
	}
	for _, x := range list {
		b = append(b, m.text[x.from:x.to]...)
		for k := range m.p.entities[m.insts[x.i].entity].defaults {
			if v := m.fields[int(m.insts[x.i].base)+k]; v.Kind == Symbol && v.N < 0 {
				b = binary.AppendVarint(b, of(int32(^v.N)))
			}
		}
	}
	b = append(b, 0xff)
	if m.p.unread == nil {
		m.p.unread = m.p.private()
	}
	for _, e := range m.envs {
		for slot, i := range e {
			if !m.p.unread[slot] {
				b = binary.AppendVarint(b, of(i))
			}
		}
	}
	for _, k := range m.marks {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(k.rule)), of(k.key))
		for slot, i := range k.env {
			if !m.p.unread[slot] {
				b = binary.AppendVarint(b, of(i))
			}
		}
	}
	return b
}
