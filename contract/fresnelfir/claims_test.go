package fresnelfir

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// bare is an example of which the model says nothing that observers answer: only
// the claims of the bindings are left.
func bare(t testing.TB, name string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(readExample(t, name)) {
		if !strings.Contains(line, `"classification": "derived"`) && !strings.Contains(line, `"models":`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// What bindings claim is held against modules of which the model knows nothing else.
func TestClaims(t *testing.T) {
	g := engine(t)
	for _, c := range []struct {
		name   string
		file   string
		module []byte
		title  string
		want   string
	}{
		{"an action that mutates nothing changes what observers see", "queue.json", exampleModule("queue", "peek removes the number"),
			"peek changes what observers see, though it mutates nothing", "open push peek"},
		{"an idempotent action changes more when called twice", "bank.json", exampleModule("bank", "freezing twice thaws"),
			"freeze changes what observers see, though it is idempotent and was called twice", "open open_other freeze"},
		{"an answer changes by itself", "bank.json", exampleModule("bank", "an audit changes what the next one answers"),
			"audit answers otherwise though nothing that it reads was written", "open open_other audit audit"},
		{"a sound module", "bank.json", exampleModule("bank", ""), "", ""},
	} {
		camp := withModuleNamed(t, g, c.file, bare(t, c.file), c.module)
		camp.budget = 1000
		_, failing := explore(t, camp, "")
		if c.title == "" {
			if len(failing) > 0 {
				t.Errorf("%s: %v", c.name, failing)
			}
			continue
		}
		at, found := failing[c.title]
		if !found {
			t.Errorf("%s: not found; found %v", c.name, failing)
			continue
		}
		if steps, _ := smallest(t, camp, at, c.title); !slices.Equal(steps, strings.Fields(c.want)) {
			t.Errorf("%s: made small: %v, want %s", c.name, steps, c.want)
		}
	}
}

// An observer that counts its calls is the finding, not the action before it.
func TestObserverThatChangesItself(t *testing.T) {
	m := wasmemit.New()
	asked := m.Global(wasmemit.I32, true, 0)
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	m.Func("queue_open", nil, one).I32(1)
	m.Func("queue_push", two, one).I32(0)
	for _, name := range []string{"queue_pop", "queue_peek", "queue_back"} {
		m.Func(name, one, one).I32(1)
	}
	m.Func("queue_size", one, one).GlobalGet(asked).I32(1).Op(wasmemit.I32Add).GlobalSet(asked).GlobalGet(asked)
	c := withModuleNamed(t, engine(t), "queue.json", bare(t, "queue.json"), m.Bytes())
	c.budget = 500
	_, failing := explore(t, c, "")
	for title := range failing {
		if strings.HasPrefix(title, "peek changes") {
			t.Error(title)
		}
	}
	if _, found := failing["size answers otherwise when it is asked again"]; !found {
		t.Errorf("not found; found %v", failing)
	}
}

// register is a model of registers that actors share: a generator makes the
// one that all of them use.
func register(bump string) string {
	both := `"reg_id"`
	return document(map[string]string{
		"entities": `{"User": {"fields": {"id": {"type": "string"}}}, "Register": {"fields": {"value": {"type": "int", "min": 0, "max": 900}}}}`,
		"protocols": `{"use": {"root": {"type": "repeat", "min": 0, "max": 8, "body": {"type": "alt", "branches": [
  {"id": "set", "weight": 2, "guard": ["gte", ["field", "reg", "value"], 0], "body": {"type": "call", "action": "set"}},
  {"id": "get", "weight": 2, "guard": ["gte", ["field", "reg", "value"], 0], "body": {"type": "call", "action": "get"}},
  {"id": "bump", "weight": 1, "guard": ["and", ["gte", ["field", "reg", "value"], 0], ["lt", ["field", "reg", "value"], 899]], "body": {"type": "call", "action": "bump"}}]}}}}`,
		"generators": `{"shared": {"sequence": [{"action": "make"}]}}`,
		"effects": `{"make": {"creates": {"entity": "Register", "assign": "reg"}, "sets": [{"target": ["reg", "value"], "value": 0}]},
  "set": {"sets": [{"target": ["reg", "value"], "value": ["field", "input", "number"]}]}, "get": {},
  "bump": {"sets": [{"target": ["reg", "value"], "value": ` + bump + `}]}}`,
		"inputs": `{"domains": {"number": {"type": "int", "min": 1, "max": 3}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
		"bindings": `{"make": ` + binding("make", "", "Register", `"mutates": true, "idempotent": false, "reads": [], "writes": ["Register"]`) + `,
  "set": ` + binding("set", both+`, "actor_id", "number"`, "int", `"mutates": true, "idempotent": true, "reads": [], "writes": ["Register"], "answer": 0`) + `,
  "get": ` + binding("get", both+`, "actor_id"`, "int", `"mutates": false, "idempotent": true, "reads": ["Register"], "writes": [], "answer": ["field", "reg", "value"]`) + `,
  "bump": ` + binding("bump", both, "void", `"mutates": true, "idempotent": true, "reads": [], "writes": ["Register"]`) + `}`,
	})
}

// registerModule has the value of a register at its handle times 64; what each
// actor saw of it last is behind that, four bytes each.
func registerModule(set, get func(*wasmemit.Func)) []byte {
	m := wasmemit.New()
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	i := wasmemit.I32
	m.Func("make", nil, wasmemit.Results(i)).GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).GlobalGet(count)
	set(m.Func("set", wasmemit.Params(i, i, i), wasmemit.Results(i)))
	get(m.Func("get", wasmemit.Params(i, i), wasmemit.Results(i)))
	f := m.Func("bump", wasmemit.Params(i), nil) // to 7, and on by one if the model asks for that
	at(f).I32(7).Memory(wasmemit.I32Store, 0)
	return m.Bytes()
}

func at(f *wasmemit.Func) *wasmemit.Func { return f.Get(0).I32(64).Op(wasmemit.I32Mul) }

// own is where what an actor saw is.
func own(f *wasmemit.Func) *wasmemit.Func {
	return at(f).Get(1).I32(4).Op(wasmemit.I32Mul).Op(wasmemit.I32Add)
}

// What is claimed of calls is held against modules that break it where no observer
// looks: it shows in what later calls answer, or in what the second of two does.
func TestClaimsThatAnswersShow(t *testing.T) {
	g := engine(t)
	set := func(f *wasmemit.Func) { at(f).Get(2).Memory(wasmemit.I32Store, 0).I32(0) }
	get := func(f *wasmemit.Func) { at(f).Memory(wasmemit.I32Load, 0) }
	for name, c := range map[string]struct {
		set, get func(*wasmemit.Func)
		bump     string
		title    string
		level    string
		want     string
	}{
		"sound": {set: set, get: get, bump: "7"},
		"setting what is there clears it": {set: func(f *wasmemit.Func) {
			at(f).Get(2).I32(0)
			at(f).Memory(wasmemit.I32Load, 0).Get(2).Op(wasmemit.I32Ne).Op(wasmemit.Select).Memory(wasmemit.I32Store, 0).I32(0)
		}, get: get, bump: "7", title: "what get returns differs from the model", level: byModule, want: "make set get"},
		"a second call tells that it is the second": {set: func(f *wasmemit.Func) {
			at(f).Memory(wasmemit.I32Load, 0).Get(2).Op(wasmemit.I32Eq)
			at(f).Get(2).Memory(wasmemit.I32Store, 0)
		}, get: get, bump: "7", title: "a second set returns what it should not", level: byModule, want: "make set"},
		"what is read is written": {set: set, get: func(f *wasmemit.Func) {
			at(f).Memory(wasmemit.I32Load, 0)
			at(f)
			at(f).Memory(wasmemit.I32Load, 0).I32(1).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0)
		}, bump: "7", title: "a second get returns what it should not", level: byModule, want: "make get"},
		"an actor reads what it saw before": {set: func(f *wasmemit.Func) { // no order of all calls explains the answers
			own(f).Get(2).Memory(wasmemit.I32Store, 4)
			at(f).Get(2).Memory(wasmemit.I32Store, 0).I32(0)
		}, get: func(f *wasmemit.Func) {
			own(f)
			at(f).Memory(wasmemit.I32Load, 0)
			own(f).Memory(wasmemit.I32Load, 4)
			own(f).Memory(wasmemit.I32Load, 4).Op(wasmemit.I32Eqz).Op(wasmemit.Select).Memory(wasmemit.I32Store, 4)
			own(f).Memory(wasmemit.I32Load, 4)
		}, bump: "7", title: "what get returns differs from the model", level: byModule, want: "make set set get"},
		"the model is not idempotent itself": {set: set, get: get, bump: `["add", ["field", "reg", "value"], 1]`,
			title: "bump is said to be idempotent, and its effect changes more when it is done twice", level: byModel, want: "make bump"},
	} {
		camp := withModuleNamed(t, g, "m.json", register(c.bump), registerModule(c.set, c.get))
		camp.budget = 1000
		_, failing := explore(t, camp, "")
		if c.title == "" && len(failing) > 0 {
			t.Errorf("%s: %v", name, failing)
		}
		if c.title == "" {
			continue
		}
		found, is := failing[c.title]
		if !is {
			t.Errorf("%s: not found; found %v", name, failing)
			continue
		}
		steps, tests := smallest(t, camp, found, c.title)
		if !slices.Equal(steps, strings.Fields(c.want)) || tests > 250 {
			t.Errorf("%s: made small by %d executions: %v, want %s", name, tests, steps, c.want)
		}
		o, err := open(t, camp).Execute(t.Context(), nil, found)
		if err != nil || !slices.Contains(o.Cause, c.level) {
			t.Errorf("%s: %v, %v, want %s", name, o.Cause, err, c.level)
		}
	}
}

// An action makes answers old that depend on what it claims to write: on all, if it says
// nothing, and on none, if it mutates nothing.
func TestWritten(t *testing.T) {
	mutates := &ir.ActionBinding{Mutates: true}
	for _, c := range []struct {
		claims claims
		want   []int
	}{
		{claims{binding: mutates, writes: []int{1}}, []int{0, 1, 0}},
		{claims{binding: mutates, writes: []int{0, 2}}, []int{1, 0, 1}},
		{claims{binding: mutates}, []int{1, 1, 1}},
		{claims{binding: &ir.ActionBinding{}, writes: []int{1}}, []int{0, 0, 0}},
		{claims{writes: []int{1}}, []int{0, 0, 0}},
	} {
		x := &traversal{p: &plan{claims: []claims{{}, c.claims}}}
		x.versions = make([]int, 3)
		if x.written(1); !slices.Equal(x.versions, c.want) {
			t.Errorf("%+v: %v, want %v", c.claims, x.versions, c.want)
		}
	}
}

// Readings differ at the first that is another; what only one list has does not count.
func TestDiffers(t *testing.T) {
	one, two, text, none := dut.Number(dut.Int, 1), dut.Number(dut.Int, 2), dut.Text("1"), dut.Value{}
	for _, c := range []struct {
		a, b []dut.Value
		at   int
		is   dut.Value
	}{
		{[]dut.Value{one, two}, []dut.Value{one, two}, -1, none}, {[]dut.Value{one, two}, []dut.Value{one, one}, 1, one}, {[]dut.Value{one, two}, []dut.Value{text, one}, 0, text},
		{[]dut.Value{one, two}, []dut.Value{one}, -1, none}, {[]dut.Value{one}, []dut.Value{one, two}, -1, none}, {nil, nil, -1, none},
	} {
		if at, is := differs(c.a, c.b); at != c.at || is != c.is {
			t.Errorf("%v and %v: %d, %v", c.a, c.b, at, is)
		}
	}
	met := map[uint64][]dut.Value{}
	for _, args := range [][]dut.Value{nil, {one}, {two}, {text}, {dut.Text("2")}, {dut.Text("11")}, {one, two}, {two, one}, {none}, {dut.Text("1"), dut.Text("1")}} {
		if was, known := met[hashValues(args)]; known {
			t.Errorf("%v has the number of %v", args, was)
		}
		met[hashValues(args)] = args
	}
}

// twiceModel says of set and peek that a second call does what the first did, and nothing of
// what peek answers or what shown shows.
const twiceModel = `"""A meter."""
module("m.wasm")
Meter = entity(v = int(0, 9))
n = input(int(0, 9))

def make():
    m = new(Meter, v = n)
    call("make", n, returns = Meter)

def set():
    m = any(Meter)
    m.v = n
    call("set", m, n, returns = int, answer = n, idempotent = True)

def peek():
    m = any(Meter)
    call("peek", m, returns = int, idempotent = True, reads = [Meter])

shown = observer("shown", m = Meter, returns = int)
kept = always(forall(Meter, lambda m: m.v >= 0), "Never below 0.")
`

// meter is a module that keeps what was set. set and peek are what the exports do beside that:
// they find 1 on the stack if the call is that of just before, else 0, and leave what is added
// to the answer.
func meter(set, peek, shown func(*wasmemit.Func)) []byte {
	m := wasmemit.New()
	m.Memory(1, 1)
	i := wasmemit.I32
	count, last := m.Global(i, true, 0), m.Global(i, true, 0)
	one, two := wasmemit.Params(i), wasmemit.Params(i, i)
	at := func(f *wasmemit.Func) *wasmemit.Func { return f.Get(0).I32(4).Op(wasmemit.I32Mul) }
	f := m.Func("make", one, one)
	f.GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).I32(0).GlobalSet(last)
	f.GlobalGet(count).I32(4).Op(wasmemit.I32Mul).Get(0).Memory(wasmemit.I32Store, 0).GlobalGet(count)
	again := func(f *wasmemit.Func, key func()) {
		key()
		f.GlobalGet(last).Op(wasmemit.I32Eq)
		key()
		f.GlobalSet(last)
	}
	f = m.Func("set", two, one)
	at(f).Get(1).Memory(wasmemit.I32Store, 0).Get(1)
	again(f, func() { f.Get(0).I32(16).Op(wasmemit.I32Mul).Get(1).Op(wasmemit.I32Add).I32(1).Op(wasmemit.I32Add) })
	set(f)
	f.Op(wasmemit.I32Add)
	f = m.Func("peek", one, one)
	at(f).Memory(wasmemit.I32Load, 0)
	again(f, func() { f.I32(-1).Get(0).Op(wasmemit.I32Sub) })
	peek(f)
	f.Op(wasmemit.I32Add)
	f = m.Func("shown", one, one)
	at(f).Memory(wasmemit.I32Load, 0).I32(0)
	shown(f)
	f.Op(wasmemit.I32Add)
	return m.Bytes()
}

// Calls that fail, answer otherwise or change what they must not are findings; the last step of
// each says what the module did and what it should have done.
func TestCallsAgainstTheModel(t *testing.T) {
	g := engine(t)
	type part = func(*wasmemit.Func)
	drop := func(f *wasmemit.Func) { f.I32(0).Op(wasmemit.I32And) }
	add := func(f *wasmemit.Func) {} // 1 to the answer of a call that is that of just before
	always := func(f *wasmemit.Func) { drop(f); f.I32(1).Op(wasmemit.I32Add) }
	trap := func(f *wasmemit.Func) {
		f.If(wasmemit.Empty, func() { f.Op(wasmemit.Unreachable) }, nil).I32(0)
	}
	trapAlways := func(f *wasmemit.Func) { drop(f); f.Op(wasmemit.Unreachable) }
	count := func(f *wasmemit.Func) { // how often it was asked
		f.Op(wasmemit.I32Add).I32(2000).I32(2000).Memory(wasmemit.I32Load, 0).I32(1).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0).I32(2000).Memory(wasmemit.I32Load, 0)
	}
	for name, c := range map[string]struct {
		set, peek, shown part
		edit             [2]string // of the model
		title, answer    string    // how the finding's title and its last step's answer begin and end
	}{
		"sound":            {drop, drop, drop, [2]string{}, "", ""},
		"another answer":   {always, drop, drop, [2]string{}, "what set returns differs from the model", ", the model says "},
		"a trap":           {trapAlways, drop, drop, [2]string{}, "set fails: ", "set fails: "},
		"a refusal":        {trapAlways, drop, drop, [2]string{"answer = n,", "rejects = True,"}, "the module refuses set, which the model allows", "refuses"},
		"a second trap":    {trap, drop, drop, [2]string{}, "a second set fails: ", ""},
		"a second answer":  {add, drop, drop, [2]string{}, "a second set returns what it should not", " when called twice, and should be "},
		"a changed answer": {drop, add, drop, [2]string{}, "peek answers otherwise though nothing that it reads was written", " before"},
		"peeked twice":     {drop, add, drop, [2]string{", reads = [Meter]", ""}, "a second peek returns what it should not", " when called twice, and should be "},
		"asked again":      {drop, drop, count, [2]string{}, "shown answers otherwise when it is asked again", " when it is asked again"},
	} {
		camp := withModuleNamed(t, g, "m.model.star", strings.Replace(twiceModel, c.edit[0], c.edit[1], 1), meter(c.set, c.peek, c.shown))
		camp.budget = 600
		_, failing := explore(t, camp, "")
		found := c.title == "" && len(failing) == 0
		for title, at := range failing {
			if c.title == "" || !strings.HasPrefix(title, c.title) {
				continue
			}
			found = true
			o, err := open(t, camp).Execute(t.Context(), nil, campaign.Case{Payload: at.Payload})
			if err != nil {
				t.Fatal(err)
			}
			var tr trace
			if err := json.Unmarshal(o.Attached("steps"), &tr); err != nil || len(tr.Steps) == 0 {
				t.Fatal(name, err, tr)
			}
			if got := tr.Steps[len(tr.Steps)-1].Answer; !strings.Contains(got, c.answer) {
				t.Errorf("%s: the last step answers %q, without %q", name, got, c.answer)
			}
		}
		if !found {
			t.Errorf("%s: want %q, found %v", name, c.title, slices.Collect(maps.Keys(failing)))
		}
	}
}
