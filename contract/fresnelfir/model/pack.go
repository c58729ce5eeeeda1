package model

import "encoding/binary"

// wide marks a value whose number does not fit in a byte with its kind.
const wide = 7

// Pack appends a compact encoding of the machine's state to b. Unpack restores it in a machine of
// the same program.
func (m *Machine) Pack(b []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(len(m.envs))), uint64(len(m.insts)))
	for _, x := range m.insts {
		b = binary.AppendUvarint(b, uint64(x.entity))
	}
	for _, v := range m.fields {
		b = packed(b, v)
	}
	for _, v := range m.inputs {
		b = packed(b, v)
	}
	for _, e := range m.envs {
		b = indices(b, e)
	}
	b = binary.AppendUvarint(b, uint64(len(m.marks)))
	for _, k := range m.marks {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(k.rule)), int64(k.key))
		if k.env == nil {
			b = append(b, 0)
		} else {
			b = indices(append(b, 1), k.env)
		}
	}
	return binary.AppendUvarint(b, m.dirty)
}

func packed(b []byte, v Value) []byte {
	if n := uint64(v.N<<1) ^ uint64(v.N>>63); n < 1<<60 {
		return binary.AppendUvarint(b, n<<3|uint64(v.Kind))
	}
	return binary.AppendVarint(append(b, wide, byte(v.Kind)), v.N)
}

func indices(b []byte, list []int32) []byte {
	for _, i := range list {
		b = binary.AppendUvarint(b, uint64(i+1))
	}
	return b
}

// Unpack restores a state encoded by Pack, and returns the bytes after it. Earlier changes can no
// longer be undone. It keeps the Tried counts.
func (m *Machine) Unpack(b []byte) []byte {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	value := func() Value {
		if b[0] == wide {
			kind := Kind(b[1])
			v, n := binary.Varint(b[2:])
			b = b[2+n:]
			return Value{kind, v}
		}
		v := next()
		n := v >> 3
		return Value{Kind(v & 7), int64(n>>1) ^ -int64(n&1)}
	}
	list := func(into []int32) {
		for i := range into {
			into[i] = int32(next()) - 1
		}
	}
	m.Reset(int(next()))
	base := int32(0)
	for i := range int32(next()) {
		e := int32(next())
		m.insts, m.live[e] = append(m.insts, instance{e, base}), append(m.live[e], i)
		base += int32(len(m.p.entities[e].defaults))
	}
	for range base {
		m.fields = append(m.fields, value())
	}
	for i := range m.inputs {
		m.inputs[i] = value()
	}
	for _, e := range m.envs {
		list(e)
	}
	for range next() {
		k := mark{rule: int32(next())}
		v, n := binary.Varint(b)
		b = b[n:]
		if k.key = int32(v); next() == 1 {
			k.env = make([]int32, len(m.p.vars))
			list(k.env)
		}
		m.marks = append(m.marks, k)
	}
	m.dirty = next()
	return b
}
