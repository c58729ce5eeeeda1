package spectest

import (
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// Limits on the text that is searched for the line nearest to an expected one.
const (
	nearLines = 20_000
	nearBytes = 300
)

// nearest returns the number, from 1, and the text of the line most similar to the first line of
// want; 0 if none is similar. Similarity is the share of pairs of neighbouring bytes that two lines
// have in common or, for a much longer line, the share of the wanted pairs that it contains.
func nearest(want, text string) (int, string) {
	want = diag.FirstLine(strings.TrimSpace(want))
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
		have := pairs(strings.ToLower(strings.TrimSpace(line)))
		like := likeness(wanted, have)
		if share := contained(wanted, have); share > 0.6 {
			like = max(like, share-0.25) // a line of its own is nearer than part of another
		}
		if like > best {
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

// contained is the share of the wanted pairs that a text contains.
func contained(wanted, have map[[2]byte]int) float64 {
	common, total := 0, 0
	for p, n := range wanted {
		common += min(n, have[p])
		total += n
	}
	return float64(common) / float64(total)
}

// excerpt is the part of a long line most similar to the wanted text.
func excerpt(want, line string) string {
	want = diag.FirstLine(strings.TrimSpace(want))
	const around = 12
	if len(line) <= 2*len(want)+4*around || len(line) > 1<<16 {
		return line
	}
	wanted := pairs(strings.ToLower(want))
	best, from := -1.0, 0
	for at := 0; at+len(want) <= len(line); at += max(1, len(want)/8) {
		if like := contained(wanted, pairs(strings.ToLower(line[at:at+len(want)]))); like > best {
			best, from = like, at
		}
	}
	to := min(len(line), from+len(want)+around)
	if from = max(0, from-around); from > 0 {
		for from < to && line[from]&0xc0 == 0x80 {
			from++
		}
	}
	cut := clipped(line[from:], to-from)
	if from > 0 {
		cut = "…" + cut
	}
	return cut
}

// differing returns the first line at which a text differs from the wanted one, if the wanted text
// begins at line no: its number, and the line wanted there.
func differing(want, text string, no int) (int, string) {
	lines := strings.Split(text, "\n")[no-1:]
	wanted := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	for i, w := range wanted {
		if i >= len(lines) {
			return no + i, w
		}
		same := lines[i] == w || i == 0 && strings.HasSuffix(lines[i], w) || i == len(wanted)-1 && strings.HasPrefix(lines[i], w)
		if !same {
			return no + i, w
		}
	}
	return no, wanted[0]
}

func pairs(s string) map[[2]byte]int {
	s = s[:min(len(s), nearBytes)]
	m := make(map[[2]byte]int, len(s))
	for i := range len(s) - 1 {
		m[[2]byte{s[i], s[i+1]}]++
	}
	return m
}

// wordDiff compares two texts word by word: insertions are actual, deletions expected.
func wordDiff(want, have string) *campaign.Diff {
	d := &campaign.Diff{}
	textdiff.Words(want, have, func(op, text string) { d.Segments = append(d.Segments, campaign.Segment{Op: op, Text: text}) })
	return d
}
