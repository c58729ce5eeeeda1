package app

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// KnownFile is the file beside documents that lists the findings that their owners accept for a
// time. It is reviewed like the documents.
const KnownFile = "thresh.known.yaml"

var (
	knownFinding = &doctree.Shape{Name: "finding", Fields: []doctree.Field{
		{Name: "id", Type: doctree.Text().Must(), Need: true, Doc: "the finding's id"},
		{Name: "place", Type: doctree.Text().Must(), Doc: "what failed and how: finds the finding again after an edit of its program that changes its id"},
		{Name: "owner", Type: doctree.Text().Must(), Need: true, Doc: "who answers for it"},
		{Name: "note", Type: doctree.Text().Must(), Need: true, Doc: "why it is accepted"},
		{Name: "until", Type: doctree.Any(), Need: true, Doc: "the last day on which it is accepted, as 2026-12-31"},
	}}
	knownShape = &doctree.Shape{Name: "known findings", Fields: []doctree.Field{
		{Name: "schema", Type: doctree.Word("thresh.known.v1"), Need: true, Doc: "thresh.known.v1"},
		{Name: "findings", Type: doctree.List(doctree.Object(knownFinding)).Must(), Need: true, Doc: "the findings"},
	}}
	findingID = lazy.Pattern(`^F-[0-9a-f]{10}$`)
	placeID   = lazy.Pattern(`^P-[0-9a-f]{10}$`)
)

// KnownEntry returns a list with one finding, for its owner to complete.
func KnownEntry(f *campaign.Finding) string {
	text := "schema: thresh.known.v1\nfindings:\n  - id: " + f.ID + "\n"
	if place := store.Place(f); place != "" {
		text += "    place: " + place + "\n"
	}
	return text + "    owner: WHO\n    note: WHY\n    until: YYYY-MM-DD"
}

// listed is an entry of the list.
type listed struct {
	report.Known
	place string // "": the id alone decides
}

// readKnown reads the list in a file, by the findings' ids.
func readKnown(file string, text []byte) (map[string]listed, error) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		if e, ok := errors.AsType[*doctree.Error](err); ok {
			return nil, diag.List{{Code: "known.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
		}
		return nil, diag.List{{Code: "known.syntax", Pos: diag.Pos{File: file}, Message: err.Error()}}
	}
	d := &doctree.Decoder{Format: "known", File: file, Line: doc.Line, Unknown: diag.Error}
	d.Repeats(doc, "", func(doctree.Duplicate) diag.Level { return diag.Error })
	list := make(map[string]listed)
	root := d.Section(&doc.Root, "", knownShape)
	root.Text("schema") // another version would mean something else
	root.Each("findings", func(n *doctree.Node, path string) {
		s := d.Section(n, path, knownFinding)
		k := listed{report.Known{Owner: s.Text("owner"), Note: s.Text("note"), File: file}, s.Text("place")}
		if day := s.Node("until"); day != nil {
			k.Until = cmp.Or(day.Raw(), day.Text) // YAML has its own type for dates
		}
		id := s.Text("id")
		if id != "" && !findingID().MatchString(id) {
			d.Fail(s.PosOf("id"), "value", s.At("id"), "must be a finding's id, such as F-3fa9c1d2e0")
		}
		if k.place != "" && !placeID().MatchString(k.place) {
			d.Fail(s.PosOf("place"), "value", s.At("place"), "must be a finding's place, such as P-3fa9c1d2e0")
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

// Compare compares two runs; briefly, it compares only what the stored lists say about their
// findings. Findings accepted beside the newer run's documents count neither as new nor as still
// failing.
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

// known returns a run's findings that were accepted beside its documents on the day it began. It
// warns about those whose date has passed.
func (a *App) known(rec *campaign.Record) (map[string]report.Known, error) {
	files, known := make(map[string]map[string]listed), make(map[string]report.Known)
	of := make(map[[2]string]string) // the list beside each campaign's document
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
	accepted := func(f *campaign.Finding, k listed) {
		if k.Until < rec.Environment.Started.Format(time.DateOnly) {
			a.warn(diag.List{{
				Code: "known.expired", Level: diag.Warning, Pos: diag.Pos{File: k.File},
				Message: f.ID + " was accepted until " + k.Until + " and counts again",
			}})
			return
		}
		known[f.ID] = k.Known
	}
	var moved []*campaign.Finding // no entry has their id; they may have moved
	for i := range rec.Findings {
		f := &rec.Findings[i]
		list := files[of[[2]string{f.Contract, f.Campaign}]]
		if k, is := list[f.ID]; is && (k.place == "" || k.place == store.Place(f)) {
			delete(list, f.ID)
			accepted(f, k)
		} else {
			moved = append(moved, f)
		}
	}
	for _, f := range moved {
		list, place := files[of[[2]string{f.Contract, f.Campaign}]], store.Place(f)
		for _, id := range slices.Sorted(maps.Keys(list)) {
			if k := list[id]; place != "" && k.place == place {
				delete(list, id)
				accepted(f, k)
				break
			}
		}
	}
	return known, nil
}
