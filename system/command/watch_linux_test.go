package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// A program finds its stack at the same address in whichever lane and process of Thresh it runs.
func TestPathsAreAsLong(t *testing.T) {
	lengths := map[int]bool{}
	for _, lane := range []int{0, 10, 1000} {
		f, _, err := newFolder(&process.Plan{Input: "input/seed.bin"}, lane)
		if err != nil {
			t.Fatal(err)
		}
		lengths[len(f.run)] = true
		f.close()
	}
	if len(lengths) != 1 {
		t.Errorf("the folders of lanes have paths of lengths %v", lengths)
	}
	if library, err := hostLibrary(); err == nil && len(library) != len("/proc/1234567/fd/1234567") {
		t.Errorf("%s has another length than in another process", library)
	}
}

// Whatever a program does to its folders is noticed, and what it leaves is
// gone before the next case; what it does to the content of its input is not
// worth a look.
func TestFolderNoticesWhatWasDone(t *testing.T) {
	f, _, err := newFolder(&process.Plan{Input: "input/seed.bin", OutDir: "out", Dirs: []string{"logs/today", "logs"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f.resets = watchFrom
	must(f.rebuild())
	for _, c := range []struct {
		name  string
		do    func()
		quiet bool // nothing that has to be put right
		out   bool // it shows in the folder for outputs
		anew  bool // folders have to be made anew
	}{
		{"nothing", func() {}, true, false, false},
		{"writes its input", func() { must(os.WriteFile(f.path("input/seed.bin"), []byte("changed"), 0o644)) }, true, false, false},
		{"writes an output", func() { must(os.WriteFile(f.path("out/a"), []byte("x"), 0o644)) }, false, true, false},
		{"removes an output at once", func() {
			must(os.WriteFile(f.path("out/a"), nil, 0o644))
			must(os.Remove(f.path("out/a")))
		}, false, true, false},
		{"writes a log", func() { must(os.WriteFile(f.path("logs/today/a"), nil, 0o644)) }, false, false, false},
		{"writes beside a fixed folder", func() { must(os.WriteFile(f.path("logs/a"), nil, 0o644)) }, false, false, true},
		{"changes a mode and writes", func() {
			must(os.WriteFile(f.path("out/a"), nil, 0o644))
			must(os.Chmod(f.path("out"), 0o711))
		}, false, true, true},
		{"writes beside its input", func() { must(os.WriteFile(f.path("input/b"), nil, 0o644)) }, false, false, true},
		{"changes a mode", func() { must(os.Chmod(f.path("out"), 0o700)) }, false, true, true},
		{"removes a folder", func() { must(os.Remove(f.path("out"))) }, false, true, true},
		{"moves a folder away", func() { must(os.Rename(f.path("out"), filepath.Join(f.run, "elsewhere"))) }, false, true, true},
		{"replaces its input", func() {
			must(os.Remove(f.path("input/seed.bin")))
			must(os.WriteFile(f.path("input/seed.bin"), nil, 0o644))
		}, false, false, true},
	} {
		for _, watched := range []bool{true, false} {
			if !watched {
				f.watch.close()
			}
			c.do()
			if got := f.noOutputs(); got == c.out {
				t.Errorf("%s (watched %t): no outputs: %t", c.name, watched, got)
			}
			if watched && f.unchanged() != c.quiet {
				t.Errorf("%s: quiet is %t", c.name, !c.quiet)
			}
			if f.isUntouched() != c.quiet {
				t.Errorf("%s (watched %t): untouched is %t", c.name, watched, !c.quiet)
			}
			if same, err := f.reset(); err != nil || same == c.anew {
				t.Fatalf("%s (watched %t): the folders are the same: %t, %v", c.name, watched, same, err)
			}
			for _, d := range []string{"out", "logs", "logs/today", "input"} {
				if st, err := os.Stat(f.path(d)); err != nil || st.Mode() != os.ModeDir|0o755 {
					t.Errorf("%s (watched %t): %s is %v, %v", c.name, watched, d, st, err)
				}
			}
			if names, err := os.ReadDir(f.path("logs")); err != nil || len(names) != 1 {
				t.Errorf("%s (watched %t): in logs are %v, %v", c.name, watched, names, err)
			}
			entries, err := os.ReadDir(f.path("out"))
			must(err)
			if len(entries) > 0 || !f.noOutputs() {
				t.Errorf("%s (watched %t): not put right: %v", c.name, watched, entries)
			}
			must(f.input.write([]byte("next")))
			if got, err := os.ReadFile(f.path("input/seed.bin")); err != nil || string(got) != "next" {
				t.Errorf("%s (watched %t): the next input is %q, %v", c.name, watched, got, err)
			}
			must(f.rebuild())
		}
	}
}

func TestWhoKeepsToOneProcessor(t *testing.T) {
	if newCPUPin(0, 1).all.Count() < 2 {
		t.Skip("there is one processor")
	}
	for _, c := range []struct {
		lanes int
		took  time.Duration
		on    bool
	}{
		{1, 0, false}, {1, shortLived / 4, true}, {1, shortLived, false}, {1 << 10, 0, true}, {1 << 10, time.Second, true},
	} {
		p := newCPUPin(0, c.lanes)
		if p.suit(c.took); p.on != c.on {
			t.Errorf("%d lanes, cases of %s: %t", c.lanes, c.took, p.on)
		}
	}
	p := newCPUPin(0, 1<<10)
	p.pin()
	p.pin()
	p.unpin()
	if !p.seated {
		t.Error("it rose before it was told as often as it sat down")
	}
	p.unpin()
	if p.seated || p.left != nil {
		t.Errorf("it still sits: %v", p.left)
	}
}

// A program that moves the folder of its lane away ends the run, also if it puts another
// one in its place: nothing is made or removed there.
func TestFolderThatWasMoved(t *testing.T) {
	f, _, err := newFolder(&process.Plan{Input: "in"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	away := f.Path + "-away"
	if err := os.Rename(f.Path, away); err != nil {
		t.Fatal(err)
	}
	moved := func(where string) {
		t.Helper()
		if err := f.rebuild(); err == nil || !strings.HasSuffix(err.Error(), "was moved or removed while a case ran") {
			t.Errorf("%s: %v", where, err)
		}
	}
	moved("with nothing in its place")
	if err := os.Mkdir(f.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if moved("with another in its place"); len(f.dirs) > 0 {
		t.Error("folders were made there")
	}
	if err := os.Remove(f.Path); err != nil { // it is empty
		t.Fatal(err)
	}
	if err := os.Rename(away, f.Path); err != nil {
		t.Fatal(err)
	}
	if err := f.rebuild(); err != nil {
		t.Errorf("back in its place: %v", err)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Path); err == nil {
		t.Error("the folder stays")
	}
}
