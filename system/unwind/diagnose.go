package unwind

import (
	"cmp"
	"fmt"
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
	// Raised says that the thread sent the signal to itself, other than by abort.
	Raised bool
	// Handler says that the thread was in a handler of an earlier signal.
	Handler bool
	// Doubtful says that the stack may have been written over: where the thread
	// was need not be where that happened.
	Doubtful bool
}

// Diagnose names the crash of a thread that a fatal signal has stopped.
func (p *Process) Diagnose(s Stop) Diagnosis {
	d := Diagnosis{Sent: s.Code <= 0 && s.Code != byThread, Raised: s.Code == byThread && s.Signal != sigABRT}
	if d.Kind = p.kind(s); d.Raised {
		d.Kind = kindRaised
	}
	back := uint64(0)
	if s.Signal == sigTRAP {
		back = 1 // the breakpoint is behind
	}
	walked, whole := p.walk(s.Regs, back)
	for _, f := range walked {
		d.Handler = d.Handler || f.signal
	}
	d.Fault = fault(d.Kind)
	access := d.Fault == read || d.Fault == write || d.Kind == kindAborted && s.Signal == sigSEGV // musl's way to abort
	switch {
	case (access || d.Kind == kindAborted) && inAllocator(walked):
		d.Fault = heapDamage
	case (access || d.Fault == heapDamage) && len(walked) > 0 && walked[0].nameless():
		d.Fault = inLibrary // there is no saying which of its functions it was
	}
	d.Doubtful = !whole && d.Kind != kindOverflow || d.Fault == stackDamage || d.Kind == "illegal instruction" ||
		(d.Fault == read || d.Fault == write || d.Fault == call) && !strings.Contains(d.Kind, "null")
	d.identify(walked)
	d.Hint = hint(d.Kind)
	return d
}

// Smashed returns the diagnosis of a function that wrote over the calls that led to
// it: the address of its code, and the addresses that they return to.
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

// What kinds of crashes come down to: one bug may read or write at any address that
// its input names, and the C library notices one damage in many ways.
const (
	read        = "read"
	write       = "write"
	call        = "call"
	stackDamage = "stack damage"
	heapDamage  = "heap damage"
	inLibrary   = "C library"
)

func fault(kind string) string {
	access, last, _ := strings.Cut(kind, " ")
	switch {
	case kind == kindSmashed, strings.HasSuffix(kind, kindGuarded):
		return stackDamage
	case strings.HasPrefix(kind, kindAborted+": ") && exploitable(kind) && !strings.HasSuffix(kind, "buffer overflow detected"):
		return heapDamage
	case strings.Contains(kind, "call of") || last == call:
		return call
	case access == "null" || access == "wild" || access == "protected":
		return last[strings.LastIndexByte(last, ' ')+1:]
	}
	return ""
}

// nameless says whether a frame is the C library's, which does not say what the
// function is.
func (f frame) nameless() bool {
	return (f.library || !f.m.own && f.start == 0) && f.m.symbolAt(f.at) == nil // musl's has no descriptions
}

// inAllocator says whether the C library was at its heap, called by the program.
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

// identify fills in the frames and what the crash is known by.
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
				want = 1 // what survives above hangs on the length of the input
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
	case exploitable(kind):
		return process.Exploitable
	case kind == "wild read", kind == "protected read", kind == "illegal instruction", strings.HasPrefix(kind, "bus error"):
		return process.MaybeExploitable
	}
	return process.NotExploitable
}

// exploitable says whether an abort is one of the allocator, or of a fortified
// function, that found memory damaged.
func exploitable(kind string) bool {
	return strings.HasPrefix(kind, kindAborted+": ") && !strings.HasSuffix(kind, "assertion") && !strings.HasSuffix(kind, "terminate called")
}
