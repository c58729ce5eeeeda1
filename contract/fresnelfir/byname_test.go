package fresnelfir

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// shop is a model in which most actions have nothing to do with what goes wrong.
const shop = `
Order = entity(state = enum("new", "paid", "shipped"), total = int(0, 1000), refunds = int(0, 1000), kind = enum("plain", "gift", "loan"))
Clerk = entity(id = string, vip = bool)
explore(threads = 3, actor = Clerk)

amount = input(int(1, 1000))
kind = input(enum("plain", "gift", "loan"))

def place():
    o = new(Order, state = "paid", total = amount, refunds = 0, kind = kind)
    call("place", amount, kind, returns = Order)

def ship():
    o = any(Order, state = "paid")
    o.state = "shipped"
    call("ship", o)

def refund():
    o = any(Order)
    require(o.refunds < 900)
    o.refunds += 1
    call("refund", o, rejects = "<0")

def wait():
    call("wait")

PROPERTY
`

// What a traversal can do without is left out, whatever decisions it takes to reach
// the rest: every traversal that fails ends as the same few actions of one actor.
func TestReduceIsOneMinimal(t *testing.T) {
	for name, x := range map[string]struct{ property, want, args string }{
		"twice":            {`once = always(forall(Order, lambda o: o.refunds < 2))`, "place refund refund", "1 plain"},
		"twice of a gift":  {`once = always(forall(Order, lambda o: o.kind != "gift" or o.refunds < 2))`, "place refund refund", "1 gift"},
		"twice when sent":  {`once = always(forall(Order, lambda o: o.state != "shipped" or o.refunds < 2))`, "place refund refund ship", "1 plain"},
		"of a dear loan":   {`once = always(forall(Order, lambda o: o.kind != "loan" or o.total < 700 or o.refunds < 1))`, "place refund", "700 loan"},
		"two at once":      {`once = always(count(Order, lambda o: o.refunds > 0) < 2)`, "place place refund refund", "1 plain"},
		"a gift after two": {`once = always(count(Order) < 3 or not exists(Order, lambda o: o.kind == "gift"))`, "place place place", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(shop, "PROPERTY", x.property, 1)
			list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "shop.model.star", Data: []byte(text)}, campaign.Settings{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			c, _ := campaign.As[*Campaign](list[0])
			tr, failing := newTraversal(c.plan), 0
			for key := uint64(0); failing < testproc.Times(60, 20); key++ {
				if err := c.prepare(tr, nil, campaign.Case{Index: int64(key)}); err != nil {
					t.Fatal(err)
				}
				if tr.run(); tr.failed == nil || tr.failed.subject != "once" {
					continue
				}
				failing++
				at := campaign.Case{Payload: choice.Encode(slices.Clone(tr.src.Tape().Values))}
				steps, _ := smallest(t, c, at, tr.failed.title)
				if slices.Sort(steps); strings.Join(steps, " ") != x.want {
					t.Fatalf("case %d: %v, want %s", key, steps, x.want)
				}
				small, _ := c.Reduce(context.Background(), at.Payload, func(b []byte) (bool, error) {
					_ = c.prepare(tr, nil, campaign.Case{Payload: b})
					tr.run()
					return tr.failed != nil && tr.failed.subject == "once", nil
				})
				retold, _, err := c.retold(context.Background(), small)
				if err != nil {
					t.Fatal(err)
				}
				if len(retold.Cast) > 1 {
					t.Errorf("case %d: %d actors", key, len(retold.Cast))
				}
				if got := strings.NewReplacer("amount=", "", "kind=", "").Replace(strings.Join(retold.Steps[0].Args, " ")); x.args != "" && got != x.args {
					t.Errorf("case %d: the first order is %s, want %s", key, got, x.args)
				}
			}
		})
	}
}

// An instance that only had to be brought out of the way is left out with all its steps, and
// the steps say which one it is about.
func TestReduceLeavesInstancesOut(t *testing.T) {
	const text = `
Order = entity(state = enum("new", "paid", "sent", "stuck"), n = int(0, 3))
n = input(int(1, 3))
def place():
    require(count(Order) < 3)
    o = new(Order, state = "new", n = 0)
def pay():
    o = any(Order, state = "new")
    o.state = "paid"
    o.n = n
def send():
    o = any(Order, state = "paid")
    o.state = "sent"
def lose():
    o = any(Order, lambda o: o.state == "paid" and o.n == 3)
    o.state = "stuck"
sent = leads_to(Order, lambda o: o.state == "paid", lambda o: o.state == "sent", fair = [send])
`
	list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "m.model.star", Data: []byte(text)}, campaign.Settings{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	tr, failing := newTraversal(c.plan), 0
	for key := int64(0); failing < 60; key++ {
		if err := c.prepare(tr, nil, campaign.Case{Index: key}); err != nil {
			t.Fatal(err)
		}
		if tr.run(); tr.failed == nil || tr.failed.cause != "after lose" {
			continue
		}
		failing++
		payload := choice.Encode(slices.Clone(tr.src.Tape().Values))
		small, _ := c.Reduce(context.Background(), payload, func([]byte) (bool, error) { return true, nil })
		retold, _, err := c.retold(context.Background(), small)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, s := range retold.Steps {
			steps = append(steps, s.Action)
		}
		last := retold.Steps[len(steps)-1]
		if got := strings.Join(steps, " "); got != "place pay lose" || last.Result != "sent does not hold after lose: not for Order#1" {
			t.Fatalf("case %d: %s, then %q", key, got, last.Result)
		}
	}
}

// A script that nothing is left out of is the traversal itself.
func TestScriptsRepeat(t *testing.T) {
	c := compileText(t, article(t))
	tr := newTraversal(c.plan)
	for key := range int64(200) {
		if err := c.prepare(tr, nil, campaign.Case{Index: key}); err != nil {
			t.Fatal(err)
		}
		tr.run()
		values := slices.Clone(tr.src.Tape().Values)
		r := &reducer{c: c, t: tr}
		p := &prompter{t: tr, tape: values, gone: -1}
		if !r.stage(values, p.play) || !slices.Equal(tr.src.Tape().Values, values) {
			t.Fatalf("case %d: %v by its tape became %v", key, values, tr.src.Tape().Values)
		}
		// The tape may name a thread that has ended, the script names the one that acted.
		if again := (&prompter{t: tr, of: &p.now, gone: -1}); !r.stage(nil, again.play) || !reflect.DeepEqual(again.now, p.now) {
			t.Fatalf("case %d: %+v by its script became %+v", key, p.now, again.now)
		}
	}
}
