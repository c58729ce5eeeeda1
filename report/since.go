package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Since is what changed since an earlier run, or why that cannot be said. nil
// says nothing.
type Since struct {
	Run   string             // or file that is compared with; "": there is none
	Why   string             // why there is none
	New   map[string]bool    // ids of findings that it had not
	Fixed []campaign.Finding // that it had, and whose cases were run again
	Still int                // findings that both have
	// Changed says of scores and cells what chance does not explain.
	Changed []string
	Worse   bool // one of them is worse
}

// Sentence is the whole of it on a line.
func (s *Since) Sentence() string {
	if s.Run == "" {
		return "nothing to compare with: " + visible(s.Why)
	}
	return fmt.Sprintf("since %s: %d new, %d fixed, %d still failing", visible(s.Run), len(s.New), len(s.Fixed), s.Still)
}

// isNew reports whether a finding is marked as new.
func (s *Since) isNew(f *campaign.Finding) bool { return s != nil && s.New[f.ID] }

// ordered are the findings of a run: new ones first, the gravest first among each.
func (s *Since) ordered(rec *campaign.Record) []*campaign.Finding {
	fs := bySeverity(rec)
	slices.SortStableFunc(fs, func(x, y *campaign.Finding) int {
		switch {
		case s.isNew(x) == s.isNew(y):
			return 0
		case s.isNew(x):
			return -1
		}
		return 1
	})
	return fs
}

// mark is "new", "known", or "" where nothing is known of earlier runs.
func (s *Since) mark(f *campaign.Finding) string {
	switch {
	case s == nil || s.Run == "":
		return ""
	case s.New[f.ID]:
		return "new"
	}
	return "known"
}

// since writes what changed; a run that is like no earlier one has no line.
func (s *screen) since(x *Since) {
	if x == nil || x.Run == "" && x.Why == "" {
		return
	}
	const most = 5
	for i, f := range x.Fixed {
		if i == most {
			s.line(0, fmt.Sprintf("and %s more", plural(len(x.Fixed)-most, "fixed finding")))
			break
		}
		s.sinceLine(green, "fixed", visible(f.ID)+"  "+brief(f.Title))
	}
	for _, c := range x.Changed {
		s.sinceLine(yellow, "changed", brief(c))
	}
	for _, l := range wrap(x.Sentence(), s.width) {
		s.line(0, l)
	}
}

func (s *screen) sinceLine(style, word, text string) {
	lead := s.paint(style, word) + " "
	for _, l := range wrap(text, s.width-len(word)-1) {
		s.line(0, lead+l)
		lead = strings.Repeat(" ", len(word)+1)
	}
}

// Score is a score from 0 to 1 for people, in percent with one decimal.
func Score(p float64) string {
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "–"
	case p > 0 && p < 0.001:
		return "<0.1%"
	case p < 1 && p > 0.999:
		return ">99.9%"
	}
	return strconv.FormatFloat(p*100, 'f', 1, 64) + "%"
}

// Moved is how a score changed.
func Moved(a, b float64) string {
	if a == b {
		return "none"
	}
	return fmt.Sprintf("%+.1f points", 100*(finite(b)-finite(a)))
}

// Chance is a p-value for people.
func Chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// Lines breaks text into lines of at most width columns, at blanks.
func Lines(text string, width int) []string { return wrap(brief(text), width) }

// Middle is untrusted text on one line of at most width columns; of a longer one
// the middle is cut out, since names of things that belong together often differ
// at their ends.
func Middle(text string, width int) string {
	text = brief(text)
	if textWidth(text) <= width || width < 3 {
		return clip(text, width)
	}
	front := take(text, (width-1)/2)
	runes, from := []rune(text), 0
	for textWidth(string(runes[from:])) > width-1-textWidth(front) {
		from++
	}
	return front + "…" + string(runes[from:])
}
