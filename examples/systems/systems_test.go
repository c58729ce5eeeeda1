// Package systems_test explores one model with the same orders behind five kinds
// of systems.
package systems_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
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
		if rec := explore(t, kind+".system.yaml"); len(rec.Findings) != 0 || rec.Verdict != "pass" {
			t.Errorf("%s: %s %+v", kind, rec.Verdict, rec.Findings)
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
