//go:build unix

package python

import (
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
