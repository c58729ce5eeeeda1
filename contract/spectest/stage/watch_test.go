package stage

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What one command has changed is never said of another.
func TestWatches(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := Write(dir, []File{{Path: name, Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	var w Watches
	expect := func(what string, c Change, shared bool, paths ...string) {
		t.Helper()
		if c.Shared != shared || c.More || !slices.Equal(c.Paths, paths) {
			t.Errorf("%s: %+v, want %t %q", what, c, shared, paths)
		}
	}
	write("in/a.txt", "laid out a moment before")
	expect("reads what is new", w.Begin(dir).End(true), false)
	one := w.Begin(dir)
	write("log", "1")
	expect("writes", one.End(true), false, "log")
	expect("reads behind a case that failed", w.Begin(dir).End(true), false)
	one = w.Begin(dir)
	write("log", "22")
	one.End(false)
	expect("reads behind a case that passed", w.Begin(dir).End(true), false)

	one, other := w.Begin(dir), w.Begin(dir)
	write("log", "333")
	expect("reads beside one that writes", one.End(true), true, "log")
	expect("was there meanwhile", other.End(true), true)
	one = w.Begin(dir)
	expect("ended before", w.Begin(dir).End(true), true)
	expect("had another beside it for a while", one.End(true), true)
	expect("runs alone again", w.Begin(dir).End(true), false)

	one = w.Begin(dir)
	if err := os.Remove(filepath.Join(dir, "in", "a.txt")); err != nil {
		t.Fatal(err)
	}
	write(".git/index", "x")
	write(".thresh/runs/x", "x")
	expect("removes", one.End(true), false, "in/")
	one = w.Begin(dir)
	for i := range maxChanged + 1 {
		write("many/"+string(rune('a'+i)), "x")
	}
	if c := one.End(true); len(c.Paths) != maxChanged || !c.More || c.Paths[0] != "many/a" {
		t.Errorf("%+v", c)
	}
}
