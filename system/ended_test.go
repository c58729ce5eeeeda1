package system_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/driver"
)

// TestMain lets this program be the driver of the tests below.
func TestMain(m *testing.M) {
	if os.Getenv("THRESH_TEST_DIES_LATER") != "" {
		dieLater()
	}
	os.Exit(m.Run())
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

// A program that ends a moment after it has answered ends by that call, whichever meets
// its end.
func TestTheCallThatEndsTheProgramLater(t *testing.T) {
	t.Setenv("THRESH_TEST_DIES_LATER", "1")
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open})
	s, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{self}, Digest: "a"}, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	call := func(c sut.Call) sut.Observation {
		c.Alone, c.Case = true, []byte(c.Operation)
		o, err := s.Call(t.Context(), c)
		if err != nil || o.End.Failed() && c.Settle == 0 {
			t.Fatalf("%s: %s %s %v", c.Operation, o.End, o.Why, err)
		}
		return o
	}
	var found []string
	for _, operation := range []string{"a", "bomb", "b", "c"} {
		if o := call(sut.Call{Operation: operation}); o.Earlier != nil {
			found = append(found, string(o.Earlier.Call.Case)+" "+o.Earlier.Death.Why)
		}
	}
	for i := 0; i < 1000 && len(found) == 0; i++ {
		if o := call(sut.Call{Operation: "d"}); o.Earlier != nil {
			found = append(found, string(o.Earlier.Call.Case)+" "+o.Earlier.Death.Why)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if want := "bomb the program ended after it had answered: exit status 3"; len(found) != 1 || found[0] != want {
		t.Errorf("found %q, want %q", found, want)
	}
	if o := call(sut.Call{Operation: "bomb", Settle: 5 * time.Second}); o.End != sut.Crashed {
		t.Errorf("alone and watched, it %s", o.End)
	}
	if o := call(sut.Call{Operation: "a", Settle: 100 * time.Millisecond}); o.End != sut.Answered {
		t.Errorf("one that ends nothing %s", o.End)
	}
}
