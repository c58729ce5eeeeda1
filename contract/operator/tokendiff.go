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
	list := coarse(diffTokens(tokens(clip(from)), tokens(clip(to))))
	for i := range list {
		list[i].Text = written(list[i].Text)
	}
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: &campaign.Diff{Segments: list}}
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

// coarse joins changes with nothing but blanks and signs between them: what two
// texts share by chance tells nobody anything.
func coarse(list []campaign.Segment) []campaign.Segment {
	var out segments
	for i := 0; i < len(list); {
		if list[i].Op == "equal" {
			out.add("equal", list[i].Text)
			i++
			continue
		}
		var gone, come strings.Builder
		for ; i < len(list); i++ {
			s := list[i]
			if s.Op == "equal" && (i == len(list)-1 || worded(s.Text)) {
				break
			}
			if s.Op != "insert" {
				gone.WriteString(s.Text)
			}
			if s.Op != "delete" {
				come.WriteString(s.Text)
			}
		}
		if text := gone.String(); text != "" {
			out.add("delete", text)
		}
		if text := come.String(); text != "" {
			out.add("insert", text)
		}
	}
	return out
}

// worded reports whether a text has a letter or a digit.
func worded(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
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
