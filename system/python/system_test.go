//go:build unix

package python

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

const speaker = `
import os, resource, signal, sys, time

def kind(given):
    return type(given).__name__

def raw(given: bytes):
    return type(given).__name__

class NotToday(ValueError):
    pass

class Speaker:
    def __init__(self):
        self.counted = 0
    def echo(self, text: str):
        "says it again"
        return text
    def count(self, text=""):
        self.counted += 1
        return self.counted
    def clear(self, text=""):
        self.counted = 0
    def die(self, text=""):
        os._exit(3)
    def kill(self, text=""):
        os.kill(os.getpid(), signal.SIGKILL)
    def hang(self, text=""):
        time.sleep(3600)
    def late(self, text=""):
        time.sleep(0.3)
        return "late"
    def report(self, text=""):
        try:
            {}["torn"]
        except KeyError:
            import traceback
            traceback.print_exc()
        return "as if nothing had happened"
    def reject(self, text=""):
        raise NotToday("not today")
    def fail(self, text=""):
        return [][3]
    def flood(self, text=""):
        return "x" * (9 << 20)

async def parse(data: bytes):
    print("noise")
    return {"len": len(data), "first": data[:1].hex()}

def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def nan():
    return [float("nan"), 1.5]

def circle():
    found = []
    found.append(found)
    return found

def bindnow():
    return os.environ.get("LD_BIND_NOW", "unset")

broken = 1 / 1
`

func systemPlan(t *testing.T, entry string) *sut.Plan {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "speaker.py"), []byte(speaker), 0o644); err != nil {
		t.Fatal(err)
	}
	return &sut.Plan{Name: "speaker", Kind: sut.Python, Dir: dir, Entry: entry, Per: sut.PerWorker}
}

func systemOpener() sut.Opener {
	return system.New(map[sut.Kind]system.Kind{sut.Python: OpenSystem}).Open
}

func TestSystemSuite(t *testing.T) {
	systemtest.RunSystem(t, systemtest.System{
		Open: systemOpener(),
		Plan: func(t *testing.T) *sut.Plan {
			p := systemPlan(t, "speaker.py:Speaker")
			p.Operations = []sut.Operation{{Name: "reject", Rejects: []string{"ValueError"}}}
			return p
		},
		Cannot: map[string]string{"lie": "what it returns is what it returns"},
	})
}

func TestSystemFunction(t *testing.T) {
	x, err := systemOpener()(t.Context(), systemPlan(t, "speaker.py:parse"), sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	o, err := x.Call(t.Context(), sut.Call{Input: []byte("\xff12")})
	if err != nil || o.End != sut.Answered || string(o.Value) != `{"len": 3, "first": "ff"}` || string(o.Printed) != "noise\n" {
		t.Errorf("%+v %v %s", o, err, o.Value)
	}
	if ops := x.Operations(); len(ops) != 1 || ops[0].Name != "parse" || len(ops[0].Arguments) != 1 || ops[0].Arguments[0] != (sut.Argument{Name: "data", Type: "string", Required: true}) {
		t.Errorf("%+v", ops)
	}
	if o, err := x.Call(t.Context(), sut.Call{Operation: "parse", Positional: []json.RawMessage{[]byte("5")}}); err != nil || o.End != sut.Crashed || !strings.Contains(o.Why, "TypeError") {
		t.Errorf("%+v %v", o, err)
	}
}

func TestSystemsThatCannotBeLoaded(t *testing.T) {
	for entry, want := range map[string]string{
		"speaker.py:Speakr": "speaker.py has no Speakr (did you mean Speaker?)",
		"absent.py:f":       "absent.py",
	} {
		plan := systemPlan(t, entry)
		plan.EntryAt = "x.yaml:3:8"
		if _, err := systemOpener()(t.Context(), plan, sut.Worker{Of: 1}); err == nil || !strings.Contains(err.Error(), "x.yaml:3:8: load the system: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entry, err)
		}
	}
	plan := systemPlan(t, "speaker.py:kind")
	plan.Operations = []sut.Operation{{Name: "kid", At: "x.yaml:5:3"}}
	if _, err := systemOpener()(t.Context(), plan, sut.Worker{Of: 1}); err == nil || !strings.Contains(err.Error(), `x.yaml:5:3: the system`) {
		t.Error(err)
	}
}

// A prompt is a text for a function that does not say what it takes; bytes of a case are
// bytes for it.
func TestSystemTexts(t *testing.T) {
	for _, x := range []struct {
		entry string
		text  bool
		want  string
	}{{"speaker.py:kind", true, `"str"`}, {"speaker.py:kind", false, `"bytes"`}, {"speaker.py:raw", true, `"bytes"`}} {
		p := systemPlan(t, x.entry)
		o, err := systemOpener()(t.Context(), p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Call(t.Context(), sut.Call{Input: []byte("hi"), Text: x.text}); err != nil || string(got.Value) != x.want {
			t.Errorf("%+v: %s, %v", x, got.Value, err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A case of a function touches few pages of memory that a fork in a bare loop leaves
// alone: each is a page to copy, which is what a case costs.
func TestPagesOfACase(t *testing.T) {
	const bare = `
import json, os, resource
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, json.dumps("text").encode())
    os.write(write, b"," + json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_minflt).encode())
    os._exit(0)
os.wait()
print(os.read(read, 100).decode().split(",")[1])
`
	python, err := Interpreter("")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", bare).Output()
	if err != nil {
		t.Fatal(err)
	}
	least, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := systemOpener()(t.Context(), systemPlan(t, "speaker.py:pages"), sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var pages int
	for range 2 { // the second call sees what the answer of the first one cost
		o, err := x.Call(t.Context(), sut.Call{Operation: "pages"})
		if err != nil || o.End != sut.Answered {
			t.Fatalf("%+v %v", o, err)
		}
		if err := json.Unmarshal(o.Value, &pages); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d faults of pages, %d in a bare loop", pages, least)
	if pages > least+125 {
		t.Errorf("a call and its answer took %d faults of pages, a bare fork %d", pages, least)
	}
}

// Values that JSON cannot hold are answered as texts, however often, and the system does
// not see what the host sets for itself.
func TestSystemValues(t *testing.T) {
	for entry, want := range map[string]string{
		"nan":     `["nan", 1.5]`,
		"circle":  `[[[[[[`,
		"bindnow": `"unset"`,
	} {
		x, err := systemOpener()(t.Context(), systemPlan(t, "speaker.py:"+entry), sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if o, err := x.Call(t.Context(), sut.Call{Operation: entry}); err != nil || !strings.HasPrefix(string(o.Value), want) {
				t.Errorf("%s: %s, %v", entry, o.Value, err)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
