package fresnelfir

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// Whatever is cut out of a source, doubled or moved, it is compiled or refused; what is
// compiled can be written again.
func TestTornSources(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	k := New(nil)
	for _, file := range []string{"../../examples/fresnelfir/permissions.model.star", "../../examples/fresnelfir/cache.model.star", "../../examples/systems/orders.model.star", "../../examples/fresnelfir/queue.model.star", "lang/example.model.star", "lang/testdata/errors.model.star"} {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range testproc.Times(60, 20) {
			src := append([]byte(nil), whole...)
			for range 1 + r.IntN(3) {
				from := r.IntN(len(src))
				to := min(len(src), from+1+r.IntN(12))
				switch r.IntN(3) {
				case 0:
					src = append(src[:from:from], src[to:]...)
				case 1:
					src = append(src[:to:to], src[from:]...)
				default:
					at := r.IntN(len(src))
					src = append(src[:at:at], append(append([]byte(nil), src[from:to]...), src[at:]...)...)
				}
			}
			list, diags := k.Compile(context.Background(), campaign.Spec{Path: "x.model.star", Data: src}, campaign.Settings{Check: true})
			// What was kept of the source before makes no difference.
			again, alone := New(nil).Compile(context.Background(), campaign.Spec{Path: "x.model.star", Data: src}, campaign.Settings{Check: true})
			if fmt.Sprint(diags) != fmt.Sprint(alone) || len(list) > 0 && list[0].Identity() != again[0].Identity() {
				t.Fatalf("%s: %v, alone %v", src, diags, alone)
			}
			if diags.HasErrors() {
				continue
			}
			if _, more := formatted("x.model.star", src); more.HasErrors() {
				t.Errorf("%s: %v", src, more)
			}
			c, _ := campaign.As[*Campaign](list[0])
			x := open(t, c)
			for n := range int64(3) {
				if err := x.c.prepare(x.t, nil, campaign.Case{Index: n}); err != nil {
					t.Fatal(err)
				}
				x.t.run()
			}
		}
	}
}

// A check takes no longer for functions that call each other than for as many that do not.
func TestManyFunctions(t *testing.T) {
	var src strings.Builder
	src.WriteString("Order = entity(n = int(0, 9))\ndef f0(o = Order): return o.n\n")
	const last = 3999
	for i := range last {
		fmt.Fprintf(&src, "def f%d(o = Order): return f%d(o)\n", i+1, i)
	}
	fmt.Fprintf(&src, "def go():\n    o = any(Order)\n    require(f%d(o) < 5)\n    o.n += 1\n    call(\"go\", o)\n", last)
	start := time.Now()
	c, list := New(nil).Compile(t.Context(), campaign.Spec{Path: "x.model.star", Data: []byte(src.String())}, campaign.Settings{})
	if list.HasErrors() || len(c) != 1 {
		t.Fatal(list)
	}
	if took := time.Since(start); took > 30*time.Second { // it takes a fifth of a second, and two minutes if each is looked at for each
		t.Errorf("took %v", took)
	}
}

// What is wrong with one statement is said beside what is wrong with another, wherever it stands.
func TestErrorsOfEveryStatement(t *testing.T) {
	const src = `n = input(int(9, 1))
Order = entity(n = int(0, 9))
def go():
    o = any(Order)
    o.n = amuont
    call("go", o)
asked = observer("asked")
p = protocol(alt())
ir("effects", "other", {"sets": [
    {}
]})
bad = input(oddly(3),
    alias = 4)
gone = protocol(repeat(1, 2, alt(go, never)))
`
	_, list := New(nil).Compile(t.Context(), campaign.Spec{Path: "x.model.star", Data: []byte(src)}, campaign.Settings{Check: true})
	var lines []int
	for _, d := range list {
		lines = append(lines, d.Pos.Line)
	}
	if !slices.Equal(lines, []int{1, 5, 7, 8, 10, 12, 13, 14}) {
		t.Errorf("%v", list)
	}
}

// Of an observer of something that could not be read, it is not said that its answers have another type,
// nor of an actor that nothing binds it.
func TestNothingFollowsFromADeclarationThatIsNoStarlark(t *testing.T) {
	const text = `module("m.wasm")
Lift = entity(at = int(0, 5), load = int(0, 4))
def floor(l = Lift): return l.at
at = observer("at", l = Lift, returns = int, models = floor)
def go():
    l = any(Lift)
    l.at += 1
explore(threads = 1, actor = Lift)
def stop():
    up = floor(actor)
    actor.at = 1 if up > 1 else 2
`
	if _, list := asJSON("m.model.star", []byte(text)); len(list) != 1 || list[0].Pos.Line != 2 {
		t.Error(list)
	}
}
