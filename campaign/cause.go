package campaign

// ByCause puts what came from one cause together, each cause at the place of its
// first.
func ByCause[T any](list []T, cause func(T) string) [][]T {
	var out [][]T
	at := make(map[string]int)
	for _, x := range list {
		key := cause(x)
		if i, known := at[key]; known && key != "" {
			out[i] = append(out[i], x)
			continue
		}
		at[key] = len(out)
		out = append(out, []T{x})
	}
	return out
}
