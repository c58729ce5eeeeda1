package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// The commit, the job and both scores stand where a reader begins, and a source
// frame in every report for people.
func TestStoryInEveryReport(t *testing.T) {
	rec := campaign.Record{
		RunID: "r1", Verdict: "fail", Complete: true,
		Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Source: "n.json", Cases: campaign.Counts{Run: 2, Fail: 1, Pass: 1}}},
		Findings: []campaign.Finding{{
			ID: "F-1111111111", Contract: "c", Campaign: "n", Title: "it fell", Reproduce: []string{"thresh", "replay", "F-1111111111"}, Cases: 1,
			Evidence: []campaign.Exhibit{
				campaign.TextExhibit("stderr", "src/a b.py:9"),
				{Kind: "document", Title: "Source: src/a b.py:9", Document: &campaign.Document{
					Name: "src/a b.py", Line: 9, First: 8, Body: "before\n# not a heading\nafter\n", Blocks: []campaign.Block{{From: 2, To: 2, Verdict: campaign.VerdictFail}},
				}},
			},
		}},
		Environment: campaign.Environment{Origin: &campaign.Origin{Folder: "/work", Commit: strings.Repeat("ab", 20), Branch: "main", CI: "https://ci.example/7"}},
	}
	opt := Options{Since: &Since{Why: "run r0 had other options", Scores: []Scores{{Before: 0.5, After: 0.75, Chance: "no evidence of a change, p = 0.7"}}}}
	for format, want := range map[string][]string{
		"html": {"abababababab on main", `href="https://ci.example/7"`, "nothing to compare with, because run r0 had other options; score 50.0% -&gt; 75.0% (no evidence of a change, p = 0.7)",
			`href="vscode://file/work/src/a%20b.py:9"`, `<td class="line" dir="auto">before</td>`, `<td class="line" dir="auto"># not a heading</td>`},
		"markdown": {"abababababab on main, [CI job](<https://ci.example/7>)", "ecause run r0 had other options", "src/a b.py:9"},
		"text":     {"Source: src/a b.py:9\n         8  before\n    >    9  # not a heading\n", "score 50.0% -> 75.0%"},
	} {
		f, err := ByName(format)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := f.Write(&b, rec, opt); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: no %q", format, w)
			}
		}
	}
}

// What one cause broke is one card, one row and one block.
func TestOneCauseOneCard(t *testing.T) {
	rec := campaign.Record{RunID: "r1", Verdict: "fail", Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n"}}}
	for i, id := range []string{"F-1111111111", "F-2222222222", "F-3333333333"} {
		rec.Findings = append(rec.Findings, campaign.Finding{
			ID: id, Contract: "c", Campaign: "n", Title: "it fell", Group: []string{"one", "two", "one"}[i], Reproduce: []string{"thresh", "replay", id},
			Evidence: []campaign.Exhibit{campaign.TextExhibit("stderr", "text of "+id)},
		})
	}
	for format, want := range map[string]map[string]int{
		"html":     {`<article class="finding`: 2, "1 cause, 2 findings": 1, `<details class="finding" id="F-3333333333">`: 1, "text of F-3333333333": 1},
		"markdown": {"3 findings, 2 causes": 1, "| note |": 2, "1 cause, 2 findings: also `F-3333333333`": 1},
		"text":     {"same cause as F-1111111111, 1 more finding:\nNOTE F-3333333333  it fell\n": 1, "text of F-1111111111": 1, "text of F-3333333333": 0},
	} {
		f, err := ByName(format)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := f.Write(&b, rec, Options{}); err != nil {
			t.Fatal(err)
		}
		for w, n := range want {
			if got := strings.Count(b.String(), w); got != n {
				t.Errorf("%s: %d times %q, want %d\n%s", format, got, w, n, head(b.String()[strings.Index(b.String(), "<body>")+1:], 3000))
			}
		}
	}
}

// A finding below another's card is marked as well.
func TestMarksWithinACause(t *testing.T) {
	rec := campaign.Record{Findings: []campaign.Finding{{ID: "F-1", Title: "it fell", Group: "one"}, {ID: "F-2", Title: "it fell", Group: "one"}, {ID: "F-3", Title: "it fell", Group: "one"}}}
	since := &Since{Run: "r0", New: map[string]bool{"F-1": true}, Known: map[string]Known{"F-3": {Owner: "ann", Until: "2027-01-01"}}}
	var text, comment strings.Builder
	if err := writeText(&text, rec, Options{Since: since}); err != nil {
		t.Fatal(err)
	}
	if err := writeMarkdown(&comment, rec, Options{Since: since}); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), "NOTE F-2  it fell · still failing\nNOTE F-3  it fell · known\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got, want := comment.String(), "also `F-2` (still failing) `F-3` (known)"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// What its owners accept is neither new nor still failing.
func TestAcceptedCountApart(t *testing.T) {
	since := &Since{Run: "r0", New: map[string]bool{"F-1": true, "F-2": true}, Still: 2, NotRun: 3}
	since.Accept(map[string]Known{"F-2": {Owner: "ann"}, "F-3": {Owner: "bob"}})
	if got, want := since.Sentence(), "since r0: 1 new, 0 fixed, 1 still failing, 3 not run, 2 known"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Long paths are broken behind folders, and names that are long themselves before
// extensions; other text is not.
func TestPathsBreak(t *testing.T) {
	for text, want := range map[string]string{
		"services/billing/contracts/billing.spec.md:18 BILL-001": "services/|billing/|contracts/|billing.spec.md:18 BILL-001",
		"https://example.org/v1.2/orders and/or":                 "https://|example.org/|v1.2/|orders and/|or",
		"a/checkout-with-stored-cards.spec.md":                   "a/|checkout-with-stored-cards|.spec|.md",
		"readrecipe.py:<module> line 25":                         "readrecipe.py:<module> line 25",
		"and/or. so on ...":                                      "and/or. so on ...",
		"a/b.c":                                                  "a/b.c",
	} {
		var b strings.Builder
		for _, p := range inline(text) {
			b.WriteString(p.Text)
			if p.Break {
				b.WriteByte('|')
			}
		}
		if b.String() != want {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}

// A finding's mark says what is known of it, or why nothing is.
func TestPageMark(t *testing.T) {
	f := &campaign.Finding{ID: "F-1111111111"}
	for want, s := range map[string]*Since{
		"": nil, "first run": {}, "not compared": {Why: "the run before had other options"}, "still failing": {Run: "r1"},
		"known": {Run: "r1", Known: map[string]Known{f.ID: {Owner: "ann"}}}, "new": {Run: "r1", New: map[string]bool{f.ID: true}},
	} {
		if got := s.pageMark(f); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// A card shows the rows that lead to the one that matters, and keeps all of them below.
func TestCardShowsTheFailingRow(t *testing.T) {
	var rows [][]string
	for i := range 12 {
		rows = append(rows, []string{strconv.Itoa(i + 1), "act"})
	}
	e := campaign.TableExhibit("Steps", []string{"#", "action"}, rows)
	e.Table.Focus = []int{10}
	e.Table.Cases = []*int64{nil, nil}
	got := rowsAround(&e)
	if got == nil || got.Title != "Steps, rows 7 to 11 of 12" || len(got.Table.Rows) != 5 || got.Table.Rows[4][0] != "11" || got.Table.Focus[0] != 4 || len(got.Table.Cases) != 0 {
		t.Fatalf("%+v", got)
	}
	f := campaign.Finding{Evidence: []campaign.Exhibit{e}}
	v := findingViewOf(&f, Options{})
	if v.detail(Options{}, &drawer{left: evidenceBudget}); len(v.Key) != 1 || v.Key[0].Title != got.Title || len(v.Exhibits) != 1 || v.Exhibits[0].Title != "Steps" {
		t.Errorf("%+v\n%+v", v.Key, v.Exhibits)
	}
	if e.Table.Rows = rows[:5]; rowsAround(&e) != nil {
		t.Error("a short table is cut")
	}
}
