package system_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/driver"
)

// TestMain lets this program be the driver of the tests below, and a service that listens.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "listen" {
		listen()
	}
	if os.Getenv("THRESH_TEST_DIES_LATER") != "" {
		dieLater()
	}
	os.Setenv("THRESH_TEST_DIES_LATER", "1") // of what the tests start
	testproc.Ready(8)
	os.Exit(m.Run())
}

// listen is a service to which anybody can connect, and that says nothing.
func listen() {
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		os.Exit(1)
	}
	for {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}
}

// dieLater answers every call, and ends with status 3 a moment after that of "bomb".
func dieLater() {
	for {
		var line string
		if _, err := fmt.Scanln(&line); err != nil {
			os.Exit(0)
		}
		fmt.Println(`{"ok":1}`)
		if line == `{"call":"bomb","args":{}}` {
			time.AfterFunc(50*time.Millisecond, func() { os.Exit(3) })
		}
	}
}

// The end of a program between two calls is reported once, in the life of the cases: by the next
// call, a reset, or whoever watches. Among calls that build on each other it is how the next
// one ends.
func TestAProgramThatEndsLater(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open})
	open := func(t *testing.T, p sut.Plan) (sut.System, *campaign.Life) {
		life := &campaign.Life{}
		p.Name, p.Kind, p.Command = "a", sut.Driver, []string{self}
		s, err := all.Open(campaign.WithLife(t.Context(), life), &p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s, life
	}
	call := func(t *testing.T, s sut.System, operation string) sut.Observation {
		o, err := s.Call(t.Context(), sut.Call{Operation: operation})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const want = "bomb: the program ended after it had answered: exit status 3"
	for name, learn := range map[string]func(ctx context.Context, s sut.System, life *campaign.Life) (*campaign.Outcome, bool, error){
		"watched": func(ctx context.Context, _ sut.System, life *campaign.Life) (*campaign.Outcome, bool, error) {
			return life.System.Watch(ctx, 10*time.Second), false, nil
		},
		"reset": func(ctx context.Context, s sut.System, life *campaign.Life) (*campaign.Outcome, bool, error) {
			time.Sleep(time.Second)
			err := s.Reset(ctx)
			return life.End, life.Cut, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly waits
			s, life := open(t, sut.Plan{Digest: name})
			if o := call(t, s, "bomb"); o.End != sut.Answered || life.Calls != 1 {
				t.Fatalf("%+v %+v", o, life)
			}
			if end, cut, err := learn(t.Context(), s, life); err != nil || end == nil || end.Title != want || end.Kind != campaign.KindEndedLater || cut {
				t.Errorf("%+v, cut %v, %v", end, cut, err)
			}
			life.End = nil
			if err := s.Reset(t.Context()); err != nil {
				t.Error(err)
			}
			if o := call(t, s, "a"); o.End != sut.Answered || life.End != nil || life.System.Watch(t.Context(), 10*time.Millisecond) != nil {
				t.Errorf("started again: %+v %+v", o, life.End)
			}
		})
	}
	t.Run("the next call", func(t *testing.T) {
		t.Parallel() // mostly waits
		s, life := open(t, sut.Plan{Digest: "calls"})
		call(t, s, "bomb")
		time.Sleep(time.Second)
		if o := call(t, s, "a"); o.End != sut.Crashed || o.Exit != 3 || !life.Cut || life.Before != 1 {
			t.Errorf("%+v %+v", o, life)
		}
	})
	t.Run("a call that needs no other", func(t *testing.T) {
		t.Parallel() // mostly waits
		s, life := open(t, sut.Plan{Digest: "kept", Reset: sut.Reset{Mode: sut.ResetNone}})
		call(t, s, "bomb")
		time.Sleep(time.Second)
		if o := call(t, s, "a"); o.End != sut.Answered || life.End == nil || life.Cut {
			t.Errorf("%+v %+v", o, life)
		}
	})
}
