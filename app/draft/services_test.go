package draft

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/port/sut"
)

// testdata/services holds descriptions of services and lists of tools, with what they
// answered. Beside each stands the model that is drafted from it, and the one that is
// left if calls contradict its claims.
func TestDraftServices(t *testing.T) {
	files, err := filepath.Glob("testdata/services/*[ls]")
	if err != nil || len(files) == 0 {
		t.Fatal("no services: ", err)
	}
	for _, file := range files {
		of := filepath.Base(file)
		name := strings.TrimSuffix(of, filepath.Ext(of))
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f := &ServiceFacts{Of: of, SystemFacts: SystemFacts{Name: name, Folder: "/home/me/" + name, Kind: sut.HTTP, URL: "http://127.0.0.1:8000"}}
			if filepath.Ext(of) == ".tools" {
				f.Kind, f.URL, f.Command, f.Seen = sut.MCP, "", []string{"/home/me/" + name}, map[string]json.RawMessage{}
				for line := range strings.Lines(string(text)) {
					f.addTool(strings.TrimSpace(line))
				}
				f.Calls = len(f.Seen)
			} else if f.Operations, err = openapi.Operations(text, nil); err != nil {
				t.Fatal(err)
			}
			checkDraft(t, "services/"+name+".txt", DraftService(f))
			f.Drop = map[Claim]string{}
			for i, o := range f.Operations {
				f.Drop[Claim{o.Name, []string{"effect", "requires", "answer"}[i%3]}] = "contradicted"
			}
			checkDraft(t, "services/"+name+"-dropped.txt", DraftService(f))
		})
	}
}

// addTool adds the tool of a line: its name, which ends in "?" if it only reads, its arguments
// and, after "=", what it answered. An argument in brackets is optional; "#" before a name
// says that it is an integer, "!" that it is a truth.
func (f *ServiceFacts) addTool(line string) {
	line, answer, answered := strings.Cut(line, " = ")
	names := strings.Fields(line)
	name, reads := strings.CutSuffix(names[0], "?")
	o := sut.Operation{Name: name, Reads: reads}
	var properties []string
	for _, x := range names[1:] {
		bare := strings.Trim(x, "[]")
		kind := map[byte]string{'#': "integer", '!': "boolean"}[bare[0]]
		if kind == "" {
			kind = "string"
		}
		a := sut.Argument{Name: strings.TrimLeft(bare, "#!"), Required: bare == x}
		o.Arguments = append(o.Arguments, a)
		properties = append(properties, `"`+a.Name+`": {"type": "`+kind+`"}`)
	}
	o.Schema = []byte(`{"type": "object", "properties": {` + strings.Join(properties, ", ") + `}}`)
	f.Operations = append(f.Operations, o)
	if answered {
		f.Seen[name] = json.RawMessage(answer)
	}
}

// Values that arguments of a schema take.
func TestSlots(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "integer"}`:                                  "int 1 20",
		`{"type": "number", "minimum": 3}`:                     "int 3 22",
		`{"exclusiveMinimum": 3, "maximum": 7}`:                "int 4 7",
		`{"maximum": -2}`:                                      "int -2 -2",
		`{"exclusiveMaximum": 9}`:                              "int 1 8",
		`{"minimum": 5, "exclusiveMinimum": 7}`:                "int 5 24",
		`{"maximum": 9, "exclusiveMaximum": 7}`:                "int 1 9",
		`{"minimum": 4, "maximum": 4}`:                         "int 4 4",
		`{"minimum": 4, "maximum": 3}`:                         "",
		`{"type": "integer", "multipleOf": 3}`:                 "",
		`{"type": "integer", "multipleOf": 1}`:                 "int 1 20",
		`{"type": "integer", "enum": [1, 2]}`:                  "",
		`{"const": 8}`:                                         "int 8 8",
		`{"const": "a"}`:                                       "text a",
		`{"enum": [null, "a", "b"]}`:                           "text a b",
		`{"enum": [true]}`:                                     "bool",
		`{"type": ["null", "boolean"]}`:                        "bool",
		`{"type": "null"}`:                                     "",
		`{"type": "string"}`:                                   "text alpha beta gamma",
		`{"type": "string", "maxLength": 1}`:                   "text a b",
		`{"type": "string", "minLength": 12}`:                  "text +491701234567 ann@example.com alpha-beta-gamma-delta-epsilon",
		`{"type": "string", "minLength": 99}`:                  "",
		`{"type": "string", "pattern": "^[A-Z]{3}$"}`:          "text ABC XYZ EUR",
		`{"type": "string", "pattern": "("}`:                   "",
		`{"type": "string", "pattern": "^q", "example": "qq"}`: "text qq",
		`{"type": "string", "format": "uuid"}`:                 "text 11111111-1111-4111-8111-111111111111 22222222-2222-4222-8222-222222222222",
		`{"type": "string", "format": "other"}`:                "text alpha beta gamma",
		`{"type": "array", "items": {"type": "string"}}`:       `text [] ["alpha"] ["alpha","beta"]`,
		`{"type": "array", "items": {"type": "integer", "minimum": 7}, "minItems": 1, "maxItems": 2}`: "text [7] [7,8]",
		`{"type": "array", "items": {"type": "boolean"}, "minItems": 2}`:                              "text [true,false]",
		`{"type": "array"}`:                            "",
		`{"type": "array", "items": {"type": "null"}}`: "",
		`{"type": "object"}`:                           "",
		`{"properties": {"a": {"type": "boolean"}, "b": {"type": "null"}, "c": {"const": 4}, "d": {"enum": ["", "[", "[1]"]}}}`:                               `text {"a":true,"c":4,"d":""} {"a":false,"c":4,"d":"["}`,
		`{"properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}, "required": ["b"]}`:                                                                "",
		`{"properties": {"a": {"const": "x"}, "b": {"type": "null"}}, "required": ["a"]}`:                                                                     `text {"a":"x"}`,
		`{"$ref": "#/defs/a~1b", "defs": {"a/b": {"anyOf": [{"type": "null"}, {"$ref": "#/defs/c"}]}, "c": {"type": "integer", "minimum": 2, "maximum": 3}}}`: "int 2 3",
		`{"$ref": "#/defs/none"}`: "int 1 20",
		`{"$ref": "#"}`:           "int 1 20",
		`nothing [`:               "int 1 20",
	} {
		got := ""
		if x, ok := readSchema([]byte(text)).slot("thing"); ok {
			switch got = x.Kind; x.Kind {
			case "int":
				got += fmt.Sprintf(" %d %d", x.Min, x.Max)
			case "text":
				got += " " + strings.Join(x.Values, " ")
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
