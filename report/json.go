package report

import (
	_ "embed"
	"encoding/json"
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

// document is the json report. It embeds the record, so that a field added
// there is not forgotten here; the schema's test tells that it must be
// described.
type document struct {
	Schema string `json:"schema"`
	campaign.Record
}

func writeJSON(w io.Writer, rec campaign.Record, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	doc := document{SchemaID, encodable(reflect.ValueOf(rec)).Interface().(campaign.Record)}
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write json report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// encodable is a copy of v that JSON can hold without null: a nil slice is an
// empty one, and a number that JSON lacks (NaN, infinity) is 0, for a report
// must not be lost to one odd number in its evidence.
func encodable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(encodable(v.Field(i)))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 && !v.IsNil() {
			return v
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(encodable(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(encodable(v.Index(i)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(encodable(v.Elem()))
			out.Set(p)
		}
	case reflect.Float64:
		out.SetFloat(finite(v.Float()))
	default:
		out.Set(v)
	}
	return out
}
