package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestUnsanitized(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.c")
	if err := os.WriteFile(file, []byte("int main(int n, char **v) { return n + n + v[0][n]; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		compiler []string
		want     bool
	}{
		{[]string{"gcc"}, true},
		{[]string{"gcc", "-static", "-s"}, true},
		{[]string{"clang"}, true},
		{[]string{"gcc", "-fsanitize=address"}, false},
		{[]string{"clang", "-fsanitize=address", "-s"}, false},
		{[]string{"gcc", "-fsanitize=undefined"}, false},
	} {
		program := filepath.Join(dir, string(rune('a'+i)))
		if out, err := exec.Command(c.compiler[0], append(c.compiler[1:], "-o", program, file)...).CombinedOutput(); err != nil {
			t.Logf("%q: %v\n%s", c.compiler, err, out)
			continue // a compiler or its sanitizer is not installed
		}
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if got := unsanitized(data); got != c.want {
			t.Errorf("%q: unsanitized is %v, want %v", c.compiler, got, c.want)
		}
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if unsanitized(own) || unsanitized([]byte("#!/bin/sh\n")) {
		t.Error("a program in Go, or a script, counts as one in C")
	}
}
