package stage

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What cannot be copied is an error: the case would find something else than it is about.
func TestCopyOfAPipe(t *testing.T) {
	from := t.TempDir()
	if err := syscall.Mkfifo(from+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.TempDir(), from); err == nil || !strings.HasSuffix(err.Error(), "pipe is not a file, folder or link") {
		t.Error(err)
	}
}

// A folder that holds too much is not copied.
func TestCopyOfTooMuch(t *testing.T) {
	from := t.TempDir()
	big, err := os.Create(from + "/big") // a file of holes
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(maxBytes+1), big.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.TempDir(), from); err == nil || !strings.HasSuffix(err.Error(), "it holds more than 512 MiB") {
		t.Errorf("%v", err)
	}
}
