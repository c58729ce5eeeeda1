package doctree_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

func parse(t testing.TB, text string, o doctree.Options) *doctree.Document {
	t.Helper()
	d, err := doctree.Parse([]byte(text), o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

// What plain scalars are; the answers are PyYAML 6's.
func TestScalars(t *testing.T) {
	for text, want := range map[string]string{
		"on": "a boolean True", "Off": "a boolean False", "YES": "a boolean True", "y": "a string y", "tRue": "a string tRue",
		"1:30": "an integer 90", "190:20:30": "an integer 685230", "1:60": "a string 1:60", "017": "an integer 15", "0o17": "a string 0o17", "018": "a string 018",
		"0x_F": "an integer 15", "-0b11": "an integer -3", "1_000": "an integer 1000", "-0": "an integer 0", "+12": "an integer 12",
		"1e3": "a string 1e3", "1.e+3": "a number 1000.0", "1.0e+400": "a number inf", ".5": "a number 0.5", "-.5": "a string -.5", "5.": "a number 5.0",
		"190:20:30.15": "a number 685230.15", ".inf": "a number inf", "-.INF": "a number -inf", ".NaN": "a number nan", "1_0.2_5": "a number 10.25",
		"2020-01-02": "a date 2020-01-02", "2001-2-3": "a string 2001-2-3", "2001-12-14t21:59:43.10-05:00": "a timestamp 2001-12-14 21:59:43.100000-05:00",
		"2001-12-14 1:59:43 Z": "a timestamp 2001-12-14 01:59:43+00:00", "~": "null None", "": "null None", "Null": "null None", "nULL": "a string nULL",
		"'on'": "a string on", "!!str 017": "a string 017", "!!int '0x1F'": "an integer 31", "!!float 3": "a number 3.0", "!!binary aGk=": "binary data hi",
		"=x": "a string =x", "<<x": "a string <<x", "123456789012345678901234567890": "an integer 123456789012345678901234567890",
	} {
		n := &parse(t, text, doctree.Options{}).Root
		if got := n.Kind.String() + " " + n.Text; got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// Every way to be refused. A case of the file is a text, a line with ### and
// the error; the text of \x.. and \n is written as in Go.
func TestErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for c := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		body, _, _ := strings.Cut(c, "\n###")
		input := strings.NewReplacer(`<07>`, "\x07", `<ff>`, "\xff", `<deep>`, strings.Repeat("[", 60), `<digits>`, strings.Repeat("9", 5000)).Replace(body)
		_, err := doctree.Parse([]byte(input), doctree.Options{MaxDepth: 50, MaxNodes: 1000})
		var e *doctree.Error
		if !errors.As(err, &e) {
			t.Errorf("%q is not refused: %v", body, err)
			continue
		}
		if lines := strings.Split(input, "\n"); e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Source != lines[e.Pos.Line-1] {
			t.Errorf("%q: the line at %v is not %q", body, e.Pos, e.Source)
		}
		fmt.Fprintf(&got, "%s\n### %d %v\n\n", body, e.Class, e)
	}
	golden.Check(t, "testdata/errors.txt", got.String())
}

// Keys and values know their line and byte, whatever stands before them.
func TestPositions(t *testing.T) {
	text := "# é\r\ncase: é\r\n\"é\": {a: ü, b: [x,\n  yé, z]}\r\nlist:\n  - |\n    text\n  -  k: v\nempty:\nlast: *r\n"
	text = strings.Replace(text, "case: é", "case: &r é", 1)
	d := parse(t, text, doctree.Options{LineOffset: 100})
	lines := strings.Split(text, "\n")
	check := func(at doctree.Pos, want string) {
		t.Helper()
		if line := lines[at.Line-101]; !strings.HasPrefix(line[at.Col-1:], want) {
			t.Errorf("at %v stands %q, want %q", at, line[at.Col-1:], want)
		}
		if got := d.Line(at.Line); got != strings.TrimSuffix(lines[at.Line-101], "\r") {
			t.Errorf("line %d is %q", at.Line, got)
		}
	}
	root := &d.Root
	check(root.Pos, "case")
	check(root.Member("case").Key.Pos, "case")
	check(root.Get("case").Pos, "&r é")
	e := root.Get("é")
	check(root.Member("é").Key.Pos, `"é"`)
	check(e.Pos, "{")
	check(e.Member("a").Key.Pos, "a:")
	check(e.Get("a").Pos, "ü")
	check(e.Member("b").Key.Pos, "b:")
	check(e.Get("b").Items()[1].Pos, "yé")
	check(e.Get("b").Items()[2].Pos, "z")
	check(root.Get("list").Items()[0].Pos, "|")
	check(root.Get("list").Items()[1].Get("k").Pos, "v")
	check(root.Member("last").Value.Pos, "*r")
	if empty := root.Member("empty"); empty.Value.Kind != doctree.Null || empty.Value.Pos.Line != empty.Key.Pos.Line {
		t.Errorf("an absent value stands at %v", empty.Value.Pos)
	}
	if !root.Get("list").Items()[0].Block() || !root.Get("list").Items()[0].Quoted() || !e.Flow() || root.Flow() {
		t.Error("styles are lost")
	}
}

func TestOtherLineBreaksAreNoLinesOfEditors(t *testing.T) {
	d := parse(t, "a: 1\u2028b: 2\rc: 3\n", doctree.Options{})
	if at := d.Root.Member("c").Key.Pos; at != (doctree.Pos{Line: 1, Col: 13}) {
		t.Errorf("c stands at %v", at)
	}
}

func TestAliasesAndMerges(t *testing.T) {
	d := parse(t, "base: &b {x: 1, y: {z: 2}}\nuse: *b\nm:\n  y: 9\n  <<: [*b, {x: 3, w: 4}]\n", doctree.Options{})
	use := d.Root.Get("use")
	if use.Pos.Line != 2 || use.Get("y").Get("z").Pos.Line != 1 {
		t.Errorf("the alias stands at %v, its value's part at %v", use.Pos, use.Get("y").Get("z").Pos)
	}
	m := d.Root.Get("m")
	var got []string
	for _, k := range m.Members() {
		got = append(got, fmt.Sprint(k.Key.Text, "=", k.Value.Text, " ", k.Merged(), " ", k.Key.Pos.Line))
	}
	want := []string{"x=1 true 5", "w=4 true 5", "y=9 false 4"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("merged: %q, want %q", got, want)
	}
}

func TestRepeatedKeysAreReported(t *testing.T) {
	d := parse(t, "a: 1\nb: 2\na: 3\n1: x\n1.0: y\nyes: z\n", doctree.Options{})
	if got := d.Root.Get("a").Text; got != "3" || len(d.Root.Members()) != 3 {
		t.Errorf("a is %s, %d members", got, len(d.Root.Members()))
	}
	want := []doctree.Duplicate{
		{Key: "a", First: doctree.Pos{Line: 1, Col: 1}, Repeat: doctree.Pos{Line: 3, Col: 1}},
		{Key: "1.0", First: doctree.Pos{Line: 4, Col: 1}, Repeat: doctree.Pos{Line: 5, Col: 1}},
		{Key: "True", First: doctree.Pos{Line: 4, Col: 1}, Repeat: doctree.Pos{Line: 6, Col: 1}},
	}
	if fmt.Sprint(d.Duplicates) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", d.Duplicates, want)
	}
}

func TestEmptyDocumentsAreNull(t *testing.T) {
	for _, text := range []string{"", "\n", "# only this\n", "---\n", "---\n...\n", "\ufeff"} {
		if d := parse(t, text, doctree.Options{}); d.Root.Kind != doctree.Null {
			t.Errorf("%q is %v", text, d.Root.Kind)
		}
	}
}

func TestJSON(t *testing.T) {
	n := parse(t, "s: [1, 2.0, on, ~, 0x10, .inf, 2020-01-02, !!set {q}, !!omap [k: v]]\n1: int\n'1': text\noff: no\n", doctree.Options{}).Root.JSON()
	want := `{"s":[1,2.0,true,null,16,Infinity,"2020-01-02",["q"],[["k","v"]]],"1":"text","false":false}`
	wantTree, err := jsontree.Parse([]byte(want), jsontree.Python())
	if err != nil {
		t.Fatal(err)
	}
	if got := (jsontree.Style{}).Format(&n); got != (jsontree.Style{}).Format(&wantTree.Root) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if n.Members[0].Key != "s" || n.Members[1].Key != "1" {
		t.Error("the order of members is lost")
	}
}

// Texts that would take a parser without limits to its knees.
func TestTraps(t *testing.T) {
	bomb, merges := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n", "a0: &a0 {x: 1}\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
		merges += fmt.Sprintf("a%d: &a%d {<<: [*a%d,*a%d,*a%d], k%d: 1}\n", i, i, i-1, i-1, i-1, i)
	}
	var indent strings.Builder
	for i := range 600 {
		indent.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	const size = 1 << 18
	for name, c := range map[string]struct {
		text string
		want doctree.Class
	}{
		"aliases": {bomb, doctree.Size}, "merges": {merges, doctree.Size}, "indentation": {indent.String(), doctree.Depth},
		"brackets": {strings.Repeat("[", size), doctree.Depth}, "braces": {strings.Repeat("{a: ", size/4), doctree.Depth}, "dashes": {strings.Repeat("- ", size/2), doctree.Depth},
		"commas": {"[" + strings.Repeat("1,", 5*size/2) + "]", doctree.Size}, "question marks": {strings.Repeat("? ", size/2), doctree.Depth},
		"a quote": {`"` + strings.Repeat("a ", size/2), doctree.Syntax}, "digits": {strings.Repeat("1", size), doctree.Tag}, "sixtieths": {"1" + strings.Repeat(":1", size/2), doctree.Tag},
		"recursion": {"a: &a [*a]", doctree.Alias}, "recursive merge": {"a: &a {<<: *a}", doctree.Alias},
	} {
		var e *doctree.Error
		if _, err := doctree.Parse([]byte(c.text), doctree.Options{MaxNodes: 200_000}); !errors.As(err, &e) || e.Class != c.want {
			t.Errorf("%s: %v, want an error of class %d", name, err, c.want)
		} else if len(e.Message()) > 300 {
			t.Errorf("%s: the message is %d bytes long", name, len(e.Message()))
		}
	}
}

// isC1 reports a control character beyond ASCII that YAML wants escaped.
func isC1(r rune) bool { return r >= 0x80 && r < 0xa0 && r != 0x85 }

// FuzzYAML reads anything: no crash, errors with places, and a tree that is
// the same when it is written as JSON, which is YAML, and read again.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: [1, 0x1F, ~]\nb: &x {c: d}\ne: {<<: *x}\n", "- |\n  text\n- >-\n  folded\n\n", "!!set {a, b}", "? [a]\n: b", "\"\\u00e9\\x41\": 'it''s'", "%YAML 1.1\n---\n2001-12-14 21:59:43\n...\n", "a: 1\r\n\u0085b: 2", "[a:, b]", "- !!omap [a: 1]\n- 1:30\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := doctree.Parse(text, doctree.Options{MaxNodes: 5000, MaxDepth: 50})
		if err != nil {
			e := err.(*doctree.Error)
			if e.Problem == "" || e.Pos.Line < 1 || e.Pos.Col < 1 || strings.Contains(e.Source, "\n") {
				t.Fatalf("%q: %#v", text, e)
			}
			return
		}
		walk(t, &d.Root)
		n := d.Root.JSON()
		plain := jsontree.Style{} // surrogate escapes of ASCII JSON are not YAML
		once := plain.Format(&n)
		if strings.Contains(once, "Infinity") || strings.Contains(once, "NaN") || len(once) > 1000 || strings.ContainsFunc(once, isC1) {
			return // names that YAML reads as strings, keys too long for its parser, what only JSON allows as it is
		}
		again, err := doctree.Parse([]byte(once), doctree.Options{})
		if err != nil {
			t.Fatalf("%q was written as %s: %v", text, once, err)
		}
		n = again.Root.JSON()
		if twice := plain.Format(&n); twice != once && !strings.Contains(once, "e") {
			t.Fatalf("%q was written as %s, then as %s", text, once, twice)
		}
	})
}

func walk(t *testing.T, n *doctree.Node) {
	if n.Pos.Line < 1 || n.Pos.Col < 1 {
		t.Fatalf("%s %q stands at %v", n.Kind, n.Text, n.Pos)
	}
	for i := range n.Items() {
		walk(t, &n.Items()[i])
	}
	for i := range n.Members() {
		walk(t, &n.Members()[i].Key)
		walk(t, &n.Members()[i].Value)
	}
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "- id: CASE-%d\n  type: text.file\n  title: a case of the benchmark\n  assert:\n  - target: text\n    must:\n    - contain: [\"version: 1\", other]\n    - regex: ['^a+$']\n", i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := doctree.Parse([]byte(text.String()), doctree.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
