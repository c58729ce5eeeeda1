package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

//go:embed page
var pageFiles embed.FS

// detailed is how many findings, the gravest first, the page shows in full,
// and opened how many of these are unfolded when it is opened.
const (
	detailed = 200
	opened   = 3
)

// page is what the templates in page/ see.
type page struct {
	CSS    template.CSS
	Script template.JS
	Policy string // content security policy
	Rec    *campaign.Record
	Env    *campaign.Environment

	Verdict   string // class: "pass", "fail" or "error"
	Headline  string
	Stopped   string // why the run is not complete; "" if it is
	Command   string
	Tiles     []tile
	Progress  []*seriesView
	Campaigns []campaignView
	Scored    bool
	Findings  []findingView
	Rest      []findingView // as rows of a table
	Digest    string
	Facts     []fact
}

type tile struct{ Value, Label string }

type fact struct{ Name, Value string }

type campaignView struct {
	*campaign.CampaignRecord
	Link     string // to the source document; "" for none
	Run      string
	Counts   []string
	Score    string
	Bar      []barPart
	Exhibits []exhibitView
}

// barPart is a verdict's share of a campaign's cases.
type barPart struct{ Class, X, W string }

type findingView struct {
	*campaign.Finding
	Level     string
	Glyph     string // the severity's shape
	Count     string
	Where     string
	Flaky     string
	Minimal   string
	Shown     string // re-runs
	Command   string
	Open      bool
	Exhibits  []exhibitView
	SampleSum *campaign.Table
}

func writeHTML(w io.Writer, rec campaign.Record, opt Options) error {
	t, err := template.New("page.tmpl").Funcs(template.FuncMap{
		"pieces":  inline,
		"visible": brief,
		"count":   func(n int64) string { return count(n) },
		"hex":     func(b byte) string { return fmt.Sprintf("%02x", b) },
		"ascii":   func(b byte) string { return string(rune(printable(b))) },
		"offset":  func(n int64) string { return fmt.Sprintf("%08x", n) },
		"add":     func(a, b int64) int64 { return a + b },
		"numeric": func(flags []bool, i int) bool { return i < len(flags) && flags[i] },
		"lines":   func(n int) string { return plural(n, "line") },
		"figure":  number,
		"when":    moment,
	}).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return fmt.Errorf("parse the page's templates: %w", err)
	}
	p, err := pageOf(&rec, opt)
	if err != nil {
		return err
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write html report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// inline is untrusted text on one line, in pieces.
func inline(s string) []piece {
	ps := pieces(head(s, inlineCap), false)
	if len(s) > inlineCap {
		ps = append(ps, piece{Text: "…"})
	}
	return ps
}

func pageOf(rec *campaign.Record, opt Options) (*page, error) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, fmt.Errorf("read the page's style: %w", err)
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return nil, fmt.Errorf("read the page's script: %w", err)
	}
	env := &rec.Environment
	p := &page{
		CSS: template.CSS(css), Script: template.JS(script),
		Policy: "default-src 'none'; style-src " + sourceHash(css) + "; script-src " + sourceHash(script) + "; base-uri 'none'; form-action 'none'",
		Rec:    rec, Env: env, Headline: headline(rec), Command: shellQuote(env.Command),
		Digest: rec.Digest, Progress: progressCharts(env),
	}
	switch rec.Verdict {
	case "pass", "fail":
		p.Verdict = rec.Verdict
	default:
		p.Verdict = "error"
	}
	if !rec.Complete {
		p.Stopped = incomplete(rec)
	}
	t := total(rec)
	cases := tile{count(t.Run), "cases run"}
	if t.Planned > t.Run {
		cases.Label = "of " + count(t.Planned) + " cases run"
	}
	findings := tile{count(len(rec.Findings)), "findings"}
	if len(rec.Findings) == 1 {
		findings.Label = "finding"
	}
	p.Tiles = []tile{
		cases, findings, {rate(env.Rate), "cases a second"}, {duration(env.Seconds), "time"},
	}
	d := &drawer{left: evidenceBudget}
	for i := range rec.Campaigns {
		c := campaignViewOf(&rec.Campaigns[i], opt, d)
		p.Scored = p.Scored || c.Score != ""
		p.Campaigns = append(p.Campaigns, c)
	}
	for i, f := range bySeverity(rec) {
		v := findingViewOf(f)
		if i >= detailed {
			p.Rest = append(p.Rest, v)
			continue
		}
		v.Open = i < opened
		v.detail(opt, d)
		p.Findings = append(p.Findings, v)
	}
	p.Facts = []fact{
		{"Thresh", env.Version}, {"Host", env.Host}, {"System", strings.Trim(env.OS+"/"+env.Arch, "/")},
		{"Processors", count(env.CPUs)}, {"Workers", count(env.Workers)},
		{"Started", moment(env.Started)}, {"Finished", moment(env.Finished)},
	}
	return p, nil
}

// sourceHash is how a policy names an inline style or script.
func sourceHash(content []byte) string {
	sum := sha256.Sum256(content)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func campaignViewOf(c *campaign.CampaignRecord, opt Options, d *drawer) campaignView {
	n := c.Cases
	v := campaignView{CampaignRecord: c, Run: count(n.Run), Exhibits: d.exhibits(c.Exhibits)}
	if n.Planned > n.Run {
		v.Run += " of " + count(n.Planned)
	}
	v.Counts = []string{count(n.Pass), count(n.Fail), count(n.Skip), count(n.Error)}
	if c.Score != nil {
		v.Score = fmt.Sprintf("%.3f", finite(*c.Score))
	}
	if opt.Reference != "" && c.Source != "" && !strings.HasPrefix(c.Source, "/") {
		v.Link = strings.TrimSuffix(opt.Reference, "/") + "/" + fileURI(c.Source)
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
			seen := max(w, 1.5) // a single failure among millions is still seen
			v.Bar = append(v.Bar, barPart{part.class, px(min(at, 100-seen)), px(seen)})
			at += w
		}
	}
	return v
}

// glyphs are the severities' shapes, so that colour is not needed.
var glyphs = [...]string{"○", "●", "■", "▲", "◆"}

func findingViewOf(f *campaign.Finding) findingView {
	v := findingView{
		Finding: f, Level: f.Severity.String(), Glyph: glyphs[min(int(f.Severity), len(glyphs)-1)],
		Count: plural(f.Cases, "case"), Where: f.Contract + " " + f.Campaign, Flaky: flakyLabel(f), Command: shellQuote(f.Reproduce),
	}
	return v
}

// detail adds what is shown of a finding in full.
func (v *findingView) detail(opt Options, d *drawer) {
	f := v.Finding
	v.Exhibits = d.exhibits(f.Evidence)
	if f.Rerun.Tried > 0 && !f.Flaky {
		v.Shown = count(f.Rerun.Same) + " of " + plural(f.Rerun.Tried, "re-run") + " failed the same way"
	}
	if m := f.Minimized; m != nil {
		v.Minimal = strings.Replace(sizes(m), "->", "→", 1) + ", " + plural(m.Tries, "execution")
		if !m.Verified {
			v.Minimal += "; not verified"
		}
		if data, full, why := reproducer(f, opt); len(data) > 0 {
			b := campaign.BytesExhibit("Smallest reproducer, "+size(full),
				campaign.BytesRow{Label: "minimised", Data: data[:min(len(data), minimalCap)], Size: full})
			e := d.exhibit(&b)
			e.Note = strings.Trim(e.Note+"; "+why, "; ")
			v.Exhibits = append(v.Exhibits, e)
		}
	}
	if len(f.Samples) > 0 {
		t := &campaign.Table{Columns: []string{"case", "round", "bytes", "input"}, Numeric: []bool{true, true, true, false}}
		for _, s := range f.Samples {
			t.Rows = append(t.Rows, []string{count(s.Case.Index), count(s.Case.Round), count(s.Size), s.Input})
		}
		v.SampleSum = t
	}
}
