package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
)

// The demo's program, which is started for every case, does not wait for packages that it does without.
func TestDemoTargetStartsFirst(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, demo.Command)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, _ := cmd.CombinedOutput()
	if text := string(out); !strings.Contains(text, "usage: scroll FILE") || !strings.Contains(text, "init os ") || strings.Contains(text, "jsonschema") {
		t.Errorf("%s", text)
	}
}
