package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/markup"
)

// Parts returns the templates of pages. The single file and the served pages use the same ones:
//
//	masthead summary                          of a [RunView]
//	finding finding-front finding-rest chip   of a [FindingView]
//	acts                                      of a [FindingView]: what can be done with it, empty here
//	exhibit                          of an [Exhibit]
//	v                                of a string: untrusted text on one line
//	command                          of a line to be copied into a shell
//	verdict-mark                     of "pass", "fail" or any other verdict
//
// The caller adds its own. They need the style sheet [Style] and no script; their output contains
// no style, script or request.
func Parts() (*markup.Set, error) {
	t, err := markup.New(map[string]any{
		"pieces":   inline,
		"visible":  brief,
		"count":    func(n int64) string { return count(n) },
		"hex":      func(b byte) string { return fmt.Sprintf("%02x", b) },
		"ascii":    func(b byte) string { return string(rune(printable(b))) },
		"offset":   func(n int64) string { return fmt.Sprintf("%08x", n) },
		"add":      func(a, b int64) int64 { return a + b },
		"points":   func(rows []int, i int) bool { return slices.Contains(rows, i) },
		"leads":    linkAt,
		"long":     long,
		"numeric":  func(flags []bool, i int) bool { return i < len(flags) && flags[i] },
		"heading":  headingAt,
		"verdict":  func(i int) string { return [...]string{"pass", "fail", "skip", "error"}[i] },
		"lines":    func(n int) string { return plural(n, "line") },
		"causes":   func(n int) string { return plural(n, "cause") },
		"findings": func(n int) string { return plural(n, "finding") },
		"broke":    func(also []*FindingView, more int) string { return "1 cause, " + plural(1+len(also)+more, "finding") },
		"figure":   number,
		"duration": duration,
		"rate":     rate,
		"when":     moment,
		"words":    strings.Fields,
		"glyph":    glyph,
	}).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse the page's templates: %w", err)
	}
	return t, nil
}

// Style returns the style sheet of [Parts].
func Style() ([]byte, error) { return pageFiles.ReadFile("page/page.css") }

// inline returns untrusted text on one line, in pieces. It marks where a long path may be broken.
func inline(s string) []piece {
	var out []piece
	for _, p := range pieces(head(s, inlineCap), false) {
		if at := breaksOf(p.Text); !p.Hidden && at != nil {
			from := 0
			for _, i := range at {
				out = append(out, piece{Text: p.Text[from:i], Break: true})
				from = i
			}
			p.Text = p.Text[from:]
		}
		out = append(out, p)
	}
	if len(s) > inlineCap {
		out = append(out, piece{Text: "…"})
	}
	return out
}

// breaksOf returns where text with a long path may be broken: after folders and, in a long file
// name, before its extensions.
func breaksOf(s string) []int {
	if !long(s) {
		return nil
	}
	var at []int
	name, rest := 0, 0 // start and end of the current part of the path
	for i := 1; i < len(s)-1; i++ {
		if s[i-1] == '/' || s[i-1] == ' ' {
			name = i
		}
		if rest <= i {
			if rest = i + strings.IndexAny(s[i:], "/ :"); rest < i {
				rest = len(s)
			}
		}
		if s[i-1] == '/' && s[i] != '/' && s[i] != ' ' || s[i] == '.' && rest-name > longWord && isWord(s[i-1]) && isWord(s[i+1]) && (s[i+1] < '0' || s[i+1] > '9') {
			at = append(at, i)
		}
	}
	return at
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// RunView is a run as pages draw it, without its findings.
type RunView struct {
	Rec      *campaign.Record
	Env      *campaign.Environment
	Verdict  string // class: "pass", "fail", "skip", "error", or "running" for a live run
	Word     string // the verdict, as people read it
	Headline string
	Since    string // what changed since the previous comparable run
	Anyway   string // the command that compares with a run that is not comparable
	// AnywayLink links to that comparison; "": the command is shown instead.
	AnywayLink string
	Stopped    string // why the run is incomplete; "": it is complete
	Command    string
	Source     string // commit and branch
	CI         string // address of the job; "": none
	Tiles      []tile
	Progress   []*seriesView
	Campaigns  []campaignView
	Scored     bool // some campaign has a score
	Shows      bool // some campaign has exhibits
	Facts      []fact
}

// tile is a figure. Key identifies it to scripts that update it.
type tile struct{ Key, Value, Label string }

type fact struct{ Name, Value string }

type campaignView struct {
	*campaign.CampaignRecord
	Link     string // to the source document; "": none
	Run      string
	Counts   []string
	Score    string
	Bar      []barPart
	Exhibits []Exhibit
}

// barPart is a verdict's share of a campaign's cases.
type barPart struct{ Class, X, W string }

// FindingView is a finding as pages draw it.
type FindingView struct {
	*campaign.Finding
	Level     string
	Glyph     string // the severity's symbol
	Count     string
	Where     string
	Flaky     string
	Mark      string // the result of pageMark, or "unconfirmed"
	Minimal   string
	Shown     string // re-runs
	Command   string
	Accepted  *Known
	Link      string    // to its page; "": none
	Again     string    // address that runs its first case again; "": none
	Promote   string    // address that makes a regression test of it; "": none
	Full      bool      // the evidence is included
	Key       []Exhibit // the most telling exhibits, and those that passed if the format shows them
	Exhibits  []Exhibit // all other exhibits
	SampleSum *tableView
	Also      []*FindingView // other findings with the same cause
	More      int            // number of such findings that are not shown
	MoreLink  string         // link to these
}

// DrawRun lays a run out. The numbers of findings and causes are arguments because the record may
// lack its findings.
func DrawRun(rec *campaign.Record, findings, causes int, opt Options) *RunView {
	return runViewOf(rec, findings, causes, opt, &drawer{left: runBudget, lines: runLines})
}

// DrawFinding lays a finding out: in full, or with just what lists show.
func DrawFinding(f *campaign.Finding, full bool, opt Options) *FindingView {
	v := findingViewOf(f, opt)
	if full {
		d := &drawer{left: evidenceBudget, folder: opt.Folder, card: opt.Card}
		if opt.Card {
			d.left = cardBudget
		}
		v.detail(opt, d)
	}
	return &v
}

// DrawExhibit lays one exhibit out.
func DrawExhibit(e *campaign.Exhibit) Exhibit { return (&drawer{left: evidenceBudget}).exhibit(e) }

func runViewOf(rec *campaign.Record, findings, causes int, opt Options, d *drawer) *RunView {
	env := &rec.Environment
	v := &RunView{
		Rec: rec, Env: env, Word: verdictWord(rec), Headline: headlineOf(rec, findings, causes), Command: shellQuote(env.Command),
		Progress: progressCharts(env), Source: sourceOf(rec), CI: originOf(rec).CI,
	}
	if opt.Since != nil {
		v.Since, v.Anyway = opt.Since.Sentence(), opt.Since.Anyway
	}
	switch v.Word {
	case "pass", "fail", "skip", "running":
		v.Verdict = v.Word
	default:
		v.Verdict = "error"
	}
	if !rec.Complete {
		v.Stopped = incomplete(rec)
	}
	t := total(rec)
	cases := tile{"cases", count(t.Run), "cases run"}
	if n := followUps(rec); n > 0 {
		cases.Label += ", " + plural(n, "follow-up")
	}
	if t.Planned > t.Run {
		cases.Label = "of " + count(t.Planned) + " cases run"
	}
	found := tile{"findings", count(findings), "findings"}
	if findings == 1 {
		found.Label = "finding"
	}
	if len(rec.Campaigns) == 1 && rec.Campaigns[0].Score != nil {
		v.Tiles = append(v.Tiles, tile{"score", Score(*rec.Campaigns[0].Score), "score"})
	}
	v.Tiles = append(v.Tiles, cases, found)
	if rec.Verdict == "running" || env.Rate > 0 {
		v.Tiles = append(v.Tiles, tile{"rate", rate(env.Rate), "cases a second"})
	}
	v.Tiles = append(v.Tiles, tile{"time", duration(env.Seconds), "time"})
	for i := range rec.Campaigns {
		c := campaignViewOf(&rec.Campaigns[i], opt, d)
		v.Scored, v.Shows = v.Scored || c.Score != "", v.Shows || len(c.Exhibits) > 0
		v.Campaigns = append(v.Campaigns, c)
	}
	v.Facts = []fact{
		{"Command", v.Command}, {"Digest", rec.Digest},
		{"Thresh", env.Version}, {"Host", env.Host}, {"System", strings.Trim(env.OS+"/"+env.Arch, "/")},
		{"Folder", originOf(rec).Folder}, {"Commit", originOf(rec).Commit}, {"Processors", known(env.CPUs)}, {"Workers", known(env.Workers)},
		{"Started", moment(env.Started)}, {"Finished", moment(env.Finished)},
	}
	return v
}

// originOf returns where a run was started.
func originOf(rec *campaign.Record) campaign.Origin {
	if o := rec.Environment.Origin; o != nil {
		return *o
	}
	return campaign.Origin{}
}

// sourceOf returns the commit and the branch of a run in a few words; "" if both are unknown.
func sourceOf(rec *campaign.Record) string {
	o := originOf(rec)
	text := head(o.Commit, 12)
	if o.Branch != "" {
		text = strings.TrimSpace(text + " on " + o.Branch)
	}
	return text
}

// known formats a number that is 0 only while it is unknown.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}

func campaignViewOf(c *campaign.CampaignRecord, opt Options, d *drawer) campaignView {
	n := c.Cases
	if opt.CaseLink != nil {
		d.link = func(index int64) string { return opt.CaseLink(c.Contract, c.Name, index) }
		defer func() { d.link = nil }()
	}
	v := campaignView{CampaignRecord: c, Run: count(n.Run), Exhibits: d.exhibits(c.Exhibits)}
	if n.Planned > n.Run {
		v.Run += " of " + count(n.Planned)
	}
	v.Counts = []string{count(n.Pass), count(n.Fail), count(n.Skip), count(n.Error)}
	if c.Score != nil {
		v.Score = Score(*c.Score)
	}
	if n.Run > 0 {
		at := 0.0
		for _, part := range []struct {
			class string
			n     int64
		}{{"pass", n.Pass}, {"fail", n.Fail}, {"error", n.Error}, {"skip", n.Skip}} {
			if part.n == 0 {
				continue
			}
			w := 100 * float64(part.n) / float64(n.Run)
			seen := max(w, 1.5) // a single failure among millions stays visible
			v.Bar = append(v.Bar, barPart{part.class, px(min(at, 100-seen)), px(seen)})
			at += w
		}
	}
	return v
}

// glyphs are symbols for the severities, so that pages do not depend on colour.
var glyphs = [...]string{"○", "●", "■", "▲", "◆"}

func glyph(s campaign.Severity) string { return glyphs[min(int(s), len(glyphs)-1)] }

func findingViewOf(f *campaign.Finding, opt Options) FindingView {
	return FindingView{
		Finding: f, Level: f.Severity.String(), Glyph: glyph(f.Severity), Mark: opt.Since.pageMark(f), Accepted: opt.Since.accepted(f),
		Count: plural(f.Cases, "case"), Where: f.Contract + " " + f.Campaign, Flaky: flakyLabel(f), Command: shellQuote(f.Reproduce),
	}
}

// Unsettled lays out a finding that has not been run again yet. It has no page of its own, its case
// reproduces it, and its program's output has not been analysed yet.
func (v *FindingView) Unsettled(replay []string) {
	f := *v.Finding
	f.Title, v.Finding = crash.Restore(f.Title), &f
	v.Mark, v.Link, v.Command, v.Count = "unconfirmed", "", shellQuote(replay), "met in case "+count(v.First)
}

// keyExhibits is how many exhibits a card shows at once.
const keyExhibits = 2

// keyRows is how many rows of a table a card shows.
const keyRows = 5

// rowsAround returns the part of a long table that leads to the first focused row, which the cut
// would otherwise hide; nil if the table is short.
func rowsAround(e *campaign.Exhibit) *campaign.Exhibit {
	if e.Table == nil || len(e.Table.Rows) <= keyRows || len(e.Table.Focus) == 0 {
		return nil
	}
	at := e.Table.Focus[0]
	from := max(0, at+1-keyRows)
	t := *e.Table
	t.Rows, t.Focus, t.Cases = t.Rows[from:at+1], []int{at - from}, t.Cases[min(from, len(t.Cases)):min(at+1, len(t.Cases))]
	return &campaign.Exhibit{Kind: e.Kind, Title: fmt.Sprintf("%s, rows %d to %d of %d", e.Title, from+1, at+1, len(e.Table.Rows)), Table: &t}
}

// pointsAtEvidence reports whether an exhibit points to what matters in it.
func pointsAtEvidence(e *campaign.Exhibit) bool {
	return e.Diff != nil || e.Document != nil || e.Timeline != nil || e.Bytes != nil && len(e.Bytes.Rows) > 1 ||
		e.Table != nil && len(e.Table.Focus) > 0 || e.Text != nil && len(e.Text.Marks) > 0
}

// detail adds what is shown only for a finding in full.
func (v *FindingView) detail(opt Options, d *drawer) {
	f := v.Finding
	v.Full = true
	if opt.CaseLink != nil {
		d.link = func(index int64) string { return opt.CaseLink(f.Contract, f.Campaign, index) }
		defer func() { d.link = nil }()
	}
	for i := range f.Evidence {
		if e := &f.Evidence[i]; len(v.Key) < keyExhibits && pointsAtEvidence(e) || e.Document != nil && (e.Document.Line > 0 || e.Document.First > 0) {
			if part := rowsAround(e); part != nil {
				v.Key, v.Exhibits = append(v.Key, d.exhibit(part)), append(v.Exhibits, d.exhibit(e))
			} else {
				v.Key = append(v.Key, d.exhibit(e))
			}
		} else {
			v.Exhibits = append(v.Exhibits, d.exhibit(e))
		}
	}
	// A card shows what happened, not only the place in a document.
	if of := slices.IndexFunc(v.Exhibits, func(e Exhibit) bool { return e.Text != nil || len(v.Key) == 0 }); of >= 0 &&
		!slices.ContainsFunc(v.Key, func(e Exhibit) bool { return e.Document == nil }) {
		v.Key, v.Exhibits = slices.Insert(v.Key, 0, v.Exhibits[of]), slices.Delete(v.Exhibits, of, of+1)
	}
	if f.Rerun.Tried > 0 && !f.Flaky {
		v.Shown = rerunLabel(f, "failed the same way")
	}
	if f.Unconfirmed != "" {
		v.Shown = "unconfirmed: " + f.Unconfirmed
	}
	if m := f.Minimized; m != nil {
		if !asItWas(f) {
			v.Minimal = strings.TrimPrefix(strings.Replace(sizes(m), "->", "→", 1)+", "+plural(m.Tries, "execution"), ", ")
		}
		if v.Minimal = strings.TrimPrefix(v.Minimal+minimality(m), ", "); !m.Verified {
			v.Minimal += "; not verified"
		}
		if data, full, why := reproducer(f, opt); len(data) > 0 {
			b := campaign.BytesExhibit("Smallest reproducer, "+size(full),
				campaign.BytesRow{Label: "minimized", Data: data[:min(len(data), minimalCap)], Size: full})
			e := d.exhibit(&b)
			e.Note = strings.Trim(e.Note+"; "+why, "; ")
			v.Exhibits = append(v.Exhibits, e)
		}
	}
	if t := sampleTable(f); t != nil {
		v.SampleSum = &tableView{Table: *t}
	}
}

// longWord is the number of characters up to which a word is kept whole.
const longWord = 20

// long reports whether a cell has words too long to be kept whole.
func long(cell string) bool {
	return slices.ContainsFunc(strings.Fields(cell), func(word string) bool { return utf8.RuneCountInString(word) > longWord })
}
