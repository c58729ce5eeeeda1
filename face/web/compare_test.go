package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/web"
)

// Cells that changed are listed, with a mark only where chance does not explain the change;
// where there are many, a link leads to all of them on the page itself.
func TestCompareListsCells(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	var ids []string
	for i := range int64(2) {
		m := &campaign.Matrix{Columns: []string{"calm"}}
		for n := range int64(230) {
			m.Rows = append(m.Rows, fmt.Sprintf("rule-%03d", n))
			m.Cells = append(m.Cells, []campaign.MatrixCell{{Hits: 20 * (n%2 ^ i) / (1 + n/200*9), Total: 20, High: 1}})
		}
		if i == 1 { // a cell that nothing can be said of
			m.Rows, m.Cells = append(m.Rows, "fresh"), append(m.Cells, []campaign.MatrixCell{{Hits: 1, Total: 1, High: 1}})
		}
		rec := rich(t)
		rec.Campaigns[1].Exhibits = []campaign.Exhibit{{Kind: "matrix", Title: "Matrix", Matrix: m}}
		ids = append(ids, keep(t, st, rec, 100-int(i), "done"))
	}
	base, _ := serve(t, st)
	address := base + "/compare?a=" + ids[0] + "&b=" + ids[1]
	cells := func(page string) string {
		_, page, _ = strings.Cut(page, `<h2 id="cells">`)
		page, _, _ = strings.Cut(page, "</section>")
		return page
	}
	a := ask(t, "GET", address)
	if n := strings.Count(cells(a.body), ">rule-"); a.code != 200 || n != 200 || !strings.Contains(a.body, "&amp;all=true#cells\">Show 30 more</a>") {
		t.Errorf("%d: %d cells\n%.600s", a.code, n, a.body)
	}
	a = ask(t, "GET", address+"&all=true")
	if n, better := strings.Count(cells(a.body), ">rule-"), strings.Count(a.body, `class="better">▲ 20 of 20</span> <small>better, p `); a.code != 200 || n != 230 || better != 100 {
		t.Errorf("%d: %d cells, %d of them better", a.code, n, better)
	}
	if plain := strings.Count(a.body, `>2 of 20 <small>no evidence of a change, p `); plain != 15 {
		t.Errorf("%d cells of which chance may be the cause", plain)
	}
	if strings.Contains(cells(a.body), "fresh") || !strings.Contains(a.body, "1 cell in only one of the runs") || strings.Index(a.body, `id="new"`) > strings.Index(a.body, `id="cells"`) {
		t.Errorf("a cell of one run is listed as changed, or findings stand below cells:\n%s", a.body)
	}
	b := openBrowser(t, base)
	for _, l := range looks {
		if b.as(l); l.phone {
			b.open(address)
			if cut := b.eval(`[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel).join()`); cut != "" {
				t.Errorf("%s: cut at the right: %s", l.name, cut)
			}
		}
	}
	if a := ask(t, "GET", address+"&all=maybe"); a.code != 400 {
		t.Errorf("all=maybe: %d", a.code)
	}
}

// What a finding's evidence leads to stands beside it.
func TestCaseBesideFinding(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	rec.Campaigns, rec.Findings = rec.Campaigns[:1], rec.Findings[:1]
	f, index := &rec.Findings[0], int64(12)
	f.Contract, f.Campaign, f.First = rec.Campaigns[0].Contract, rec.Campaigns[0].Name, 3
	reply, calm := campaign.TextExhibit("Reply", "this one fails"), campaign.TableExhibit("The same without faults", []string{"case"}, [][]string{{"calm"}})
	reply.Text.Marks = []campaign.Mark{{From: 0, To: 4, Kind: "focus"}}
	calm.Table.Cases = []*int64{&index}
	f.Evidence = []campaign.Exhibit{reply, calm}
	id := keep(t, st, rec, 5, "done")
	base, _ := serve(t, st, func(c *web.Config) { c.Use = keptUses{c.Use.(uses)} })
	page := ask(t, "GET", base+"/runs/"+id+"/findings/"+f.ID).body
	_, sides, found := strings.Cut(page, `<div class="sides">`)
	at := strings.Index(sides, "this</mark> one fails")
	if beside := strings.Index(sides, "kept &lt;b&gt;as text"); !found || at < 0 || beside < at || !strings.Contains(sides, "/cases/12?") {
		t.Errorf("the other case is not beside the finding:\n%s", page)
	}
}

// keptUses has evidence of case 12 of every run.
type keptUses struct{ uses }

func (keptUses) KeptCase(string, string, string, int64) (campaign.Outcome, []campaign.Exhibit, error) {
	return campaign.Outcome{}, []campaign.Exhibit{campaign.TextExhibit("Reply", "kept <b>as text</b>")}, nil
}

// What thresh.known.yaml accepts is a list of its own, on the page and in the API.
func TestCompareListsKnown(t *testing.T) {
	st, folder := openStore(t, t.TempDir()), t.TempDir()
	rec := rich(t)
	for i := range rec.Campaigns {
		rec.Campaigns[i].Source = filepath.Join(folder, "doc.yaml")
	}
	f := &rec.Findings[0]
	f.ID = "F-3d90aa1200"
	text := "schema: thresh.known.v1\nfindings:\n  - {id: " + f.ID + ", owner: <ana>, note: next release, until: 2026-12-31}\n"
	must(t, os.WriteFile(filepath.Join(folder, app.KnownFile), []byte(text), 0o600))
	a, b := keep(t, st, rec, 2, "done"), keep(t, st, rec, 1, "done")
	base, _ := serve(t, st)
	_, list, ok := strings.Cut(ask(t, "GET", base+"/compare?a="+a+"&b="+b).body, `id="known"`)
	list, _, _ = strings.Cut(list, "</section>")
	if !ok || strings.Count(list, "/findings/") != 1 || !strings.Contains(list, f.ID) || !strings.Contains(list, "by <bdi>&lt;ana&gt;</bdi> until 2026-12-31: <bdi>next release</bdi>") {
		t.Errorf("the list of known findings: %s", list)
	}
	var got struct{ New, Fixed, Known, StillFailing []struct{ ID string } }
	body := ask(t, "GET", base+"/api/v1/compare?a="+a+"&b="+b).body
	must(t, json.Unmarshal([]byte(strings.ReplaceAll(body, "still_failing", "stillfailing")), &got))
	if len(got.Known) != 1 || got.Known[0].ID != f.ID || len(got.StillFailing) != len(rec.Findings)-1 || len(got.New)+len(got.Fixed) != 0 {
		t.Errorf("the API: %s", body)
	}
}
