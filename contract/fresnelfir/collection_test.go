package fresnelfir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

const cart = `
module("cart.wasm")

Place = record(city = enum("oslo", "rome"), zip = int(1, 9))
Line = record(sku = enum("x", "y"), n = int(1, 2))
Cart = entity(
    opened = int(0, 1),
    at = Place,
    tags = set("red", "blue"),
    left = map(enum("x", "y"), int(0, 3)),
    lines = list(Line, 2),
    sizes = list(int(1, 2), 2),
)
sku = input(enum("x", "y"))
n = input(int(1, 2))
tag = input(enum("red", "blue"))

def open():
    require(not exists(Cart, lambda c: c.opened == 1))
    c = new(Cart, opened = 1, at = {"city": "rome", "zip": 2}, tags = ["red"], left = {"x": 3, "y": 3}, sizes = [n])
    call("open", returns = Cart)

def put():
    c = any(Cart, lambda c: len(c.lines) < 2 and c.left[sku] >= n)
    c.left[sku] -= n
    c.lines.append({"sku": sku, "n": n})
    call("put", c, sku, n)

def drop():
    c = any(Cart, lambda c: len(c.lines) > 0)
    c.left[c.lines[0].sku] += c.lines[0].n
    c.lines.pop(0)
    call("drop", c)

def pop():
    c = any(Cart, lambda c: len(c.lines) > 0)
    last = len(c.lines) - 1
    c.left[c.lines[last].sku] += c.lines[last].n
    c.lines.pop()
    call("pop", c)

def mark():
    c = any(Cart)
    if tag in c.tags:
        c.tags.remove(tag)
    else:
        c.tags.add(tag)
    call("mark", c, tag)

p = always(PROPERTY)
`

// Records, lists, sets and maps hold what actions put into them, in every state.
func TestCollections(t *testing.T) {
	for _, c := range []struct {
		property string
		holds    bool
	}{
		{`forall(Cart, lambda c: c.left["x"] + sum([l.n for l in c.lines if l.sku == "x"]) == 3)`, true},
		{`forall(Cart, lambda c: sum(c.left) + sum(c.lines, lambda l: l.n) == 6)`, true},
		{`forall(Cart, lambda c: sum(c.left) + sum(c.lines, lambda l: l.n) == 5)`, false},
		{`forall(Cart, lambda c: len(c.lines) < 2)`, false},
		{`forall(Cart, lambda c: len(c.lines) <= 2 and c.at.city == "rome" and c.at.zip == 2)`, true},
		{`forall(Cart, lambda c: "red" in c.tags)`, false},
		{`forall(Cart, lambda c: len(c.tags) == count([t for t in c.tags if t != "green"]))`, true},
		{`not exists(Cart, lambda c: "red" in c.tags and "blue" in c.tags)`, false},
		{`forall(Cart, lambda c: exists(c.lines, lambda l: l.n == 2))`, false},
		{`forall(Cart, lambda c: forall(c.lines, lambda l: l.n <= 2) and len(c.sizes) == 1 and c.sizes[0] in c.sizes and c.sizes == c.sizes)`, true},
		{`forall(Cart, lambda c: 2 not in c.sizes)`, false},
	} {
		text := strings.Replace(cart, "PROPERTY", c.property, 1)
		x := alone(t, "cart.model.star", text).exhaust(context.Background(), maxSteps)
		if got := x.failed == nil; got != c.holds {
			t.Errorf("%s: holds is %t", c.property, got)
		}
		if c.holds && (x.queue > 0 || x.partly != "") {
			t.Errorf("%s: not all states were gone through", c.property)
		}
		// The fields that they stand for come back as they were.
		data, _ := asJSON("cart.model.star", []byte(text))
		source, list := formatted("cart.json", data)
		if list.HasErrors() {
			t.Fatal(list)
		}
		again, list := asJSON("cart.model.star", []byte(source))
		if list.HasErrors() {
			t.Fatalf("%s\n%v", source, list)
		}
		a, _ := doctree.ParseJSON(data, jsontree.Options{})
		b, _ := doctree.ParseJSON(again, jsontree.Options{})
		if a, b := a.Root.JSON(), b.Root.JSON(); !a.Equal(&b) {
			t.Errorf("%s comes back as another document:\n%s\n%s\n%s", c.property, data, source, again)
		}
	}
}

// The fields of the actor may be collections, too, also where nothing says who acts: of all other
// entities actions make instances. What is inserted comes first.
func TestCollectionsOfTheActor(t *testing.T) {
	const model = `
module("none.wasm")
Box = entity(waiting = list(int(1, 3), 3), last = int(0, 3))
Lease = entity(value = int(0, 3), live = bool(default = False))
v = input(int(1, 3))
def push():
    require(len(actor.waiting) < 3)
    actor.waiting.append(v)
    actor.last = v
def lease():
    require(len(actor.waiting) > 0)
    require(count(Lease) < 2)
    l = new(Lease, value = actor.waiting[0], live = True)
    actor.waiting.pop(0)
def back():
    l = any(Lease, live = True)
    require(len(actor.waiting) < 3)
    l.live = False
    actor.waiting.insert(0, l.value)
p = always(PROPERTY)
explore(threads = 1)
`
	for property, holds := range map[string]bool{
		`forall(Box, lambda b: len(b.waiting) == count(b.waiting, lambda w: w >= 1))`:                                      true,
		`forall(Box, lambda b: len(b.waiting) == 0 or b.waiting[len(b.waiting) - 1] == b.last)`:                            false, // all were leased, and one came back
		`forall(Box, lambda b: len(b.waiting) == 0 or count(Lease) > 0 or b.waiting[len(b.waiting) - 1] == b.last)`:        true,
		`not exists(Box, lambda b: len(b.waiting) == 3 and b.waiting[0] == 3 and b.waiting[1] == 1 and count(Lease) == 2)`: false,
	} {
		x := alone(t, "box.model.star", strings.Replace(model, "PROPERTY", property, 1)).exhaust(context.Background(), 10)
		if holds != (x.failed == nil) {
			t.Errorf("%s: holds %t, want %t", property, x.failed == nil, holds)
		}
	}
	for _, bad := range []string{`actor.waiting.insert(1, v)`, `actor.waiting.insert(0)`, `actor.waiting.insert(0, actor.waiting[1])`} {
		text := strings.Replace(model, "actor.waiting.insert(0, l.value)", bad, 1)
		if _, list := lang.Compile("box.model.star", []byte(text)); !list.HasErrors() {
			t.Errorf("%s is not refused", bad)
		}
	}
}

// What new leaves out of an instance has the least value of its type, as collections have;
// default = None leaves it unset. A document that says neither comes back as it was.
func TestNewLeavesOut(t *testing.T) {
	const source = `
module("m.wasm")
Room = entity(%s)
def create():
    r = new(Room, topic = "a")
    call("create", returns = Room)
def join():
    r = any(Room, gone = False)
    require(r.members < 3)
    r.members += 1
    call("join", r)
`
	for fields, want := range map[string]string{
		`topic = enum("a", "b"), members = int(2, 3), low = int(-5, -2), name = string, gone = bool, next = ref(Room)`: `{"gone":{"default":false,"type":"bool"},` +
			`"low":{"default":-2,"max":-2,"min":-5,"type":"int"},"members":{"default":2,"max":3,"min":2,"type":"int"},"name":{"default":"","type":"string"},` +
			`"next":{"entity":"Room","type":"ref"},"topic":{"type":"enum","values":["a","b"]}}`,
		`topic = enum("a", "b"), members = int(default = None), gone = bool(default = True)`: `{"gone":{"default":true,"type":"bool"},"members":{"type":"int"},"topic":{"type":"enum","values":["a","b"]}}`,
	} {
		data, list := asJSON("m.model.star", fmt.Appendf(nil, source, fields))
		if list.HasErrors() {
			t.Fatal(list)
		}
		var d struct {
			Entities map[string]struct{ Fields any }
		}
		var wanted any
		if err := errors.Join(json.Unmarshal(data, &d), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if got := d.Entities["Room"].Fields; !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s: %v", fields, got)
		}
		text, list := formatted("m.json", data)
		if list.HasErrors() {
			t.Fatal(list)
		}
		if again, _ := asJSON("m.model.star", []byte(text)); !bytes.Equal(again, data) {
			t.Errorf("comes back as another document:\n%s\n%s", text, again)
		}
	}
}
