package wasm

import "github.com/tetratelabs/wazero/experimental"

// linear is a module's memory. It exists so that memory can shrink, which
// WebAssembly cannot do and restoring a state needs: the engine takes over the
// length of whatever a reallocation gives it, so one that is asked for while
// target is set gives that many bytes. A fresh instance in place of a smaller
// memory would cost hundreds of microseconds, at each pass over a module that
// grows its heap.
type linear struct {
	data   []byte
	high   uint64 // bytes that were ever in use: behind them are zeros
	target int64  // bytes to shrink to; -1: none
}

var _ experimental.LinearMemory = (*linear)(nil)

// Allocate implements [experimental.MemoryAllocator]. The instance's memory
// before, if any, is not in use any more.
func (x *instance) Allocate(_, _ uint64) experimental.LinearMemory {
	x.linear = &linear{target: -1}
	return x.linear
}

// Reallocate implements [experimental.LinearMemory].
func (l *linear) Reallocate(size uint64) []byte {
	if l.target >= 0 {
		l.data = l.data[:l.target]
		return l.data
	}
	before := uint64(len(l.data))
	if size <= uint64(cap(l.data)) {
		l.data = l.data[:size]
		clear(l.data[before:max(before, min(size, l.high))])
	} else {
		grown := make([]byte, size, max(size, 3*before/2))
		copy(grown, l.data)
		l.data = grown
		l.high = 0 // of the new array nothing behind size was in use
	}
	l.high = max(l.high, size)
	return l.data
}

// Free implements [experimental.LinearMemory].
func (l *linear) Free() { l.data = nil }

// resize brings the memory to a size; what is added is zeros. false: it cannot be.
func (x *instance) resize(size int) bool {
	now := int(x.memory.Size())
	if size < now {
		x.linear.target = int64(size)
		_, ok := x.memory.Grow(1)
		x.linear.target = -1
		return ok
	}
	_, ok := x.memory.Grow(uint32(size-now) / pageSize)
	return ok
}
