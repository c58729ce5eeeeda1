package modules_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/tools/modules"
	"github.com/thresh-dev/thresh/tools/modules/bank"
	"github.com/thresh-dev/thresh/tools/modules/orders"
	"github.com/thresh-dev/thresh/tools/modules/ticket"
)

var update = flag.Bool("update", false, "write the modules")

// written checks that a file, from the root of the project, is what a package writes.
func written(t *testing.T, path string, want []byte) {
	t.Helper()
	path = filepath.Join("../..", path)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
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

func TestSingleModules(t *testing.T) {
	written(t, "examples/fresnelfir/faulty/bank.wasm", bank.Module(bank.RefusalCosts))          // which the pages show
	written(t, "contract/fresnelfir/starter/ticket.wasm", ticket.Module(ticket.ReleasesNewest)) // which the starter brings along
	written(t, "examples/systems/orders.wasm", orders.Module(true))
	written(t, "examples/systems/mended.wasm", orders.Module(false))
}

// The modules that stand beside the models are those that the packages write,
// small, and every fault makes another module.
func TestModules(t *testing.T) {
	for _, s := range modules.All() {
		want := s.Module("")
		written(t, "examples/fresnelfir/"+s.Name+".wasm", want)
		if len(want) > 20_000 {
			t.Errorf("the module of %s has %d bytes", s.Name, len(want))
		}
		if len(s.Faults) < 8 {
			t.Errorf("%s has %d faults", s.Name, len(s.Faults))
		}
		seen := map[string]string{string(want): "no fault"}
		for _, f := range s.Faults {
			b := s.Module(f)
			written(t, "examples/fresnelfir/faulty/"+s.Name+"/"+strings.ReplaceAll(f, " ", "-")+".wasm", b)
			if other := seen[string(b)]; other != "" {
				t.Errorf("%s: %q makes the same module as %q", s.Name, f, other)
			}
			seen[string(b)] = f
		}
		kept, err := filepath.Glob("../../examples/fresnelfir/faulty/" + s.Name + "/*.wasm")
		if err != nil || len(kept) != len(s.Faults) {
			t.Errorf("%d modules of %s with a fault are kept, %d are written: %v", len(kept), s.Name, len(s.Faults), err)
		}
	}
}
