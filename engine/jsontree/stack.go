package jsontree

import "slices"

// Stack holds the values of incomplete lists, those of an inner list after those of
// the lists around it. It is for readers of texts with millions of values: it
// hardly copies them.
type Stack[T any] struct{ list []T }

// long is the length from which copying a list matters.
const long = 4096

// Len returns how many values it holds.
func (s *Stack[T]) Len() int { return len(s.list) }

// From returns the values from index base on.
func (s *Stack[T]) From(base int) []T { return s.list[base:] }

// Push adds a value; read is how much of the text was read, of total.
func (s *Stack[T]) Push(v T, read, total int) {
	if n := len(s.list); n == cap(s.list) && n >= long {
		// If the rest of the text is like what was read, this is the last copy.
		likely := int(float64(n)*float64(total)/float64(max(read, 1))) + n/64 + 1
		grown := make([]T, n, min(max(likely, n+n/8), 64*n))
		copy(grown, s.list)
		s.list = grown
	}
	s.list = append(s.list, v)
}

// Take removes the values from index base on, and returns them in a slice of their
// own.
func (s *Stack[T]) Take(base int) []T {
	list := s.list[base:]
	if len(list) == 0 {
		return nil
	}
	if len(list) >= long && len(list) >= cap(s.list)/8*7 {
		s.list = slices.Clone(s.list[:base])
		return slices.Clip(list)
	}
	taken := slices.Clone(list)
	clear(list) // so that the stack keeps nothing of them alive
	s.list = s.list[:base]
	return taken
}
