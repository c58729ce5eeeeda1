// Package drivers_test tries the drivers that users copy.
package drivers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/driver"
)

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s here", program)
	}
}

func TestDrivers(t *testing.T) {
	built := t.TempDir()
	for _, d := range []struct {
		file    string
		command func(t *testing.T) []string
	}{
		{"driver.py", func(t *testing.T) []string { needs(t, "python3"); return []string{"python3", "driver.py"} }},
		{"driver.js", func(t *testing.T) []string { needs(t, "node"); return []string{"node", "driver.js"} }},
		{"driver/main.go", func(t *testing.T) []string {
			bin := filepath.Join(built, "go")
			if out, err := exec.Command("go", "build", "-C", "driver", "-o", bin, ".").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return []string{bin}
		}},
		{"driver.rs", func(t *testing.T) []string {
			needs(t, "rustc")
			bin := filepath.Join(built, "rust")
			if out, err := exec.Command("rustc", "--edition", "2021", "-o", bin, "driver.rs").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return []string{bin}
		}},
	} {
		t.Run(d.file, func(t *testing.T) {
			text, err := os.ReadFile(d.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n >= 80 {
				t.Errorf("%d lines: a driver is under 80", n)
			}
			try(t, d.command(t))
		})
	}
}

func try(t *testing.T, command []string) {
	p := &sut.Plan{Name: "orders", Kind: sut.Driver, Command: command, Per: sut.PerWorker, Dir: "."}
	x, err := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open}).Open(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	list := func(values ...string) (l []json.RawMessage) {
		for _, v := range values {
			l = append(l, json.RawMessage(v))
		}
		return l
	}
	named := []sut.Named{{Name: "order", Value: []byte("7")}, {Name: "amount", Value: []byte("3")}}
	for range 2 {
		if err := x.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			call  sut.Call
			end   sut.End
			value string
		}{
			{sut.Call{Operation: "remaining", Positional: list("7")}, sut.Answered, "0"},
			{sut.Call{Operation: "pay", Positional: list("7", "5")}, sut.Answered, "5"},
			{sut.Call{Operation: "pay", Positional: list("7", "5")}, sut.Refused, ""},
			{sut.Call{Operation: "refund", Named: named}, sut.Answered, "2"},
			{sut.Call{Operation: "refund", Named: named}, sut.Refused, ""},
			{sut.Call{Operation: "remaining", Positional: list("7")}, sut.Answered, "2"},
			{sut.Call{Operation: "nonsense", Positional: list("7")}, sut.Crashed, ""},
			{sut.Call{Operation: "remaining", Positional: list("7")}, sut.Answered, "2"},
		} {
			o, err := x.Call(t.Context(), c.call)
			if err != nil || o.End != c.end || string(o.Value) != c.value {
				t.Errorf("%s: %s %s (%s) %v, want %s %s", c.call.Operation, o.End, o.Value, o.Why, err, c.end, c.value)
			}
		}
	}
}
