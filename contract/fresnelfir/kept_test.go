package fresnelfir

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// surroundedModel has actions that depend on all that actions can depend on outside of
// themselves: collections, functions, who acts, waits, variables of other actions.
const surroundedModel = `amount = input(int(1, 3))
other = input(bool)
def small(o = Order): return o.total < 5
def Fresh(self = Order): return self.state == "new" and small(self)
asks = observer("asks", o = Order, returns = bool, models = small)
def make():
    o = new(Order, total = amount, at = {"size": 1}, tags = ["red"])
    call("make", amount)
def pay():
    o = any(Order, state = "new")
    before = small(o)
    require(Fresh(o) and actor.age > 1)
    if before and other:
        o.tags.add("blue")
    o.at.size += 1
    o.stock = {"x": 1}
    o.state = "paid"
    o.total = 1 if before else 2
    call("pay", o, before, reads = [User])
def age():
    u = any(User)
    u.age += amount
    call("age", u)
def count():
    require(count(Order) > 1 or len(actor.tags) == 1)
    u = any(User, lambda x: x == actor)
    call("count", answer = count(Order), returns = int)
paid = eventually(Order, lambda o: o.state == "paid", fair = [pay])
box = record(size = int(0, 3), full = bool)
User = entity(name = enum("a", "b"), age = int(0, 9), tags = set("red"))
Order = entity(tags = set("red", "blue"), at = box, state = enum("new", "paid"), total = int(0, 9), owner = User, stock = map(enum("x", "y"), int(0, 9)))
explore(actor = "User")
`

// editor is what an editor has of a model: what it makes of the next version may depend on what
// it made of the one before, as a document and as a campaign.
type editor [2]Contract

// allKnown is all that is known of a source, after a check.
func allKnown(by *editor, text string) string {
	var all strings.Builder
	_, said := by[1].Compile(context.Background(), campaign.Spec{Path: "x.model.star", Data: []byte(text)}, campaign.Settings{Check: true})
	for _, x := range said {
		fmt.Fprintf(&all, "%+v\n", x)
	}
	d, src, data, list := decode(&by[0].sources, "x.model.star", []byte(text))
	if d != nil {
		fmt.Fprintln(&all, ir.Check(d, src), string(data()))
		places := src.Places()
		for _, path := range slices.Sorted(maps.Keys(places)) {
			fmt.Fprintln(&all, path, places[path])
		}
		d.Expressions(func(e *ir.Expr) {
			fmt.Fprintln(&all, e.Path(), src.Pos(e.Pos), e.Op, e.Bool, e.Int, e.Input, e.Text, e.Var, e.Over, e.Names, e.With)
		})
		for _, e := range d.Effects {
			fmt.Fprintln(&all, e.Place.Path(), src.Pos(e.Place.Pos), src.Pos(e.Place.Within("sets").Pos), len(e.Sets), len(e.Picks))
		}
		for _, b := range d.Bindings.Actions {
			fmt.Fprintln(&all, b.Place.Path(), src.Pos(b.Place.Pos), src.Pos(b.Place.Within("args").Pos), b.Result, b.Args, b.Reads, b.Writes)
		}
	}
	return fmt.Sprint(list, all.String())
}

var word = regexp.MustCompile(`\w+`)

// differ compares what is known of a source after another one with what is known of it alone.
func differ(t *testing.T, by *editor, text string) {
	t.Helper()
	got, want := strings.Split(allKnown(by, text), "\n"), strings.Split(allKnown(new(editor), text), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s\nwith what was kept: %q\nalone: %q", text, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
}

// A declaration that an action depends on is changed, and nothing of the action.
func TestEditsAroundActions(t *testing.T) {
	for i, c := range [][2]string{
		{`actor = "User"`, `actor = "Order"`}, {"def make", "\ndef make"}, {"amount = input", "\namount = input"}, {"box = record", "\nbox = record"}, {"Order = entity", "\nOrder = entity"},
		{"size = int(0, 3)", "size = int(2, 3)"}, {`set("red", "blue")`, `set("blue")`}, {`set("red", "blue")`, `set( "red", "blue")`}, {`tags = set("red")`, `tags = set("red", "dark")`},
		{"o.total < 5", "o.age < 5"}, {"o.total < 5", "o.at.full"}, {"o.total < 5", `o.state == "new"`}, {"o.total < 5", "count(Order) < 5"}, {"amount = input(int(1, 3))", "amount = entity()"}, {"other = input", "others = input"},
		{`o.state == "paid", fair`, `o.total == 9, fair`}, {"paid = eventually", "\npaid = eventually"}, {"u = any(User)\n", "u = any(Order)\n"}, {"u = any(User)\n", "v = any(User)\n"},
		{"explore(", "ir(\"effects\", \"age\", \"sets\", [])\nexplore("}, {"explore(", "ir(\"bindings\", \"actions\", \"age\", \"reads\", [\"Box\"])\nexplore("},
		{"explore(", "ir(\"effects\", \"new\", {\"creates\": {\"entity\": \"User\", \"assign\": \"input\"}})\nexplore("},
		{"explore(", "ir(\"effects\", \"new\", {\"creates\": {\"entity\": \"User\", \"assign\": \"o\"}})\nexplore("},
		{"explore(", "p = protocol(alt(branch(alt(make, pay), id = \"x\"), age, count))\nexplore("},
	} {
		by := new(editor)
		changed := strings.Replace(surroundedModel, c[0], c[1], 1)
		if changed == surroundedModel {
			t.Fatalf("no %s", c[0])
		}
		for _, text := range []string{surroundedModel, changed, surroundedModel} {
			differ(t, by, text)
		}
		if i%testproc.Times(1, 4) == 0 {
			differThreads(t, changed+manyActions(70))
		}
	}
}

// manyActions are so many that several threads translate them.
func manyActions(n int) string {
	var all strings.Builder
	for i := range n {
		all.WriteString(strings.ReplaceAll("def more_#():\n    o = any(Order)\n    was = o.total + amount\n    twice = was + was\n    require(twice < #, o.owner == actor)\n"+
			"    o.total = twice\n    o.stock[\"x\"] += was\n    call(\"more_#\", o, amount, answer = twice + twice)\n", "#", fmt.Sprint(i)))
	}
	return all.String()
}

// differThreads compares what is known of a source with one thread and with several.
func differThreads(t *testing.T, text string) (known string) {
	t.Helper()
	got := allKnown(new(editor), text)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := allKnown(new(editor), text)
	if got != want {
		t.Errorf("%s\nwith several threads:\n%.2000s\nwith one:\n%.2000s", text, got, want)
	}
	return want
}

// The names for values of all actions together are expanded only so often, in their order.
func TestNamesOfManyActionsAreBounded(t *testing.T) {
	text := surroundedModel
	for i := range 100 {
		text += fmt.Sprintf("def chain_%d():\n    o = any(Order)\n    a = o.total\n    b = a + a\n    c = b + b\n    d = c + c\n    e = d + d\n    f = e + e\n    g = f + f\n    h = g + g\n    o.total = h\n    call(\"chain\", o)\n", i)
	}
	if known := differThreads(t, text); !strings.Contains(known, "expand to more than 10000 expressions") {
		t.Error("they are not bounded")
	}
}

// However a source is edited, what is kept of it as it was before makes no difference.
func TestEditsOfSources(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{surroundedModel}
	for _, file := range []string{"../../examples/fresnelfir/permissions.model.star", "../../examples/systems/orders.model.star", "lang/example.model.star"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for i, whole := range texts {
		by, text := new(editor), whole
		words := word.FindAllString(whole, -1)
		for n := range map[bool]int{true: testproc.Times(400, 150), false: 30}[i == 0] {
			if n%4 == 0 { // few edits in a row leave something of a model
				text = whole
			}
			lines := strings.SplitAfter(text, "\n")
			at := r.IntN(len(lines))
			switch r.IntN(7) {
			case 0:
				lines = slices.Delete(lines, at, at+1)
			case 1:
				lines = slices.Insert(lines, at, lines[r.IntN(len(lines))])
			case 2:
				lines = slices.Insert(lines, at, "\n")
			case 3: // some move
				cut := slices.Clone(lines[at:min(at+1+r.IntN(8), len(lines))])
				lines = slices.Delete(lines, at, at+len(cut))
				lines = slices.Insert(lines, r.IntN(len(lines)+1), cut...)
			default: // another word of the model, or one that is new
				if found := word.FindAllStringIndex(lines[at], -1); len(found) > 0 {
					x := found[r.IntN(len(found))]
					lines[at] = lines[at][:x[0]] + append(words, "7", "input")[r.IntN(len(words)+2)] + lines[at][x[1]:]
				}
			}
			text = strings.Join(lines, "")
			differ(t, by, text)
		}
	}
}

// What is kept is what makes the next version cheap.
func TestActionsAreKept(t *testing.T) {
	var by editor
	if text := allKnown(&by, surroundedModel); !strings.Contains(text, "$.effects.pay") {
		t.Fatal(text)
	}
	first, src, _, _ := decode(&by[0].sources, "x.model.star", []byte(surroundedModel))
	ir.Check(first, src)
	second, _, _, _ := decode(&by[0].sources, "x.model.star", []byte(strings.Replace(surroundedModel, `"age", u`, `"older", u`, 1)))
	for i, e := range second.Effects {
		if was := first.Effects[i]; len(e.Sets) > 0 && (e.Sets[0].Value == was.Sets[0].Value) != (e.Action != "age") {
			t.Errorf("the effect of %s is read anew or not, whichever is wrong", e.Action)
		}
	}
}
