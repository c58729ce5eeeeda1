// Package testproc makes test programs, and the programs they start, faster. Only tests import it.
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

// Ready prepares the tests of a package; call it before they run. Parallel tests mostly wait, so
// this many run at a time on any number of processors, unless the option -parallel, which is read
// later, overrides it.
func Ready(parallel int) {
	_ = flag.Set("test.parallel", strconv.Itoa(parallel)) // every test program has the flag
	plainPython()
	rareCollections()
	if !Long() { // in CI, files are where users have them
		filesInMemory()
	}
}

// Long reports whether tests may take long: in CI, or if THRESH_TEST_LONG is set.
func Long() bool { return os.Getenv("THRESH_CI") != "" || os.Getenv("THRESH_TEST_LONG") != "" }

// OpenBelow returns the files below a folder that this process has open, as far as Linux reports
// them.
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

// Times is the number of repetitions of a test with different seeds: all in CI, a few elsewhere.
func Times(all, few int) int {
	if Long() {
		return all
	}
	return few
}

// rareCollections lets heaps grow to five times the live size: test heaps are small, and a tenth to
// nearly half of their processor time went into collecting garbage.
func rareCollections() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		_ = os.Setenv("GOGC", "400") // the name is valid
	}
}

// plainPython puts the folder of the interpreter first on PATH if python3 is a script of a version
// manager, which starts dozens of programs every time to find it.
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
		_ = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")) // the name is valid
	}
}
