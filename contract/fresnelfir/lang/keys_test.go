package lang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/diag"
)

// rest has the words that the example does without.
const rest = `
protocol_of_all = protocol(seq(ref("shop_use"), call("place"), alt(place), repeat(0, 1, place)))
made = generator(step(place, who = make(User, where = self.vip)), step(place, who = bind("u")))
ruled = temporal(before(action("place"), True))
told = temporal(before(reads(Order), True))
said = temporal(before(writes(Order), True))
tagged = temporal(before(tag("mutating"), True))
system("shop.system.yaml")
cover(all_pairs(amount, gift), t_way(2, amount, gift), boundary(amount, 1), each_transition(shop_use), seed = 3)
hooks(observe = [place])
ir("exploration", "budget", 3)
counted = always(forall(Order, lambda o: implies(len(o.lines) > 0, max(min(1, 2), count(Order)) > old(sum(Order, lambda x: 1)))))
fed = until(Order, lambda o: True, lambda o: False, within = 2)
fad = eventually(Order, lambda o: True, within = 2)
`

// open are the words whose arguments have names of the writer's own, types, which are
// checked like those of JSON, and the functions of the example.
var open = strings.Fields("entity record new any call observer step int enum bool ref string Open owed")

// An argument that a word of the language does not have is an error at its place, under
// each word. A word that is added tomorrow is tried tomorrow.
func TestArgumentsThatDoNotBelong(t *testing.T) {
	src := string(lang.Example) + rest
	f, err := syntax.LegacyFileOptions().Parse("x.model.star", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(src, "\n")
	every := map[string]bool{"zzz": true}
	for _, known := range lang.Keys {
		for _, name := range known {
			every[name], every[name+"q"] = true, true
		}
	}
	tried := map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fn.(*syntax.Ident)
		if ok && lang.Keys[fn.Name] == nil && !slices.Contains(open, fn.Name) {
			t.Errorf("%s has no list of its arguments", fn.Name)
		}
		if !ok || lang.Keys[fn.Name] == nil || tried[fn.Name] {
			return true
		}
		tried[fn.Name] = true
		line, col := int(call.Rparen.Line), int(call.Rparen.Col)
		own := lang.Keys[fn.Name]
		with := func(more string) diag.List {
			at := lines[line-1]
			_, list := lang.Compile("x.model.star", []byte(strings.Join(lines[:line-1], "")+at[:col-1]+more+at[col-1:]+strings.Join(lines[line:], "")))
			return list
		}
		twice, foreign := "", ""
		for _, name := range own {
			twice += ", " + name + " = 1, " + name + " = 1"
		}
		for name := range every {
			if !slices.Contains(own, name) {
				foreign += ", " + name + " = 1"
			}
		}
		list := append(with(twice), with(foreign)...)
		for name := range every {
			code, hint := "fresnelfir.unknown-key", ""
			if slices.Contains(own, name) {
				code = "fresnelfir.duplicate-key"
			} else if near := strings.TrimSuffix(name, "q"); near != name && slices.Contains(own, near) {
				hint = "did you mean " + near + "?"
			}
			if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
				return d.Code == code && d.Level == diag.Error && d.Pos.Line == line && d.Pos.Col >= col && strings.Contains(d.Message, `"`+name+`"`) && strings.Contains(d.Hint, hint)
			}) {
				t.Errorf("%s(%s = 1) in line %d: no %s, hint %q, among\n%v", fn.Name, name, line, code, hint, list)
			}
		}
		return true
	})
	for word := range lang.Keys {
		if !tried[word] {
			t.Errorf("%s was not tried", word)
		}
	}
}

// What an export takes is the writer's: a name near an option of call is doubted, and
// a parameter of an observer that names no entity is none.
func TestNamesNearOptions(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`call("pay", reject = "<0")`, `x.model.star:8:17: warning: "reject" is not an option of call: the export gets it as an argument (did you mean rejects?)`},
		{`call("pay", amount = 3)`, ``},
		{`call("pay", sku = 3)`, ``},
		{`call("pay", reads = [], reads = [])`, `x.model.star:8:29: error: "reads" is already given`},
	} {
		_, list := lang.Compile("x.model.star", []byte(`
Order = entity(n = int(0, 3))
def one(o = Order):
    return o.n
asked = observer(o = Order, returns = int, models = one)
def pay():
    o = any(Order)
    `+c.source+"\n"))
		got := ""
		for _, d := range list {
			got += d.String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.source, got, c.want)
		}
	}
	_, list := lang.Compile("x.model.star", []byte("Order = entity(n = int(0, 3))\nasked = observer(o = Order, returns = int, modles = one)\n"))
	if len(list) != 1 || list[0].String() != `x.model.star:2:44: error: observer has no argument called "modles" (did you mean models?)` {
		t.Error(list)
	}
}

// A misspelt statement gets the nearest word, and one like no word gets none.
func TestStatementsHaveNearNames(t *testing.T) {
	for wrong, want := range map[string]string{"requre(True)": "did you mean require?", "cal(\"go\")": "did you mean call?", "frobnicate()": ""} {
		_, list := lang.Compile("x.model.star", []byte("def go():\n    "+wrong+"\n"))
		at := slices.IndexFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.expression" })
		if at < 0 || list[at].Hint != want || list[at].Pos.Line != 2 {
			t.Errorf("%s: %v, want the hint %q", wrong, list, want)
		}
	}
}

// One mistake in a declaration makes many actions search for the same name; the nearest one may
// still be a variable of one of them.
func TestNearNamesInManyActions(t *testing.T) {
	src := "Order = entity(total = int(0, 9))\namount = input(int(1, 9))\n"
	want := []string{}
	for i := range 90 {
		choose := "any(Order, total = amoun)"
		near := "amount"
		if i%3 == 1 {
			choose, near = "any(Order, lambda amou: amou.total < amoun)", "amou"
		}
		src += fmt.Sprintf("def act_%d():\n    o = %s\n    call(\"act\", o)\n", i, choose)
		want = append(want, "did you mean "+near+"?")
	}
	_, list := lang.Compile("m.model.star", []byte(src))
	got := []string{}
	for _, d := range list {
		got = append(got, d.Hint)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the hints are %q", got)
	}
}
