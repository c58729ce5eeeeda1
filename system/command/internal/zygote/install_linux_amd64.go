package zygote

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// install injects the stub into the process, which is stopped at its fork point, and detaches from
// it.
func (a *attempt) install() error {
	if err := a.single(); err != nil {
		return err
	}
	s, err := a.plan()
	if err != nil {
		return err
	}
	// The process never writes to the code page; the page behind it holds the word to be sent and
	// is shared between the copies.
	const private, shared = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS, unix.MAP_SHARED | unix.MAP_ANONYMOUS
	at := s.resume
	if a.inside {
		// The process is about to make a system call. It makes ours instead, and each copy makes
		// its own again.
		s.resume.Rax = s.resume.Orig_rax
		s.resume.Rip -= uint64(len(syscallInstruction))
	}
	base, err := a.execute(at, a.inside, unix.SYS_MMAP,
		[6]uint64{0, 2 * pageSize, unix.PROT_READ | unix.PROT_EXEC, private, ^uint64(0), 0})
	if err != nil {
		return err
	}
	_, err = a.execute(s.resume, false, unix.SYS_MMAP,
		[6]uint64{base + pageSize, pageSize, unix.PROT_READ | unix.PROT_WRITE, shared | unix.MAP_FIXED, ^uint64(0), 0})
	if err != nil {
		return err
	}
	page, err := s.assemble(base)
	if err != nil {
		return err
	}
	if err := a.write(base, page); err != nil {
		return err
	}
	r := s.resume
	r.Rip = base
	return a.detach(r)
}

// plan collects what the stub needs to make a copy, and to make it like a spawned process.
func (a *attempt) plan() (*stub, error) {
	r, err := a.regs()
	if err != nil {
		return nil, err
	}
	s := &stub{
		control: a.line[0], status: a.line[1], resume: r,
		// CLONE_PARENT: the copy is our child, not the stub's.
		flags: unix.CLONE_PARENT | uint64(unix.SIGCHLD),
	}
	if s.before, err = rewinds(a.pid, a.line); err != nil {
		return nil, err
	}
	if s.tid, err = a.threadID(r.Fs_base); err != nil {
		return nil, err
	}
	if s.tid != 0 {
		s.flags |= unix.CLONE_CHILD_SETTID
	}
	s.after = []call{
		{nr: unix.SYS_CLOSE, a: uint64(a.line[0])},
		{nr: unix.SYS_CLOSE, a: uint64(a.line[1])},
	}
	// None of these survives a fork. A copy ends with us, as a spawned process does.
	s.after = append(s.after, call{nr: unix.SYS_PRCTL, a: unix.PR_SET_PDEATHSIG, b: uint64(unix.SIGKILL)})
	if a.tidClear != 0 {
		s.after = append(s.after, call{nr: unix.SYS_SET_TID_ADDRESS, a: a.tidClear})
	}
	if a.robust[0] != 0 {
		s.after = append(s.after, call{nr: unix.SYS_SET_ROBUST_LIST, a: a.robust[0], b: a.robust[1]})
	}
	for _, l := range a.cfg.Limits {
		if l.PerCase() {
			s.limits = append(s.limits, l)
		}
	}
	return s, nil
}

// threadID finds where the C library stores the thread's id, so that the copy can store its own
// there: raise and abort use it to signal themselves, and with a stale one they would signal the
// stub. glibc has the kernel clear it there when the thread ends; musl has something else cleared
// and stores the id in the first bytes of its thread descriptor, to which the fs register points.
func (a *attempt) threadID(descriptor uint64) (uint64, error) {
	if a.tidClear == 0 {
		return 0, nil // the program has not set up threads, so it stores no id
	}
	is := func(b []byte) bool { return binary.LittleEndian.Uint32(b) == uint32(a.pid) }
	var word [4]byte
	if a.read(a.tidClear, word[:]) == len(word) && is(word[:]) {
		return a.tidClear, nil
	}
	var area [128]byte
	found := uint64(0)
	for at := 0; at+4 <= a.read(descriptor, area[:]); at += 4 {
		if !is(area[at:]) {
			continue
		}
		if found != 0 {
			return 0, hazard("keeps its thread id where it cannot be found")
		}
		found = descriptor + uint64(at)
	}
	return found, nil
}
