package wasm

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func systemOpener(t *testing.T) sut.Opener {
	e, err := NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	return system.New(map[sut.Kind]system.Kind{sut.WASM: e.OpenSystem}).Open
}

func TestCommandModuleSuite(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "speaker.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "./testdata/speaker")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("Go builds no WASI modules here: %v\n%s", err, out)
	}
	module, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	open := systemOpener(t)
	systemtest.RunSystem(t, systemtest.System{
		Open: open,
		Plan: func(*testing.T) *sut.Plan {
			return &sut.Plan{Name: "speaker", Kind: sut.WASM, Module: module, Entry: "speaker.wasm", Limits: sut.Limits{Timeout: 10 * time.Second},
				Operations: []sut.Operation{{Name: "_start", Rejects: []string{"7"}}}}
		},
		Call: func(verb, text string) sut.Call { return sut.Call{Input: []byte(verb + " " + text)} },
		Cannot: map[string]string{"lie": "what a module returns is what it returns", "count": "a command keeps nothing",
			"hang": "a limit of instructions is that of the plan"},
	})
	p := &sut.Plan{Name: "speaker", Kind: sut.WASM, Module: module, Entry: "speaker.wasm", Limits: sut.Limits{Timeout: time.Second}}
	x, err := open(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if o, err := x.Call(t.Context(), sut.Call{Input: []byte("hang")}); err != nil || o.End != sut.Hung || o.Why != "no end within 100000000 instructions" {
		t.Errorf("%+v %v", o, err)
	}
}

func TestModuleOperations(t *testing.T) {
	module, err := os.ReadFile("../../examples/fresnelfir/faulty/bank.wasm")
	if err != nil {
		t.Fatal(err)
	}
	p := &sut.Plan{Name: "bank", Kind: sut.WASM, Module: module, Entry: "bank.wasm"}
	x, err := systemOpener(t)(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, o := range x.Operations() {
		t.Log(o.Name, o.Description, o.Arguments)
	}
	if _, err := x.Call(t.Context(), sut.Call{Operation: "depositt"}); err == nil || !strings.Contains(err.Error(), `no operation "depositt"`) {
		t.Error(err)
	}
	o := x.Operations()[0]
	if _, err := x.Call(t.Context(), sut.Call{Operation: o.Name, Positional: make([]json.RawMessage, 9)}); err == nil || !strings.Contains(err.Error(), "arguments, not 9") {
		t.Error(err)
	}
}
