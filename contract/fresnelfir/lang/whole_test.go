package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// translation is what a source stands for, what of it is beyond the format, and how that is
// written again.
func translation(t *testing.T, name string, src []byte) string {
	t.Helper()
	m, list := lang.Compile(name, src)
	if len(list) > 0 {
		t.Fatalf("%s: %v", name, list)
	}
	var got strings.Builder
	for _, section := range m.Tree.Root.Members() {
		fmt.Fprintf(&got, "%s:\n", section.Key.Text)
		for _, x := range section.Value.Members() {
			value := x.Value.JSON()
			fmt.Fprintf(&got, "  %s: %s\n", x.Key.Text, jsontree.Compact.Format(&value))
		}
	}
	got.WriteString("\n")
	for _, x := range lang.Beyond(name, src) {
		fmt.Fprintf(&got, "%d:%d %s: %s\n", x.Pos.Line, x.Pos.Col, x.Key, x.What)
	}
	return got.String() + "\n" + format(t, name, &m.Tree.Root)
}

func format(t *testing.T, name string, root *doctree.Node) string {
	t.Helper()
	out, err := lang.Format(root)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// Each file of testdata/whole says something that the examples do not.
func TestWholeModels(t *testing.T) {
	files, err := filepath.Glob("testdata/whole/*.model.star")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, strings.TrimSuffix(file, "star")+"txt", translation(t, filepath.Base(file), src))
	}
}

// A statement that is no Starlark is left out, with what it goes on to; all others are read,
// and nothing is said of what it would have declared.
func TestStatementsThatAreNoStarlark(t *testing.T) {
	const rest = "\n\ndef go():\n    o = any(Order)\n    o.n = amuont\n"
	const misspelt = `error: "amuont" is neither an input nor a variable here; put texts in quotes`
	const reserved = " is a reserved word of Starlark; if it is meant as a name, write another one)\n"
	const wordsAsNames = "2:15: error: got from, want primary expression (from" + reserved + "3:7: error: got '=', want '(' (load" + reserved + "4:32: error: not an identifier (is" + reserved
	for name, c := range map[string]struct{ source, want string }{
		"a bracket that stays open":        {"Order = entity(n = int(0, 9)", "3:4: error: got def, want ','\n5:11: " + misspelt},
		"one further above":                {"Order = entity(\n    n = int(0, 9),\n\nUser = entity(a = int(0, 1))\nShop = entity(b = enum(\"(\", '['))  # {\n\ndef first():\n    pass", "5:5: error: got identifier, want ','\n12:11: " + misspelt},
		"brackets in a text and a comment": {"Order = entity(n = int(0, 9)) # (\nUser = entity(name = enum(\"(\", '[{'))\ndef", "4:1: error: not an identifier\n7:11: " + misspelt},
		"several lines of one statement":   {"Order = entity(\n    n = int(0, 9),\n    m = = 3,\n)", "3:9: error: got '=', want primary expression\n8:11: " + misspelt},
		"two statements":                   {"Order = entity(n = int(0, 9))\nUser = entity(a = = 1)\nShop = entity(\n    b = ),\n)", "2:19: error: got '=', want primary expression\n4:9: error: got ')', want primary expression\n9:11: " + misspelt},
		"a function that is used":          {"def one(o = Order) return o.n\nOrder = entity(n = int(0, 9))\np = always(one(Order) > oen(1))", "1:26: error: got return, want ':'\n3:25: error: \"oen\" is not a function of the model (did you mean len?)\n7:11: " + misspelt},
		"two that stay open":               {"User = entity(\nOrder = entity(n = int(0, 9))\n\nShop = = 3", "4:5: error: got identifier, want ','\n4:8: error: got '=', want primary expression\n8:11: " + misspelt},
		"reserved words as names":          {"Order = entity(n = int(0, 9))\nUser = entity(from = int(0, 9), n = int(0, 9))\nload = input(int(1, 2))\ndef one(o = Order): return o.is", wordsAsNames + "8:11: " + misspelt},
		"fields of a faulty entity":        {"Lift = entity(lit = set(1, 2), m = = 3)\nOrder = entity(n = int(0, 9))\ndef on(l = Lift):\n    return exists(l.lit, lambda x: x > 1) or len(l.lit) > 1 or exists([True for x in l.lit]) or 1 in l.lit\ndef press():\n    l = any(Lift)\n    l.lit.add(1)", "1:36: error: got '=', want primary expression\n11:11: " + misspelt},
		"places of a faulty entity":        {"Lift = entity(lit = map(int(0, 5), bool), m = = 3)\nexplore(actor = Lift)\nOrder = entity(n = int(0, 9))\ndef on(l = Lift): return l.lit[1] and l.lit[2 + 1]\ndef press():\n    require(not actor.lit[actor.m])\n    actor.lit[2] = True", "1:47: error: got '=', want primary expression\n11:11: " + misspelt},
		"an indented beginning":            {"  Order = entity(n = int(0, 9))", "1:3: error: got indent, want primary expression"},
	} {
		_, list := lang.Compile("x.model.star", []byte(c.source+rest))
		got := ""
		for _, d := range list {
			got += strings.TrimPrefix(d.String(), "x.model.star:") + "\n"
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}
