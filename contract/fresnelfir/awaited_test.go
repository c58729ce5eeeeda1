package fresnelfir

import (
	"context"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/engine/choice"
)

const parcels = `
module("parcels.wasm")

Parcel = entity(state = enum("new", "paid", "sent", "lost"), tries = int(0, 3))
size = input(int(1, 2))

def take():
    require(count(Parcel) < 2)
    p = new(Parcel, state = "new", tries = 0)
    call("take", returns = Parcel)

def pay():
    p = any(Parcel, state = "new")
    p.state = "paid"
    call("pay", p)

def send():
    p = any(Parcel, lambda p: p.state == "paid" and p.tries < size)
    p.state = "sent"
    call("send", p, size)

def fail():
    p = any(Parcel, lambda p: p.state == "paid" and p.tries < MOST)
    p.tries += 1
    call("fail", p)

p = PROPERTY
`

// What is awaited comes about in every behaviour in which fair actions are not put off for
// ever, or within so many actions.
func TestAwaited(t *testing.T) {
	const (
		sent   = `lambda p: p.state == "sent"`
		paid   = `lambda p: p.state == "paid"`
		either = `lambda p: p.state in ["sent", "lost"]`
	)
	for _, c := range []struct {
		property, most string // how often sending may fail
		holds          bool
	}{
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, fair = [send])`, "1", true},
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, fair = [send])`, "2", false}, // nothing is allowed after two
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, fair = [take])`, "1", false},
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, fair = [send], within = 2)`, "1", true}, // it fails, and is sent
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, fair = [send], within = 0)`, "1", false},
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, within = 2)`, "2", true},
		{`leads_to(Parcel, ` + paid + `, ` + sent + `, within = 2)`, "3", false},
		{`eventually(Parcel, ` + sent + `, fair = [pay, send])`, "1", true},
		{`eventually(Parcel, ` + sent + `, fair = [send])`, "1", false}, // nobody has to pay
		{`eventually(Parcel, ` + paid + `, fair = [pay])`, "2", true},   // it was paid, whatever comes then
		{`until(Parcel, lambda p: p.tries == 0, ` + paid + `, fair = pay)`, "2", true},
		{`until(Parcel, lambda p: p.tries == 0, ` + sent + `, fair = [pay, send])`, "1", false},
		{`until(Parcel, lambda p: p.tries <= 1, ` + sent + `, fair = [pay, send], "why")`, "1", true},
	} {
		text := strings.Replace(strings.Replace(parcels, "PROPERTY", c.property, 1), "MOST", c.most, 1)
		x := alone(t, "parcels.model.star", text).exhaust(context.Background(), 12)
		if got := x.failed == nil; got != c.holds {
			t.Errorf("%s, %s failures: holds is %t", c.property, c.most, got)
		}
		if x.failed == nil && x.t.m.Tried[0] == 0 {
			t.Errorf("%s: never put to the test", c.property)
		}
	}
}

// The steps of a finding leave out what only notes how long an instance has waited.
func TestStepsLeaveOutWaiting(t *testing.T) {
	text := strings.Replace(strings.Replace(parcels, "PROPERTY", `leads_to(Parcel, lambda p: p.state == "paid", lambda p: p.state == "sent", fair = [take])`, 1), "MOST", "1", 1)
	c := alone(t, "parcels.model.star", text)
	e := &executor{c: c, t: newTraversal(c.plan)}
	got := string(e.traceCase(choice.Encode(c.exhaust(context.Background(), 12).failed)).encode())
	if !strings.Contains(got, "state: new -\\u003e paid") || strings.Contains(got, ".wait") {
		t.Errorf("got %s", got)
	}
}

// The example that programs read is a model without faults.
func TestExampleOfTheLanguage(t *testing.T) {
	alone(t, "example.model.star", string(lang.Example))
}
