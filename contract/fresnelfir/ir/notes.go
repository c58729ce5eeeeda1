package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Notes says how a document is read where its words do not say it: who acts, which
// fields hold identities, which function an observer is compared with, and what an
// argument stands for whose name may mean two things. Nothing in them is wrong.
func Notes(doc *Document, src *Source) diag.List {
	var list diag.List
	note := func(at Place, format string, args ...any) {
		list = append(list, src.Note(at, fmt.Sprintf(format, args...)))
	}
	if e := doc.Entity(doc.Actor); e != nil {
		note(e.Place, "each actor is a %s, which Thresh makes: %s", e.Name, doc.ActorWhy)
	}
	for _, e := range doc.Entities {
		if f := e.Field("id"); f != nil && f.Type == String && f.Place.Pos != src.Within(e.Place, "fields").Pos { // else the document does not say it
			note(f.Place, "a string field called id is the identity of each %s: unique, unless an effect sets it", e.Name)
		}
	}
	for _, f := range doc.Functions {
		if pair := doc.Pair(f); f.Observer && f.Models == "" && pair != nil {
			note(f.Place, `is compared with %s, the only derived function with its parameters and type; "models" names another`, pair.Name)
		}
	}
	told := map[string]bool{}
	for _, b := range doc.Bindings.Actions {
		for i, name := range b.Args {
			if all := doc.readings(name); len(all) > 1 && !told[name] {
				told[name] = true
				note(src.Within(b.Place, "args", fmt.Sprint(i)), "is %s, not %s", all[0], strings.Join(all[1:], " or "))
			}
		}
	}
	list.Sort()
	return list
}

// Note makes a note of a place: how it is read.
func (s *Source) Note(at Place, message string) diag.Diagnostic {
	d := s.Report(diag.Note, at, "read-as", message, "")
	d.Source = "" // nothing in it is to be changed
	return d
}

// readings are all that the name of an argument may stand for, what it does first.
func (d *Document) readings(name string) []string {
	var list []string
	for _, v := range []string{strings.TrimSuffix(name, "_id"), name} {
		if _, ok := d.Vars[v]; ok {
			list = append(list, "the handle of "+v)
		}
	}
	if v, field, ok := d.fieldArgument(name); ok && field != "id" { // an id is what the handle stands for
		list = append(list, "the field "+field+" of "+v)
	}
	if d.Domain(name) != nil {
		list = append(list, "the input "+name)
	}
	return slices.Compact(list)
}
