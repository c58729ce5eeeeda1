package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
)

// progress shows a run's progress: on a terminal one line that is redrawn, in a pipe a line from
// time to time.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	live  bool
	color bool
	width int
	last  time.Time
	drawn bool
}

// plainEvery is how often a pipe gets a line.
const plainEvery = 10 * time.Second

// newProgress returns nil if quiet is set.
func newProgress(io *Stdio, quiet bool) *progress {
	if quiet {
		return nil
	}
	p := &progress{out: io.Err, live: io.ErrTTY && io.Getenv("CI") == "" && io.Getenv("TERM") != "dumb", color: io.color(io.ErrTTY), width: io.Width}
	if p.width <= 20 {
		p.width = 100
	}
	p.last = time.Now()
	return p
}

// update shows a snapshot.
func (p *progress) update(s run.Snapshot) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Phase == run.PhaseDone {
		p.clear()
		return
	}
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K"+p.line(s))
		p.drawn = true
		return
	}
	if now := time.Now(); now.Sub(p.last) >= plainEvery {
		p.last = now
		fmt.Fprintln(p.out, p.line(s))
	}
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

func (p *progress) line(s run.Snapshot) string {
	var b strings.Builder
	name := s.Campaign
	if s.Of > 1 {
		name = fmt.Sprintf("[%d/%d] %s", s.Index, s.Of, name)
	}
	fmt.Fprintf(&b, "%s %s ", s.Phase, printable(diag.Runes(name, 30)))
	if s.Planned > 0 {
		share := float64(s.Done) / float64(s.Planned)
		if p.live {
			b.WriteString(bar(share, 16) + " ")
		}
		fmt.Fprintf(&b, "%3.0f%% %s/%s", 100*min(share, 1), diag.Number(s.Done), diag.Number(s.Planned))
	} else {
		b.WriteString(diag.Number(s.Done))
	}
	if s.Phase == run.PhaseCases {
		fmt.Fprintf(&b, "  %s/s", diag.Number(int64(s.Rate)))
		if s.ETA > 0 {
			fmt.Fprintf(&b, "  ETA %s", s.ETA.Round(time.Second))
		}
	}
	found := diag.Plural(s.Findings, "finding")
	b.WriteString("  " + found)
	for i, f := range s.Figures {
		sep := ", "
		if i == 0 {
			sep = "  "
		}
		b.WriteString(sep + diag.Number(f.Value) + " " + printable(f.Name))
	}
	if s.Errors > 0 {
		b.WriteString("  " + diag.Plural(s.Errors, "error"))
	}
	b.WriteString("  " + diag.Plural(s.Workers, "worker"))
	if !p.live {
		fmt.Fprintf(&b, "  %s", s.Elapsed.Round(time.Second))
		return b.String()
	}
	line := diag.Runes(b.String(), p.width-1) // a wrapped line could not be redrawn
	if s.Findings > 0 && p.color {
		line = strings.Replace(line, "  "+found, "  \x1b[1;31m"+found+"\x1b[0m", 1)
	}
	return line
}

func bar(share float64, cells int) string {
	full := min(int(share*float64(cells)), cells)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}
