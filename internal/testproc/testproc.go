// Package testproc makes test programs, and what they start, take less time. Only
// tests import it.
package testproc

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// Ready is called before the tests of a package run. Those that are parallel mostly
// wait: this many are run at a time, on any number of processors, unless the option
// -parallel, which is read later, says otherwise.
func Ready(parallel int) {
	_ = flag.Set("test.parallel", strconv.Itoa(parallel)) // every test program has it
	plainPython()
	rareCollections()
	if !Long() { // in CI files are where users have them
		filesInMemory()
	}
}

// Long says that tests may take long: in CI, or where THRESH_TEST_LONG asks for it.
func Long() bool { return os.Getenv("THRESH_CI") != "" || os.Getenv("THRESH_TEST_LONG") != "" }

// OpenBelow is the files below a folder that this process has open, as far as Linux tells.
func OpenBelow(dir string) (names []string) {
	const open = "/proc/self/fd"
	list, _ := os.ReadDir(open) // other systems have none
	for _, f := range list {
		if name, err := os.Readlink(filepath.Join(open, f.Name())); err == nil && strings.HasPrefix(name, dir+string(filepath.Separator)) {
			names = append(names, name)
		}
	}
	return names
}

// Times is how often a test does what it repeats with another seed: all times in CI, and
// elsewhere a few, which show the same.
func Times(all, few int) int {
	if Long() {
		return all
	}
	return few
}

// rareCollections lets heaps grow to five times of what is alive: those of tests are
// small, and a tenth to nearly a half of their processor time went into collecting garbage.
func rareCollections() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		_ = os.Setenv("GOGC", "400") // the name is sound
	}
}

// plainPython puts the folder of the interpreter first on PATH if python3 is a script
// of a version manager, which starts dozens of programs to find it, each time.
func plainPython() {
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
