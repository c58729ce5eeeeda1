package report

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/thresh-dev/thresh/campaign"
)

// SchemaID names the JSON Schema that reports of format json follow.
const SchemaID = "https://thresh.dev/schema/report/v1"

//go:embed schema/report.v1.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the json format.
func Schema() []byte { return append([]byte(nil), schema...) }

// document is the json report. It embeds the record, so that a field added there is not forgotten
// here; a test checks that the schema describes it.
type document struct {
	Schema string `json:"schema"`
	campaign.Record
}

// caseEntry is a case with stored evidence, whatever its verdict.
type caseEntry struct {
	Campaign int                `json:"campaign"` // index into the campaigns
	Case     int64              `json:"case"`
	Name     string             `json:"name,omitempty"`
	Verdict  string             `json:"verdict"`
	Kind     string             `json:"kind,omitempty"`
	Title    string             `json:"title,omitempty"`
	Evidence []campaign.Exhibit `json:"evidence"`
}

func writeJSON(w io.Writer, rec campaign.Record, opt Options) error {
	e := newEncoder(w)
	err := e.report(&rec, opt)
	if ferr := e.w.Flush(); err == nil {
		err = ferr
	}
	if err != nil {
		return fmt.Errorf("write json report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// FindingJSON writes one finding as the json report does in its list of findings.
func FindingJSON(w io.Writer, f campaign.Finding) error { return writeValue(w, f) }

// CaseJSON writes one case as the json report does in its list of cases.
func CaseJSON(w io.Writer, c Case) error { return writeValue(w, entryOf(c)) }

func writeValue(w io.Writer, v any) error {
	e := newEncoder(w)
	err := e.value(reflect.ValueOf(v))
	return errors.Join(err, e.w.WriteByte('\n'), e.w.Flush())
}

func entryOf(c Case) caseEntry {
	return caseEntry{c.Campaign, c.Index, c.Name, c.Verdict.String(), c.Kind, c.Title, c.Evidence}
}

func (e *encoder) report(rec *campaign.Record, opt Options) error {
	e.begin('{')
	if err := e.fields(reflect.ValueOf(document{SchemaID, *rec})); err != nil {
		return err
	}
	if opt.Cases != nil {
		e.key("cases")
		e.begin('[')
		for c, err := range opt.Cases {
			if err != nil {
				return err
			}
			e.next()
			if err := e.value(reflect.ValueOf(entryOf(c))); err != nil {
				return err
			}
		}
		e.end(']')
	}
	e.end('}')
	return e.w.WriteByte('\n')
}
