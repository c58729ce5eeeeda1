package forkline

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// answer plays the server's part on the far ends.
func answer(t *testing.T, l *Line, b ...byte) {
	t.Helper()
	if _, err := unix.Write(l.far[1], b); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *Line {
	t.Helper()
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestWords(t *testing.T) {
	l := open(t)
	if err := l.Send(0x01020304); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	if n, err := unix.Read(l.far[0], b[:]); n != 4 || err != nil || binary.NativeEndian.Uint32(b[:]) != 0x01020304 {
		t.Errorf("the server reads % x, %v", b[:n], err)
	}
	word := binary.NativeEndian.AppendUint32(nil, 77)
	answer(t, l, word...)
	answer(t, l, append(make([]byte, 5000), word...)...)
	if w, err := l.Receive(time.Minute); w != 77 || err != nil {
		t.Errorf("Receive: %d, %v", w, err)
	}
	if err := l.Discard(5000, time.Minute); err != nil {
		t.Errorf("Discard: %v", err)
	}
	if w, err := l.Next(); w != 77 || err != nil {
		t.Errorf("Next: %d, %v", w, err)
	}
	if _, err := l.Receive(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Receive from a silent server: %v", err)
	}
}

func TestServerGone(t *testing.T) {
	l := open(t)
	answer(t, l, 1, 2) // dies in the middle of a word
	l.closeFar()
	if err := l.Send(1); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Send: %v", err)
	}
	for range 2 {
		if _, err := l.Receive(time.Minute); !errors.Is(err, io.EOF) {
			t.Errorf("Receive: %v", err)
		}
	}
	if err := l.Discard(3, time.Minute); !errors.Is(err, io.EOF) {
		t.Errorf("Discard: %v", err)
	}
}
