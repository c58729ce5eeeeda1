package app

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// KnownFile is the file beside documents that lists findings which their owners
// have accepted for a time. It is reviewed like the documents.
const KnownFile = "thresh.known.yaml"

var (
	knownFinding = &doctree.Shape{Name: "finding", Fields: []doctree.Field{
		{Name: "id", Type: doctree.Text().Must(), Need: true, Doc: "the finding's id"},
		{Name: "owner", Type: doctree.Text().Must(), Need: true, Doc: "who answers for it"},
		{Name: "note", Type: doctree.Text().Must(), Need: true, Doc: "why it is accepted"},
		{Name: "until", Type: doctree.Any(), Need: true, Doc: "the last day on which it is accepted, as 2026-12-31"},
	}}
	knownShape = &doctree.Shape{Name: "known findings", Fields: []doctree.Field{
		{Name: "schema", Type: doctree.Word("thresh.known.v1"), Need: true, Doc: "thresh.known.v1"},
		{Name: "findings", Type: doctree.List(doctree.Object(knownFinding)).Must(), Need: true, Doc: "the findings"},
	}}
	findingID = lazy.Pattern(`^F-[0-9a-f]{10}$`)
)

// readKnown reads the list in a file.
func readKnown(file string, text []byte) (map[string]report.Known, error) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		if e, ok := errors.AsType[*doctree.Error](err); ok {
			return nil, diag.List{{Code: "known.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
		}
		return nil, diag.List{{Code: "known.syntax", Pos: diag.Pos{File: file}, Message: err.Error()}}
	}
	d := &doctree.Decoder{Format: "known", File: file, Line: doc.Line, Unknown: diag.Error}
	d.Repeats(doc, "", func(doctree.Duplicate) diag.Level { return diag.Error })
	list := make(map[string]report.Known)
	d.Section(&doc.Root, "", knownShape).Each("findings", func(n *doctree.Node, path string) {
		s := d.Section(n, path, knownFinding)
		k := report.Known{Owner: s.Text("owner"), Note: s.Text("note"), File: file}
		if day := s.Node("until"); day != nil {
			k.Until = cmp.Or(day.Raw(), day.Text) // YAML has its own kind for days
		}
		id := s.Text("id")
		if id != "" && !findingID().MatchString(id) {
			d.Fail(s.PosOf("id"), "value", s.At("id"), "must be a finding's id, such as F-3fa9c1d2e0")
		}
		if _, err := time.Parse(time.DateOnly, k.Until); err != nil && s.Given("until") {
			d.Fail(s.PosOf("until"), "value", s.At("until"), "must be a day, such as 2026-12-31")
		}
		if _, twice := list[id]; twice {
			d.Fail(s.PosOf("id"), "duplicate-id", s.At("id"), "%s is listed twice", id)
		}
		list[id] = k
	})
	d.List.Sort()
	return list, d.List.Err()
}

// Compare compares two runs, briefly by what lists say of their findings. What is accepted
// beside the documents of the newer one is neither new nor still failing.
func (a *App) Compare(st *Store, x, y string, briefly bool) (Comparison, error) {
	compare := st.Compare
	if briefly {
		compare = st.CompareBriefly
	}
	c, err := compare(x, y)
	if err != nil {
		return c, err
	}
	rec, err := st.Brief(c.B)
	if err != nil {
		return c, err
	}
	known, err := a.known(&rec)
	c.Accept(func(id string) (store.KnownFinding, bool) {
		k, ok := known[id]
		return store.KnownFinding{Owner: k.Owner, Note: k.Note, Until: k.Until}, ok
	})
	return c, err
}

// known are the findings of a run that are accepted beside its documents on the
// day it began. It warns of those whose day has passed.
func (a *App) known(rec *campaign.Record) (map[string]report.Known, error) {
	files, known := make(map[string]map[string]report.Known), make(map[string]report.Known)
	of := make(map[[2]string]string) // the file of a campaign
	for i := range rec.Campaigns {
		c := &rec.Campaigns[i]
		file := filepath.Join(filepath.Dir(c.Source), KnownFile)
		of[[2]string{c.Contract, c.Name}] = file
		if _, read := files[file]; read {
			continue
		}
		text, err := os.ReadFile(file)
		if err == nil {
			files[file], err = readKnown(file, text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for i := range rec.Findings {
		f := &rec.Findings[i]
		k, listed := files[of[[2]string{f.Contract, f.Campaign}]][f.ID]
		switch {
		case !listed:
		case k.Until < rec.Environment.Started.Format(time.DateOnly):
			a.warn(diag.List{{
				Code: "known.expired", Level: diag.Warning, Pos: diag.Pos{File: k.File},
				Message: f.ID + " was accepted until " + k.Until + " and counts again",
			}})
		default:
			known[f.ID] = k
		}
	}
	return known, nil
}
