package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
)

// snapshot is a moment of a run.
func snapshot() run.Snapshot {
	return run.Snapshot{
		Phase: run.PhaseCases, Campaign: "letters", Index: 1, Of: 1, Done: 1234, Planned: 5000,
		Rate: 321.7, ETA: 11700 * time.Millisecond, Findings: 2, Workers: 4, Elapsed: 3840 * time.Millisecond,
	}
}

func TestProgressLine(t *testing.T) {
	several, unplanned, other := snapshot(), snapshot(), snapshot()
	several.Index, several.Of, several.Errors = 2, 3, 1
	several.Campaign = "a name that is much too long to be shown whole"
	unplanned.Planned, unplanned.ETA, unplanned.Findings = 0, 0, 0
	unplanned.Campaign = "evil\x1b[2J"
	other.Phase, other.Done, other.Planned = run.PhaseShrink, 500, 400
	for _, c := range []struct {
		name string
		p    *progress
		s    run.Snapshot
		want string
	}{
		{"plain", &progress{}, snapshot(), "running letters  25% 1,234/5,000  321/s  ETA 12s  2 findings  4 workers  4s"},
		{"live", &progress{live: true, width: 100}, snapshot(), "running letters ███░░░░░░░░░░░░░  25% 1,234/5,000  321/s  ETA 12s  2 findings  4 workers"},
		{"narrow", &progress{live: true, width: 40, color: true}, snapshot(), "running letters ███░░░░░░░░░░░░░  25% …"},
		{"coloured", &progress{live: true, width: 100, color: true}, snapshot(), "running letters ███░░░░░░░░░░░░░  25% 1,234/5,000  321/s  ETA 12s  \x1b[1;31m2 findings\x1b[0m  4 workers"},
		{"several campaigns", &progress{}, several, "running [2/3] a name that is much too…  25% 1,234/5,000  321/s  ETA 12s  2 findings  1 error  4 workers  4s"},
		{"unplanned", &progress{}, unplanned, "running evil\uFFFD[2J 1,234  321/s  0 findings  4 workers  4s"},
		{"beyond the plan", &progress{live: true, width: 100}, other, "shrinking letters ████████████████ 100% 500/400  2 findings  4 workers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.line(c.s); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestProgressOnTerminal: one line is drawn anew each time, and cleared at the end.
func TestProgressOnTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&Stdio{Err: &out, ErrTTY: true, Getenv: func(string) string { return "" }}, false)
	p.update(snapshot())
	p.update(snapshot())
	done := snapshot()
	done.Phase = run.PhaseDone
	p.update(done)
	text := out.String()
	if strings.Count(text, "\r\x1b[K") != 3 || !strings.HasSuffix(text, "workers\r\x1b[K") || strings.Contains(text, "\n") {
		t.Errorf("%q", text)
	}
}

// TestProgressInPipe: nothing is redrawn, and a line comes only now and then.
func TestProgressInPipe(t *testing.T) {
	var out bytes.Buffer
	io := &Stdio{Err: &out, Getenv: func(string) string { return "" }}
	p := newProgress(io, false)
	p.update(snapshot())
	if out.Len() > 0 {
		t.Errorf("a line comes too early: %q", out.String())
	}
	p.last = p.last.Add(-plainEvery)
	p.update(snapshot())
	p.update(snapshot())
	if want := p.line(snapshot()) + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	io.ErrTTY, io.Getenv = true, func(k string) string { return map[string]string{"CI": "true"}[k] }
	if newProgress(io, false).live {
		t.Error("CI gets a line that is redrawn")
	}
	if newProgress(io, true) != nil {
		t.Error("--quiet gets progress")
	}
}

func TestClipText(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "sechs!": "sechs!", "süßigkeit": "süßig…"} {
		if got := diag.Runes(in, 6); got != want {
			t.Errorf("diag.Runes(%q) = %q, want %q", in, got, want)
		}
	}
}
