package model

import (
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/splitmix"
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

// looks is a number for what an instance is like, whichever it is.
type looks struct {
	hash uint64
	i    int32
}

// Canonical is Key for a state whose instances may change places: states that differ in
// nothing but which instance is which have, as a rule, the same. States that differ in more
// have the same only if 64 bits do not tell two instances apart.
func (m *Machine) Canonical(b []byte) []byte {
	if len(m.p.newest) > 0 { // the order of instances means something
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

// lookRounds is how many references away from an instance what is there counts as its looks.
const lookRounds = 3

// look says what each instance is like, in an order of its own: by its entity and fields, then
// by what those are like that it refers to and that refer to it, and by the variables that
// stand for it.
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
	for i := range list { // a few, for which a sort by insertion is the fastest
		x := list[i]
		at := i
		for ; at > 0 && list[at-1].hash > x.hash; at-- {
			list[at] = list[at-1]
		}
		list[at] = x
	}
	return list
}
