package bytemut

// DeepKinds are the names of the operations of [Deep].
func DeepKinds() []Kind {
	kinds := make([]Kind, len(operations))
	for i, op := range operations {
		kinds[i] = op.kind
	}
	return kinds
}

// Mutate makes a variant of a parent that the caller chose. The key decides
// the variant; corpus holds the inputs to borrow from and may be empty.
func (d *Deep) Mutate(parent []byte, corpus [][]byte, key uint64, buf *Buffer) []byte {
	return d.mutate(parent, corpus, key, 0, buf)
}

// Sample is a text of the grammar, by a number.
func (g *Grammar) Sample(number uint64) []byte {
	r := newPRNG(number)
	return g.sentence([]byte{}, &r, 0, 0)
}
