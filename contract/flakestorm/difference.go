package flakestorm

import (
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/campaign"
)

// maxWords is how many words of each text are compared; beyond it the texts are
// shown whole, one after the other.
const maxWords = 1200

// difference is the shortest way from one text to another, word by word.
func difference(old, now string) []campaign.Segment {
	a, b := words(old), words(now)
	if len(a) > maxWords || len(b) > maxWords {
		return joined([]campaign.Segment{{Op: "delete", Text: old}, {Op: "insert", Text: now}})
	}
	// The longest common sequence, from the end.
	long := make([][]int16, len(a)+1)
	for i := range long {
		long[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				long[i][k] = long[i+1][k+1] + 1
			} else {
				long[i][k] = max(long[i+1][k], long[i][k+1])
			}
		}
	}
	var list []campaign.Segment
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			list = append(list, campaign.Segment{Op: "equal", Text: a[i]})
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && long[i+1][k] >= long[i][k+1]:
			list = append(list, campaign.Segment{Op: "delete", Text: a[i]})
			i++
		default:
			list = append(list, campaign.Segment{Op: "insert", Text: b[k]})
			k++
		}
	}
	return joined(list)
}

// joined merges neighbours of one kind, and drops empty ones.
func joined(list []campaign.Segment) []campaign.Segment {
	var out []campaign.Segment
	for _, s := range list {
		switch n := len(out); {
		case s.Text == "":
		case n > 0 && out[n-1].Op == s.Op:
			out[n-1].Text += s.Text
		default:
			out = append(out, s)
		}
	}
	return out
}

// words cuts a text into words and the blanks between them.
func words(s string) []string {
	var list []string
	for s != "" {
		blank := unicode.IsSpace([]rune(s[:min(len(s), 4)])[0])
		n := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) != blank })
		if n < 0 {
			n = len(s)
		}
		list = append(list, s[:n])
		s = s[n:]
	}
	return list
}
