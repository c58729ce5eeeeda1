package fresnelfir

import (
	"context"
	"strings"
	"testing"
)

const drawers = `
module("none.wasm")
Drawer = entity(a = int(0, 9), b = int(0, 9), was = int(0, 9), made = int(0, 9), number = int(0, 9), items = list(int(0, 2), 3))
v = input(int(0, 2))
def both(d = Drawer): return d.a + d.b
def make():
    others = count(Drawer)
    require(others < 2)
    d = new(Drawer, a = 1, b = 2, was = 0, made = count(Drawer), number = others, items = [0, 1, 2])
def swap():
    d = any(Drawer)
    a = d.a
    d.a = d.b
    d.b = a
def total():
    d = any(Drawer)
    n = both(d)
    all = sum(Drawer, lambda d: d.b)
    d.b = 0
    if n > 2:
        d.b = n - d.a
    d.was = all
def ends():
    d = any(Drawer)
    last = len(d.items) - 1
    first = d.items[0]
    end = d.items[last]
    d.items[0] = end
    d.items[last] = first
def turn():
    d = any(Drawer)
    x = d.items[0]
    d.items.pop(0)
    d.items.append(x)
p = always(PROPERTY)
explore(threads = 1)
`

// A name stands for the value that it was given, whatever is assigned or made later, as in Python.
func TestNamesKeepTheirValues(t *testing.T) {
	for _, property := range []string{
		`forall(Drawer, lambda d: d.a + d.b == 3 and d.a != d.b)`,
		`forall(Drawer, lambda d: d.number < count(Drawer)) and (count(Drawer) == 0 or exists(Drawer, lambda d: d.number == 0))`,
		`count(Drawer, lambda d: d.number == 1) == (1 if count(Drawer) == 2 else 0)`,
		`forall(Drawer, lambda d: d.made == d.number)`,
		`forall(Drawer, lambda d: d.was == old(d.was) or d.was == old(sum(Drawer, lambda e: e.b)))`,
		`forall(Drawer, lambda d: len(d.items) == 3 and sum(d.items) == 3 and 0 in d.items and 1 in d.items and 2 in d.items)`,
	} {
		x := alone(t, "drawers.model.star", strings.Replace(drawers, "PROPERTY", property, 1)).exhaust(context.Background(), 100)
		if x.failed != nil || x.queue > 0 {
			t.Errorf("%s: %+v, %d states in the queue", property, x.failed, x.queue)
		}
	}
	x := alone(t, "drawers.model.star", strings.Replace(drawers, "PROPERTY", `forall(Drawer, lambda d: d.a == 1)`, 1)).exhaust(context.Background(), 100)
	if x.failed == nil {
		t.Error("nothing is swapped")
	}
}

// A misspelt entity is one error, where it stands.
func TestUnknownEntityOnce(t *testing.T) {
	text := "module(\"none.wasm\")\nOrder = entity(n = int(0, 9))\ndef pay():\n    o = any(Ordr)\n    o.n = 1\n"
	_, list := load("pay.model.star", []byte(text))
	if len(list) != 1 || list[0].Pos.Line != 4 || list[0].Pos.Col != 13 {
		t.Errorf("got %v", list)
	}
}
