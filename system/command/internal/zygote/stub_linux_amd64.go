package zygote

import (
	"encoding/binary"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// The stub takes two pages: one with code and data that nobody writes to once it is in place, and
// one for the word to be sent. The second is shared between the copies, so that writing to it does
// not copy the page.
const (
	pageSize  = 4096
	stubSlots = 18 // the data block at the end of stub.asm
	stubData  = len(stubCode) - 8*stubSlots
)

// call is one record of a list in stub.asm.
type call struct{ nr, a, b, c, d uint64 }

// stub is the content of the data block.
type stub struct {
	control, status int
	flags           uint64
	tid             uint64
	before, after   []call
	// limits are the limits that the calls to prlimit64 in after point to, in order.
	limits []Rlimit
	resume syscall.PtraceRegs // registers with which the copy resumes
}

var errStubFull = errors.New("keeps too many files open")

// assemble returns the page of code and data for the address base. The word is at the start of the
// next page.
func (s *stub) assemble(base uint64) ([]byte, error) {
	page := append(make([]byte, 0, pageSize), stubCode...)
	put := func(v ...uint64) {
		for _, x := range v {
			page = binary.LittleEndian.AppendUint64(page, x)
		}
	}
	after := append([]call(nil), s.after...)
	for _, r := range s.limits {
		after = append(after, call{nr: unix.SYS_PRLIMIT64, b: uint64(r.Resource), c: base + uint64(len(page))})
		put(r.Cur, r.Max)
	}
	list := func(calls []call) (at uint64) {
		at = base + uint64(len(page))
		for _, c := range calls {
			put(c.nr, c.a, c.b, c.c, c.d)
		}
		put(^uint64(0))
		return at
	}
	beforeAt, afterAt := list(s.before), list(after)
	if len(page) > pageSize {
		return nil, errStubFull
	}
	r := &s.resume
	for i, v := range [stubSlots]uint64{
		uint64(s.control), uint64(s.status), base + pageSize, s.flags, s.tid, beforeAt, afterAt,
		r.Rax, r.Rbx, r.Rcx, r.Rdx, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.Rip,
	} {
		binary.LittleEndian.PutUint64(page[stubData+8*i:], v)
	}
	return page, nil
}
