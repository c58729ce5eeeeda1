//go:build unix

package testproc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPlainPython(t *testing.T) {
	for script, want := range map[string]string{
		"#!/bin/sh\necho /opt/python/bin/python3\n": "/opt/python/bin:",
		"#!/bin/sh\nexit 1\n":                       "",
		"\x7fELF":                                   "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		if plainPython(); os.Getenv("PATH") != want+dir {
			t.Errorf("%q: PATH is %s", script, os.Getenv("PATH"))
		}
	}
}
