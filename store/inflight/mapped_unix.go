//go:build unix

package inflight

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// File records what a process is doing, slot by slot. A nil File records
// nothing.
type File struct {
	f     *os.File
	path  string
	slots int
	mem   []byte // nil: the file is written to instead
}

// attach maps the file, where its file system can do that.
func (f *File) attach(size int) {
	if mem, err := syscall.Mmap(int(f.f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err == nil {
		f.mem = mem
	}
}

func (f *File) detach() error {
	if f.mem == nil {
		return nil
	}
	mem := f.mem
	f.mem = nil
	return syscall.Munmap(mem)
}

// store writes a slot, its head last: a slot with a head is complete.
func (f *File) store(slot int, tail, head uint64) {
	at := (slot + 1) * slotSize
	if f.mem == nil {
		var b [16]byte
		binary.NativeEndian.PutUint64(b[:], head)
		binary.NativeEndian.PutUint64(b[8:], tail)
		_, _ = f.f.WriteAt(b[:], int64(at)) // at worst a death is not explained
		return
	}
	words := (*[2]uint64)(unsafe.Pointer(&f.mem[at]))
	if head == 0 {
		atomic.StoreUint64(&words[0], 0)
		return
	}
	atomic.StoreUint64(&words[1], tail)
	atomic.StoreUint64(&words[0], head)
}
