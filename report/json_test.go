package report

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/campaign"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONFollowsItsSchema(t *testing.T) {
	odd := richRecord()
	odd.Environment.Rate = math.Inf(1)
	odd.Campaigns[1].Exhibits[1].Series.Lines[0].Points[0] = [2]float64{math.NaN(), 0}
	odd.Findings[0].Evidence = append(odd.Findings[0].Evidence,
		campaign.Exhibit{Kind: "text", Title: "Reply", Brief: true, Text: &campaign.Text{Body: "yes"}},
		campaign.Exhibit{Kind: "bytes", Bytes: &campaign.Bytes{Rows: []campaign.BytesRow{{}}}},
		campaign.Exhibit{Kind: "table", Table: &campaign.Table{Rows: [][]string{nil}}},
		campaign.Exhibit{Kind: "graph", Graph: &campaign.Graph{}})
	hostileHex := hostileRecord()
	hostileHex.Digest = ""
	for i := range hostileHex.Campaigns {
		hostileHex.Campaigns[i].Identity = ""
	}
	for i := range hostileHex.Findings {
		hostileHex.Findings[i].Fingerprint = ""
	}
	s := compiledSchema(t)
	for name, rec := range map[string]campaign.Record{
		"rich": richRecord(), "clean": cleanRecord(), "odd": odd, "hostile": hostileHex,
		"bare": {RunID: "R-0", Verdict: "error", Findings: []campaign.Finding{{}}, Campaigns: []campaign.CampaignRecord{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, "json", rec, Options{})))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); err != nil {
				t.Error(err)
			}
		})
	}
}

// fill sets every field there is.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage("{}")))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}

// A field that the record has gained is one that the schema allows.
func TestSchemaKnowsEveryField(t *testing.T) {
	var rec campaign.Record
	fill(reflect.ValueOf(&rec).Elem())
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, "json", rec, Options{})))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(v); err != nil && strings.Contains(err.Error(), "additional properties") { // values are of no account
		t.Error(err)
	}
}

func TestJSONTellsCasesByItsSchema(t *testing.T) {
	cases := []Case{
		{Name: "answers in calm", Verdict: campaign.VerdictPass, Evidence: []campaign.Exhibit{campaign.TextExhibit("Reply", hostile)}},
		{Index: 1, Verdict: campaign.VerdictSkip, Kind: "not-applicable", Title: "it does not apply"},
	}
	opt := Options{Cases: func(yield func(Case, error) bool) {
		for _, c := range cases {
			if !yield(c, nil) {
				return
			}
		}
	}}
	text := write(t, "json", richRecord(), opt)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(v); err != nil {
		t.Error(err)
	}
	list := v.(map[string]any)["cases"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["evidence"].([]any)[0].(map[string]any)["text"].(map[string]any)["body"] != strings.ToValidUTF8(hostile, "\ufffd\ufffd") {
		t.Errorf("%v", list)
	}
	page := write(t, "html", richRecord(), opt)
	if !strings.Contains(page, `id="case-0-0"`) || strings.Contains(page, `id="case-0-1"`) {
		t.Error("the page is to tell the case that evidence is kept of, and no other")
	}
}

func TestSchemaRefusesWhatIsNotAReport(t *testing.T) {
	s := compiledSchema(t)
	good := write(t, "json", richRecord(), Options{})
	for name, change := range map[string]func(map[string]any){
		"other schema":    func(m map[string]any) { m["schema"] = "https://thresh.dev/schema/report/v2" },
		"no warnings":     func(m map[string]any) { delete(m, "warnings") },
		"unknown key":     func(m map[string]any) { m["extra"] = 1 },
		"unknown verdict": func(m map[string]any) { m["verdict"] = "maybe" },
		"empty exhibit": func(m map[string]any) {
			f := m["findings"].([]any)[0].(map[string]any)
			f["evidence"] = []any{map[string]any{"kind": "text", "title": "stderr"}}
		},
		"exhibit of two kinds": func(m map[string]any) {
			f := m["findings"].([]any)[0].(map[string]any)
			f["evidence"] = []any{map[string]any{"kind": "text", "title": "stderr", "text": map[string]any{"body": ""}, "graph": map[string]any{"nodes": []any{}, "edges": []any{}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m map[string]any
			if err := json.Unmarshal([]byte(good), &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			if s.Validate(m) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

func TestJSONIsReadable(t *testing.T) {
	out := write(t, "json", richRecord(), Options{})
	if !strings.HasPrefix(out, "{\n  \"schema\": \""+SchemaID+"\",\n  \"run_id\": ") || !strings.HasSuffix(out, "}\n") {
		t.Error("not indented by two, schema first, with a final newline")
	}
	if !strings.Contains(out, "< 2000") {
		t.Error("angle brackets are escaped")
	}
	var back struct {
		Schema string
		campaign.Record
	}
	if err := json.Unmarshal([]byte(out), &back); err != nil {
		t.Fatal(err)
	}
	want := richRecord()
	var compact bytes.Buffer
	if err := json.Compact(&compact, back.Environment.Extra); err != nil {
		t.Fatal(err)
	}
	back.Environment.Extra = compact.Bytes()
	if d := cmp.Diff(want, back.Record, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the record does not come back:\n%s", d)
	}
}

func TestJSONLeavesTheRecordAlone(t *testing.T) {
	rec := campaign.Record{Findings: []campaign.Finding{{}}}
	write(t, "json", rec, Options{})
	if rec.Warnings != nil || rec.Findings[0].Evidence != nil {
		t.Error("writing changed the record")
	}
}
