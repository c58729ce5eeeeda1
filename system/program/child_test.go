package program

import (
	"os"
	"testing"
)

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/program", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := Lookup("agent", "./program", dir); err != nil || path != dir+"/program" {
		t.Error(path, err)
	}
	t.Chdir(dir)
	if path, err := Lookup("agent", "./program", ""); err != nil || path != dir+"/program" {
		t.Error(path, err)
	}
	if path, err := Lookup("agent", "program", dir); err == nil {
		t.Error("found beside the document without being asked for there:", path)
	}
}
