// Package seq makes one list or set from another, in place of a loop with a
// single statement. Its functions take and return slices; for iterators see
// packages slices and maps. It imports nothing of Thresh.
package seq

// Map returns f of every element, in order. It is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// Filter returns the elements for which keep is true, in order; nil if there
// are none.
func Filter[T any](list []T, keep func(T) bool) (out []T) {
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// SetOf returns the set of f of the elements.
func SetOf[T any, K comparable](list []T, f func(T) K) map[K]bool {
	set := make(map[K]bool, len(list))
	for _, v := range list {
		set[f(v)] = true
	}
	return set
}
