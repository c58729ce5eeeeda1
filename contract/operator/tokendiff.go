package operator

import (
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// diffExhibit shows how one text became another, word by word.
func diffExhibit(title, from, to string) campaign.Exhibit {
	var changes segments
	textdiff.Words(clip(from), clip(to), changes.add)
	list := mergeShort(changes)
	for i := range list {
		list[i].Text = written(list[i].Text)
	}
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: &campaign.Diff{Segments: list}}
}

// mergeShort joins changes with nothing but blanks and signs between them: what two
// texts share by chance tells nobody anything.
func mergeShort(list []campaign.Segment) []campaign.Segment {
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

func (s *segments) add(op, text string) {
	if n := len(*s); n > 0 && (*s)[n-1].Op == op {
		(*s)[n-1].Text += text
		return
	}
	*s = append(*s, campaign.Segment{Op: op, Text: text})
}
