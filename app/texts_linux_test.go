package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Texts are what they were when they were read, wherever they are held.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	x := &texts{dir: store}
	var want, got [][]byte
	filed := 0
	for i, size := range []int{0, 10, 3 * longText, 100, heapTexts, 7, longText, 1 << 20, 5000} {
		data := bytes.Repeat([]byte{byte('a' + i)}, size)
		name := filepath.Join(dir, "doc")
		must(t, os.WriteFile(name, data, 0o600))
		f, err := os.Open(name)
		must(t, err)
		read, err := x.read(f)
		must(t, err)
		f.Close()
		kept := x.hold(read)
		if kept.release != nil {
			filed++
			kept.release()
		}
		want, got = append(want, data), append(got, kept.data)
		must(t, os.WriteFile(name, []byte("something else"), 0o600))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("text %d has changed", i)
		}
	}
	if filed < 4 {
		t.Errorf("only %d texts are in the file", filed)
	}
	if left, err := os.ReadDir(store); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v %v", left, err)
	}
}

// Where there can be no file, all is held on the heap.
func TestTextsWithoutFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "doc")
	data := bytes.Repeat([]byte("x"), longText)
	must(t, os.WriteFile(name, data, 0o600))
	for _, x := range []*texts{nil, {dir: filepath.Join(name, "no folder")}} {
		f, err := os.Open(name)
		must(t, err)
		read, err := x.read(f)
		f.Close()
		if kept := x.hold(read); err != nil || !bytes.Equal(kept.data, data) || kept.release != nil {
			t.Errorf("%d bytes, %v", len(kept.data), err)
		}
	}
	must(t, os.Truncate(name, MaxDocument+1))
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	if _, err := (&texts{dir: dir}).read(f); err == nil {
		t.Error("a text that is too long is read")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
