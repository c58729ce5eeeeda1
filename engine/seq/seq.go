// Package seq makes one list or set of another, where the loop that would do it
// has one statement. Its functions take and give slices; for iterators see
// packages slices and maps. It imports nothing of Thresh.
package seq

// Map is f of every element, in order. It is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// Filter holds the elements of which keep is true, in order: nil if there are
// none.
func Filter[T any](list []T, keep func(T) bool) (out []T) {
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// SetOf returns the set of what f makes of the elements.
func SetOf[T any, K comparable](list []T, f func(T) K) map[K]bool {
	set := make(map[K]bool, len(list))
	for _, v := range list {
		set[f(v)] = true
	}
	return set
}
