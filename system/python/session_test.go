//go:build unix

package python

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestForkRefused: a child that the machine does not allow is an error of the machine, not
// the end of a case.
func TestForkRefused(t *testing.T) {
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ours)
	defer unix.Close(theirs)
	far := link{fd: theirs}
	if err := far.send(map[string]string{"refused": "Resource temporarily unavailable"}, time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	s := &session{lane: &lane{zygote: &zygote{link: link{fd: ours}}, wake: [2]int{-1, -1}}, channel: link{fd: -1}}
	s.out[0].fd, s.out[1].fd = -1, -1
	if _, err := s.next(t.Context(), time.Now().Add(patience), false); err == nil || !strings.Contains(err.Error(), "fork a process for Python code: Resource temporarily unavailable") {
		t.Errorf("got %v", err)
	}
}

// TestForkFails: a child that no descriptors can be made for is an error.
func TestForkFails(t *testing.T) {
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if _, err := new(lane).fork("", 0, &[2]*os.File{closed, closed}); err == nil || !strings.Contains(err.Error(), "copy a descriptor") {
		t.Errorf("got %v", err)
	}
}

// TestWakeIsOver: the end of a context writes nothing once it is followed no more, when
// the number of the pipe may be another's.
func TestWakeIsOver(t *testing.T) {
	l := &lane{}
	if err := pipe(l.wake[:]); err != nil {
		t.Fatal(err)
	}
	read := l.wake[0]
	if err := unix.SetNonblock(read, true); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		stop := l.follow(ctx)
		cancel()
		stop()
		time.Sleep(100 * time.Microsecond)
		var b [1]byte
		if n, err := unix.Read(read, b[:]); err != unix.EAGAIN {
			t.Fatalf("%d bytes were written since, %v", n, err)
		}
	}
	for range 2 { // the second time these are the files'
		if err := l.close(); err != nil {
			t.Error(err)
		}
		for range 8 {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.Close(); err != nil {
					t.Error("somebody else's file was closed:", err)
				}
			}()
		}
	}
}
