package fresnelfir_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
)

// A key of another type is an error that names the types that take it.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: ir.Format(), Unknown: diag.Warning, Contract: fresnelfir.New(nil), Path: "article.json",
		Base: read(t, "../../examples/fresnelfir/article.json"),
	}.Run(t)
}

// A model that is explored alone and says nothing that could be broken is judged by
// nothing: that is a warning, and its cases are skipped. Each thing that can be broken
// is a judge.
func TestAloneWithoutProperties(t *testing.T) {
	const plain = `module("x.wasm")
Order = entity(total = int, paid = bool)
amount = input(int(1, 10))
def total_of(o = Order):
    return o.total
asks = observer("asks", o = Order, returns = int, models = total_of)
def place():
    o = new(Order, total = amount, paid = False)
    call("place", amount, returns = Order)
`
	for name, c := range map[string]struct {
		from, to string
		judged   bool
	}{
		"nothing":       {},
		"a property":    {"asks =", "fine = always(forall(Order, lambda o: o.total < 100))\nasks =", true},
		"a bound":       {"int, paid", "int(0, 9), paid", true},
		"words":         {"total = int, paid = bool", `total = int, w = enum("a", "b"), paid = bool`, false},
		"kept words":    {"total = int,", "total = int, low = int(0, 3),", false},
		"postcondition": {"asks =", "gen = generator(place, then = exists(Order, lambda o: o.total > 0))\nasks =", true},
	} {
		text := strings.Replace(plain, c.from, c.to, 1)
		list, diags := fresnelfir.New(nil).Compile(t.Context(), campaign.Spec{Path: "x.model.star", Data: []byte(text)}, campaign.Settings{
			Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist }, Options: map[string][]string{"module": {"none"}},
		})
		if warned := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.vacuous" }); diags.HasErrors() || warned == c.judged {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		x, err := campaign.Solo(t.Context(), list[0], campaign.Lane{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := x.Execute(t.Context(), list[0].Start(campaign.Facts{}), campaign.Case{})
		if err != nil || (o.Verdict == campaign.VerdictSkip) == c.judged {
			t.Errorf("%s: %v %+v", name, err, o)
		}
	}
}

// What is said of a section of a model in the language stands where it is written, and a
// fault of its system file names the key.
func TestPlacesOfSections(t *testing.T) {
	const text = `system("shop.system.yaml")
Order = entity(total = int(0, 9))
explore(threads = 0, mode = "prallel",
        actor = Ordr)
def place():
    o = new(Order, total = 1)
    call("place", returns = Order)
fine = always(forall(Order, lambda o: o.total < 9))
`
	_, list := fresnelfir.New(nil).Compile(t.Context(), campaign.Spec{Path: "x.model.star", Data: []byte(text)}, campaign.Settings{
		Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist }, Options: map[string][]string{"module": {"none"}},
	})
	said := list.Error()
	for _, want := range []string{"x.model.star:3:19: warning: is 0, so", `x.model.star:3:29: warning: is "prallel",`, "x.model.star:4:17: error: must be an entity"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	_, list = fresnelfir.New(nil).Compile(t.Context(), campaign.Spec{Path: "x.model.star", Data: []byte(strings.Replace(text, "explore(threads = 0, mode = \"prallel\",\n        actor = Ordr)\n", "", 1))}, campaign.Settings{
		Read: func(string) ([]byte, error) { return []byte("schema: thresh.system.v1\nkind: http\nurll: x\n"), nil },
	})
	if said = list.Error(); !strings.Contains(said, "shop.system.yaml:3:1: error: urll: ") {
		t.Errorf("%s", said)
	}
}
