package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
)

// textFindings is how many causes get a block of their own in the text report, and textTitles how
// many more findings of one cause, and of all other causes, it names.
const (
	textFindings = 50
	textTitles   = 1000
)

func writeText(w io.Writer, rec campaign.Record, opt Options) error {
	s := newScreen(opt)
	groups := causes(opt.Since.ordered(&rec))
	for _, group := range groups[:min(len(groups), textFindings)] {
		s.findingBlock(group[0], opt.Since)
		if more := group[1:]; len(more) > 0 {
			fresh := ""
			if n := len(slices.DeleteFunc(slices.Clone(more), func(f *campaign.Finding) bool { return opt.Since.mark(f) != "new" })); n > 0 {
				fresh = ", " + count(n) + " new"
			}
			s.titles(fmt.Sprintf("same cause as %s, %s%s:", visible(group[0].ID), plural(len(more), "more finding"), fresh), more, opt.Since)
		}
	}
	if more := slices.Concat(groups[min(len(groups), textFindings):]...); len(more) > 0 {
		s.titles(fmt.Sprintf("and %s besides:", plural(len(more), "more finding")), more, opt.Since)
	}
	s.campaigns(&rec, opt)
	fresh := slices.DeleteFunc(slices.Clone(rec.Warnings), func(w string) bool { return slices.Contains(opt.Told, w) })
	for _, warning := range fresh {
		s.warning(warning, opt.Width > 0)
	}
	if len(fresh) > 0 {
		s.line(0, "")
	}
	s.since(opt.Since)
	for _, hint := range rec.Hints {
		s.line(0, "hint: "+brief(hint))
	}
	if len(rec.Hints) > 0 {
		s.line(0, "")
	}
	s.closing(&rec)
	if _, err := io.WriteString(w, s.String()); err != nil {
		return fmt.Errorf("write text report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// warning writes a warning, wrapped on a terminal and as one searchable line elsewhere. It does not
// repeat a "Warning:" that the text has already.
func (s *screen) warning(text string, fold bool) {
	text = brief(text)
	if own, ok := strings.CutPrefix(text, "Warning: "); ok && fold {
		text = own
	} else if ok {
		s.line(0, s.paint(yellow, text))
		return
	}
	lead, lines := s.paint(yellow, "warning:")+" ", []string{text}
	if fold {
		lines = wrap(text, s.width-len("warning: "))
	}
	for _, l := range lines {
		s.line(0, lead+l)
		lead = "         "
	}
}

// FindingText writes everything known about one finding of rec, with every exhibit, for a terminal.
func FindingText(w io.Writer, rec campaign.Record, f campaign.Finding, opt Options) error {
	s := newScreen(opt)
	s.findingHead(&f, nil)
	s.field(2, "run", visible(rec.RunID))
	for _, c := range rec.Campaigns {
		if c.Contract == f.Contract && c.Name == f.Campaign {
			s.field(2, "document", visible(c.Source))
			break
		}
	}
	s.field(2, "fingerprint", visible(f.Fingerprint))
	if f.Signature != "" {
		s.field(2, "signature", brief(f.Signature))
	}
	for i, cause := range f.Cause {
		label := ""
		if i == 0 {
			label = "cause"
		}
		s.field(2, label, brief(cause))
	}
	if f.Rerun.Tried > 0 && !f.Flaky {
		s.field(2, "re-run", fmt.Sprintf("%s of %s failed the same way", count(f.Rerun.Same), count(f.Rerun.Tried))+unanswered(&f))
	}
	if f.Unconfirmed != "" {
		s.field(2, "re-run", "unconfirmed: "+brief(f.Unconfirmed))
	}
	s.minimized(&f)
	s.reproduce(&f)
	s.samples(&f)
	s.findingBody(&f, opt)
	if _, err := io.WriteString(w, s.String()); err != nil {
		return fmt.Errorf("write finding %s: %w", f.ID, err)
	}
	return nil
}

// ExhibitsText writes exhibits for a terminal.
func ExhibitsText(w io.Writer, list []campaign.Exhibit, opt Options) error {
	s := newScreen(opt)
	for i := range list {
		s.exhibit(&list[i])
	}
	if _, err := io.WriteString(w, s.String()); err != nil {
		return fmt.Errorf("write exhibits: %w", err)
	}
	return nil
}

// titles writes the titles of findings below a heading.
func (s *screen) titles(lead string, list []*campaign.Finding, since *Since) {
	s.line(0, lead)
	for _, f := range list[:min(len(list), textTitles)] {
		s.findingTitle(f, since.mark(f))
	}
	if left := len(list) - textTitles; left > 0 {
		s.line(0, fmt.Sprintf("and %s; the json report has them all", plural(left, "more finding")))
	}
	s.line(0, "")
}

func (s *screen) findingBlock(f *campaign.Finding, since *Since) {
	s.findingHead(f, since)
	s.minimized(f)
	s.excerpt(f)
	s.frame(f)
	s.reproduce(f)
	s.line(0, "")
}

// findingTitle writes severity, id, title and the mark, if there is one.
func (s *screen) findingTitle(f *campaign.Finding, mark string) {
	title := brief(f.Title)
	if mark != "" {
		title += " · " + mark
	}
	word := strings.ToUpper(f.Severity.String())
	id := visible(f.ID)
	indent := textWidth(word) + 1 + textWidth(id) + 2
	if indent > s.width/2 {
		indent = 2
		s.line(0, s.paint(severityStyle(f.Severity), word)+" "+s.paint(bold, id))
		s.wrapped(indent, 0, plain, title)
	} else {
		lead := s.paint(severityStyle(f.Severity), word) + " " + s.paint(bold, id) + "  "
		for _, l := range wrap(title, s.width-indent) {
			s.WriteString(lead)
			s.line(0, l)
			lead = strings.Repeat(" ", indent)
		}
	}
}

// findingHead writes a finding's title and its figures.
func (s *screen) findingHead(f *campaign.Finding, since *Since) {
	s.findingTitle(f, "")
	var figures []string
	if m := since.mark(f); m != "" {
		figures = append(figures, s.paint(map[string]string{"new": red, "still failing": yellow, "known": cyan}[m], m))
	}
	figures = append(figures, []string{visible(f.Contract + " " + f.Campaign), visible(f.Kind), plural(f.Cases, "case"), "first is case " + count(f.First)}...)
	if l := flakyLabel(f); l != "" {
		figures = append(figures, s.paint(yellow, l))
	}
	if f.Unconfirmed != "" {
		figures = append(figures, s.paint(yellow, "unconfirmed"))
	}
	s.figures(2, figures)
	if list := f.Numbers(); len(list) > 0 {
		s.field(2, "lists", strings.Join(list, ", "))
	}
	if k := since.accepted(f); k != nil {
		s.field(2, "known", strings.TrimPrefix(brief(k.words()), "known "))
	}
}

// figures writes short facts, as many on a line as fit.
func (s *screen) figures(indent int, facts []string) {
	line, width := "", 0
	for _, f := range facts {
		w := textWidth(unpainted(f))
		if line != "" && indent+width+3+w > s.width {
			s.line(indent, line)
			line, width = "", 0
		}
		if line != "" {
			line, width = line+" · ", width+3
		}
		line, width = line+f, width+w
	}
	s.line(indent, line)
}

// unpainted returns text without the sequences that [screen.paint] added.
func unpainted(s string) string {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return s
		}
		to := strings.IndexByte(s[from:], 'm')
		if to < 0 {
			return s
		}
		s = s[:from] + s[from+to+1:]
	}
}

// asItWas reports whether the smallest reproducer is the first failing input.
func asItWas(f *campaign.Finding) bool {
	return f.Minimized.Verified && len(f.Samples) > 0 && f.Samples[0].Blob != "" && f.Samples[0].Blob == f.Minimized.Blob
}

func (s *screen) minimized(f *campaign.Finding) {
	m := f.Minimized
	if m == nil {
		return
	}
	if asItWas(f) {
		if m.Spent { // otherwise it cannot be smaller, which is nothing to report
			s.field(2, "minimized", "found nothing smaller, "+plural(m.Tries, "execution")+minimality(m))
		}
		return
	}
	text := strings.TrimPrefix(sizes(m)+", "+plural(m.Tries, "execution"), ", ") + minimality(m)
	switch {
	case m.NoResult:
		text += ", not verified: running it again had no result"
	case !m.Verified:
		text += ", not verified: it did not fail again after shrinking"
	}
	s.field(2, "minimized", text)
}

// reproduce writes the command on one line, because a broken line cannot be pasted.
func (s *screen) reproduce(f *campaign.Finding) {
	if len(f.Reproduce) > 0 {
		s.line(2, s.paint(dim, "reproduce:")+"   "+s.paint(cyan, shellQuote(f.Reproduce)))
	}
}

func (s *screen) samples(f *campaign.Finding) {
	t := sampleTable(f)
	if t == nil {
		return
	}
	s.line(0, "")
	s.heading("Samples")
	for _, row := range t.Rows {
		row[len(row)-1] = visible(row[len(row)-1])
	}
	s.grid(2, t.Columns, t.Rows, t.Numeric)
}

func (s *screen) campaigns(rec *campaign.Record, opt Options) {
	if len(rec.Campaigns) == 0 {
		return
	}
	columns := []string{"contract", "campaign", "run", "pass", "fail", "skip", "error"}
	numeric := []bool{false, false, true, true, true, true, true}
	scored := false
	for _, c := range rec.Campaigns {
		scored = scored || c.Score != nil
	}
	if scored {
		columns, numeric = append(columns, "score"), append(numeric, true)
	}
	var rows [][]string
	for _, c := range rec.Campaigns {
		n := c.Cases
		run := count(n.Run)
		if n.Planned > n.Run {
			run += " of " + count(n.Planned)
		}
		row := []string{visible(c.Contract), visible(c.Name), run, count(n.Pass), count(n.Fail), count(n.Skip), count(n.Error)}
		if scored {
			score := "–"
			if c.Score != nil {
				score = Score(*c.Score)
			}
			row = append(row, score)
		}
		rows = append(rows, row)
	}
	s.grid(0, columns, rows, numeric)
	for _, c := range rec.Campaigns {
		figures := seq.Map(c.Figures, func(f campaign.Figure) string { return count(f.Value) + " " + visible(f.Name) })
		if len(figures) > 0 {
			s.figures(0, append([]string{visible(c.Name)}, figures...))
		}
	}
	s.brief, s.cut = briefText, false
	if opt.Ran {
		s.brief = lastText
	}
	for _, c := range rec.Campaigns {
		texts := 0
		for i := range c.Exhibits {
			e := &c.Exhibits[i]
			if !e.Brief {
				continue
			}
			if e.Text != nil {
				texts++
			}
			switch {
			case e.Text == nil || !opt.Ran || texts <= lastTexts:
				s.exhibit(e)
			case texts == lastTexts+1:
				s.rest("more of them:", opt.Report)
			}
		}
	}
	if s.cut && opt.Report != nil {
		s.rest("what is cut:", slices.Concat(opt.Report, []string{"--format", "html", "-o", "report.html"}))
	}
	s.brief = 0
	s.line(0, "")
}

// rest writes the command that shows the rest, on one line.
func (s *screen) rest(of string, command []string) {
	s.line(0, "")
	s.line(0, s.paint(dim, of)+" "+s.paint(cyan, shellQuote(command)))
}

func (s *screen) closing(rec *campaign.Record) {
	word := verdictWord(rec)
	style := map[string]string{"fail": red, "pass": green}[word]
	t := total(rec)
	facts := []string{s.paint(cmp.Or(style, yellow), strings.ToUpper(visible(word))) + "  " + headline(rec)}
	if !rec.Complete {
		facts = append(facts, s.paint(yellow, incomplete(rec)))
	}
	env := rec.Environment
	if n := t.Fail; len(rec.Findings) == 0 && n > 0 && !rec.Complete { // a killed run
		facts = append(facts, plural(n, "failing case")+", not grouped into findings yet")
	}
	facts = append(facts, casesRun(rec))
	if env.Rate > 0 {
		facts = append(facts, rate(env.Rate))
	}
	facts = append(facts, duration(env.Seconds))
	if rec.Digest != "" {
		facts = append(facts, "digest "+visible(short(rec.Digest)))
	}
	facts = append(facts, "run "+visible(rec.RunID))
	s.figures(0, facts)
}

// verdictWord is the verdict of a run as people read it: where nothing was judged, nothing passed.
func verdictWord(rec *campaign.Record) string {
	if nothingJudged(rec) {
		return "skip"
	}
	return rec.Verdict
}

// headline summarizes a run in a few words.
func headline(rec *campaign.Record) string {
	return headlineOf(rec, len(rec.Findings), len(causes(bySeverity(rec))))
}

func headlineOf(rec *campaign.Record, findings, causes int) string {
	switch {
	case rec.Verdict == "running": // for a live run
		return plural(findings, "finding") + " so far"
	case findings > 0:
		text := plural(findings, "finding")
		if causes < findings {
			text += ", " + plural(causes, "cause")
		}
		return text
	case nothingJudged(rec) && total(rec).Run == 0: // an empty part of the work, which the user accepts
		return "nothing was judged: no case was run"
	case nothingJudged(rec):
		return "nothing was judged: every case was skipped"
	case rec.Verdict == "pass":
		return "all held"
	case rec.Verdict == "fail":
		return "not all held"
	case rec.Complete && total(rec).Error == 0:
		return "nothing was tested: see the warnings"
	}
	return "no findings, but not everything could be judged"
}

// nothingJudged reports whether a run passed without a case that was not skipped.
func nothingJudged(rec *campaign.Record) bool {
	t := total(rec)
	return rec.Verdict == "pass" && t.Skip == t.Run
}

// incomplete returns why a run is incomplete.
func incomplete(rec *campaign.Record) string {
	if rec.Stopped == "" {
		return "not complete"
	}
	return "not complete: " + visible(rec.Stopped)
}

// short returns the start of a digest, long enough to distinguish two.
func short(digest string) string { return head(digest, 16) }
