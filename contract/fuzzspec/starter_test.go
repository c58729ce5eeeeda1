package fuzzspec_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

func TestStarterRunsAndHasAFaultToFind(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	dir := t.TempDir()
	for _, f := range fuzzspec.Starter(dir) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "fuzzspec.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, list := fuzzspec.Check(text, fuzzspec.Disk{}, fuzzspec.CheckOptions{File: "fuzzspec.json", Strict: true, ReadSeed: os.ReadFile})
	if len(list) > 0 {
		t.Fatalf("the starter has diagnostics:\n%s", list)
	}
	run := func(input string) (string, bool) {
		in := filepath.Join(dir, "in")
		if err := os.WriteFile(in, []byte(input), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", filepath.Join(dir, "divide.sh"), in, dir)
		cmd.Env = []string{}
		err := cmd.Run()
		result, _ := os.ReadFile(filepath.Join(dir, "result.json"))
		return string(result), err == nil
	}
	if got, ok := run("1 2 4 8\n"); !ok || got != "{\"total\": 187}\n" {
		t.Errorf("the seed gives %q, %v", got, ok)
	}
	if got, ok := run("1 2 x\n"); !ok || got != "{\"error\": \"not a number\"}\n" {
		t.Errorf("what is not a number gives %q, %v", got, ok)
	}
	if _, ok := run("1 2 0 8\n"); ok {
		t.Error("the fault is not there")
	}
}
