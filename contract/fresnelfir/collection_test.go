package fresnelfir

import (
	"context"
	"strings"
	"testing"

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
		_, _, data, _ := decode("cart.model.star", []byte(text))
		source, list := formatted("cart.json", data)
		if list.HasErrors() {
			t.Fatal(list)
		}
		_, _, again, list := decode("cart.model.star", []byte(source))
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
