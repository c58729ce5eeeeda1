package room

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLowAddressSpaceGetsASentence(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "thresh")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", binary, "github.com/thresh-dev/thresh/cmd/thresh").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run := func(kilobytes string) (string, int) {
		out, err := exec.Command("sh", "-c", "ulimit -v "+kilobytes+" && exec "+binary+" version").CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if exit != nil {
			return string(out), exit.ExitCode()
		}
		return string(out), 0
	}
	for _, low := range []string{"100000", "300000", "600000", "700000", "800000", "1000000", "1900000"} {
		if out, code := run(low); code != environmentFailed || out != refusal {
			t.Errorf("with %s kB: exit %d\n%s", low, code, out)
		}
	}
	if out, code := run(text + "000000"); code != 0 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "thresh ") {
		t.Errorf("with %s GB: exit %d\n%s", text, code, out)
	}
	// Starlark's reservation would fit into this limit and leave nothing, and the
	// limit stands as it was for what Thresh starts.
	out, err := exec.Command("sh", "-c", "ulimit -v 6000000 && exec "+binary+" run --store "+filepath.Join(t.TempDir(), "store")+" testdata/limit.md").CombinedOutput()
	if err != nil {
		t.Errorf("with 6 GB: %v\n%s", err, out)
	}
	if os.Getenv("THRESH_CI") == "" {
		t.Log("the demonstration is tried with THRESH_CI")
		return
	}
	out, err = exec.Command("sh", "-c", "ulimit -v "+text+"000000 && cd "+t.TempDir()+" && exec "+binary+" demo").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(string(out), "goroutine") {
		t.Errorf("the demonstration with %s GB: %v\n%s", text, err, out)
	}
}
