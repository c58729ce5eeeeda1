package unwind

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Stop is why the kernel stopped a thread: the signal with the fault's siginfo_t, and the
// registers.
type Stop struct {
	Signal int
	Code   int32
	Addr   uint64 // address of the fault
	Call   uint32 // number of the forbidden system call
	Regs   Regs
}

// Signals by their Linux numbers.
const (
	sigILL, sigTRAP, sigABRT, sigBUS, sigFPE, sigSEGV, sigSYS = 4, 5, 6, 7, 8, 11, 31
)

// Fatal reports whether a fault or an abort raises the signal.
func Fatal(signal int) bool {
	switch signal {
	case sigILL, sigTRAP, sigABRT, sigBUS, sigFPE, sigSEGV, sigSYS:
		return true
	}
	return false
}

// firstPages is the size of the lowest addresses, which no program maps: an address among them is a
// null pointer with an offset.
const firstPages = 1 << 16

// stackRoom is how many bytes below the stack pointer, and below the end of a stack, an access
// still counts as a stack access.
const stackRoom = 8 << 20

// generalProtection is the code of a fault whose address the kernel does not know.
const generalProtection = 0x80

// Kinds that other parts of the package test for.
const (
	kindOverflow = "stack overflow"
	kindSmashed  = "smashed return address"
	kindCounters = "memory behind the program's global variables was overwritten"
	kindAborted  = "abort"
	kindRaised   = "raised by the program"
	kindGuarded  = "stack smashing detected"
)

// kind returns the kind of a crash.
func (p *Process) kind(s Stop) string {
	r := &s.Regs
	x := decode(p.read(r[pc], 15))
	rw := "read"
	if x.writes() || x.pushes() && r[rsp]-s.Addr <= 16 {
		rw = "write"
	}
	if x.is(0, 0xa4, 0xa5) && s.Addr-r[rdi] < 64 && s.Addr-r[rsi] >= 64 { // movs has two memory operands
		rw = "write"
	}
	switch s.Signal {
	case sigABRT:
		if why := p.reason(r); why != "" {
			return kindAborted + ": " + why
		}
		return kindAborted
	case sigFPE:
		return "division error"
	case sigSYS:
		return fmt.Sprintf("forbidden system call %d", s.Call)
	case sigTRAP:
		return "breakpoint"
	case sigILL:
		if x.is(1, 0x0b) {
			return "trap instruction"
		}
		return "illegal instruction"
	case sigBUS:
		return "bus error by a " + rw
	}
	fetch := s.Addr == r[pc]
	at := p.at(s.Addr)
	switch {
	case s.Code == generalProtection && x.is(0, 0xf4): // how musl aborts
		return kindAborted
	case x.returns() && p.at(r[pc]).may('x'), s.Code != generalProtection && fetch && p.word(r[rsp]-8) == s.Addr && !p.afterCall(p.word(r[rsp])):
		return kindSmashed
	case s.Code == generalProtection: // the address is not canonical; the kernel reports 0, but that is no null pointer
		return "wild " + rw
	case fetch && s.Addr < firstPages:
		return "call of a null pointer"
	case fetch:
		return "wild call"
	case s.Addr < firstPages:
		return "null pointer " + rw
	case s.Addr-(r[rsp]-firstPages) < stackRoom && !at.may('w') && (p.guard(s.Addr) || p.at(r[rsp]) == nil):
		return kindOverflow
	case at != nil:
		return "protected " + rw
	}
	return "wild " + rw
}

// guard reports whether an address lies just below writable memory, like the guard below a stack.
func (p *Process) guard(a uint64) bool {
	for i := range p.maps {
		if m := &p.maps[i]; m.start > a {
			return m.may('w') && m.start-a < 2<<20
		}
	}
	return false
}

// libcReason matches the GNU C library's message before it aborts.
var libcReason = lazy.Pattern(`^(free\(\): [a-z /()]+|m?re?alloc\(\): [a-z /()]+|malloc\(\): [a-z /()]+|malloc_consolidate\(\): [a-z ]+|` +
	`munmap_chunk\(\): [a-z ]+|Fatal glibc error: malloc assertion failure|` +
	`double free or corruption|corrupted [a-z. -]+|stack smashing detected|buffer overflow detected|` +
	`%s%s%s:%u: %s%sAssertion|terminate called)`)

// reason finds the C library's message through its own stack, where it is whatever the program does
// with standard error, with or without symbols.
func (p *Process) reason(r *Regs) string {
	for i := range uint64(1024) {
		a := p.word(r[rsp] + 8*i)
		if a < firstPages || !p.at(a).may('r') {
			continue
		}
		if s := libcReason().Find(p.read(a, 48)); s != nil {
			return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(string(s)), "%s%s%s:%u: %s%s"))
		}
	}
	return ""
}
