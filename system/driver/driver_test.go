//go:build unix

package driver

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestMain(m *testing.M) {
	systemtest.Speak()
	os.Setenv(systemtest.SpeakerVariable, "driver") // of what the tests start
	testproc.Ready(8)
	os.Exit(m.Run())
}

var systems = system.New(map[sut.Kind]system.Kind{sut.Driver: Open})

func speaker(t *testing.T) *sut.Plan {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &sut.Plan{Name: "speaker", Kind: sut.Driver, Command: []string{self}, Per: sut.PerWorker}
}

func TestSuite(t *testing.T) {
	t.Parallel() // mostly waits
	plan := speaker(t)
	systemtest.RunSystem(t, systemtest.System{Open: systems.Open, Plan: func(*testing.T) *sut.Plan { return plan }})
}

// A line that is no answer is none, however much of one it has.
func TestLinesThatAreNoAnswers(t *testing.T) {
	for line, want := range map[string]string{
		`{"ok":12}`: "answered 12", ` { "ok" : 12 }`: "answered 12", "{\"ok\":12}\r": "answered 12", `{"ok":{"a":[1]}}`: `answered {"a":[1]}`,
		`{"rejected":"no"}`: "refused", `{"ok":12`: "crashed", `{"ok":12]`: "crashed", `{"ok":}`: "crashed", `{"ok":`: "crashed",
		`{"ok":1} 2`: "crashed", `{}`: "crashed", `{"okay":1}`: "crashed", `[1]`: "crashed", `null`: "crashed", `ok`: "crashed",
	} {
		p := &sut.Plan{Name: "lines", Kind: sut.Driver, Command: []string{"sh", "-c", `while read -r line; do printf '%s\n' "$0"; done`, line}}
		x, err := systems.Open(t.Context(), p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		o, err := x.Call(t.Context(), sut.Call{Operation: "get"})
		got := strings.TrimSpace(fmt.Sprintf("%s %s", o.End, o.Value))
		if got != want || err != nil {
			t.Errorf("%q: %s (%s), want %s: %v", line, got, o.Why, want, err)
		}
		x.Close()
	}
}

// A line may be as long as an answer may be, its end included, and no longer.
func TestLongLines(t *testing.T) {
	for spare, want := range map[int]sut.End{0: sut.Answered, -1: sut.Flooded} {
		n := sut.MaxOutput - len("{\"ok\":\"\"}\n") - spare
		p := &sut.Plan{Name: "long", Kind: sut.Driver, Command: []string{"sh", "-c",
			`while read -r line; do printf '{"ok":"'; head -c "$0" /dev/zero | tr '\0' a; printf '"}\n'; done`, strconv.Itoa(n)}}
		x, err := systems.Open(t.Context(), p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := x.Call(t.Context(), sut.Call{Operation: "get", Timeout: time.Minute}); err != nil || o.End != want || want == sut.Answered && len(o.Value) != n+2 {
			t.Errorf("%d bytes: %s (%s), %d bytes, %v; want %s", n, o.End, o.Why, len(o.Value), err, want)
		}
		x.Close()
	}
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

// A program may take its time to start, but no longer to answer than the limit once it has.
func TestSlowStart(t *testing.T) {
	for by, reset := range map[string]sut.Reset{"a line": {}, "an operation": {Mode: sut.ResetOperation, Operation: "wipe"}} {
		for _, per := range []sut.Per{sut.PerWorker, sut.PerCase} {
			t.Run(fmt.Sprint("reset by ", by, ", ", per), func(t *testing.T) {
				t.Parallel() // mostly waits
				p := &sut.Plan{Name: "slow", Kind: sut.Driver, Per: per, Reset: reset, Limits: sut.Limits{Timeout: 200 * time.Millisecond},
					Operations: []sut.Operation{{Name: "wipe"}, {Name: "get"}},
					Command:    []string{"sh", "-c", `sleep 0.6; while read line; do echo '{"ok":1}'; read line && sleep 0.6; done`}}
				x, err := systems.Open(t.Context(), p, sut.Worker{Of: 1})
				if err != nil {
					t.Fatal(err)
				}
				if err := x.Reset(t.Context()); err != nil {
					t.Errorf("the first reset: %v", err)
				}
				if o, err := x.Call(t.Context(), sut.Call{Operation: "get"}); err != nil || o.End != sut.Hung {
					t.Errorf("a call after the reset: %s %v", o.End, err)
				}
				if err := x.Reset(t.Context()); err != nil {
					t.Errorf("the reset after a hang: %v", err)
				}
				if err := x.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
