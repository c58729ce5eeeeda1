//go:build unix

package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// size is what a file of the tests takes; its room is a multiple of blocks of every file system.
const size = 1 << 16

// fill makes files of a size, with the folders that they are in.
func fill(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("a", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Every file and folder of a folder of ours takes room; a second name of a file, or a link, takes
// that of an entry.
func TestRoomOfAFolder(t *testing.T) {
	dir := t.TempDir()
	const most = 1 << 30
	nobody := func(dir string) bool { t.Errorf("asked whether to skip %s", dir); return true }
	if left := Room(most, dir, time.Time{}, nil, nobody); left != most-entrySize {
		t.Errorf("an empty folder takes %d", most-left)
	}
	fill(t, dir, "a", "sub/b", "thresh-0000001-0123456789ab/c")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if left := Room(most, dir, time.Time{}, nil, nobody); left != most-7*entrySize-3*size {
		t.Errorf("three files in folders take %d", most-left)
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "second")); err != nil {
		t.Fatal(err)
	}
	if left := Room(most, dir, time.Time{}, nil, nobody); left != most-8*entrySize-3*size {
		t.Errorf("with a second name of one they take %d", most-left)
	}
	if left := Room(0, dir, time.Time{}, nil, nobody); left != -entrySize {
		t.Errorf("of no room %d is left, so more was looked at than the first entry", left)
	}
	if left := Room(entrySize, dir, time.Time{}, nil, nobody); left >= 0 || left < -entrySize-size {
		t.Errorf("of the room of one entry %d is left", left)
	}
	if left := Room(most, filepath.Join(dir, "gone"), time.Time{}, nil, nobody); left != most {
		t.Errorf("a folder that is not there takes %d", most-left)
	}
}

// In a folder that others use, what is new takes room, and what is old by how much it grows; what
// Thresh keeps there, and what is to be skipped, takes none.
func TestRoomOfAFolderOfOthers(t *testing.T) {
	dir := t.TempDir()
	const most = 1 << 30
	skip := func(dir string) bool { return filepath.Base(dir) == "skipped" }
	fill(t, dir, "a", "sub/b", "thresh-0000001-0123456789ab/c", "skipped/d")
	old := map[string]int64{}
	before, after := time.Now().Add(-time.Hour), time.Now().Add(time.Hour) // the clocks of file systems are some ticks behind
	if left := Room(most, dir, after, old, skip); left != most || len(old) != 2 {
		t.Errorf("old files take %d, %d of them are noted", most-left, len(old))
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(strings.Repeat("a", 3*size)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was noted first counts
		if left := Room(most, dir, after, old, skip); left != most-2*size {
			t.Errorf("one that has grown takes %d", most-left)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	if left := Room(most, dir, after, old, skip); left != most {
		t.Errorf("one that has become smaller takes %d", most-left)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if born(filepath.Join(dir, "a"), info).IsZero() {
		t.Skip("this file system does not say when a file was made")
	}
	if left := Room(most, dir, before, old, skip); left != most-3*entrySize-size {
		t.Errorf("new files take %d", most-left)
	}
}

// A folder is made where temporary files are kept, unless another place is named.
func TestPlacesOfFolders(t *testing.T) {
	tmp, other := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for parent, want := range map[string]string{"": tmp, other: other} {
		f, err := Make(parent)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(f.Path) != want {
			t.Errorf("in %q: %s", parent, f.Path)
		}
		if second, err := Make(parent); err != nil || second.Path == f.Path {
			t.Errorf("a second one in %q: %v", parent, err)
		} else if err := second.Close(); err != nil {
			t.Error(err)
		}
		if list, err := os.ReadDir(want); err != nil || len(list) != 1 {
			t.Errorf("%v in %s, %v", list, want, err)
		}
		for range 2 { // it may be called again
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if f, err := Make(filepath.Join(tmp, "gone")); err == nil || !strings.Contains(err.Error(), "make a temporary folder: ") {
		t.Errorf("%v, %v", f, err)
	}
	file := filepath.Join(tmp, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Make(file); err == nil || !strings.Contains(err.Error(), "make a temporary folder: ") {
		t.Errorf("%v, %v", f, err)
	}
}
