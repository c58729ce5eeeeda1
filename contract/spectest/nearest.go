package spectest

import (
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// How much of a text is looked at to find what is nearest to an expected line.
const (
	nearLines = 20_000
	nearBytes = 300
)

// nearest is the number, from 1, and the text of the line that is most like the
// first line of want; 0 if none is like it. Likeness is the share of pairs of
// neighbouring bytes that two lines have in common.
func nearest(want, text string) (int, string) {
	want, _, _ = strings.Cut(strings.TrimSpace(want), "\n")
	wanted := pairs(strings.ToLower(want))
	if len(wanted) == 0 {
		return 0, ""
	}
	best, bestNo, bestLine := 0.3, 0, ""
	no := 0
	for line := range strings.SplitSeq(text, "\n") {
		if no++; no > nearLines {
			break
		}
		if like := likeness(wanted, pairs(strings.ToLower(strings.TrimSpace(line)))); like > best {
			best, bestNo, bestLine = like, no, line
		}
	}
	return bestNo, bestLine
}

// likeness is the share of pairs that two texts have in common.
func likeness(wanted, have map[[2]byte]int) float64 {
	common, total := 0, 0
	for p, n := range have {
		common += min(n, wanted[p])
		total += n
	}
	for _, n := range wanted {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}

func pairs(s string) map[[2]byte]int {
	s = s[:min(len(s), nearBytes)]
	m := make(map[[2]byte]int, len(s))
	for i := range len(s) - 1 {
		m[[2]byte{s[i], s[i+1]}]++
	}
	return m
}

// segments is how want differs from have, word by word: insertions are what is
// there, deletions what was expected.
func segments(want, have string) []campaign.Segment {
	a, b := words(want), words(have)
	const most = 800
	if len(a) > most || len(b) > most {
		return []campaign.Segment{{Op: "delete", Text: want}, {Op: "insert", Text: have}}
	}
	// length[i][j] is the longest common subsequence of a[i:] and b[j:].
	length := make([][]int16, len(a)+1)
	for i := range length {
		length[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []campaign.Segment
	add := func(op, text string) {
		if n := len(out); n > 0 && out[n-1].Op == op {
			out[n-1].Text += text
			return
		}
		out = append(out, campaign.Segment{Op: op, Text: text})
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			add("equal", a[i])
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || length[i+1][j] >= length[i][j+1]):
			add("delete", a[i])
			i++
		default:
			add("insert", b[j])
			j++
		}
	}
	return out
}

// words splits a text into words, blanks and single other characters.
func words(s string) []string {
	var out []string
	kind := func(r rune) int {
		switch {
		case r == ' ' || r == '\t':
			return 1
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f:
			return 2
		}
		return 3
	}
	from, last := 0, 0
	for i, r := range s {
		k := kind(r)
		if i > from && (k != last || k == 3) {
			out = append(out, s[from:i])
			from = i
		}
		last = k
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}
