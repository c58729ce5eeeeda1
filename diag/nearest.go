package diag

// Nearest returns the candidate that name was most likely meant to be, or ""
// if none is near. Distance is Damerau-Levenshtein (optimal string alignment)
// over runes, case folded; a third of the name's length may differ.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", len([]rune(name))/3+1
	for _, c := range candidates {
		if d := distance(lower(name), lower(c)); d <= bestDist && (d < bestDist || best == "") {
			best, bestDist = c, d
		}
	}
	return best
}

// DidYouMean is a hint that names the nearest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" && n != name {
		return "did you mean " + n + "?"
	}
	return ""
}

func lower(s string) []rune {
	r := []rune(s)
	for i, c := range r {
		if c >= 'A' && c <= 'Z' {
			r[i] = c + 'a' - 'A'
		}
	}
	return r
}

func distance(a, b []rune) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range a {
		cur[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j+1]+1, cur[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cur[j+1] = min(cur[j+1], prev2[j-1]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
