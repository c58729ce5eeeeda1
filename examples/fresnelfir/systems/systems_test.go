package systems_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/examples/fresnelfir/systems"
)

var update = flag.Bool("update", false, "write the modules")

// The modules that stand beside the models are those that the packages write,
// small, and every fault makes another module.
func TestModules(t *testing.T) {
	for _, s := range systems.All() {
		path := "../" + s.Name + ".wasm"
		want := s.Module("")
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
		if len(want) > 20_000 {
			t.Errorf("%s has %d bytes", path, len(want))
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
