package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/score"
)

// Since is what changed since an earlier run, or why that cannot be said. nil
// says nothing.
type Since struct {
	Run string // or file that is compared with; "": there is none
	Why string // why there is none
	// Nearest is the run that is not comparable because of that, and Anyway the
	// command that compares with it all the same.
	Nearest, Anyway string
	New             map[string]bool    // ids of findings that it had not
	Fixed           []campaign.Finding // that it had, and whose cases were run again
	Still           int                // findings that both have, known ones aside
	// Known are findings that a file beside their document accepts, by id; none of
	// them is new or still failing.
	Known map[string]Known
	// Changed says of scores and cells what chance does not explain.
	Changed []string
	Worse   bool // one of them is worse
	Scores  []Scores
}

// Scores are those of a campaign before and after; Campaign is "" where the run
// has one campaign.
type Scores struct {
	Campaign      string
	Before, After float64
}

// Known is what the file says of a finding that it accepts.
type Known struct{ Owner, Note, Until, File string }

// Accept takes findings that are known to their owners out of what is new or
// still failing.
func (s *Since) Accept(known map[string]Known) {
	s.Known = known
	for id := range known {
		if s.Run != "" && !s.New[id] {
			s.Still--
		}
		delete(s.New, id)
	}
}

// Sentence returns the whole of it on a line.
func (s *Since) Sentence() string {
	text := "nothing to compare with, because " + visible(s.Why)
	switch {
	case s.Run != "":
		text = fmt.Sprintf("since %s: %d new, %d fixed, %d still failing", visible(s.Run), len(s.New), len(s.Fixed), s.Still)
	case s.Why == "":
		text = "nothing to compare with, because this is the first run of its documents"
	}
	text += KnownToOwners(len(s.Known))
	for i, x := range s.Scores {
		if i == sinceScores {
			text += fmt.Sprintf("; and %d more", len(s.Scores)-i)
			break
		}
		of := ""
		if x.Campaign != "" {
			of = " of " + visible(x.Campaign)
		}
		if before, after := Score(x.Before), Score(x.After); before == after {
			text += "; score" + of + " unchanged at " + after
		} else {
			text += "; score" + of + " " + before + " -> " + after
		}
	}
	return text
}

// KnownToOwners returns how such a sentence ends if so many findings are accepted.
func KnownToOwners(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d known", n)
}

// sinceScores is how many scores the sentence has.
const sinceScores = 3

// hasContent reports whether there is anything to say.
func (s *Since) hasContent() bool {
	return s != nil && (s.Run != "" || s.Why != "" || len(s.Known) > 0)
}

// ordered are the findings of a run: new ones first, those that are known to
// their owners last, the gravest first among each.
func (s *Since) ordered(rec *campaign.Record) []*campaign.Finding {
	fs := bySeverity(rec)
	slices.SortStableFunc(fs, func(x, y *campaign.Finding) int { return s.Rank(x.ID) - s.Rank(y.ID) })
	return fs
}

// Rank returns the place of a finding among those of its severity and others.
func (s *Since) Rank(id string) int {
	switch {
	case s == nil:
	case s.New[id]:
		return -1
	case s.Known[id] != Known{}:
		return 1
	}
	return 0
}

// mark is "new", "still failing", "known" for what its owners accept, or "" where
// nothing is to be said.
func (s *Since) mark(f *campaign.Finding) string {
	switch {
	case s.Rank(f.ID) < 0:
		return "new"
	case s.Rank(f.ID) > 0:
		return "known"
	case s != nil && s.Run != "":
		return "still failing"
	}
	return ""
}

// pageMark is the mark on pages, which also says why a finding has none.
func (s *Since) pageMark(f *campaign.Finding) string {
	if m := s.mark(f); m != "" || s == nil {
		return m
	}
	if s.Why == "" {
		return "first run"
	}
	return "not compared"
}

// accepted is what the owners of a finding say of it; nil: nothing.
func (s *Since) accepted(f *campaign.Finding) *Known {
	if s.Rank(f.ID) < 1 {
		return nil
	}
	k := s.Known[f.ID]
	return &k
}

// words are what the owners say, on a line.
func (k *Known) words() string { return "known to " + k.Owner + " until " + k.Until + ": " + k.Note }

// since writes what changed; a run that is like no earlier one has no line.
func (s *screen) since(x *Since) {
	if !x.hasContent() {
		return
	}
	const most = 5
	for i, f := range x.Fixed {
		if i == most {
			s.line(0, "and "+count(int64(len(x.Fixed)-most))+" more fixed")
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
	if x.Anyway != "" {
		s.line(2, "compare anyway: "+visible(x.Anyway))
	}
}

func (s *screen) sinceLine(style, word, text string) {
	lead := s.paint(style, word) + " "
	for _, l := range wrap(text, s.width-len(word)-1) {
		s.line(0, lead+l)
		lead = strings.Repeat(" ", len(word)+1)
	}
}

// Score returns a score from 0 to 1 for people, in percent with one decimal.
func Score(p float64) string { return score.Percent(p) }

// Moved returns how a score changed.
func Moved(a, b float64) string {
	if a == b {
		return "none"
	}
	return fmt.Sprintf("%+.1f points", 100*(finite(b)-finite(a)))
}

// Chance returns a p-value for people.
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
	front := cutToWidth(text, (width-1)/2)
	runes, from := []rune(text), 0
	for textWidth(string(runes[from:])) > width-1-textWidth(front) {
		from++
	}
	return front + "…" + string(runes[from:])
}
