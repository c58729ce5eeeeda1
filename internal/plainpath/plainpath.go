// Package plainpath has tests start Python itself where PATH names a script of a
// version manager, which starts dozens of programs to find it, each time. Only
// tests import it.
package plainpath

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
)

// Use puts the folder of the interpreter first on PATH if python3 is a script.
func Use() {
	path, err := exec.LookPath("python3")
	if err != nil {
		return
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return
	}
	real, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output()
	if dir := filepath.Dir(string(bytes.TrimSpace(real))); err == nil && filepath.IsAbs(dir) {
		_ = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")) // the name is sound
	}
}
