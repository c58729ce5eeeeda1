package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/store"
)

// picturesVariable names the folder that pictures for the documentation go to.
const picturesVariable = "THRESH_PICTURES"

// TestPictures makes the pictures of docs/pictures.md: `make pictures`.
func TestPictures(t *testing.T) {
	dir := os.Getenv(picturesVariable)
	if dir == "" {
		t.Skip("makes the pictures of the documentation: make pictures")
	}
	dir, err := filepath.Abs(dir)
	must(t, err)
	work, names := starters(t)
	thresh := program(t)
	for _, name := range names {
		thresh(work, []int{1}, "run", name, "--quiet", "--store", "store", "--cases", "400", "--shrink", "40", "--report", "html="+name+".html")
	}
	st := openStore(t, filepath.Join(work, "store"))
	base, _ := serve(t, st, func(c *web.Config) { c.Contract = names })
	b, file := openBrowser(t, base), openBrowser(t, base)
	must(t, os.MkdirAll(dir, 0o755))
	wide, phone := look{width: 1280, height: 900}, look{width: 390, height: 844, dark: true, phone: true}
	at := func(b *browser, l look, name, address string) {
		t.Helper()
		b.as(l)
		b.open(address)
		b.picture(dir, name, float64(l.width), float64(l.height))
	}
	for _, name := range names {
		runs, err := st.Runs(store.RunQuery{Contract: name})
		must(t, err)
		id := runs[0].RunID
		page, err := st.Findings(store.FindingQuery{RunID: id, Limit: 1})
		must(t, err)
		at(b, wide, "run-"+name, base+"/runs/"+id)
		at(b, wide, "finding-"+name, base+"/runs/"+id+"/findings/"+page.Findings[0].ID)
		at(b, phone, "phone-"+name, base+"/runs/"+id)
	}
	runs, err := st.Runs(store.RunQuery{Contract: "flakestorm"})
	must(t, err)
	at(file, wide, "report", "file://"+filepath.Join(work, "flakestorm.html"))
	at(b, wide, "runs", base+"/")
	document := filepath.Join(work, "flakestorm", "flakestorm.yaml")
	text, err := os.ReadFile(document)
	must(t, err)
	fixed := strings.Replace(strings.Replace(string(text), "mode: empty", "mode: rate_limit", 1), `"Where is my order 4711?"`, `"Where is my parcel?"`, 1)
	must(t, os.WriteFile(document, []byte(fixed), 0o600))
	thresh(work, []int{0, 1}, "run", "flakestorm", "--quiet", "--store", "store", "--shrink", "40")
	later, err := st.Runs(store.RunQuery{Contract: "flakestorm"})
	must(t, err)
	at(b, wide, "comparison", base+"/compare?a="+runs[0].RunID+"&b="+later[0].RunID)
	w := begin(t, st)
	cases(t, w, 0, 400)
	f := fault("F-0c5e1a7b20")
	f.Title = "heap-buffer-overflow in parse_xref"
	meet(t, w, f)
	at(b, wide, "live", base+"/runs/"+w.RunID())
	must(t, w.Close())
	at(b, wide, "killed", base+"/runs/"+w.RunID())
}
