package fresnelfir

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
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
		{"refused without need", place + `{"action":"refund","args":{"order":17,"amount":1},"rejected":"no"}`, 1, "the model allows it"},
		{"another order", place + place[:len(place)-4] + "18}\n" + `{"action":"refund","args":{"order":17,"amount":40},"returns":0}` + "\n" + `{"action":"refund","args":{"order":17,"amount":1}}`, 3, "not with these arguments"},
		{"no such action", `{"action":"plaice"}`, 0, "did you mean place?"},
		{"no such argument", `{"action":"place","args":{"sum":1}}`, 0, "none of those that the binding passes"},
		{"no such value", `{"action":"place","args":{"amount":101}}`, 0, "is no value of the input amount"},
		{"ITF", `{"states":[{"mbt::actionTaken":"init"},{"mbt::actionTaken":"place","mbt::nondetPicks":{"amount":{"tag":"Some","value":{"#bigint":"5"}}}},{"action":"refund","args":{"amount":{"#bigint":"6"}}}]}`, 1, "it allows place"},
	} {
		steps, err := readTrace([]byte(c.trace))
		if err != nil {
			t.Fatal(err)
		}
		at, why := alone(t, "orders.model.star", string(text)).conform(steps)
		if at != c.at || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: step %d, %s", c.name, at, why)
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
	// 16 states of two jugs and one of none, 2 of one alone; after each the walk goes on or ends
	if x.failed != nil || x.queue != 0 || x.partly != "" || x.known.n != 2*(16+2)+1 {
		t.Errorf("%d states, %d left, %s, %v", x.known.n, x.queue, x.partly, x.failed)
	}
	if x = with("old(sum(Jug, lambda j: j.litres)) <= 7"); x.failed == nil {
		t.Error("two full jugs hold 8 litres, and no state shows it")
	}
}
