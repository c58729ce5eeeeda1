package system

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/sut"
)

// lostConnection matches how runtimes report that the caller is gone. After an answer that was
// abandoned as late or too large, we caused that, and the report arrives during a later call.
var lostConnection = regexp.MustCompile(`(?i)\b(BrokenPipeError|Connection(Reset|Aborted)Error|broken pipe|connection reset by peer|EPIPE|ECONNRESET)\b`)

// blame completes an observation with the state of the called program. A call that failed because
// the program died is a crash. So is an answered call during which a runtime reported a failure on
// standard error, unless the program refused the call and the report is of the exception it used to
// refuse.
func (x *session) blame(ctx context.Context, o *sut.Observation) {
	if s := x.site.Service; s != nil {
		o.Printed = append(o.Printed, s.Printed()...)
		if o.End == sut.Unreachable || o.End == sut.Crashed && o.Status == 0 {
			if c := s.Died(ctx); c != nil {
				*o = sut.Observation{End: sut.Crashed, Printed: append(o.Printed, s.Printed()...), Elapsed: o.Elapsed}
				Died(o, c.End(), c.State())
			} else if o.End == sut.Unreachable && o.Status == 0 {
				o.End, o.Why = sut.Crashed, "the program is running but no longer accepts connections"
			}
		}
	}
	if o.End != sut.Answered && o.End != sut.Refused || len(o.Printed) == 0 {
		return
	}
	cause := crash.Analyze(crash.Death{Stderr: o.Printed})
	// A service that answers with a status from 400 to 499 has caught what it prints: exceptions that
	// nothing catches are answered with 500 by every framework.
	caught := cause.Raised || o.Status >= 400 && o.Status < 500 && cause.Class == crash.ClassException && !cause.Uncaught
	if o.End == sut.Refused && caught || x.shared.cut.Load() && lostConnection.MatchString(cause.Title) {
		return
	}
	if slices.Contains([]string{crash.ClassSanitizer, crash.ClassPanic, crash.ClassException, crash.ClassAssert, crash.ClassMemoryCorruption,
		crash.ClassStackOverflow, crash.ClassMemoryLimit}, cause.Class) {
		o.End, o.Why = sut.Crashed, "a report on standard error: "+cause.Title
	}
}

// Died records in an observation how a program ended during a call.
func Died(o *sut.Observation, how string, state *os.ProcessState) {
	o.End, o.Why = sut.Crashed, endedDuring+how
	if state == nil {
		return
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		o.Signal = int(w.Signal())
		return
	}
	o.Exit = state.ExitCode()
}

// Late records that no complete answer arrived in time.
func Late(o *sut.Observation, limit time.Duration) {
	o.End, o.Why = sut.Hung, fmt.Sprintf("no whole answer within %s", limit.Round(time.Millisecond))
}

// Flood records that the answer exceeded the limit.
func Flood(o *sut.Observation) {
	o.End, o.Why = sut.Flooded, fmt.Sprintf("the answer is larger than %d bytes", sut.MaxOutput)
}
