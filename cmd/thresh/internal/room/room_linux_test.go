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
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/thresh-dev/thresh/cmd/thresh").CombinedOutput(); err != nil {
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
	if out, code := run("1000000"); code != environmentFailed || strings.Count(out, "\n") != 1 || !strings.Contains(out, "limited to 1024 MB, and thresh needs 2000 MB") {
		t.Errorf("with 1 GB: exit %d\n%s", code, out)
	}
	if out, code := run("2000000"); code != 0 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "thresh ") {
		t.Errorf("with 2 GB: exit %d\n%s", code, out)
	}
	if os.Getenv("THRESH_CI") == "" {
		t.Log("the demonstration is tried with THRESH_CI")
		return
	}
	out, err := exec.Command("sh", "-c", "ulimit -v 2000000 && cd "+t.TempDir()+" && exec "+binary+" demo").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(string(out), "goroutine") {
		t.Errorf("the demonstration with 2 GB: %v\n%s", err, out)
	}
}
