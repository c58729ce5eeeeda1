package bytemut

// DeepKinds are the names of the operations of [Deep].
func DeepKinds() []Kind {
	kinds := make([]Kind, len(operations))
	for i, op := range operations {
		kinds[i] = op.kind
	}
	return kinds
}
