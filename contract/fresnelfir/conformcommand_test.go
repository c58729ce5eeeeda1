package fresnelfir

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// desk is where a command finds files and leaves results.
type desk struct {
	campaign.Desk
	files, written map[string]string
	out, err       bytes.Buffer
	warned         diag.List
	full           error // of writing
}

func (d *desk) Out() io.Writer     { return &d.out }
func (d *desk) Err() io.Writer     { return &d.err }
func (d *desk) Warn(all diag.List) { d.warned = append(d.warned, all...) }

func (d *desk) Settings() campaign.Settings {
	return campaign.Settings{Read: func(path string) ([]byte, error) {
		text, ok := d.files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}}
}

func (d *desk) Write(file string, write func(io.Writer) error) error {
	if d.full != nil {
		return d.full
	}
	var b bytes.Buffer
	err := write(&b)
	d.written[file] = b.String()
	return err
}

// texts are the flags of a command that are texts, by name and letter.
type texts struct {
	campaign.Flags
	of map[string]*string
}

func (f texts) StringVarP(p *string, name, short, _, _ string) { f.of[name], f.of[short] = p, p }

// The command says how far the model allows a trace, in words and by its exit code; a file that
// cannot be read, and one that cannot be written, ends it.
func TestConformCommand(t *testing.T) {
	const lamps = `"""Lamps."""
Lamp = entity(on = bool)
unused = input(bool)
def make():
    l = new(Lamp, on = False)
def turn():
    l = any(Lamp)
    require(not l.on)
    l.on = True
safe = always(forall(Lamp, lambda l: l.on or not l.on), "Always so.")
`
	full := errors.New("disk full")
	files := map[string]string{
		"lamps.model.star": lamps, "bad.model.star": "nonsense",
		"good": "{\"action\":\"make\"}\n{\"action\":\"turn\"}\n", "one": `{"action":"make"}`,
		"bad": "{\"action\":\"make\"}\n\n{\"action\":\"turn\"}\n{\"action\":\"turn\",\"args\":{\"l\":\"\\u001b[31m\"}}\n", "none": "",
	}
	for _, c := range []struct {
		trace, model, output string
		full                 error
		exit                 int
		out                  string
	}{
		{"good", "lamps.model.star", "", nil, 0, "PASS  lamps allows all 2 steps of good\n"},
		{"one", "lamps.model.star", "", nil, 0, "PASS  lamps allows all 1 step of one\n"},
		{"bad", "lamps.model.star", "", nil, diag.ExitFindings, "FAIL  step 3 of 3, line 4 of bad: turn(l = �[31m)\n      the model does not allow the action here; it allows make\n"},
		{"bad", "lamps.model.star", "o.jsonl", nil, diag.ExitFindings, "FAIL  step 3 of 3, "},
		{"good", "lamps.model.star", "o.jsonl", nil, 0, "PASS"},
		{"good", "lamps.model.star", "o.jsonl", full, -1, ""},
		{"none", "lamps.model.star", "", nil, diag.ExitRefused, ""},
		{"missing", "lamps.model.star", "", nil, diag.ExitRefused, ""},
		{"good", "missing", "", nil, diag.ExitRefused, ""},
		{"good", "bad.model.star", "", nil, diag.ExitRefused, ""},
	} {
		x := conformCommand()
		d := &desk{files: files, written: map[string]string{}, full: c.full}
		flags := texts{of: map[string]*string{}}
		x.Flags(flags)
		*flags.of["m"], *flags.of["o"] = c.model, c.output
		err := x.Run(t.Context(), d, []string{c.trace})
		var exit diag.ExitError
		switch {
		case c.exit == 0 && err != nil, c.exit != 0 && err == nil:
			t.Errorf("%+v: %v", c, err)
		case c.exit == diag.ExitFindings && (!errors.As(err, &exit) || int(exit) != c.exit):
			t.Errorf("%+v: %v", c, err)
		case c.exit == diag.ExitRefused && (errors.As(err, &exit) || c.trace == "none" && !strings.HasPrefix(err.Error(), "none: ")):
			t.Errorf("%+v: %v", c, err)
		case c.full != nil && !errors.Is(err, full):
			t.Errorf("%+v: %v", c, err)
		}
		if got := d.out.String(); !strings.HasPrefix(got, c.out) || c.out == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
		if (len(d.written) == 1) != (c.output != "" && c.full == nil) || len(d.written) == 1 && strings.Count(d.written["o.jsonl"], "\n") != 2 {
			t.Errorf("%+v: %q", c, d.written)
		}
		if sound := c.model == "lamps.model.star"; sound && len(d.warned) == 0 || len(x.Required) != 1 || x.Least != 1 || x.Most != 1 {
			t.Errorf("%+v: %v, %+v", c, d.warned, x)
		}
	}
}

// How often a part is repeated is not a claim about the system where it may vary, and is one where
// it is fixed; what leads to one state is one; numbers are read whole; names last.
func TestConformFollowsStates(t *testing.T) {
	fixed := strings.Replace(shelf, "repeat(0, 3, ", "repeat(2, 2, ", 1)
	wide := strings.NewReplacer("def cover():", "def measure():\n    b = any(Box)\n    call(\"measure\", b, returns = int, answer = b.size)\ndef cover():", "alt(make, ", "alt(make, measure, ", "size = int(1, 3)", "size = int(1, 20000)", "size = input(int(1, 3))", "size = input(int(1, 20000))").Replace(shelf)
	grows := strings.NewReplacer("def cover():", "def measure():\n    b = any(Box)\n    call(\"measure\", b, returns = int, answer = b.size)\n"+
		"def grow():\n    b = any(Box)\n    require(b.size < 3)\n    b.size += 1\n    call(\"grow\", b, rejects = True)\ndef cover():", "alt(make, ", "alt(make, measure, grow, ").Replace(shelf)
	const made = `{"action":"make","args":{"size":2},"returns":"k"}` + "\n"
	for _, c := range []struct {
		name, model, trace string
		at                 int
		why                string
		unsure             bool
	}{
		{"fixed", fixed, made + `{"action":"cover"}` + "\n" + `{"action":"cover"}`, 2, "the model allows no action here", false},
		{"one state", shelf, made + strings.Repeat(`{"action":"paint"}`+"\n", 9), 10, "", false},
		{"a value that was not tried", wide, `{"action":"make"}` + "\n" + `{"action":"measure","returns":777}`, 1, "the model answers", true},
		{"a refusal that a value explains", grows, `{"action":"make"}` + "\n" + `{"action":"grow","rejected":true}` + "\n" + `{"action":"measure","returns":3}`, 3, "", false},
		{"and what follows from it", grows, `{"action":"make"}` + "\n" + `{"action":"grow","rejected":true}` + "\n" + `{"action":"measure","returns":2}`, 2, "the model answers 3", false},
		{"a refusal that none explains", grows, made + `{"action":"grow","rejected":true}`, 1, "it was refused, and the model allows it", false},
		{"a refusal of what is not said", shelf, made + `{"action":"paint","rejected":true}`, 1, "it was refused, and the model allows it", true},
		{"a value that was", wide, `{"action":"make"}` + "\n" + `{"action":"measure","returns":20000}`, 2, "", false},
		{"a value that was said", wide, `{"action":"make","args":{"size":776}}` + "\n" + `{"action":"measure","returns":777}`, 1, "the model answers 776", false},
		{"an action that is not there", wide, made + `{"action":"cover"}` + "\n" + `{"action":"pant"}`, 2, "no such action", false},
		{"not so many", wide, `{"action":"make","args":{"size":20000}}`, 1, "", false},
		{"one way, refused", shelf, made + `{"action":"paint","args":{"b":"k","ink":"red","sure":true},"rejected":true}`, 1, "it was refused, and the model allows it", false},
		{"the first action", shelf, `{"action":"cover","returns":"k"}` + "\n" + `{"action":"cover","returns":"k"}`, 1, "but not with these arguments", false},
		{"an input of another action", shelf, made + `{"action":"cover","args":{"ink":"red"}}`, 1, "cover has no argument ink", false},
	} {
		steps, err := readTrace([]byte(c.trace))
		if err != nil {
			t.Fatal(err)
		}
		at, why, unsure, past := alone(t, "shelf.model.star", c.model).conform(steps, true)
		if (unsure != "") != c.unsure || at != c.at || !strings.Contains(why, c.why) || (why == "") != (c.why == "") || (past == nil) != (at == 0) {
			t.Errorf("%s: step %d, %q, %v", c.name, at, why, past)
		}
	}
	for text, want := range map[string]string{
		`{"states":[{"action":"a","args":{"x":9007199254740993,"y":{"tag":"Just","value":3},"z":{"tag":"Some"},"v":{"tag":"None"}}}]}`: `a(v = {"tag":"None"}, x = 9007199254740993, y = 3, z = null)`,
		`{"action":"a","args":{"x":9007199254740993}}`: "a(x = 9007199254740993)",
	} {
		steps, err := readTrace([]byte(text))
		if err != nil || steps[0].String() != want {
			t.Errorf("%v, %v, want %s", steps, err, want)
		}
	}
}

// An observer of two instances is asked about each pair of them, and its answer compared.
func TestObserversOfTwoInstances(t *testing.T) {
	const model = `"""Jars."""
module("m.wasm")
Jar = entity(v = int(0, 9))
n = input(int(0, 9))
def more(a = Jar, b = Jar): return a.v + b.v
both = observer("both", a = Jar, b = Jar, returns = int, models = more)
def make():
    require(count(Jar) < 3)
    j = new(Jar, v = n)
    call("make", n, returns = Jar)
`
	// both(a, b) is what is at a and b, and one more if wrong says so of a and b
	module := func(wrong func(*wasmemit.Func)) []byte {
		m := wasmemit.New()
		m.Memory(1, 1)
		i := wasmemit.I32
		count := m.Global(i, true, 0)
		f := m.Func("make", wasmemit.Params(i), wasmemit.Results(i))
		f.GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count)
		f.GlobalGet(count).I32(4).Op(wasmemit.I32Mul).Get(0).Memory(wasmemit.I32Store, 0).GlobalGet(count)
		f = m.Func("both", wasmemit.Params(i, i), wasmemit.Results(i))
		f.Get(0).I32(4).Op(wasmemit.I32Mul).Memory(wasmemit.I32Load, 0)
		f.Get(1).I32(4).Op(wasmemit.I32Mul).Memory(wasmemit.I32Load, 0).Op(wasmemit.I32Add)
		wrong(f)
		f.Op(wasmemit.I32Add)
		return m.Bytes()
	}
	g := engine(t)
	is := func(a, b int32) func(*wasmemit.Func) {
		return func(f *wasmemit.Func) {
			f.Get(0).I32(a).Op(wasmemit.I32Eq).Get(1).I32(b).Op(wasmemit.I32Eq).Op(wasmemit.I32And)
		}
	}
	for name, c := range map[string]struct {
		wrong func(*wasmemit.Func)
		want  string // the answer of the last step ends so
	}{
		"sound":           {func(f *wasmemit.Func) { f.I32(0) }, ""},
		"the first twice": {is(1, 1), "both(Jar#1, Jar#1) is "},
		"newest, oldest":  {is(3, 1), "both(Jar#3, Jar#1) is "},
		"oldest, newest":  {is(1, 3), "both(Jar#1, Jar#3) is "},
		"middle, oldest":  {is(2, 1), "both(Jar#2, Jar#1) is "},
	} {
		camp := withModuleNamed(t, g, "m.model.star", model, module(c.wrong))
		camp.budget = 200
		_, failing := explore(t, camp, "")
		at, found := failing["both differs from the model after make"]
		if found != (c.want != "") || len(failing) > 1 {
			t.Errorf("%s: found %v", name, slices.Collect(maps.Keys(failing)))
			continue
		}
		if !found {
			continue
		}
		o, err := open(t, camp).Execute(context.Background(), nil, campaign.Case{Payload: at.Payload})
		if err != nil || !bytes.Contains(o.Attached("steps"), []byte(c.want)) {
			t.Errorf("%s: %v: %s", name, err, o.Attached("steps"))
		}
	}
}
