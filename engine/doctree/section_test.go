package doctree_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// check is a shape with fields of every form and of two types.
func check() *doctree.Shape {
	limits := &doctree.Shape{Name: "limits", Doc: "bounds", Fields: []doctree.Field{
		{Name: "tries", Type: doctree.Integer(1, 9), Default: "3"}, {Name: "share", Type: doctree.Number(0, 1).MoreThan(0), Default: "0.5"},
	}}
	return &doctree.Shape{Name: "check", Doc: "a check", Tag: "type", Own: "^x-", Fields: []doctree.Field{
		{Name: "type", Need: true, Type: doctree.Word("count", "match")},
		{Name: "max", Need: true, For: []string{"count"}, Type: doctree.Integer(0, 100)},
		{Name: "pattern", Need: true, For: []string{"match"}, Type: doctree.Text().Must()},
		{Name: "weight", For: []string{"match"}, Elsewhere: []string{"count"}, Type: doctree.Number(0, 1)},
		{Name: "active", Type: doctree.Truth(), Default: "true"},
		{Name: "names", Type: doctree.Text().OrElse(doctree.List(doctree.Text().Must()))},
		{Name: "limits", Type: doctree.Object(limits)},
		{Name: "env", Type: doctree.Named(doctree.Text())},
	}}
}

// read reads all of a check and returns what is said of it.
func read(t testing.TB, text string, unknown diag.Level) (string, map[string]any) {
	t.Helper()
	doc, err := doctree.Parse([]byte(text), doctree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := doctree.Decoder{Format: "x", File: "f", Line: doc.Line, Unknown: unknown}
	s := d.Section(&doc.Root, "", check())
	l := s.Sub("limits")
	got := map[string]any{
		"type": s.Text("type"), "max": s.Integer("max"), "pattern": s.Text("pattern"), "on": s.True("active"), "names": s.Texts("names"),
		"tries": l.Integer("tries"), "share": l.Float("share"),
	}
	for _, e := range s.Entries("env") {
		text := doctree.Text()
		d.Is(e.Node, e.Path, &text)
	}
	s.Texts("names") // what is wrong is said once
	d.Repeats(doc, "", func(doctree.Duplicate) diag.Level { return diag.Warning })
	d.List.Sort()
	lines := make([]string, len(d.List))
	for i, x := range d.List {
		lines[i] = strings.TrimPrefix(x.String(), "f:1:") + " [" + strings.TrimPrefix(x.Code, "x.") + "]"
	}
	return strings.Join(lines, "\n"), got
}

func TestSections(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{type: count, max: 3, active: false, names: a, x-mine: 1}", ""},
		{"[]", "1: error: must be a mapping, got an empty list [type]"},
		{"{}", "1: error: type: must be given (one of count, match) [missing-key]"},
		{"{typ: count}", "1: error: type: must be given (did you mean \"typ\"?) [missing-key]\n2: warning: typ: is not a known key and has no effect (did you mean type?) [unknown-key]"},
		{"{type: cuont, pattern: a}", `8: error: type: must be one of count, match, got "cuont" (did you mean count?) [unknown-word]`},
		{"{type: count, max: 3, pattern: a}", "23: error: pattern: is not a key of type count; it belongs to match [unknown-key]"},
		{"{type: count, max: 3, pattern: }", ""},
		{"{type: count, max: 3, weight: 1}", "23: warning: weight: has no effect: type is count (it is for match) [no-effect]"},
		{"{type: match, pattern: ''}", "24: error: pattern: must not be empty [empty]"},
		{"{type: match, pattern: 5}", `24: error: pattern: must be a string, got 5 (put it in quotes: "5") [type]`},
		{"{type: count, max: 101}", "20: error: max: must be from 0 to 100, got 101 [range]"},
		{"{type: count, max: 1.5, names: [a, '', 3]}", "20: error: max: must be an integer, got 1.5 [type]\n36: error: names[1]: must not be empty [empty]\n40: error: names[2]: must be a string, got 3 (put it in quotes: \"3\") [type]"},
		{"{type: count, max: 1, limits: {share: 0, trise: 1}}", "39: error: limits.share: must be above 0, at most 1, got 0 [range]\n42: warning: limits.trise: is not a known key and has no effect (did you mean tries?) [unknown-key]"},
		{"{type: count, max: 1, env: {a b: 1}}", "34: error: env[\"a b\"]: must be a string, got 1 (put it in quotes: \"1\") [type]"},
		{"{type: count, max: 1, max: 2}", "23: warning: max: is given twice; the last one counts [duplicate-key]"},
	} {
		if got, _ := read(t, c.text, diag.Warning); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
	if got, _ := read(t, "{type: count, max: 1, mode: 3}", diag.Error); !strings.Contains(got, "error: mode: is not a known key (known keys: type, max, active, names, limits, env)") {
		t.Error(got)
	}
	_, got := read(t, "{type: match, pattern: a}", diag.Error)
	if got["on"] != true || got["tries"] != 3 || got["share"] != 0.5 || got["pattern"] != "a" {
		t.Errorf("defaults: %v", got)
	}
}

// No document makes reading panic, and whatever is said has a place and a code.
func FuzzSection(f *testing.F) {
	for _, s := range []string{"{type: count, max: 1}", "{type: [], limits: 3}", "- a", "{? [a] : b}", "{1: 2, type: match}", "{<<: {type: count}, max: a}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := doctree.Parse([]byte(text), doctree.Options{})
		if err != nil {
			return
		}
		d := doctree.Decoder{Format: "x", File: "f", Line: doc.Line}
		s := d.Section(&doc.Root, "", check())
		s.Text("type")
		s.Texts("names")
		s.Sub("limits").Float("share")
		d.Repeats(doc, "", func(doctree.Duplicate) diag.Level { return diag.Error })
		for _, x := range d.List {
			if x.Pos.Line < 1 || x.Pos.Col < 1 || !strings.HasPrefix(x.Code, "x.") || x.Message == "" {
				t.Fatalf("%q: %#v", text, x)
			}
		}
	})
}

// JSON and YAML give the same tree, and the tree the same JSON again.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.StringMatching(`[a-z]{1,8}`), rapid.OneOf(rapid.Int64().AsAny(), rapid.Bool().AsAny(),
			rapid.StringMatching(`[ -~]{0,12}`).AsAny(), rapid.SliceOf(rapid.StringMatching(`[a-z]{0,3}`)).AsAny())).Draw(t, "value")
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		a, err := doctree.ParseJSON(text, jsontree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := doctree.Parse(text, doctree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, y := a.Root.JSON(), b.Root.JSON()
		if !x.Equal(&y) {
			t.Fatalf("%s: JSON gives %s, YAML %s", text, jsontree.Compact.Format(&x), jsontree.Compact.Format(&y))
		}
	})
}

// Reading a list takes time in proportion to its length, however much of it is
// wrong.
func TestManyWrongItems(t *testing.T) {
	const n = 300_000
	doc, err := doctree.Parse([]byte("{type: count, max: 1, names: ["+strings.Repeat("1,", n)+"a]}"), doctree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d := doctree.Decoder{Format: "x", Line: doc.Line}
		s := d.Section(&doc.Root, "", check())
		for range 2 {
			if got := s.Texts("names"); len(got) != 1 || got[0] != "a" {
				t.Errorf("names: %q", got)
			}
		}
		if got := d.List[len(d.List)-1].Message; got != "299,000 more errors are not listed" {
			t.Error(got)
		}
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second): // of processor time it takes 0.3 s, and took minutes
		t.Fatal("the time to read a list grows with the square of its length")
	}
}

// The items of a list are visited in their order with their places; what is no list has none.
func TestItemsOfAList(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "match", "pattern": "p", "names": ["a", "b"]}`: "names[0]=a names[1]=b", `{"type": "match", "pattern": "p", "names": "a"}`: "",
		`{"type": "match", "pattern": "p"}`: "", `{"type": "match", "pattern": "p", "names": {"a": 1}}`: "", `{"type": "match", "pattern": "p", "names": []}`: "",
	} {
		doc, err := doctree.Parse([]byte(text), doctree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := doctree.Decoder{Format: "x", File: "f"}
		var got []string
		d.Section(&doc.Root, "", check()).Each("names", func(n *doctree.Node, path string) { got = append(got, path+"="+n.Text) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
