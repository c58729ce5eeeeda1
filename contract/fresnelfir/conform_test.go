package fresnelfir

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
)

// alone is a model without its module.
func alone(t testing.TB, path, text string) *Campaign {
	t.Helper()
	list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: path, Data: []byte(text)}, campaign.Settings{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

// A recorded trace is followed as far as the model allows it.
func TestConform(t *testing.T) {
	text, err := os.ReadFile("../../examples/systems/orders.model.star")
	if err != nil {
		t.Fatal(err)
	}
	const place = `{"action":"place","args":{"amount":40},"returns":17}` + "\n"
	for _, c := range []struct {
		name, trace string
		at          int
		why         string
	}{
		{"allowed", place + `{"action":"refund","args":{"order":17,"amount":40},"returns":0}`, 2, ""},
		{"longer than the protocol", strings.Repeat(place[:len(place)-15]+"}\n", 40), 40, ""},
		{"too much", place + `{"action":"refund","args":{"order":17,"amount":41}}`, 1, "it allows place"},
		{"another answer", place + `{"action":"refund","args":{"order":17,"amount":10},"returns":31}`, 1, "the model answers 30"},
		{"refused as it should be", place + `{"action":"refund","args":{"order":17,"amount":41},"rejected":true}`, 2, ""},
		{"refused by its answer", place + `{"action":"refund","args":{"order":17,"amount":41},"returns":-1}`, 2, ""},
		{"refused by its answer without need", place + `{"action":"refund","args":{"order":17,"amount":1},"returns":-1}`, 1, "the model allows it"},
		{"refused with an answer", place + `{"action":"refund","args":{"order":17,"amount":1},"returns":0,"rejected":true}`, 1, "the model allows it"},
		{"refused without need", place + `{"action":"refund","args":{"order":17,"amount":1},"rejected":"no"}`, 1, "the model allows it"},
		{"another order", place + place[:len(place)-4] + "18}\n" + `{"action":"refund","args":{"order":17,"amount":40},"returns":0}` + "\n" + `{"action":"refund","args":{"order":17,"amount":1}}`, 3, "not with these arguments"},
		{"no such action", `{"action":"plaice"}`, 0, "did you mean place?"},
		{"no such argument", `{"action":"place","args":{"sum":1}}`, 0, "has no argument s"},
		{"no such argument, refused", place + `{"action":"refund","args":{"order":17,"amuont":41},"rejected":true}`, 1, "refund has no argument amuont (did you mean amount?)"},
		{"no such value", `{"action":"place","args":{"amount":101}}`, 0, "is not a value of the input amount"},
		{"ITF", `{"states":[{"mbt::actionTaken":"init"},{"mbt::actionTaken":"place","mbt::nondetPicks":{"amount":{"tag":"Some","value":{"#bigint":"5"}}}},{"action":"refund","args":{"amount":{"#bigint":"6"}}}]}`, 1, "it allows place"},
	} {
		steps, err := readTrace([]byte(c.trace))
		if err != nil {
			t.Fatal(err)
		}
		at, why, _, _ := alone(t, "orders.model.star", string(text)).conform(steps, false)
		if at != c.at || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: step %d, %s", c.name, at, why)
		}
	}
	asking, err := os.ReadFile("../../examples/fresnelfir/bank.model.star")
	if err != nil {
		t.Fatal(err)
	}
	for trace, want := range map[string]string{
		`{"action":"balance","args":{"a":7},"returns":5}`:          "",
		`{"action":"balance","args":{"account":7},"returns":5}`:    "",
		`{"action":"balance","args":{"a":7},"returns":6}`:          "the model answers 5",
		`{"action":"balance","args":{"a":8},"returns":5}`:          "does not name the Account",
		`{"action":"balance","args":{"a":8},"rejected":"no such"}`: "",
		`{"action":"balanced","args":{"a":7},"returns":5}`:         "no such action",
	} {
		steps, err := readTrace([]byte(`{"action":"open","returns":7}` + "\n" + `{"action":"deposit","args":{"a":7,"amount":5},"returns":5}` + "\n" + trace))
		if err != nil {
			t.Fatal(err)
		}
		if _, why, _, _ := alone(t, "bank.model.star", string(asking)).conform(steps, false); !strings.Contains(why, want) || (why == "") != (want == "") {
			t.Errorf("%s: %s", trace, why)
		}
	}
	for _, bad := range []string{"", "x", `{"args":{}}`, `[]`} {
		if _, err := readTrace([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a trace", bad)
		}
	}
}

const jugs = `
module("none.wasm")
explore(threads = 1)
Jug = entity(litres = int(0, 5), size = int(3, 5))
def start():
    require(count(Jug) == 0)
    small = new(Jug, litres = 0, size = 3)
def more():
    require(count(Jug) == 1)
    big = new(Jug, litres = 0, size = 5)
def fill():
    j = any(Jug)
    j.litres = j.size
def empty():
    j = any(Jug)
    j.litres = 0
def pour():
    j = any(Jug)
    k = any(Jug, lambda k: k.size != j.size)
    if j.litres <= k.size - k.litres:
        k.litres += j.litres
        j.litres = 0
    else:
        j.litres -= k.size - k.litres
        k.litres = k.size
main = protocol(repeat(1, 200, alt(start, more, fill, empty, pour)))
p = always(PROPERTY)
`

// Breadth first finds the fewest actions, and proves what holds in all states: two jugs of
// 3 and 5 litres can hold 4 after 8 actions, 2 of them making the jugs, and never 6.
func TestStates(t *testing.T) {
	with := func(property string) *exhaustion {
		return alone(t, "jugs.model.star", strings.Replace(jugs, "PROPERTY", property, 1)).exhaust(context.Background(), maxSteps)
	}
	x := with("forall(Jug, lambda j: j.litres != 4)")
	if x.failed == nil || x.depth != 8 {
		t.Errorf("4 litres after %d actions: %v", x.depth, x.failed)
	}
	x = with("forall(Jug, lambda j: j.litres <= j.size)")
	// 16 states of two jugs and one of none, 2 of one alone
	if x.failed != nil || x.queue != 0 || x.partly != "" || x.known.n != 16+2+1 {
		t.Errorf("%d states, %d left, %s, %v", x.known.n, x.queue, x.partly, x.failed)
	}
	if x = with("old(sum(Jug, lambda j: j.litres)) <= 7"); x.failed == nil {
		t.Error("two full jugs hold 8 litres, and no state shows it")
	}
}

const shelf = `
module("none.wasm")
explore(threads = 1)
Box = entity(id = string, size = int(1, 3))
Lid = entity(id = string, size = int(1, 3))
size = input(int(1, 3))
sure = input(bool)
ink = input(enum("red", "blue"))
def make():
    b = new(Box, size = size)
    call("make", size, returns = Box)
def cover():
    l = new(Lid, size = 1)
    call("cover", returns = Lid)
def paint():
    b = any(Box)
    b.size = 3
    call("paint", b, ink, sure, returns = int, answer = 7)
def pair():
    b = any(Box)
    l = any(Lid)
    call("pair", b, l)
main = protocol(repeat(0, 3, alt(make, cover, paint, pair)))
`

// Values of each type and the names that a trace has for instances are compared with
// what the model passes and makes.
func TestConformValues(t *testing.T) {
	const made = `{"action":"make","args":{"size":2},"returns":"k"}` + "\n"
	const covered = `{"action":"cover","returns":"k"}` + "\n"
	for _, c := range []struct {
		name, trace string
		at          int
		why         string
	}{
		{"an enum and a truth", made + `{"action":"paint","args":{"b":"k","ink":"red","sure":false},"returns":7}`, 2, ""},
		{"nothing said", made + `{"action":"paint"}`, 2, ""},
		{"the answer of another", made + `{"action":"paint","args":{"ink":"red"},"returns":6}`, 1, "the model answers 7"},
		{"no such word", made + `{"action":"paint","args":{"ink":"green"}}`, 1, "ink = green is not a value of the input ink"},
		{"a word of something else", made + `{"action":"paint","args":{"ink":""}}`, 1, "is not a value of the input ink"},
		{"no truth", made + `{"action":"paint","args":{"sure":1}}`, 1, "sure = 1 is not a value of the input sure"},
		{"the least", `{"action":"make","args":{"size":1}}`, 1, ""},
		{"below it", `{"action":"make","args":{"size":0}}`, 0, "size = 0 is not a value of the input size"},
		{"the greatest", `{"action":"make","args":{"size":3}}`, 1, ""},
		{"above it", `{"action":"make","args":{"size":4}}`, 0, "size = 4 is not a value"},
		{"no integer", `{"action":"make","args":{"size":2.5}}`, 0, "size = 2.5 is not a value"},
		{"half an integer", `{"action":"make","args":{"size":"2x"}}`, 0, "size = 2x is not a value"},
		{"the name of two", made + made, 1, "not with these arguments"},
		{"two names of one", made + `{"action":"paint","args":{"b":"k"}}` + "\n" + `{"action":"paint","args":{"b":"j"}}`, 2, "not with these arguments"},
		{"names of two entities", made + covered + `{"action":"pair","args":{"b":"k","l":"k"}}`, 3, ""},
		{"any name, kept", `{"action":"make"}` + "\n" + `{"action":"make"}` + "\n" + `{"action":"paint","args":{"b":"i"}}` + "\n" + `{"action":"paint","args":{"b":"j"}}`, 4, ""},
		{"a third of two", `{"action":"make"}` + "\n" + `{"action":"make"}` + "\n" + `{"action":"paint","args":{"b":"i"}}` + "\n" + `{"action":"paint","args":{"b":"j"}}` + "\n" + `{"action":"paint","args":{"b":"k"}}`, 4, "not with these arguments"},
		{"not refused", made + `{"action":"make","rejected":false}`, 2, ""},
		{"refused by nothing", made + `{"action":"make","rejected":null}`, 2, ""},
		{"refused", made + `{"action":"make","rejected":true}`, 1, "it was refused, and the model allows it"},
		{"refused, and not done", `{"action":"paint","rejected":true}` + "\n" + `{"action":"pair"}`, 1, "the model does not allow the action here; it allows cover, make"},
		{"blank lines", "\n\n" + made + "\n" + made, 1, "not with these arguments"},
		{"too many arguments", `{"action":"cover","args":{"size":1}}`, 0, "has no argument s"},
		{"ITF: where it begins is no step", `{"states":[{"action":"init"},{},{"action_taken":"make","mbt::nondetPicks":{"size":{"tag":"Some","value":2},"ink":{"tag":"None","value":{}}}},{"mbt::actionTaken":"paint","args":{"ink":"red"}}]}`, 2, ""},
		{"ITF: arguments before picks", `{"states":[{"action":"make","args":{"size":4},"mbt::nondetPicks":{"size":1}}]}`, 0, "size = 4 is not a value"},
		{"ITF: picks", `{"states":[{"action":"make","mbt::nondetPicks":{"size":{"tag":"Some","value":{"#bigint":"4"}}}}]}`, 0, "size = 4 is not a value"},
	} {
		steps, err := readTrace([]byte(c.trace))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		at, why, _, _ := alone(t, "shelf.model.star", shelf).conform(steps, false)
		if at != c.at || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: step %d, %s", c.name, at, why)
		}
	}
	steps, err := readTrace([]byte(`{"states":[{"action":"init"},{"action":"make","args":{"size":{"#bigint":"4"},"b":{"tag":"Some","value":[1,"x"]},"a":{"tag":"x"}}}]}`))
	if err != nil || len(steps) != 1 || steps[0].String() != `make(a = {"tag":"x"}, b = [1,"x"], size = 4)` || steps[0].at != "state 1" {
		t.Errorf("%v, %v", steps, err)
	}
	if steps, err = readTrace([]byte("\n" + made)); err != nil || steps[0].at != "line 2" {
		t.Errorf("%v, %v", steps, err)
	}
	for trace, want := range map[string]string{"\nx": "line 2: must be", made + `{"args":{}}`: "line 2: names no action", " \n": "the trace has no steps"} {
		if _, err := readTrace([]byte(trace)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", trace, err)
		}
	}
}

// What is written of a trace is read again, in both formats, and names the same steps.
func TestTracesWritten(t *testing.T) {
	const model = `
A = entity(n = int(0, 20), on = bool)
k = input(int(1, 3))
w = input(string("a", "b c", "7"))
def make():
    require(count(A) < 2)
    a = new(A, n = 0, on = True)
    call("make", returns = A)
def add():
    a = any(A, lambda x: x.n + k <= 20)
    a.n += k
    call("add", a, k, w, returns = int, answer = a.n + k)
low = always(forall(A, lambda a: a.n < 5))
`
	const recorded = `{"action": "make", "returns": 17}
{"action": "make", "returns": 18}
{"action": "add", "args": {"a": 18, "k": 2, "w": "b c"}, "returns": 2}
{"action": "add", "args": {"a": 18, "k": 1, "w": "7"}}
{"action": "add", "args": {"a": 18, "k": 3, "w": "a"}}
`
	c := alone(t, "x.model.star", model)
	steps, err := readTrace([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	at, why, _, past := c.conform(steps, true)
	if at != 4 || why != "low does not hold after add: not for A#2" {
		t.Fatalf("step %d: %s", at, why)
	}
	for file, want := range map[string]string{
		"x.jsonl": `{"action":"add","args":{"a":"A#2","k":1,"w":"7"},"returns":3}`, "x.itf.json": `"format": "ITF"`,
	} {
		var b bytes.Buffer
		if err := c.writeTrace(&b, file, past); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", file, err, b.String())
		}
		again, err := readTrace(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if at, why, _, _ := alone(t, "x.model.star", model).conform(again, false); at != 4 || len(again) != 4 {
			t.Errorf("%s: step %d of %d: %s", file, at, len(again), why)
		}
	}
	x := alone(t, "x.model.star", model)
	broken := x.exhaust(context.Background(), 6)
	var names []string
	for s := x.retrace(choice.Encode(broken.failed)); s != nil; s = s.before {
		names = append(names, s.step.Action)
	}
	if got := strings.Join(names, " "); got != "add add make" {
		t.Errorf("the steps that break the property are %s, last first", got)
	}
}

// An action that calls nothing is recorded with the instance that it chose, by its name in the model.
func TestConformChosenInstances(t *testing.T) {
	const text = `"""Lights."""
Light = entity(on = bool)
def make():
    l = new(Light, on = False)
def turn():
    l = any(Light)
    require(not l.on)
    l.on = True
safe = always(forall(Light, lambda l: l.on or not l.on), "Always so.")
`
	const two = `{"action":"make"}` + "\n" + `{"action":"make"}` + "\n"
	for _, c := range []struct {
		name, trace string
		at          int
		why         string
	}{
		{"each once", two + `{"action":"turn","args":{"l":"a"}}` + "\n" + `{"action":"turn","args":{"l":"b"}}`, 4, ""},
		{"one twice", two + `{"action":"turn","args":{"l":"a"}}` + "\n" + `{"action":"turn","args":{"l":"a"}}`, 3, "not with these arguments"},
		{"an answer", two + `{"action":"turn","args":{"l":"a"},"returns":true}`, 3, ""},
		{"no such name", two + `{"action":"turn","args":{"lamp":"a"}}`, 2, "turn has no argument lamp"},
	} {
		steps, err := readTrace([]byte(c.trace))
		if err != nil {
			t.Fatal(err)
		}
		at, why, _, _ := alone(t, "lights.model.star", text).conform(steps, false)
		if at != c.at || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: step %d, %q", c.name, at, why)
		}
	}
}

// Values of a trace are those of the model: whole numbers of any size, and what a variant
// holds.
func TestPlainTextOfTraces(t *testing.T) {
	for _, text := range []string{
		`{"action": "add", "args": {"n": 9007199254740993}}`,
		`{"states": [{"action": "add", "mbt::nondetPicks": {"n": 9007199254740993, "m": {"tag": "None"}}}]}`,
	} {
		list, err := readTrace([]byte(text))
		if err != nil || len(list) != 1 || plainText(list[0].Args["n"]) != "9007199254740993" {
			t.Errorf("%s: %v %v", text, list, err)
		}
	}
	for want, v := range map[string]any{
		"null":           map[string]any{"tag": "Some", "value": nil},
		"a":              map[string]any{"tag": "Left", "value": "a"},
		`{"tag":"None"}`: map[string]any{"tag": "None"},
		"12":             map[string]any{"#bigint": "12"},
	} {
		if got := plainText(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// Side effects are looked at of an action that is observed, if they are to be captured.
func TestHooked(t *testing.T) {
	p := &plan{doc: &ir.Document{Bindings: ir.Bindings{Observe: []string{"open"}, Capture: []string{"side_effects"}}}}
	for key, want := range map[[2]string]bool{{"open", "side_effects"}: true, {"open", "args"}: false, {"shut", "side_effects"}: false} {
		if got := p.hooked(key[0], key[1]); got != want {
			t.Errorf("%v: %t", key, got)
		}
	}
}
