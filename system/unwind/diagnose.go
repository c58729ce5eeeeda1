package unwind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/port/process"
)

// How many places of a stack identify a bug: the place of the fault and of its call, and the
// function that made this call.
const (
	ownPlaces   = 3
	exactPlaces = 2
	// unnamedPlaces is used if the C library cannot be distinguished from the program: all aborts
	// share some of its frames.
	unnamedPlaces = 10
	mostShown     = 24
)

// byThread is the code of a signal that tgkill sent (SI_TKILL).
const byThread = -6

// Diagnosis is what a stopped process reveals about its crash.
type Diagnosis struct {
	process.Crash
	// Sent means that a process sent the signal, not a fault.
	Sent bool
	// Raised means that the thread sent the signal to itself, other than through abort.
	Raised bool
	// Handler means that the thread was in a handler of an earlier signal.
	Handler bool
	// Doubtful means that the stack may have been overwritten: the thread need not have been where
	// that happened.
	Doubtful bool
}

// Diagnose describes the crash of a thread that a fatal signal has stopped.
func (p *Process) Diagnose(s Stop) Diagnosis {
	d := Diagnosis{Sent: s.Code <= 0 && s.Code != byThread, Raised: s.Code == byThread && s.Signal != sigABRT}
	if d.Kind = p.kind(s); d.Raised {
		d.Kind = kindRaised
	}
	back := uint64(0)
	if s.Signal == sigTRAP {
		back = 1 // the breakpoint instruction precedes the pc
	}
	walked, whole := p.walk(s.Regs, back)
	for _, f := range walked {
		d.Handler = d.Handler || f.signal
	}
	if len(walked) > 0 && walked[0].counts() && s.Signal != sigABRT && d.Kind != kindOverflow && !d.Sent && !d.Raised {
		d.Kind = kindCounters
	}
	d.Fault = fault(d.Kind)
	access := d.Fault == read || d.Fault == write || d.Kind == kindAborted && s.Signal == sigSEGV // how musl aborts
	switch {
	case (access || d.Kind == kindAborted) && inAllocator(walked):
		d.Fault = heapDamage
	case (access || d.Fault == heapDamage) && len(walked) > 0 && walked[0].nameless():
		d.Fault = inLibrary // the function cannot be determined
	}
	d.Doubtful = !whole && d.Kind != kindOverflow || d.Fault == stackDamage || d.Kind == "illegal instruction" ||
		(d.Fault == read || d.Fault == write || d.Fault == call) && !strings.Contains(d.Kind, "null")
	d.identify(walked)
	d.Hint = hint(d.Kind)
	return d
}

// Smashed returns the diagnosis of a function that overwrote the calls that led to it. function is
// the address of its code; returns are the calls' return addresses.
func (p *Process) Smashed(function uint64, returns []uint64) Diagnosis {
	d := Diagnosis{Crash: process.Crash{Kind: kindSmashed, Fault: stackDamage, Hint: hint(kindSmashed)}}
	var walked []frame
	for _, a := range append([]uint64{function + 1}, returns...) {
		if m, at := p.locate(a); m != nil {
			f := frame{m: m, at: at - 1}
			if e := find(m.frames, f.at); e != nil {
				f.start = e.lo
			}
			walked = append(walked, f)
		}
	}
	d.identify(walked)
	return d
}

// The faults behind kinds of crashes. One bug may read or write at any address that its input
// contains, and the C library detects one kind of damage in many ways.
const (
	read         = "read"
	write        = "write"
	call         = "call"
	stackDamage  = "stack damage"
	heapDamage   = "heap damage"
	globalDamage = "global damage"
	inLibrary    = "C library"
)

func fault(kind string) string {
	access, last, _ := strings.Cut(kind, " ")
	switch {
	case kind == kindSmashed, strings.HasSuffix(kind, kindGuarded):
		return stackDamage
	case kind == kindCounters:
		return globalDamage
	case strings.HasPrefix(kind, kindAborted+": ") && exploitable(kind) && !strings.HasSuffix(kind, "buffer overflow detected"):
		return heapDamage
	case strings.Contains(kind, "call of") || last == call:
		return call
	case access == "null" || access == "wild" || access == "protected":
		return last[strings.LastIndexByte(last, ' ')+1:]
	}
	return ""
}

// counts reports whether a frame belongs to the runtime that thresh fuzzspec cc links into programs.
// Its variables lie behind the program's, so it fails where a program writes beyond its own.
func (f frame) counts() bool {
	s := f.m.symbolAt(f.at)
	return s != nil && (strings.HasPrefix(s.Name, "__thresh_") || s.Name == "__afl_persistent_loop")
}

// nameless reports whether a frame belongs to the C library and its function has no name.
func (f frame) nameless() bool {
	return (f.library || !f.m.own && f.start == 0) && f.m.symbolAt(f.at) == nil // musl's has no descriptions
}

// inAllocator reports whether the C library was in its allocator, called by the program.
func inAllocator(walked []frame) bool {
	for _, f := range walked {
		if f.m.own && !f.m.static {
			return false
		}
		s := f.m.symbolAt(f.at)
		if s == nil {
			continue
		}
		switch s.Name {
		case "malloc", "calloc", "realloc", "free", "cfree", "__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_free", "__libc_memalign",
			"aligned_alloc", "memalign", "posix_memalign":
			return true
		}
	}
	return false
}

// identify sets the frames and the layers that identify the crash.
func (d *Diagnosis) identify(walked []frame) {
	aborted := d.Raised || strings.HasPrefix(d.Kind, kindAborted) || d.Fault == heapDamage || d.Fault == inLibrary
	want, exact := ownPlaces, exactPlaces
	seen := map[string]int{}
	most := 0
	var layers []string
	places := make([][]place, len(walked))
	own := false
	for i, f := range walked {
		if f.m.own {
			places[i] = f.places()
		}
		own = own || slices.ContainsFunc(places[i], func(x place) bool { return !x.library })
	}
	for i, f := range walked {
		for _, x := range places[i] {
			if len(d.Frames) < mostShown {
				d.Frames = append(d.Frames, x.site)
			}
			d.By = cmp.Or(d.By, x.by)
			if x.library && own {
				continue
			}
			if x.by == byOffset && f.m.static && (f.m.library == noLibrary || f.m.cxx) && aborted {
				want, exact, d.Vague = unnamedPlaces, unnamedPlaces, true
			}
			if d.Fault == stackDamage && want == ownPlaces {
				want = 1 // how much of the stack above survives depends on the input's length
			}
			seen[x.function]++
			most = max(most, seen[x.function])
			if seen[x.function] > 1 || len(layers) >= want {
				continue
			}
			switch {
			case d.Fault == stackDamage && want == 1, len(layers) >= exact && !aborted:
				layers = append(layers, x.function)
			case len(layers) == 0 && x.column > 0:
				layers = append(layers, fmt.Sprintf("%s:%d)", strings.TrimSuffix(x.site, ")"), x.column))
			default:
				layers = append(layers, x.site)
			}
		}
	}
	if d.Kind == kindOverflow {
		// The function of the cycle that fails, and its line, are chance.
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
	if d.Fault == globalDamage { // it is chance where the runtime or the program notices
		layers, d.Vague = []string{"counters of thresh fuzzspec cc"}, true
	}
	d.Layers = layers
}

// hint guesses, from the kind alone, whether the bug is exploitable, as crash triage tools do.
func hint(kind string) string {
	switch {
	case kind == kindSmashed, kind == kindCounters, kind == "wild write", kind == "wild call", kind == "protected write", strings.HasSuffix(kind, kindGuarded):
		return process.Exploitable
	case exploitable(kind):
		return process.Exploitable
	case kind == "wild read", kind == "protected read", kind == "illegal instruction", strings.HasPrefix(kind, "bus error"):
		return process.MaybeExploitable
	}
	return process.NotExploitable
}

// exploitable reports whether the allocator or a fortified function aborted because it found
// damaged memory.
func exploitable(kind string) bool {
	return strings.HasPrefix(kind, kindAborted+": ") && !strings.HasSuffix(kind, "assertion") && !strings.HasSuffix(kind, "terminate called")
}
