package systems_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/examples/fresnelfir/bank"
	"github.com/thresh-dev/thresh/examples/fresnelfir/systems"
	"github.com/thresh-dev/thresh/examples/fresnelfir/ticket"
)

var update = flag.Bool("update", false, "write the modules")

// written checks that a file is what a package writes.
func written(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what its package writes; go test -update writes it anew", path)
	}
}

// The one that the pages show.
func TestFaultyModule(t *testing.T) {
	written(t, "../faulty/bank.wasm", bank.Module(bank.RefusalCosts))
}

// The one that the starter brings along, with its planted fault.
func TestStarterModule(t *testing.T) {
	written(t, "../../../contract/fresnelfir/starter/ticket.wasm", ticket.Module(ticket.ReleasesNewest))
}

// The modules that stand beside the models are those that the packages write,
// small, and every fault makes another module.
func TestModules(t *testing.T) {
	for _, s := range systems.All() {
		want := s.Module("")
		written(t, "../"+s.Name+".wasm", want)
		if len(want) > 20_000 {
			t.Errorf("the module of %s has %d bytes", s.Name, len(want))
		}
		if len(s.Faults) < 8 {
			t.Errorf("%s has %d faults", s.Name, len(s.Faults))
		}
		seen := map[string]string{string(want): "no fault"}
		for _, f := range s.Faults {
			b := string(s.Module(f))
			if other := seen[b]; other != "" {
				t.Errorf("%s: %q makes the same module as %q", s.Name, f, other)
			}
			seen[b] = f
		}
	}
}
