package fresnelfir

// history is a list that only grows, of which every length is kept: states of a
// campaign share what they have in common. nil is the empty one.
type history[T any] struct {
	before *history[T]
	item   T
	count  int
}

func (h *history[T]) add(item T) *history[T] {
	return &history[T]{h, item, h.len() + 1}
}

func (h *history[T]) len() int {
	if h == nil {
		return 0
	}
	return h.count
}

// all is the list, the oldest first.
func (h *history[T]) all() []T {
	list := make([]T, h.len())
	for ; h != nil; h = h.before {
		list[h.count-1] = h.item
	}
	return list
}
