package lang_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// All that is wrong with a source is said at once, each with its place.
func TestErrors(t *testing.T) {
	for _, name := range []string{"errors", "collections", "awaited", "names"} {
		src, err := os.ReadFile("testdata/" + name + ".model.star")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		_, list := lang.Compile(name+".model.star", src)
		for _, d := range list {
			fmt.Fprintln(&got, d)
		}
		golden.Check(t, "testdata/"+name+".txt", got.String())
	}
}

// What sources stand for, what of it is beyond the format, and how that is written again.
func TestTranslations(t *testing.T) {
	queue, err := os.ReadFile("../../../examples/fresnelfir/queue.model.star")
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{"example": lang.Example, "queue": queue} {
		golden.Check(t, "testdata/translated/"+name+".model.txt", translation(t, name+".model.star", src))
	}
	documents, err := filepath.Glob("../../../examples/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range documents {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := doctree.ParseJSON(text, jsontree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if doc.Root.Get("entities") == nil {
			continue
		}
		golden.Check(t, "testdata/translated/"+strings.TrimSuffix(filepath.Base(file), "json")+"txt", format(t, file, &doc.Root))
	}
}

// What is written one way and another stands for the same document.
func TestExpressions(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`o.a == 1 and o.b > 2 and o.c`, `["and",["eq",["field","o","a"],1],["gt",["field","o","b"],2],["field","o","c"]]`},
		{`(o.a and o.b) and o.c`, `["and",["and",["field","o","a"],["field","o","b"]],["field","o","c"]]`},
		{`not o.a or o.b != "x"`, `["or",["not",["field","o","a"]],["neq",["field","o","b"],"x"]]`},
		{`o.a in ["x", "y"]`, `["or",["eq",["field","o","a"],"x"],["eq",["field","o","a"],"y"]]`},
		{`o.a not in ("x", "y")`, `["and",["neq",["field","o","a"],"x"],["neq",["field","o","a"],"y"]]`},
		{`o.a - 1 * -2 <= n`, `["lte",["sub",["field","o","a"],["mul",1,-2]],["field","input","n"]]`},
		{`min(o.a, 3) // 2 == old(o.a) % 2`, `["eq",["div",["min",["field","o","a"],3],2],["mod",["old",["field","o","a"]],2]]`},
		{`implies(o.a, forall(Order, lambda x: x.b))`, `["implies",["field","o","a"],["forall","x","Order",["field","x","b"]]]`},
		{`exists([x.b for x in Order if x.c])`, `["exists","x","Order",["and",["field","x","c"],["field","x","b"]]]`},
		{`forall([x.b for x in Order if x.c])`, `["forall","x","Order",["implies",["field","x","c"],["field","x","b"]]]`},
		{`sum([x.a for x in Order if x.c]) == count(Order)`, `["eq",["sum","x","Order",["if",["field","x","c"],["field","x","a"],0]],["count","x","Order",true]]`},
		{`(1 if o.a else 2) == 1`, `["eq",["if",["field","o","a"],1,2],1]`},
		{`Big(o) and Near(o, by = actor)`, `["and",["is","o","Big"],["is","o","Near",{"by":"actor"}]]`},
		{`total(o) == asked(o)`, `["eq",["derived","total","o"],["observer","asked","o"]]`},
		{`o.owner == actor`, `["eq",["field","o","owner"],["field","actor","id"]]`},
		{`o["odd name"] == input.n`, `["eq",["field","o","odd name"],["field","input","n"]]`},
		{`["eq", ["field", "o", "a"], 1]`, `["eq",["field","o","a"],1]`},
	} {
		src := `
n = input(int(1, 3))
def Big(self = Order): return self.a == 1
def Near(self = Order, by = User): return True
def total(o = Order): return o.a
asked = observer(o = Order, returns = int)
def make():
    o = new(Order)
p = always(` + c.source + ")\n"
		m, list := lang.Compile("x.model.star", []byte(src))
		if len(list) > 0 {
			t.Errorf("%s: %v", c.source, list)
			continue
		}
		p := m.Tree.Root.Get("properties").Get("p")
		e := p.Get("predicate")
		if full := p.Get("full"); full != nil {
			e = full
		}
		tree := e.JSON()
		got := jsontree.Compact.Format(&tree)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.source, got, c.want)
		}
	}
}

// Assignments under if, choices and computed arguments are in keys of their own; what
// they are is listed.
func TestBeyond(t *testing.T) {
	src := []byte(`
Order = entity(state = enum("new", "paid"), paid = int(0, 9))
amount = input(int(1, 3))

def pay():
    o = any(Order, state = "new")
    require(o.paid < 9)
    left = 9 - o.paid
    if left > amount:
        o.paid += amount
    else:
        o.state = "paid"
    call("pay", o, amount, 7, rest = left, rejects = True)
`)
	m, list := lang.Compile("x.model.star", src)
	if len(list) > 0 {
		t.Fatal(list)
	}
	root := m.Tree.Root.JSON()
	text := jsontree.Compact.Format(&root)
	for _, want := range []string{
		`"guard":["exists","o","Order",["and",["eq",["field","o","state"],"new"],["lt",["field","o","paid"],9]]]`,
		`"picks":[{"entity":"Order","var":"o","where":["and",["eq",["field","o","state"],"new"],["lt",["field","o","paid"],9]]}]`,
		`"steps":[{"else":[{"target":["o","state"],"value":"paid"}],"if":["gt",["sub",9,["field","o","paid"]],["field","input","amount"]],"then":[{`,
		`"args":["o","amount","arg3","rest"]`,
		`"values":{"arg3":7,"rest":["sub",9,["field","o","paid"]]}`,
		`"writes":["Order"]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	var keys []string
	for _, x := range lang.Beyond("x.model.star", src) {
		keys = append(keys, x.Key)
	}
	if got := strings.Join(keys, " "); got != "$.effects.pay.picks $.effects.pay.steps $.bindings.actions.pay.values $.exploration.vary $.bindings.actions.*.rejects" {
		t.Errorf("listed are %s", got)
	}
}

// The example holds every word of the language.
func TestExample(t *testing.T) {
	_, list := lang.Compile("example.model.star", lang.Example)
	if len(list) > 0 || len(lang.Beyond("example.model.star", lang.Example)) == 0 {
		t.Fatal(list)
	}
	for _, w := range lang.Words() {
		if !regexp.MustCompile(`\b` + w + `\b`).Match(lang.Example) {
			t.Errorf("%s is not in the example", w)
		}
	}
}

// A name stands for the value that it was given last, on the way that led there.
func TestNamesForValues(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"x = 1\n    x = x + n\n    o.a = x", `"value":["add",1,["field","input","n"]]`},
		{"x = n\n    x -= 2\n    x *= 3\n    o.a = x", `"value":["mul",["sub",["field","input","n"],2],3]`},
		{"x = 0\n    if n > 1:\n        x = 5\n    o.a = x", `"value":["if",["gt",["field","input","n"],1],5,0]`},
		{"if n > 2:\n        x = 1\n    elif n > 1:\n        x = 2\n    else:\n        x = 3\n    o.a = x",
			`"value":["if",["gt",["field","input","n"],2],1,["if",["gt",["field","input","n"],1],2,3]]`},
		{"x = 1\n    if n > x:\n        x += 1\n    o.a = x", `"value":["if",["gt",["field","input","n"],1],["add",1,1],1]`},
		{"x = n\n    if n > 1:\n        o.a = x\n    else:\n        o.a = x + 1", `"if":["gt",["field","input","n"],1],"then":[{"target":["o","a"],"value":["field","input","n"]}]`},
		{"x = o.b\n    if n > 1:\n        o.b = 1\n    else:\n        o.a = x", `"else":[{"target":["o","a"],"value":["field","o","b"]}]`},
		{"x = 3\n    require(exists(Order, lambda x: x != o))\n    o.a = x", `["exists","x","Order",["neq",["field","x","id"],["field","o","id"]]]`},
	} {
		m, list := lang.Compile("x.model.star", []byte("Order = entity(a = int(0, 9), b = int(0, 9))\nn = input(int(1, 3))\ndef act():\n    o = any(Order)\n    "+c.body+"\n"))
		if len(list) > 0 {
			t.Errorf("%s: %v", c.body, list)
			continue
		}
		root := m.Tree.Root.JSON()
		if text := jsontree.Compact.Format(&root); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s is not in\n%s", c.body, c.want, text)
		}
	}
}

// What a call returns may be an element of a collection, as in the document's own names.
func TestReturnsOfElements(t *testing.T) {
	for text, want := range map[string]string{
		`Cart.lines[0]`: "Cart.lines.0", `Cart.left["x"]`: "Cart.left.x", `Cart.rows[1].n`: "Cart.rows.1.n", `"Cart.lines.0"`: "Cart.lines.0",
	} {
		m, list := lang.Compile("x.model.star", []byte(`
Cart = entity(lines = list(enum("a", "b"), 2), left = map(enum("x", "y"), int(0, 9)), rows = list(record(n = int(0, 9)), 2))
def take():
    c = any(Cart)
    call("take", c, returns = `+text+`)
`))
		if len(list) > 0 {
			t.Errorf("%s: %v", text, list)
			continue
		}
		if got := m.Tree.Root.Get("bindings").Get("actions").Get("take").Get("returns").Get("type").Text; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What a function returns is read off its expression, also where the actor is read.
func TestReturnsOfFunctions(t *testing.T) {
	for body, want := range map[string]string{
		"actor.total": "int", "actor.kind": "Till.kind", "actor.open": "bool", "actor.left[1]": "int", "o.buyer": "User", "o.at.zip": "int", "1": "int",
	} {
		m, list := lang.Compile("x.model.star", []byte(`
User = entity(name = string)
Till = entity(total = int(0, 9), kind = enum("a", "b"), open = bool, left = map(int(1, 2), int(0, 3)))
Order = entity(buyer = ref(User), at = record(zip = int(1, 9)))
def get(o = Order): return `+body+`
explore(actor = Till)
`))
		if len(list) > 0 {
			t.Errorf("%s: %v", body, list)
			continue
		}
		if got := m.Tree.Root.Get("functions").Get("get").Get("returns").Text; got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
