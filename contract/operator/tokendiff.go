package operator

import (
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/campaign"
)

// maxTokens bounds the quadratic part of a comparison; beyond it only what two
// texts share at their beginnings and ends is told.
const maxTokens = 1500

// diffExhibit shows how one text became another, word by word.
func diffExhibit(title, from, to string) campaign.Exhibit {
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: &campaign.Diff{Segments: diffTokens(tokens(clip(from)), tokens(clip(to)))}}
}

// tokens splits a text into words, runs of blanks and single other characters.
func tokens(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	var list []string
	start, last := 0, -1
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 0) {
			list = append(list, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// diffTokens is the shortest list of segments that turns a into b.
func diffTokens(a, b []string) []campaign.Segment {
	var out segments
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out.add("equal", a[:head]...)
	out.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	out.add("equal", a[len(a)-tail:]...)
	return out
}

type segments []campaign.Segment

func (s *segments) add(op string, words ...string) {
	if len(words) == 0 {
		return
	}
	text := strings.Join(words, "")
	if n := len(*s); n > 0 && (*s)[n-1].Op == op {
		(*s)[n-1].Text += text
		return
	}
	*s = append(*s, campaign.Segment{Op: op, Text: text})
}

// middle compares by the longest common subsequence.
func (s *segments) middle(a, b []string) {
	if len(a) == 0 || len(b) == 0 || len(a) > maxTokens || len(b) > maxTokens {
		s.add("delete", a...)
		s.add("insert", b...)
		return
	}
	width := len(b) + 1
	best := make([]uint16, (len(a)+1)*width) // lengths for what is left of both
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
				continue
			}
			best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			s.add("equal", a[i])
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			s.add("delete", a[i])
			i++
		default:
			s.add("insert", b[j])
			j++
		}
	}
	s.add("delete", a[i:]...)
	s.add("insert", b[j:]...)
}
