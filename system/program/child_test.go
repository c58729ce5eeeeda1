package program

import (
	"os"
	"strings"
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

// What raised an exception stands before the message, which may quote a long input.
func TestTailHoldsTheReportOnALongInput(t *testing.T) {
	tail := &Tail{}
	tail.add([]byte("Traceback: raise ValueError\nValueError: " + strings.Repeat("a", 40_000) + "\nError executing tool\n"))
	if got := tail.Take(); !strings.HasPrefix(got, "Traceback") {
		t.Errorf("%d bytes are left, without their beginning", len(got))
	}
}
