package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/score"
)

// Since is what changed since an earlier run, or why the runs cannot be compared. A nil Since
// prints nothing.
type Since struct {
	Run string // the run or file compared with; "": none
	Why string // why there is none
	// Nearest is the run that is not comparable for that reason, and Anyway the command that
	// compares with it nevertheless.
	Nearest, Anyway string
	New             map[string]bool    // ids of findings that the earlier run did not have
	Fixed           []campaign.Finding // findings that it had and whose cases ran again
	Still           int                // number of findings that both have, without known ones
	NotRun          int                // number of findings that it had and whose cases did not run again
	// Known holds, by id, the findings that a file beside their document accepts. None of them
	// counts as new or still failing.
	Known map[string]Known
	// Changed lists significant changes of scores and cells.
	Changed []string
	Worse   bool // some change is for the worse
	Scores  []Scores
}

// Scores are a campaign's scores before and after. Campaign is "" if the run has only one campaign.
type Scores struct {
	Campaign      string
	Before, After float64
	Chance        string // that chance explains the change; "": it does not, or it was not tested
}

// Known is what the file says about an accepted finding.
type Known struct{ Owner, Note, Until, File string }

// Accept moves findings that their owners know out of those that are new or still failing.
func (s *Since) Accept(known map[string]Known) {
	s.Known = known
	for id := range known {
		if s.Run != "" && !s.New[id] {
			s.Still--
		}
		delete(s.New, id)
	}
}

// Sentence returns the comparison as one line.
func (s *Since) Sentence() string {
	text := "nothing to compare with, because " + visible(s.Why)
	switch {
	case s.Run != "":
		text = fmt.Sprintf("since %s: %d new, %d fixed, %d still failing", visible(s.Run), len(s.New), len(s.Fixed), s.Still)
	case s.Why == "":
		text = "nothing to compare with, because this is the first run of its documents"
	}
	text += NotRun(s.NotRun) + KnownToOwners(len(s.Known))
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
			if x.Chance != "" {
				text += " (" + x.Chance + ")"
			}
		}
	}
	return text
}

// KnownToOwners returns the end of such a sentence for a number of accepted findings.
func KnownToOwners(n int) string { return further(n, "known") }

// NotRun returns the end of such a sentence for a number of findings whose cases did not run.
func NotRun(n int) string { return further(n, "not run") }

func further(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// sinceScores is how many scores the sentence includes.
const sinceScores = 3

// hasContent reports whether there is anything to say.
func (s *Since) hasContent() bool {
	return s != nil && (s.Run != "" || s.Why != "" || len(s.Known) > 0)
}

// ordered returns the findings of a run: new ones first, known ones last, most severe first in each
// group.
func (s *Since) ordered(rec *campaign.Record) []*campaign.Finding {
	fs := bySeverity(rec)
	slices.SortStableFunc(fs, func(x, y *campaign.Finding) int { return s.Rank(x.ID) - s.Rank(y.ID) })
	return fs
}

// Rank returns -1 for a new finding, 1 for a known one and 0 for others.
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

// mark returns "new", "still failing", "known" for an accepted finding, or "".
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

// pageMark returns the mark on pages, which also says why a finding has none.
func (s *Since) pageMark(f *campaign.Finding) string {
	if m := s.mark(f); m != "" || s == nil {
		return m
	}
	if s.Why == "" {
		return "first run"
	}
	return "not compared"
}

// accepted returns the entry for an accepted finding; nil for others.
func (s *Since) accepted(f *campaign.Finding) *Known {
	if s.Rank(f.ID) < 1 {
		return nil
	}
	k := s.Known[f.ID]
	return &k
}

// words returns the owner's entry as one line.
func (k *Known) words() string { return "known to " + k.Owner + " until " + k.Until + ": " + k.Note }

// since writes what changed. A run without a comparable earlier run gets no line.
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

// Score formats a score from 0 to 1 in percent with one decimal.
func Score(p float64) string { return score.Percent(p) }

// Moved describes how a score changed.
func Moved(a, b float64) string {
	if a == b {
		return "none"
	}
	return fmt.Sprintf("%+.1f points", 100*(finite(b)-finite(a)))
}

// Chance formats a p-value.
func Chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// Lines breaks text into lines of at most width columns, at blanks.
func Lines(text string, width int) []string { return wrap(brief(text), width) }

// Middle returns untrusted text on one line of at most width columns. It cuts the middle of longer
// text, because related names often differ at their ends.
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
