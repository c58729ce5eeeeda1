//go:build unix

package driver

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestMain(m *testing.M) {
	systemtest.Speak()
	os.Exit(m.Run())
}

var systems = system.New(map[sut.Kind]system.Kind{sut.Driver: Open})

func speaker(t *testing.T) *sut.Plan {
	t.Setenv(systemtest.SpeakerVariable, "driver")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &sut.Plan{Name: "speaker", Kind: sut.Driver, Command: []string{self}, Per: sut.PerWorker}
}

func TestSuite(t *testing.T) {
	plan := speaker(t)
	systemtest.RunSystem(t, systemtest.System{Open: systems.Open, Plan: func(*testing.T) *sut.Plan { return plan }})
}

// The end of a context interrupts no call but its own, however late it is noticed.
func TestContextsThatEndBetweenCalls(t *testing.T) {
	x, err := systems.Open(t.Context(), speaker(t), sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i := range 3000 {
		ctx, cancel := context.WithCancel(t.Context())
		o, err := x.Call(ctx, sut.Call{Operation: "echo", Named: []sut.Named{{Name: "text", Value: []byte(`"a"`)}}, Timeout: time.Minute})
		if cancel(); err != nil || o.End != sut.Answered {
			t.Fatalf("call %d: %s (%s), %v", i, o.End, o.Why, err)
		}
	}
}
