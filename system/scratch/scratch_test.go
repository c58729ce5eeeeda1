//go:build unix

package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if parent := os.Getenv("THRESH_SCRATCH_OWNER"); parent != "" {
		f, err := Make(parent)
		if err != nil {
			panic(err)
		}
		if err := os.MkdirAll(filepath.Join(f.Path, "deep", "shut"), 0o755); err != nil {
			panic(err)
		}
		if err := os.Chmod(filepath.Join(f.Path, "deep"), 0); err != nil {
			panic(err)
		}
		fmt.Println(f.Path)
		time.Sleep(time.Hour)
		runtime.KeepAlive(f)
	}
	os.Exit(m.Run())
}

// owner starts a process that owns a folder in parent.
func owner(t *testing.T, parent string) (dir string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "THRESH_SCRATCH_OWNER="+parent)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = c.Process.Kill(); _ = c.Wait() }
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the owner says nothing")
	}
	return lines.Text(), kill
}

func TestWhatDeadOwnersLeaveIsSwept(t *testing.T) {
	parent := t.TempDir()
	alive, _ := owner(t, parent)
	dead, kill := owner(t, parent)
	kill()
	// What merely looks like ours is a user's.
	users := []string{"thresh-notes", "thresh-12-abc", "thresh-fault-0123456789ab", "my-thresh-12-0123456789ab"}
	for _, name := range users {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(f.Path); len(name) != len("thresh-0012345-0123456789ab") {
		t.Errorf("%s has another length than the folder of another process may have", name)
	}
	there := func(dir string) bool { _, err := os.Stat(dir); return err == nil }
	if there(dead) {
		t.Error("the folder of a dead owner is left")
	}
	if !there(alive) || !there(f.Path) {
		t.Error("the folder of a living owner is gone")
	}
	for _, name := range users {
		if !there(filepath.Join(parent, name)) {
			t.Errorf("%s is gone: it is nobody's of ours", name)
		}
	}
	Sweep(parent)
	if !there(f.Path) {
		t.Error("a process sweeps its own folder")
	}
	if err := f.Close(); err != nil || there(f.Path) {
		t.Errorf("close: %v", err)
	}
}
