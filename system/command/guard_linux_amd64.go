package command

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/system/unwind"
	"golang.org/x/sys/unix"
)

// guard follows the calls of a traced single-threaded program and finds the function that
// overwrites a return address or a saved register. Such a program crashes later, wherever the bad
// value leads. Breakpoints where functions begin and where they return to cost a fraction of
// single-stepping.
type guard struct {
	mem    *os.File
	p      *unwind.Process
	held   map[uint64]byte // original bytes under the breakpoints
	begins map[uint64]bool // breakpoints at the start of a function
	calls  []guarded       // innermost last
	stops  int
	maps   int
	found  *unwind.Diagnosis
}

// guarded is a call that has not returned yet.
type guarded struct {
	function, slot, ret uint64
	regs                unwind.Regs // the caller's registers at the call
}

// Limits of a guard, because a program may run longer than anybody waits: functions, stops, and
// calls checked at each stop.
const (
	mostFunctions  = 20000
	mostStops      = 50000
	mostCalls      = 16
	mostMapReads   = 8
	breakpoint     = 0xcc
	fromBreakpoint = 1 // the program counter is one byte past the breakpoint
	rbp            = 6 // index in unwind.Regs
)

// ReadAt reads memory as if there were no breakpoints.
func (g *guard) ReadAt(b []byte, at int64) (int, error) {
	n, err := g.mem.ReadAt(b, at)
	for i := range b[:n] {
		if b[i] == breakpoint {
			if was, ok := g.held[uint64(at)+uint64(i)]; ok {
				b[i] = was
			}
		}
	}
	return n, err
}

// plant starts guarding a program just after execve. It returns false if the program cannot be
// guarded.
func (g *guard) plant(pid int) bool {
	g.close()
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	*g = guard{mem: mem, held: map[uint64]byte{}, begins: map[uint64]bool{}}
	if g.p, err = processAt(pid, g); err != nil {
		return false
	}
	list := g.p.Functions()
	for _, a := range list[:min(len(list), mostFunctions)] {
		g.hold(a)
		g.begins[a] = true
	}
	return len(list) > 0 && len(list) <= mostFunctions
}

func (g *guard) close() {
	if g != nil && g.mem != nil {
		g.mem.Close()
		g.mem = nil
	}
}

func (g *guard) hold(a uint64) {
	if _, ok := g.held[a]; ok {
		return
	}
	var b [1]byte
	if _, err := g.mem.ReadAt(b[:], int64(a)); err != nil {
		return
	}
	if _, err := g.mem.WriteAt([]byte{breakpoint}, int64(a)); err == nil {
		g.held[a] = b[0]
	}
}

func (g *guard) word(a uint64) uint64 {
	var b [8]byte
	_, _ = g.mem.ReadAt(b[:], int64(a)) // 0 is never an address of code
	return binary.LittleEndian.Uint64(b[:])
}

// stopped handles a stop. ours means that only the guard caused it; over, that there is nothing
// more to see.
func (g *guard) stopped(pid int, ws unix.WaitStatus) (ours, over bool) {
	sig, event := ws.StopSignal(), int(ws)>>16
	switch {
	case event == unix.PTRACE_EVENT_EXEC:
		return true, !g.plant(pid)
	case event != 0: // a thread or a child would hit the breakpoints too
		return false, true
	case !unwind.Fatal(int(sig)):
		return false, false
	}
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(pid, &r) != nil {
		return false, true
	}
	at := r.Rip - fromBreakpoint
	was, planted := g.held[at]
	ours = sig == unix.SIGTRAP && planted
	if ours {
		r.Rip = at
	}
	if g.stops++; g.stops > mostStops || g.damaged(pid, &r) {
		return ours, true
	}
	if !ours {
		return false, !catches(pid, sig)
	}
	look := g.leave
	if g.begins[at] {
		look = g.enter
	}
	if look(pid, &r) {
		return true, true
	}
	return true, !g.stepOver(pid, &r, was)
}

// damaged reports whether a pending call's return address was overwritten.
func (g *guard) damaged(pid int, r *unix.PtraceRegs) bool {
	for i := len(g.calls) - 1; i >= max(0, len(g.calls)-mostCalls); i-- {
		c := g.calls[i]
		if c.slot+8 < r.Rsp || g.word(c.slot) == c.ret {
			continue
		}
		if p, err := processAt(pid, g); err == nil {
			if slots, whole := p.Live(numbered(r)); whole && !slots[c.slot] { // a jump such as longjmp has left it
				g.calls = slices.Delete(g.calls, i, i+1)
				continue
			}
		}
		g.blame(pid)
		return true
	}
	return false
}

// blame attributes the damage to the innermost call.
func (g *guard) blame(pid int) {
	if p, err := processAt(pid, g); err == nil {
		g.p = p
	}
	var returns []uint64
	for _, c := range slices.Backward(g.calls) {
		returns = append(returns, c.ret)
	}
	d := g.p.Smashed(g.calls[len(g.calls)-1].function, returns)
	g.found = &d
}

// enter records the start of a function. It returns true if the innermost call had returned through
// a slot it overwrote, with the caller's rbp changed.
func (g *guard) enter(pid int, r *unix.PtraceRegs) bool {
	ret := g.word(r.Rsp)
	g.prune(r.Rsp)
	if n := len(g.calls); n > 0 && g.calls[n-1].slot == r.Rsp { // a tail call replaces its caller
		if g.calls[n-1].regs[rbp] != r.Rbp {
			g.blame(pid)
			return true
		}
		g.calls[n-1].function, g.calls[n-1].regs = r.Rip, numbered(r)
		return false
	}
	if !g.p.Called(ret) {
		// An outlined part of a function, or a library loaded since.
		if g.maps++; g.maps > mostMapReads {
			return false
		}
		p, err := processAt(pid, g)
		if err != nil || !p.Called(ret) {
			return false
		}
		g.p = p
	}
	g.calls = append(g.calls, guarded{r.Rip, r.Rsp, ret, numbered(r)})
	g.hold(ret)
	return false
}

// leave compares the registers that a function restored with its caller's. It returns true if they
// were overwritten.
func (g *guard) leave(pid int, r *unix.PtraceRegs) bool {
	g.prune(r.Rsp - 8)
	n := len(g.calls)
	if n == 0 || g.calls[n-1].slot+8 != r.Rsp {
		return false
	}
	if c := &g.calls[n-1]; c.regs[rbp] != r.Rbp || g.p.Lost(c.function, c.regs, numbered(r)) {
		g.blame(pid)
		return true
	}
	g.calls = g.calls[:n-1]
	return false
}

// prune drops the calls below a stack pointer, which have returned.
func (g *guard) prune(sp uint64) {
	for len(g.calls) > 0 && g.calls[len(g.calls)-1].slot < sp {
		g.calls = g.calls[:len(g.calls)-1]
	}
}

// stepOver executes the instruction under a breakpoint.
func (g *guard) stepOver(pid int, r *unix.PtraceRegs, was byte) bool {
	at := int64(r.Rip)
	if _, err := g.mem.WriteAt([]byte{was}, at); err != nil {
		return false
	}
	if unix.PtraceSetRegs(pid, r) != nil || unix.PtraceSingleStep(pid) != nil {
		return false
	}
	if _, over, err := nextStop(unix.P_PID, pid); over || err != nil {
		return false
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOTHREAD, nil); err != nil || ws.StopSignal() != unix.SIGTRAP || int(ws)>>16 != 0 {
		return false
	}
	_, err := g.mem.WriteAt([]byte{breakpoint}, at)
	return err == nil
}
