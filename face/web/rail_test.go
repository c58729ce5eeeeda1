package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
)

// A cell of a matrix, a row or a column shows its findings alone, on the page of
// a run and in the single file, and all of them again; without scripts it leads
// to them.
func TestMatrixPicksFindings(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	rec := rich(t)
	c := &rec.Campaigns[0]
	m := &campaign.Matrix{Rows: []string{"polite", "true"}, Columns: []string{"calm", "tool late"}, Cells: make([][]campaign.MatrixCell, 2)}
	for i := range 4 {
		at := int64(100 + i)
		m.Cells[i/2] = append(m.Cells[i/2], campaign.MatrixCell{Hits: int64(i % 2), Total: 1, Case: &at})
	}
	c.Exhibits = []campaign.Exhibit{{Kind: "matrix", Title: "Contract", Matrix: m}}
	for i := range rec.Findings {
		f := &rec.Findings[i]
		f.Contract, f.Campaign, f.Group, f.First = c.Contract, c.Name, "", 100+2*int64(i) // the first column's, then none
	}
	rec.Findings[1].First, m.Cells[1][0].Finding = 5, rec.Findings[1].ID // that began elsewhere
	in, out := rec.Findings[0].ID, rec.Findings[2].ID
	id := keep(t, st, rec, 1, "done")
	base, _ := serve(t, st)

	html, err := report.ByName("html")
	must(t, err)
	file := filepath.Join(t.TempDir(), "report.html")
	w, err := os.Create(file)
	must(t, err)
	must(t, html.Write(w, rec, report.Options{}))
	must(t, w.Close())

	b := openBrowser(t, base)
	for _, address := range []string{base + "/runs/" + id, "file://" + file} {
		shown := func(id string) string {
			return `(document.getElementById('` + id + `')?.checkVisibility() ?? false)`
		}
		b.open(address)
		b.until(shown(in) + " && " + shown(out))
		if n := b.eval(`document.querySelectorAll('.heat a[href$="` + rec.Findings[1].ID + `"]').length`); n != "1" && strings.HasPrefix(address, "file:") {
			t.Errorf("%s cells of the chart lead to a finding that began elsewhere", n)
		}
		if n := b.eval(`document.querySelectorAll('.rail td a').length`); n != "2" {
			t.Errorf("%s: %s cells lead to findings, want 2", address, n)
		}
		b.do(`document.querySelector('.rail thead a').click()`)
		b.until(shown(in) + " && !" + shown(out) + ` && document.querySelector('.narrowed b').textContent === 'calm'`)
		b.fits(address)
		b.accessible(address)
		b.do(`document.querySelector('.rail td a').click()`)
		b.until(`document.querySelector('.narrowed b').textContent === 'polite in calm'`)
		b.do(`document.querySelector('.narrowed a, .narrowed button').click()`)
		b.until(shown(in) + " && " + shown(out))
	}
	page := ask(t, "GET", base+"/runs/"+id+"?ids="+in+"&of=calm").body
	if !strings.Contains(page, `id="`+in+`"`) || strings.Contains(page, `id="`+out+`"`) {
		t.Error("the server shows other findings than those that were asked for")
	}
}
