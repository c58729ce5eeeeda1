package doctree

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reader reads all texts: what it keeps of one must not show in another.
var reader Reader

// readDirectly is the text read without the parser, if it can be.
func readDirectly(text string, o Options) (*Document, bool) {
	o.MaxDepth, o.MaxNodes = defaultDepth, MostNodes
	b := &builder{o: o, r: &reader, lines: newLines(text, o.LineOffset)}
	if b.characters() != nil {
		return nil, false
	}
	root, ok, _ := b.direct()
	return &Document{Root: root, Duplicates: b.duplicates}, ok
}

// agree compares a text that is read directly with what the parser makes of
// it. It reports whether it could be read directly.
func agree(t *testing.T, text string) bool {
	t.Helper()
	got, ok := readDirectly(text, Options{LineOffset: 3})
	if !ok {
		return false
	}
	want, err := reader.parse([]byte(text), Options{LineOffset: 3}, false)
	if err != nil {
		t.Fatalf("%q is read directly, and refused by the parser: %v", text, err)
	}
	if !same(&got.Root, &want.Root) {
		t.Fatalf("%q\nis read as     %+v\nthe parser has %+v", text, got.Root, want.Root)
	}
	if !reflect.DeepEqual(got.Duplicates, want.Duplicates) {
		t.Fatalf("%q has duplicates %v, want %v", text, got.Duplicates, want.Duplicates)
	}
	return true
}

// same reports whether two trees hold the same, at the same places.
func same(a, b *Node) bool {
	members := func(x, y Member) bool { return same(&x.Key, &y.Key) && same(&x.Value, &y.Value) }
	return a.Kind == b.Kind && a.Bool == b.Bool && a.Style == b.Style && a.Pos == b.Pos && a.Text == b.Text && a.Raw() == b.Raw() &&
		slices.EqualFunc(a.Items(), b.Items(), func(x, y Node) bool { return same(&x, &y) }) &&
		slices.EqualFunc(a.Members(), b.Members(), members)
}

// What is read directly and what is left to the parser.
func TestDirect(t *testing.T) {
	for text, direct := range map[string]bool{
		"id: A\ntype: text.file\nassert:\n- target: text\n  must:\n    - contain: [a, \"b\", 'it''s']\n    - evaluate:\n        - [\"eq\",\n           [\"subject\"], 1]\n": true,
		"a: 017 # why\nb:   on\n\n# c\nc: {x: 1, \"y\":2,}\n":     false,
		"a: 017 # why\nb:   on\n\n# c\nc: {x: 1, \"y\":2}\nd: []": true,
		"  a: 1\n  b:\n   - x\n   -   k: v\n       l: w\n":        true,
		"a: b\n  c": false, "a: |\n  b": false, "a: &x b": false, "a:\nb: 1": false, "- - a": false, "a: b: c": false, "a : b": false, "a": false,
		"a: \"x\\u0041\"": false, "a: \"x\\\\d\\n\"": true, "a: http://x/y#z": true, "a: é ü": true, "<<: {a: b}": false, "a: -\n": false, "a: -1": true,
		"---\na: b": true, "--- a": false, "---\n---\na: b": false, "a: 'b\n  c'": false, "{a: b}: c": false, "[a]": true, "{a: b} # c": true, "[a]\nb": false, "a: [b: c]": false, "a: [b ? c]": false, "a: !!str b": false, "\ta: b": false,
		"a: 1\na: 2\nb: 3\na: 4": true, "1: a\ntrue: b\n1.0: c": true, "a: [x # y\n, z]": true, "a: [x# y, z]": true, "a: [x\ny]": false, "a: 2001-99-99": false,
	} {
		if got := agree(t, text); got != direct {
			t.Errorf("%q is read directly: %v", text, got)
		}
	}
}

var block = regexp.MustCompile("(?ms)^```yaml spec-test$(.*?)^```$")

// The blocks of the project's own documents, and all their single lines.
func TestDirectDocuments(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.spec.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	blocks, direct := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			if blocks++; agree(t, m[1]) {
				direct++
			}
			for line := range strings.Lines(m[1]) {
				agree(t, line)
			}
		}
	}
	if 2*direct < blocks {
		t.Errorf("only %d of %d blocks are read directly", direct, blocks)
	}
}

// pieces are what texts are made of at random: all that means something.
var pieces = strings.Split("a|b: |: |:|- |-|\n|\n|\n  |\n    |\n - |[|]|, |,|{|}|\"|\"x\"|'y'|'|# c| #|#|1|017|1:30|on|~|null|?|? |é|\\|\\n|\"a\": |'b':|"+
	"k: |key: [|]\n|\n- |&a |*a|!!str |<<: |=|---|...|%|@|>|2020-01-02|2020-1-2|1_0|.5|0x1F|-1| |  |x y|http://a|http://a:1|{a: 1}|[1, 2]|\n# c\n|\u0085|\u2028|\ufeff|\r|\t", "|")

func TestDirectRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	direct := 0
	for range 200_000 {
		var s strings.Builder
		for range 1 + r.IntN(14) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		if agree(t, s.String()) {
			direct++
		}
	}
	if direct < 1000 {
		t.Errorf("only %d texts are read directly", direct)
	}
}

func FuzzDirect(f *testing.F) {
	f.Add("id: A\nassert:\n- target: text\n  must:\n    - contain: [a, \"b\", 'it''s']\n")
	f.Add("a: {x: 1, \"y\":2}\nb: # c\n  - 017\n")
	f.Fuzz(func(t *testing.T, text string) { agree(t, text) })
}
