package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// between returns what stands between two strings in s.
func between(t *testing.T, s, from, to string) string {
	t.Helper()
	_, s, ok := strings.Cut(s, from)
	in, _, ok2 := strings.Cut(s, to)
	if !ok || !ok2 {
		t.Fatalf("nothing between %q and %q", from, to)
	}
	return in
}

func TestPagePolicyAllowsItsOwnStyleAndScriptAlone(t *testing.T) {
	out := write(t, "html", hostileRecord(), Options{})
	policy := html.UnescapeString(between(t, out, `Content-Security-Policy" content="`, `"`))
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := "default-src 'none'; style-src " + hash(between(t, out, "<style>", "</style>")) +
		"; script-src " + hash(between(t, out, "<script>", "</script>")) + "; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy\n%s\nwant\n%s", policy, want)
	}
	if strings.Contains(out, " style=") {
		t.Error("an inline style, which the policy refuses")
	}
}

var tag = regexp.MustCompile(`<[a-zA-Z][^>]*>`)

func TestPageShowsHostileTextAsText(t *testing.T) {
	out := write(t, "html", hostileRecord(), Options{})
	for _, bad := range []string{"<img", "<svg onload", "javascript:", "\x00", "\x1b", "\x07", "\u202e", "\u200b", "\u2066", "\u2028", "\xff"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q reaches the page as it is", bad)
		}
	}
	for _, m := range tag.FindAllString(out, -1) {
		if strings.Contains(m, "onerror") && !strings.Contains(m, "&lt;") {
			t.Errorf("a tag of the target's: %s", m)
		}
	}
	if n := strings.Count(out, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, want := range []string{`\u202e`, `\x1b`, `\x00`, `\xff`, `&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown", want)
		}
	}
}

// A cell of a matrix leads to the finding that shows it, and nowhere if there
// is none.
func TestCellsLeadToFindings(t *testing.T) {
	out := write(t, "html", richRecord(), Options{})
	if !strings.Contains(out, `<td class="heat h0 leads"><a href="#F-3d90aa12"><b>0%</b> <span>0 of 12</span></a>`) || !strings.Contains(out, `id="F-3d90aa12"`) {
		t.Error("the cell that failed does not lead to its finding")
	}
	if n := strings.Count(out, `leads"><a`); n != 1 {
		t.Errorf("%d cells lead somewhere", n)
	}
	all := write(t, "html", richRecord(), Options{CaseLink: func(contract, campaign string, index int64) string {
		return fmt.Sprintf("/%s/%s/%d", contract, campaign, index)
	}})
	if !strings.Contains(all, `href="/flakestorm/support-agent/12"`) {
		t.Error("a cell does not lead where the option says")
	}
}

// So does a row of a table that is about a case.
func TestRowsLeadToCases(t *testing.T) {
	rec := richRecord()
	index := int64(12)
	e := campaign.TableExhibit("Replays", []string{"session", "calls"}, [][]string{{"incident <1>", "2"}, {"other", "3"}, {"last", "4"}})
	e.Table.Cases = []*int64{&index, nil}
	for i := range rec.Campaigns {
		rec.Campaigns[i].Exhibits = []campaign.Exhibit{e}
	}
	out := write(t, "html", rec, Options{CaseLink: func(contract, campaign string, index int64) string {
		return fmt.Sprintf("/%s/%d", contract, index)
	}})
	if !strings.Contains(out, `<td><a href="/flakestorm/12"><bdi>incident &lt;1&gt;</bdi></a></td><td class="num">`) {
		t.Error("the row does not lead to its case")
	}
	if n := strings.Count(out, `<td><a href="/flakestorm/`); n != 1 {
		t.Errorf("%d rows of the campaign lead somewhere", n)
	}
}

// And so do the lines of a document that were judged.
func TestLinesLeadToCases(t *testing.T) {
	rec, index := richRecord(), int64(12)
	for i := range rec.Campaigns {
		rec.Campaigns[i].Exhibits = []campaign.Exhibit{{Kind: "document", Document: &campaign.Document{Name: "a.md", Body: "# A\n```\nls\n1\n```\n", Blocks: []campaign.Block{
			{From: 2, To: 5, Verdict: campaign.VerdictFail}, {From: 4, To: 4, Verdict: campaign.VerdictFail, Case: &index}}}}}
	}
	out := write(t, "html", rec, Options{CaseLink: func(contract, campaign string, index int64) string { return fmt.Sprintf("/%s/%d", contract, index) }})
	if !strings.Contains(out, `<td class="ln">4</td><td class="gutter"><a href="/flakestorm/12">fail</a></td>`) {
		t.Error("the line that failed does not lead to its case")
	}
}

// A table with many columns names them beside each cell, for narrow screens.
func TestCellsNameTheirColumns(t *testing.T) {
	e := campaign.TableExhibit("Steps", []string{"#", "actor", "what the model says", "the module"}, [][]string{{"1", "User#1", "held <true>", ""}, {"2", "User#1", "", "left"}})
	rec := richRecord()
	rec.Findings[0].Evidence = []campaign.Exhibit{e}
	if out := write(t, "html", rec, Options{}); !strings.Contains(out, `<td data-of="what the model says"><bdi>held &lt;true&gt;</bdi></td><td><bdi></bdi></td>`) {
		t.Error("cells do not name their columns")
	}
}

// What is new stands first and says so, however grave what still fails is.
func TestPageShowsNewFindingsFirst(t *testing.T) {
	rec := campaign.Record{RunID: "r2", Findings: []campaign.Finding{
		{ID: "F-0000000001", Title: "an old crash", Severity: campaign.SeverityCritical},
		{ID: "F-0000000002", Title: "a new note", Severity: campaign.SeverityLow},
	}}
	out := write(t, "html", rec, Options{Since: &Since{Run: "r1", New: map[string]bool{"F-0000000002": true}, Still: 1}})
	fresh, still := strings.Index(out, `<span class="mark" data-mark="new">new</span>`), strings.Index(out, `<span class="mark" data-mark="still failing">`)
	if fresh < 0 || still < fresh || !strings.Contains(out, "since r1: 1 new, 0 fixed, 1 still failing") {
		t.Errorf("new at %d, still failing at %d", fresh, still)
	}
	if out = write(t, "html", rec, Options{}); strings.Contains(out, `<span class="mark"`) {
		t.Error("marked, with nothing to compare with")
	}
}

func TestPageAsksNobodyElse(t *testing.T) {
	out := write(t, "html", richRecord(), Options{})
	load := regexp.MustCompile(`(?i)\b(src|srcset|data|poster|action)=|@import|url\(|<link|<iframe|<object|<embed`)
	if at := load.FindStringIndex(out); at != nil {
		t.Errorf("asks for more: %q", out[at[0]:at[1]+40])
	}
}

func TestPageCutsLongOutputAndSaysSo(t *testing.T) {
	rec := richRecord()
	long := strings.Repeat("é\x1b[0m <b> ", 1<<20/11)
	for i := range rec.Findings {
		rec.Findings[i].Title = long
		rec.Findings[i].Evidence = []campaign.Exhibit{campaign.TextExhibit("stdout", long)}
	}
	out := write(t, "html", rec, Options{})
	if len(out) > 2<<20 {
		t.Errorf("page of %d bytes", len(out))
	}
	if !strings.Contains(out, "cut: the first 64.0 KiB of 1.0 MiB") {
		t.Error("the cut is not told")
	}
	if text := write(t, "text", rec, Options{}); len(text) > 64<<10 {
		t.Errorf("text of %d bytes", len(text))
	}
}

// manyFindings is a run with n findings, the gravest last.
func manyFindings(n int) campaign.Record {
	rec := richRecord()
	rec.Findings = nil
	for i := range n {
		f := richFindings()[i%2]
		f.ID, f.Severity = fmt.Sprintf("F-%08d", i), campaign.Severity(i*5/n)
		rec.Findings = append(rec.Findings, f)
	}
	return rec
}

func TestPageStaysReadableWithManyFindings(t *testing.T) {
	out := write(t, "html", manyFindings(10000), Options{})
	if n := strings.Count(out, `<article class="finding searchable"`); n != detailed {
		t.Errorf("%d findings in full", n)
	}
	if n := strings.Count(out, `<tr id="F-`); n != 10000-detailed {
		t.Errorf("%d findings as rows", n)
	}
	if !strings.Contains(out, "200 findings are shown in full; the other 9800 are rows") {
		t.Error("the page does not say so")
	}
	if len(out) > 16<<20 {
		t.Errorf("page of %d bytes", len(out))
	}
	text := write(t, "text", manyFindings(10000), Options{})
	if !strings.Contains(text, "and 9,950 more findings") || strings.Count(text, "\n") > 2000 {
		t.Error("the text report does not stop")
	}
}

func TestPageShowsWholeReproducers(t *testing.T) {
	rec := richRecord()
	blob := func(id string) ([]byte, error) {
		if id != "blob-min" {
			return nil, fmt.Errorf("no blob %q", id)
		}
		return []byte("the whole content, from the store"), nil
	}
	if out := write(t, "html", rec, Options{Blob: blob}); !strings.Contains(out, "74 68 65 20 77 68 6f 6c") {
		t.Error("the content of the blob is not shown")
	}
	rec.Findings[1].Minimized.Blob = "gone<"
	out := write(t, "html", rec, Options{Blob: blob})
	if !strings.Contains(out, `only a preview: no blob &#34;gone&lt;&#34;`) || !strings.Contains(out, "25 50 44 46") {
		t.Error("it is not told that the content could not be had")
	}
}

// TestColorsHaveContrast holds that text can be read on every ground it
// stands on: WCAG 2 AA, 4.5 to 1, in light and in dark.
func TestColorsHaveContrast(t *testing.T) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		t.Fatal(err)
	}
	both := regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1)
	pairs := [][2]string{
		{"text", "bg"}, {"text", "panel"}, {"muted", "bg"}, {"muted", "panel"}, {"blue", "bg"}, {"blue", "panel"}, {"orange", "bg"},
		{"orange", "panel"}, {"violet", "bg"}, {"violet", "panel"}, {"grey", "bg"}, {"bg", "orange"}, {"orange", "orange-soft"},
		{"violet", "violet-soft"}, {"blue", "blue-soft"}, {"text", "orange-soft"}, {"text", "blue-soft"}, {"text", "violet-soft"},
		{"text", "grey-soft"}, {"teal", "bg"}, {"rose", "bg"},
	}
	for i, scheme := range []string{"light", "dark"} {
		colors := map[string][3]float64{}
		for _, m := range both {
			colors[m[1]] = linear(t, m[2+i])
		}
		for _, p := range pairs {
			if c := contrast(colors[p[0]], colors[p[1]]); c < 4.5 {
				t.Errorf("%s: %s on %s is %.2f to 1", scheme, p[0], p[1], c)
			}
		}
		// The heat map's deepest grounds are so much of a colour on the panel.
		for color, share := range map[string]float64{"blue": 0.41, "orange": 0.30} {
			var deep [3]float64
			for i := range deep {
				deep[i] = toLinear(share*fromLinear(colors[color][i]) + (1-share)*fromLinear(colors["panel"][i]))
			}
			if c := contrast(colors["text"], deep); c < 4.5 {
				t.Errorf("%s: text on the deepest %s heat is %.2f to 1", scheme, color, c)
			}
		}
	}
}

func linear(t *testing.T, hex string) (c [3]float64) {
	for i := range c {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c[i] = toLinear(float64(v) / 255)
	}
	return c
}

func toLinear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func fromLinear(v float64) float64 {
	if v <= 0.0031308 {
		return v * 12.92
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

func contrast(a, b [3]float64) float64 {
	l := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	hi, lo := max(l(a), l(b)), min(l(a), l(b))
	return (hi + 0.05) / (lo + 0.05)
}

func BenchmarkPage(b *testing.B) {
	for name, rec := range map[string]campaign.Record{"rich": richRecord(), "10000": manyFindings(10000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var n counter
				if err := writeHTML(&n, rec, Options{}); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n))
			}
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
