package model

import (
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// Snapshot is a state of a machine that can be restored. It must not change while it is needed, so
// that many machines of one program can share it.
type Snapshot struct {
	insts  []instance
	fields []Value
	envs   [][]int32
	marks  []mark // the variables in marks never change
	inputs []Value
	dirty  uint64
}

// Save returns the machine's state.
func (m *Machine) Save() *Snapshot {
	s := &Snapshot{}
	m.SaveIn(s)
	return s
}

// SaveIn saves the machine's state in a snapshot that is no longer needed, reusing its memory.
func (m *Machine) SaveIn(s *Snapshot) {
	s.insts, s.fields, s.marks = append(s.insts[:0], m.insts...), append(s.fields[:0], m.fields...), append(s.marks[:0], m.marks...)
	s.inputs, s.dirty = append(s.inputs[:0], m.inputs...), m.dirty
	s.envs = slices.Grow(s.envs[:0], len(m.envs))[:len(m.envs)]
	for i, e := range m.envs {
		s.envs[i] = append(s.envs[i][:0], e...)
	}
}

// Load restores a state, reusing the machine's memory. Earlier changes can no longer be undone. It
// keeps the Tried counts.
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

// Size returns the approximate size of a snapshot, in bytes.
func (s *Snapshot) Size() int {
	n := 8*len(s.insts) + 16*len(s.fields) + 16*len(s.inputs) + 40*len(s.marks) + 24*len(s.envs) + 128
	for _, e := range s.envs {
		n += 4 * len(e)
	}
	return n
}

// Key appends to b what distinguishes the machine's state from others: instances with their fields,
// variables, and memories of rules, but not the inputs.
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

// maxCounted is how many different numbers of instances Facts distinguishes for an entity.
const maxCounted = 4

// Facts appends to list a hash of each single fact about the machine's state: that a field of some
// instance has a value, or how many instances an entity has. It does not matter which instance has
// the value.
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

// looks is a hash of what distinguishes an instance, apart from its number.
type looks struct {
	hash uint64
	i    int32
}

// Canonical is Key for a state in which instances of one entity are interchangeable. States that
// differ only in which instance is which usually have equal keys. Other states have equal keys only
// if two instances collide in 64 bits.
func (m *Machine) Canonical(b []byte) []byte {
	if len(m.p.newest) > 0 { // the order of instances matters
		return m.Key(b)
	}
	if m.p.unread == nil {
		m.p.unread = m.p.private()
	}
	list := m.look()
	m.place = slices.Grow(m.place[:0], len(list))[:len(list)]
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
		b = binary.LittleEndian.AppendUint64(b, x.hash)
		for _, v := range m.fieldsOf(x.i) {
			if v.Kind == Symbol && v.N < 0 {
				b = binary.AppendVarint(b, of(int32(^v.N)))
			}
		}
	}
	b = append(b, 0xff)
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

func (m *Machine) fieldsOf(i int32) []Value {
	x := m.insts[i]
	return m.fields[x.base:][:len(m.p.entities[x.entity].defaults)]
}

// lookRounds is how many references away other instances affect an instance's looks.
const lookRounds = 3

// look describes each instance, in a canonical order: by its entity and fields, then by the looks
// of the instances it refers to or that refer to it, and by the variables bound to it.
func (m *Machine) look() []looks {
	list := m.looks[:0]
	linked := false
	for i, x := range m.insts {
		h := uint64(x.entity)
		for _, v := range m.fieldsOf(int32(i)) {
			if v.Kind == Symbol && v.N < 0 {
				linked = linked || v.N != ^int64(i)
				v.N = -1
			}
			h = splitmix.Finish(h^uint64(v.N)) + uint64(v.Kind)*splitmix.Gamma
		}
		list = append(list, looks{h, int32(i)})
	}
	m.looks = list
	if linked {
		for t, e := range m.envs {
			for slot, i := range e {
				if i >= 0 && !m.p.unread[slot] {
					list[i].hash += mix(uint64(t)<<32 | uint64(slot))
				}
			}
		}
		for range lookRounds {
			m.hashes = m.hashes[:0]
			for _, x := range list {
				m.hashes = append(m.hashes, x.hash)
			}
			for i := range list {
				for k, v := range m.fieldsOf(int32(i)) {
					if to := ^v.N; v.Kind == Symbol && v.N < 0 && to != int64(i) {
						list[i].hash += mix(m.hashes[to] ^ uint64(k))
						list[to].hash += mix(^m.hashes[i] ^ uint64(k))
					}
				}
			}
		}
	}
	for i := range list { // insertion sort is fastest for a few elements
		x := list[i]
		at := i
		for ; at > 0 && list[at-1].hash > x.hash; at-- {
			list[at] = list[at-1]
		}
		list[at] = x
	}
	return list
}
