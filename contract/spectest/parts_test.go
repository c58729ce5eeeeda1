package spectest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// entriesOf are the entries of a document's units, and the blocks whose parts
// cannot be read.
func entriesOf(d *document) (list []entry, torn map[int32]bool) {
	torn = make(map[int32]bool)
	for i := range d.units() {
		for _, e := range d.unit(i) {
			if e.fault != nil && unreadable(*e.fault) && d.isPart(i) {
				torn[d.blockOf(int32(i))] = true
			}
			list = append(list, e)
		}
	}
	return list, torn
}

// parted compares a document that is read in parts with one that is read as a
// whole, and returns how many parts it has.
func parted(t *testing.T, name, text string) int {
	t.Helper()
	want, _ := entriesOf(newDocument(name, []byte(text)))
	d := newDocument(name, []byte(text))
	d.split()
	got, torn := entriesOf(d)
	if len(torn) > 0 {
		d.join(torn)
		got, _ = entriesOf(d)
	}
	if len(got) != len(want) {
		t.Fatalf("%s\nhas %d cases in parts, %d as a whole", text, len(got), len(want))
	}
	for i := range want {
		g, w := got[i], want[i]
		g.node, w.node = nil, nil
		if flat(got[i].node) != flat(want[i].node) || !reflect.DeepEqual(g, w) {
			t.Fatalf("%s\ncase %d in parts is\n%+v\nas a whole\n%+v", text, i, got[i], want[i])
		}
	}
	return len(d.parts)
}

// flat is all that a tree holds.
func flat(n *doctree.Node) string {
	if n == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("%v %v %v %v %q %q", n.Kind, n.Bool, n.Style, n.Pos, n.Text, n.Raw())}
	for i := range n.Items() {
		parts = append(parts, flat(&n.Items()[i]))
	}
	for i := range n.Members() {
		parts = append(parts, flat(&n.Members()[i].Key), flat(&n.Members()[i].Value))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func fenceAround(blocks ...string) string {
	var b strings.Builder
	for i, text := range blocks {
		fmt.Fprintf(&b, "# %d\n\n```yaml spec-test\n%s```\n\n", i, text)
	}
	return b.String()
}

func TestParts(t *testing.T) {
	for text, want := range map[string]int{
		"- id: A\n  type: x\n- id: B\n  type: x\n":     2,
		"# c\n\n- id: A\n# c\n- id: B\n\n  # c\n- c\n": 3,
		"  - id: A\n    k: |\n      - x\n  - id: B\n":  2,
		"- id: A\n":                                           0, // one case is not a list to part
		"id: A\nk:\n- a\n- b\n":                               0,
		"- id: &a A\n- id: *a\n":                              0,
		"- id: a && b\n- id: *a\n":                            0,
		"- id: a && b\n- id: R & D\n- id: this &\n":           3, // none of these is an anchor
		"- id: a&b\n- id: B\n":                                0, // nor is this, but it could be
		"- id: \"A\n- id: B\"\n- id: C\n":                     0,
		"- id: [A,\n- B]\n":                                   0,
		"-\n  id: A\n- id: B\n":                               0,
		"- # c\n  id: A\n- id: B\n":                           0,
		"- id: A\nk: B\n- id: C\n":                            0,
		"--- |\n- id: A\n- id: B\n":                           0,
		"- id: A\n...\n- id: B\n":                             0,
		"- id: &a A\n  k: *a\n- id: &a B\n  k: *a\n- {id: C}": 0,
		"- id: A\n  id: B\n- id: C\n  k: 1\n  k: 2\n":         2,
		"- id: A\u0085- id: B\n- id: C\n":                     2, // the first part has two cases
		"- id: A\n    bad\n   worse: x\n- id: B\n":            0,
	} {
		text = strings.TrimSuffix(text, "\n") + "\n"
		if n := parted(t, "a.spec.md", fenceAround(text)); n != want {
			t.Errorf("%q has %d parts, want %d", text, n, want)
		}
		parted(t, "a.spec.yaml", text)
	}
	// One text that is not a list, and one that cannot be parted, leave the others alone.
	text := fenceAround("id: A\n", "- id: B\n- id: C\n", "- id: &d D\n- id: *d\n", "- id: F\n- id: G\n- id: H\n") + "```yaml spec-test\n- id: I\n- id: J\n"
	if n := parted(t, "a.spec.md", text); n != 8 {
		t.Errorf("%d parts", n)
	}
}

func TestPartsOfJSON(t *testing.T) {
	for text, want := range map[string]int{
		`[{"id": "A"},{"id": "B", "id": [1, {"x": "]}\\\""}]}` + "\n , \n\t{}]\n": 3,
		`[{"id": "A"}]`: 0, `{"id": "A"}`: 0, `[]`: 0, `[{},1]`: 0, `[{},[]]`: 0, `[{},{}]x`: 0, `[{},{},]`: 0, `[{}{}]`: 0, `[,{},{}]`: 0, `[{},{}`: 0, "": 0,
		`[{"a":[1},{"b":2]}]`: 0, `[{"a"},{"b":2},{}]`: 0, `[[{},{}]]`: 0, `[{"a":"` + "\n" + `"},{}]`: 0, `{},{}`: 0, `"[{},{}]"`: 0,
	} {
		if n := parted(t, "a.spec.json", text); n != want {
			t.Errorf("%q has %d parts, want %d", text, n, want)
		}
	}
	pieces := strings.Split(`[|]|{|}|,|:|"|\|"id"|"a b"|"\""|{"id": "A"}|{"id": "B"},| |x|1|[{"id": 1}, |}]`, "|")
	pieces = append(pieces, "\n", "\r\n")
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		var b strings.Builder
		b.WriteString(`[{"id": "first"},`)
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		parted(t, "a.spec.json", b.String()+"]")
	}
}

// Texts made of what could begin, end or hide an item.
func TestPartsRandom(t *testing.T) {
	lines := strings.Split("- id: A|- id: B|- id: C|- id: 'x|  k: y'|  k: \"z|- q\"|  k: |- |#c|  # c||  k: [a,|- b]|  k: |-|- {a: b}|  k: &a v|  l: *a|- *a|  <<: *a|  - x|    - y|  k: >-|k: v|---|...|-|- - a|- [x|  y]|\t- t|- !!str x|- ? a|  : b", "|")
	r := rand.New(rand.NewPCG(3, 4))
	parts := 0
	for range 20_000 {
		var b strings.Builder
		b.WriteString("- id: first\n")
		for range 1 + r.IntN(6) {
			b.WriteString(lines[r.IntN(len(lines))] + "\n")
		}
		if parted(t, "a.spec.yaml", b.String()) > 1 {
			parts++
		}
	}
	if parts < 1000 {
		t.Errorf("only %d texts have parts", parts)
	}
}

// A list is run case by case, in whatever order, as its parts or as a whole.
func TestPartsAreRun(t *testing.T) {
	t.Chdir(t.TempDir())
	item := "- id: L-%d\n  type: text.file\n  assert: [{target: text, must: [{contain: [\"L-%d\"]}]}]\n"
	var b strings.Builder
	for i := range 2 * retained {
		fmt.Fprintf(&b, item, i, i)
	}
	for _, text := range []string{fenceAround(b.String()), fenceAround(b.String() + "- &last {id: X, type: text.file}\n- {<<: *last, id: Y}\n")} {
		camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(text)}, campaign.Settings{Options: map[string][]string{optShuffle: {"7"}}})
		if list.HasErrors() {
			t.Fatal(list)
		}
		c, _ := campaign.As[*Campaign](camps[0])
		seen := make(map[string]bool)
		for i, r := range c.results(t) {
			if r.Status != "pass" {
				t.Errorf("%s: %+v", c.Case(int64(i)).ID, r)
			}
			seen[c.Case(int64(i)).ID] = true
		}
		if len(seen) != len(c.slots) || len(seen) < 2*retained {
			t.Errorf("%d cases of %d", len(seen), len(c.slots))
		}
	}
}
