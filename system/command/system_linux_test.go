package command

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestSystemSuite(t *testing.T) {
	t.Setenv(systemtest.SpeakerVariable, "command")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := system.New(map[sut.Kind]system.Kind{sut.Command: OpenSystem})
	plan := func(*testing.T) *sut.Plan {
		return &sut.Plan{Name: "speaker", Kind: sut.Command, Command: []string{self}, Operations: []sut.Operation{{Name: "run", Rejects: []string{"7"}}}}
	}
	systemtest.RunSystem(t, systemtest.System{
		Open: all.Open, Plan: plan,
		Call:   func(verb, text string) sut.Call { return sut.Call{Input: []byte(verb + " " + text)} },
		Cannot: map[string]string{"lie": "what a program writes is what it writes"},
	})
	p := plan(t)
	p.Command = []string{"sh", "-c", `cat "$1"; echo " $2"; echo oops >&2`, "sh", "{input}", "{who}"}
	x, err := all.Open(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	o, err := x.Call(t.Context(), sut.Call{Input: []byte("\x00bytes"), Named: []sut.Named{{Name: "who", Value: json.RawMessage(`"me"`)}}})
	if err != nil || string(o.Output) != "\x00bytes me\n" || string(o.Printed) != "oops\n" {
		t.Errorf("%+v %v", o, err)
	}
	if ops := x.Operations(); len(ops) != 1 || len(ops[0].Arguments) != 1 || ops[0].Arguments[0].Name != "who" {
		t.Errorf("%+v", ops)
	}
}
