// Package testproc makes test programs, and the programs they start, faster. Only tests import it.
package testproc

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
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

// plainPython lets python3 be an interpreter if it is a script of a version manager, which starts
// dozens of programs every time to find one. Outside CI that is the next on PATH of a version that
// all examples run in, if there is one: it has few packages, some of which run code at each start.
func plainPython() {
	path, err := exec.LookPath("python3")
	if err != nil || !script(path) {
		return
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	first := slices.Index(dirs, filepath.Dir(path))
	for _, dir := range dirs[first+1:] {
		next := filepath.Join(dir, "python3")
		if !Long() && !script(next) && exec.Command(next, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run() == nil {
			setPath(slices.Insert(dirs, max(first, 0), dir))
			return
		}
	}
	real, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output()
	if dir := filepath.Dir(string(bytes.TrimSpace(real))); err == nil && filepath.IsAbs(dir) {
		setPath(slices.Insert(dirs, 0, dir))
	}
}

func script(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(text, []byte("#!"))
}

func setPath(dirs []string) {
	_ = os.Setenv("PATH", strings.Join(dirs, string(filepath.ListSeparator))) // the name is valid
}
