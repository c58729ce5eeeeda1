package unwind

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/port/process"
)

// How much of a stack distinguishes bugs: the place of the fault and of its call,
// and the function that this was called from.
const (
	ownPlaces   = 3
	exactPlaces = 2
	// unnamedPlaces is used where the C library cannot be distinguished from the program:
	// all that aborts shares some frames of it.
	unnamedPlaces = 10
	mostShown     = 24
)

// byThread is the code of a signal that tgkill sent (SI_TKILL).
const byThread = -6

// Diagnosis is what a stopped process says.
type Diagnosis struct {
	process.Crash
	// Sent says that the signal came from a process and not from a fault.
	Sent bool
	// Handler says that the thread was in a handler of an earlier signal.
	Handler bool
}

// Diagnose names the crash of a thread that a fatal signal has stopped.
func (p *Process) Diagnose(s Stop) Diagnosis {
	// An abort is a signal that a thread sends itself.
	d := Diagnosis{Sent: s.Code <= 0 && (s.Signal != sigABRT || s.Code != byThread)}
	d.Kind = p.kind(s)
	back := uint64(0)
	if s.Signal == sigTRAP {
		back = 1 // the breakpoint is behind
	}
	walked := p.walk(s.Regs, back)
	for _, f := range walked {
		d.Handler = d.Handler || f.signal
	}
	d.identify(walked)
	d.Hint = hint(d.Kind)
	return d
}

// identify fills in the frames and what the crash is known by.
func (d *Diagnosis) identify(walked []frame) {
	aborted := strings.HasPrefix(d.Kind, kindAborted)
	want, exact := ownPlaces, exactPlaces
	seen := map[string]int{}
	most := 0
	var layers []string
	for _, f := range walked {
		if !f.m.own {
			continue
		}
		places := f.places()
		for _, x := range places {
			if len(d.Frames) < mostShown {
				d.Frames = append(d.Frames, x.site)
			}
			if d.By == "" {
				d.By = x.by
			}
			if x.by == byOffset && f.m.static && aborted {
				want, exact = unnamedPlaces, unnamedPlaces
			}
			if d.Kind == kindSmashed || strings.HasSuffix(d.Kind, kindGuarded) && want == ownPlaces {
				want = 1 // what survives above hangs on the length of the input
			}
			seen[x.function]++
			most = max(most, seen[x.function])
			if seen[x.function] > 1 || len(layers) >= want {
				continue
			}
			switch {
			case d.Kind == kindSmashed, len(layers) >= exact && !aborted:
				layers = append(layers, x.function)
			default:
				layers = append(layers, x.site)
			}
		}
	}
	if d.Kind == kindOverflow {
		// Which member of the cycle fails, and on which line, is chance.
		var cycle []string
		for name, n := range seen {
			if n > 1 && n*4 >= most {
				cycle = append(cycle, name)
			}
		}
		if len(cycle) > 0 {
			slices.Sort(cycle)
			layers = cycle[:min(len(cycle), unnamedPlaces)]
		}
	}
	d.Layers = layers
}

// hint is a guess from the kind alone at what the bug could be used for, as
// tools for the triage of crashes make it.
func hint(kind string) string {
	switch {
	case kind == kindSmashed, kind == "wild write", kind == "wild call", kind == "protected write", strings.HasSuffix(kind, kindGuarded):
		return process.Exploitable
	case strings.HasPrefix(kind, kindAborted+": ") && !strings.HasSuffix(kind, "assertion") && !strings.HasSuffix(kind, "terminate called"):
		return process.Exploitable // the allocator or a fortified function found memory damaged
	case kind == "wild read", kind == "protected read", kind == "illegal instruction", strings.HasPrefix(kind, "bus error"):
		return process.MaybeExploitable
	}
	return process.NotExploitable
}
