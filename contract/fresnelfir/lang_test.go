package fresnelfir

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/system/wasm"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Every document can be written in the language, and comes back as it was.
func TestFormatAndCompile(t *testing.T) {
	files := []string{"starter/model.json"}
	for _, pattern := range []string{"../../examples/fresnelfir/*.json", "../../examples/systems/*.json", "testdata/*.json", os.Getenv("MODELS")} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	if len(files) < 6 {
		t.Fatal("the examples are gone")
	}
	odd := filepath.Join(t.TempDir(), "odd.json") // names that the language has another use for, or cannot write
	args := `"args": ["from", "returns", "some-name", "line"], "values": {"from": {"is": "line"}, "returns": 7, "some-name": ["field", "actor", "nick"]}`
	if err := os.WriteFile(odd, []byte(strings.Replace(notes, `"args": ["line", "actor_nick"]`, args, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	files = append(files, odd)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source, list := formatted(f, text)
		if list.HasErrors() {
			t.Errorf("%s: %v", f, list)
			continue
		}
		t.Logf("%s\n%s", f, source)
		data, list := asJSON("x.model.star", []byte(source))
		if list.HasErrors() {
			t.Errorf("%s: %v", f, list)
			continue
		}
		want, _ := doctree.ParseJSON(text, jsontree.Options{})
		got, _ := doctree.ParseJSON(data, jsontree.Options{})
		if a, b := want.Root.JSON(), got.Root.JSON(); !a.Equal(&b) {
			t.Errorf("%s comes back as another document", f)
		}
	}
}

// modelled is an example in the language, with a module.
func modelled(t *testing.T, g *wasm.Engine, path string, module []byte, budget int64) *Campaign {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 80 {
		t.Errorf("%s has %d lines", path, n)
	}
	var digests []string
	var c *Campaign
	data, _ := asJSON(path, text)
	for name, text := range map[string][]byte{path: text, strings.TrimSuffix(path, ".model.star") + ".json": data} {
		list, diags := New(g.Open).Compile(context.Background(), campaign.Spec{Path: name, Data: text}, campaign.Settings{
			Read: func(string) ([]byte, error) { return module, nil },
		})
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		c, _ = campaign.As[*Campaign](list[0])
		digests = append(digests, fmt.Sprint(c.Identity()))
	}
	if digests[0] != digests[1] {
		t.Errorf("%s is another campaign than what it is compiled to: %s and %s", path, digests[0], digests[1])
	}
	c.budget = budget
	return c
}

// The examples in the language are short, stand for the same campaign as what they are
// compiled to, find nothing wrong with the modules as they should be, and all faults.
func TestModelsInTheLanguage(t *testing.T) {
	g := engine(t)
	files := map[string]string{
		"cache": "fresnelfir/cache.model.star", "article": "fresnelfir/permissions.model.star",
		"bank": "fresnelfir/bank.model.star", "queue": "fresnelfir/queue.model.star",
	}
	for _, s := range exampleSystems() {
		path := files[s.Name]
		if path == "" {
			continue
		}
		c := modelled(t, g, path, s.Module(""), 1000)
		if _, failing := explore(t, c, ""); len(failing) > 0 {
			t.Errorf("%s: %v", path, failing)
		}
		for _, fault := range s.Faults {
			c := modelled(t, g, path, s.Module(fault), 10000)
			if _, failing := explore(t, c, firstFailure); len(failing) == 0 {
				t.Errorf("%s: %q is not found", path, fault)
			}
		}
	}
}

// Errors that the translation finds and those that the document has are listed together,
// each once, and none that follows from another.
func TestAllErrorsOfAModel(t *testing.T) {
	_, list := load("x.model.star", []byte(`Order = entity(state = enum("new", "paid"), total = int(0, 9), buyer = ref(Usr))
User = entity(vip = boool)
amount = inptu(int(1, 5))

def pay():
    o = any(Order, stat = "new")
    o.total -= amount
    o.state = 5

def half()
    o = any(Order)

def vip():
    u = any(User, vip = True)
    wait(3)

a = always(forall(Orders, lambda o: o.total >= 0))
b = always(forall(Order, lambda o: o.total >= exsts(1)))
c = always(sum(Order, lambda o: o.total))
p = protocol(alt(pay, half, vip))
g = generator(pay, hlf)
`))
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, strings.TrimPrefix(d.Code, "fresnelfir.")))
	}
	want := "1:76 dangling-entity-ref, 2:21 unknown-type, 3:10 unknown-word, 6:20 unknown-field, 8:15 value-type, 11:1 syntax, " +
		"15:5 expression, 17:12 dangling-entity-ref, 18:47 unknown-function, 19:12 not-a-condition, 21:20 missing-effect"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got\n%s, want\n%s", s, want)
	}
}

// Nothing is said of the uses of a collection whose type is refused, but of other lines.
func TestUsesOfRefusedCollections(t *testing.T) {
	_, list := load("x.model.star", []byte(`A = entity(xs = list(int(0, 9)), s = set(int(1, 2), 3.5), q = map(int(0, 3)))
def grow():
    a = any(A)
    require(len(a.xs) < 2)
    a.xs.append(1)
    a.q[1] = 2
    a.s.add(2)
    a.t = 1
    call("grow", a)
`))
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%d %s", d.Pos.Line, strings.TrimPrefix(d.Code, "fresnelfir.")))
	}
	if s := strings.Join(got, ", "); s != "1 arity, 1 type, 1 arity, 8 unknown-field" {
		t.Error(s)
	}
}

// What is wrong with the type of an answer stands where the call says it.
func TestPlaceOfReturns(t *testing.T) {
	_, list := load("x.model.star", []byte(`Order = entity(total = int(0, 9))
def make():
    o = new(Order, total = 1)
    call("make",
        returns = Odrer)
kept = always(count(Order) == 1)
`))
	if len(list) == 0 || list[0].Code != "fresnelfir.unknown-return-type" || list[0].Pos.Line != 5 || list[0].Pos.Col != 19 {
		t.Errorf("got %v", list)
	}
}

// An entity whose instances are used as values has an identity, though the source names none.
func TestIdentityOfInstances(t *testing.T) {
	d, list := load("x.model.star", []byte(`A = entity(n = int(0, 9))
B = entity(of = ref(A), n = int(0, 9))
def make():
    a = new(A, n = 1)
def other():
    a = any(A)
    b = new(B, of = a, n = 0)
def swap():
    a = any(A)
    c = any(A, lambda x: x != a)
    a.n = c.n
`))
	if list.HasErrors() || d.Entity("A").Field("id") == nil || d.Entity("B").Field("id") != nil {
		t.Error(list)
	}
}

// An effect that the document's own key adds has no binding, which is said.
func TestEffectWithoutBinding(t *testing.T) {
	_, list := load("x.model.star", []byte(`A = entity(n = int(0, 9))
def make():
    a = new(A, n = 1)
ir("effects", "other", {})
p = protocol(seq(make, call("other")))
`))
	if !list.HasErrors() || list[len(list)-1].Code != "fresnelfir.missing-binding" {
		t.Error(list)
	}
}
