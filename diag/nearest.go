package diag

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that a misspelt name most likely meant, or ""
// if none is near. Distance is Damerau-Levenshtein (optimal string alignment)
// over runes, case folded. A third of the name's length may differ, one letter
// more in a longer word that begins alike if three letters stay or one word begins
// the other, and one letter that lacks or is too many at the end: a short word is
// near to every other short word, and a hint at one of those misleads.
func Nearest(name string, candidates []string) string {
	if slices.Contains(candidates, name) {
		return name
	}
	most := len([]rune(name)) / 3
	best, bestDist := "", most+2
	for _, c := range candidates {
		a, b := lower(name), lower(c)
		d := distance(a, b)
		extends := len(a) > 1 && len(b) > 0 && (strings.HasPrefix(string(b), string(a)) || strings.HasPrefix(string(a), string(b)))
		alike := len(a) > 3 && len(b) > 0 && a[0] == b[0] && (extends || max(len(a), len(b))-d > 2)
		if d < bestDist && (d <= most || d == 1 && extends || alike) {
			best, bestDist = c, d
		}
	}
	return best
}

// DidYouMean returns a hint that names the nearest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" && n != name {
		return "did you mean " + n + "?"
	}
	return ""
}

// Meant returns the name that a hint of [DidYouMean] gives, "" for another hint.
func Meant(hint string) string {
	name, ok := strings.CutPrefix(hint, "did you mean ")
	if !ok || !strings.HasSuffix(name, "?") || strings.ContainsAny(name, " \n") {
		return ""
	}
	return strings.Trim(name[:len(name)-1], "`\"")
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

// Suggest returns a hint that names the nearest candidate, or all of them.
func Suggest(name string, candidates []string) string {
	if hint := DidYouMean(name, candidates); hint != "" {
		return hint
	}
	return "there is " + strings.Join(candidates, ", ")
}
