package diag

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that a misspelt name most likely means, or "" if none is near. The
// distance is Damerau-Levenshtein (optimal string alignment) over runes, ignoring case. Up to a
// third of the name's letters may differ. A longer word that begins alike may differ in one letter
// more, if three letters stay or one word begins with the other. One letter may be missing or
// superfluous at the end. Short words have narrow limits because each is near to every other, and a
// wrong hint misleads.
func Nearest(name string, candidates []string) string {
	if slices.Contains(candidates, name) {
		return name
	}
	most := len([]rune(name)) / 3
	best, bestDist := "", most+2
	var forA, forB [32]rune // enough room on the stack for usual names
	a := lower(forA[:0], name)
	for _, c := range candidates {
		b := lower(forB[:0], c)
		if len(a)-len(b) >= bestDist || len(b)-len(a) >= bestDist {
			continue // at least as many letters are missing
		}
		d := distance(a, b)
		extends := len(a) > 1 && len(b) > 0 && slices.Equal(a[:min(len(a), len(b))], b[:min(len(a), len(b))])
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

// Meant returns the name in a hint of [DidYouMean]; "" for any other hint.
func Meant(hint string) string {
	name, ok := strings.CutPrefix(hint, "did you mean ")
	if !ok || !strings.HasSuffix(name, "?") || strings.ContainsAny(name, " \n") {
		return ""
	}
	return strings.Trim(name[:len(name)-1], "`\"")
}

func lower(to []rune, s string) []rune {
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

func distance(a, b []rune) int {
	var rows [3 * 33]int // small enough for the stack
	cells, n := rows[:], len(b)+1
	if 3*n > len(rows) {
		cells = make([]int, 3*n)
	}
	prev2, prev, cur := cells[:n], cells[n:2*n], cells[2*n:3*n]
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
