package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
)

const page = "# Page\n\n```yaml spec-test\nid: HELD_1\ntype: text.file\npath: notes.txt\nassert: [{target: text, must: [{contain: [one]}]}]\n```\n\n" +
	"```yaml spec-test\nid: MISSED_1\ntype: text.file\npath: notes.txt\nassert: [{target: text, must: [{contain: [two]}]}]\n```\n\n" +
	"```yaml spec-test\nid: MISSED_2\ntype: text.file\npath: notes.txt\nassert: [{target: text, must: [{contain: [three]}]}]\n```\n"

// office is a folder with a page of which one case passes and two fail.
func office(t *testing.T) (dir string, a *App, st *Store) {
	t.Helper()
	dir, a = t.TempDir(), New()
	for name, text := range map[string]string{"page.spec.md": page, "notes.txt": "one\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	st, err := a.OpenStore(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = st.Close()
		if open := testproc.OpenBelow(dir); len(open) > 0 {
			t.Errorf("left open: %q", open)
		}
	})
	return dir, a, st
}

// What the pages of thresh ui show, save and run.
func TestDesk(t *testing.T) {
	dir, a, st := office(t)
	d := a.Desk(t.Context(), st, st.Dir(), dir)
	if docs, err := d.Documents(); err != nil || len(docs) != 1 || docs[0].Path != filepath.Join(dir, "page.spec.md") {
		t.Fatal(docs, err)
	}
	if text, err := d.Text("page.spec.md"); err != nil || string(text) != page {
		t.Error(string(text), err)
	}
	if _, err := d.Text("../page.spec.md"); err == nil {
		t.Error("a text outside of the folder is shown")
	}
	for text, want := range map[string]string{page: "", "nothing": "unknown-format", strings.Replace(page, "text.file", "text.fil", 1): "type"} {
		c, err := d.CheckText(t.Context(), "page.spec.md", []byte(text))
		if err != nil || (len(c.Diagnostics) == 0) != (want == "") || want == "unknown-format" && !strings.HasSuffix(c.Diagnostics[0].Code, want) {
			t.Errorf("%q: %v %+v", want, err, c.Diagnostics)
		}
	}
	changed, version := page+"\n", TextVersion([]byte(page))
	if err := d.Save("page.spec.md", TextVersion([]byte(changed)), []byte(changed)); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if err := d.Save("page.spec.md", version, make([]byte, MostText+1)); err == nil {
		t.Error("a text that could not be shown again is saved")
	}
	if err := d.Save("page.spec.md", version, []byte(changed)); err != nil {
		t.Error(err)
	}
	name := filepath.Join(dir, "page.spec.md")
	info, err := os.Stat(name)
	if now, err2 := os.ReadFile(name); err != nil || err2 != nil || string(now) != changed || info.Mode().Perm() != 0o640 {
		t.Error(string(now), info.Mode(), err, err2)
	}
	if err := os.WriteFile(name, make([]byte, MostText+1), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Text("page.spec.md"); !errors.Is(err, ErrLong) {
		t.Error(err)
	}
	if err := os.WriteFile(name, []byte(page), 0o640); err != nil {
		t.Fatal(err)
	}

	rec, err := a.Run(t.Context(), Job{Paths: []string{name}, Store: st.Dir(), Strict: true, Cases: 2})
	if err != nil || len(rec.Findings) != 1 {
		t.Fatal(err, rec.Findings)
	}
	flags, err := d.Flags(rec.RunID)
	if want := "[--cases=2 --strict]"; err != nil || fmt.Sprint(flags) != want {
		t.Errorf("%v %v, want %s", flags, err, want)
	}
	for like, findings := range map[string]int{"": 2, rec.RunID: 1} {
		id, err := d.Begin(t.Context(), "page.spec.md", like)
		if err != nil {
			t.Fatal(err)
		}
		d.Wait()
		rec, err := st.Record(id)
		if err != nil || !rec.Complete || len(rec.Findings) != findings {
			t.Errorf("like %q: %v %+v", like, err, rec.Findings)
		}
		if command := strings.Join(rec.Environment.Command, " "); !strings.HasPrefix(command, "thresh run page.spec.md") || !strings.HasSuffix(command, " --store "+st.Dir()) || strings.Contains(command, "--strict") != (like != "") {
			t.Error(command)
		}
		if err := d.Stop("r00000000-1"); err == nil {
			t.Error("a run of nobody is stopped")
		}
	}
}

// What clients of the server hear of runs that they start.
func TestBackground(t *testing.T) {
	dir, a, st := office(t)
	u := a.Remote(t.Context(), st, st.Dir(), dir, 1)
	if c, err := u.Check(t.Context(), Draft{Draft: campaign.Draft{Text: []byte("nothing")}}); err != nil || !c.Diagnostics.HasErrors() {
		t.Error(c, err)
	}
	for most, want := range map[int]int64{0: 3, 1: 2} { // the second case is the first that fails
		r, err := u.Start(t.Context(), Draft{Path: "page.spec.md", Draft: campaign.Draft{Findings: most}})
		if err != nil {
			t.Fatal(err)
		}
		<-r.Done()
		s := r.Status()
		if s.Phase != "done" || s.Err != nil || s.Record == nil || s.Record.Campaigns[0].Cases.Run != want || s.Index != 1 || s.Of != 1 || s.Errors != 0 || s.Done < want || s.Planned != 3 || s.Failed < want-1 {
			t.Errorf("%d: %+v %+v", most, s, s.Record)
		}
		var seen []string
		for _, f := range r.Findings() {
			seen = append(seen, fmt.Sprint(f.Seq, f.Case, f.Kind, f.Contract, f.Campaign, f.Severity))
		}
		if one := fmt.Sprint([]string{fmt.Sprint(1, 1, "assertion", "spectest", seenCampaign(s), "medium"), fmt.Sprint(2, 2, "assertion", "spectest", seenCampaign(s), "medium")}[:want-1]); fmt.Sprint(seen) != one {
			t.Errorf("%q, want %s", seen, one)
		}
		if e, ok := r.Explored(); ok {
			t.Errorf("a page explores a model: %+v", e)
		}
	}
}

func seenCampaign(s campaign.Status) string { return s.Record.Campaigns[0].Name }

// What an editor shows of a page: its cases, and where what failed stands.
func TestEditor(t *testing.T) {
	dir, a, st := office(t)
	name := filepath.Join(dir, "page.spec.md")
	e := a.Editor(st.Dir())
	p := e.Open(name, []byte(page), nil)
	var cases []string
	for _, c := range p.Cases() {
		if !strings.HasPrefix(page[c.At:], c.Name) {
			t.Errorf("%s stands at %q", c.Name, page[c.At:])
		}
		cases = append(cases, c.Name)
	}
	if fmt.Sprint(cases) != "[HELD_1 MISSED_1 MISSED_2]" {
		t.Error(cases)
	}
	for name, want := range map[string]campaign.Verdict{"HELD_1": campaign.VerdictPass, "MISSED_2": campaign.VerdictFail} {
		if o, err := p.RunCase(t.Context(), name); err != nil || o.Verdict != want {
			t.Error(name, o, err)
		}
	}
	if _, err := p.RunCase(t.Context(), "OTHER_1"); err == nil || !strings.Contains(err.Error(), `has no case "OTHER_1"`) {
		t.Error(err)
	}
	if len(p.Found()) > 0 {
		t.Error("found before it was run")
	}
	if rec, err := p.Run(t.Context()); err != nil || len(rec.Findings) != 2 {
		t.Fatal(rec, err)
	}
	for _, f := range p.Found() {
		if at := page[f.At:]; f.Path != name || !strings.Contains(f.Finding.Title, at[:len("MISSED_1")]) {
			t.Errorf("%s %s stands at %q", f.Path, f.Finding.Title, at)
		}
		if path, at, err := e.Place(f.Finding.ID); err != nil || path != name || at != f.At {
			t.Error(path, at, err)
		}
	}
	if n := len(e.Findings()); n != 2 {
		t.Error(n)
	}
	wrong := strings.Replace(page, "text.file", "text.fil", 1)
	p = e.Open(name, []byte(wrong), p)
	list := p.Check()
	if len(list) == 0 {
		t.Fatal("nothing is wrong")
	}
	at := strings.Index(wrong, "text.fil\n")
	if fixes := p.Fixes(list[0], at); len(fixes) != 1 || fixes[0] != (Fix{"Change to text.file", at, at + 8, "text.file"}) {
		t.Errorf("%+v", fixes)
	}
}

// A document that changes is run again, and so is one whose file changes.
func TestWatch(t *testing.T) {
	dir, a, _ := office(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var verdicts []string
	err := a.Watch(ctx, Job{Paths: []string{dir}, Store: filepath.Join(dir, "store")}, func(rec campaign.Record, err error) {
		verdicts = append(verdicts, fmt.Sprint(rec.Verdict, len(rec.Findings), err))
		if text := map[int]string{1: "one two\n", 2: "one two three\n"}[len(verdicts)]; text == "" {
			stop()
		} else if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	})
	if fmt.Sprint(verdicts, " ", err) != "[fail2 <nil> fail1 <nil> pass0 <nil>] <nil>" {
		t.Error(verdicts, err)
	}
}
