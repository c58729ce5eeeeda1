// Package systems_test explores one model with the same orders behind five kinds
// of systems.
package systems_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// What is found is the same, step by step, whatever the system is made of; and
// nothing is found once it is mended.
func TestOneModelFiveSystems(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	digests := make(map[string]string)
	for _, kind := range []string{"wasm", "http", "mcp", "python", "driver"} {
		rec := explore(t, kind+".system.yaml")
		if len(rec.Findings) != 1 || !strings.Contains(rec.Findings[0].Title, "the system takes refund, which the model does not allow") {
			t.Fatalf("%s: %+v", kind, rec.Findings)
		}
		f := rec.Findings[0]
		if f.Flaky || f.Minimized == nil {
			t.Errorf("%s: %+v", kind, f)
		}
		digests[kind] = rec.Digest
	}
	for kind, d := range digests {
		if d != digests["wasm"] {
			t.Errorf("%s: digest %s, of wasm %s", kind, d, digests["wasm"])
		}
	}
	t.Setenv("ORDERS_FAULT", "none")
	for _, kind := range []string{"mended", "http", "mcp", "python", "driver"} {
		if kind != "mended" && kind != "python" && !testproc.Long() {
			t.Logf("%s without a fault is left out: set THRESH_TEST_LONG=1", kind)
			continue
		}
		if rec := explore(t, kind+".system.yaml"); len(rec.Findings) != 0 || rec.Verdict != "pass" {
			t.Errorf("%s: %s %+v", kind, rec.Verdict, rec.Findings)
		}
	}
}

// A program and a chat keep no state between calls, so no model is run against them.
func TestModelsNeedAState(t *testing.T) {
	for _, text := range []string{"kind: command\ncommand: [cat]\n", "kind: chat\nmodel: m\nurl: http://127.0.0.1:1/v1\n"} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte("schema: thresh.system.v1\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := thresh.Run(t.Context(), thresh.Job{Paths: []string{"orders.json"}, Store: t.TempDir(), Options: map[string][]string{"system": {file}}})
		if err == nil || !strings.Contains(err.Error(), "keeps no state between calls") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func explore(t *testing.T, system string) *thresh.Record {
	t.Helper()
	rec, err := thresh.Run(t.Context(), thresh.Job{Paths: []string{"orders.json"}, Store: t.TempDir(), Workers: 2,
		Options: map[string][]string{"system": {system}, "budget": {"12"}}})
	if err != nil {
		t.Fatalf("%s: %v", system, err)
	}
	return rec
}
