package fresnelfir

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A traversal of model and module, with every check on, allocates nothing once
// its buffers have grown: decisions, expressions, effects, properties, calls.
func TestTraversalsAllocateNothing(t *testing.T) {
	g := engine(t)
	for name, module := range map[string][]byte{
		"article": exampleModule("article", ""), "bank": exampleModule("bank", ""), "cache": exampleModule("cache", ""), "queue": exampleModule("queue", ""),
	} {
		c := withModuleNamed(t, g, name+".json", readExample(t, name+".json"), module)
		x, s := open(t, c), c.Start(campaign.Facts{})
		for i := range int64(60) {
			// The first run, which is not counted, lets buffers grow.
			if n := testing.AllocsPerRun(2, func() {
				if err := c.prepare(x.t, s, campaign.Case{Index: i}); err != nil {
					t.Fatal(err)
				}
				x.t.run()
			}); n > 0 {
				t.Errorf("%s: case %d allocates %v times in %d steps", name, i, n, x.t.actions)
			}
		}
	}
}

// A check, which an editor makes with every letter typed, takes what is in proportion to a
// model's length: neither what runs alone need, such as which branches lead to which or the
// model as JSON, nor a solver for guards that hold at the first try.
func TestCheckAllocatesInProportion(t *testing.T) {
	allocated := func(actions int) uint64 {
		text := longModel(actions)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, list := New(nil).Compile(t.Context(), campaign.Spec{Path: "long.model.star", Data: []byte(text)}, campaign.Settings{Check: true})
		runtime.ReadMemStats(&after)
		if list.HasErrors() {
			t.Fatal(list)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(1)
	few, many := allocated(100), allocated(400)
	if few > 100*34_000 || many > 9*few/2 {
		t.Errorf("100 actions take %d bytes, 400 take %d", few, many)
	}
}

// longModel is a model of so many actions, of six lines each.
func longModel(actions int) string {
	var b strings.Builder
	b.WriteString("Order = entity(state = enum(\"new\", \"paid\"), total = int(0, 1000))\namount = input(int(1, 100))\n")
	for i := range actions {
		fmt.Fprintf(&b, "def act_%d():\n    o = any(Order, state = \"new\")\n    require(o.total + amount < %d)\n    o.state = \"paid\"\n    o.total += amount\n    call(\"act_%d\", o, amount, returns = int, rejects = \"<0\")\n", i, i+100, i)
	}
	return b.String() + "kept = always(forall(Order, lambda o: o.total <= 1000))\n"
}
