package wasm

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/wasmrewrite"
	"github.com/thresh-dev/thresh/port/dut"
)

const (
	blockSize = 1 << wasmrewrite.BlockShift
	// straddle is how many bytes a store may reach into the block after the marked one: the widest
	// store has 16 bytes.
	straddle = 15
	pageSize = 1 << 16
	allDirty = ^uint64(0)
)

// block is a piece of memory; nil stands for zeros.
type block = *[blockSize]byte

// state is an instance's complete state at one time. It is immutable.
type state struct {
	code    *code
	blocks  []block
	globals []uint64
	world   world
	calls   *called // for modules that are restored by repeating calls
	own     int     // upper bound of the bytes not shared with the state after start
}

// Size implements [dut.Snapshot].
func (s *state) Size() int { return s.own + 8*(len(s.blocks)+len(s.globals)) }

// called is a linked list of calls, the last one first.
type called struct {
	before  *called
	binding int
	args    []dut.Value
}

// isZero reports whether a block is all zeros.
func isZero(b []byte) bool { return bytes.Equal(b, zeros[:]) }

// zeros is a block of zeros; it must not be written.
var zeros [blockSize]byte

func content(b block) []byte {
	if b == nil {
		return zeros[:]
	}
	return b[:]
}

// dirtyBlocks merges the marks of the module with those of the harness.
func (x *instance) dirtyBlocks() uint64 {
	if x.dirty == nil {
		return 0
	}
	x.marks |= x.dirty.Get()
	return x.marks
}

func (x *instance) clean() {
	x.marks = 0
	if x.dirty != nil {
		x.dirty.Set(0)
	}
}

// mark records that the harness wrote n bytes to memory.
func (x *instance) mark(address, n uint32) {
	if n == 0 {
		return
	}
	first, last := address>>wasmrewrite.BlockShift, uint32((uint64(address)+uint64(n)-1)>>wasmrewrite.BlockShift)
	if last-first >= 64 {
		x.marks = allDirty
		return
	}
	for i := first; i <= last; i++ {
		x.marks |= 1 << (i & 63)
	}
}

// view returns the whole memory.
func (x *instance) view() []byte {
	if x.memory == nil {
		return nil
	}
	v, _ := x.memory.Read(0, x.memory.Size())
	return v
}

// Snapshot implements [dut.Instance].
func (x *instance) Snapshot() dut.Snapshot { return x.snapshot() }

func (x *instance) snapshot() *state {
	s := &state{code: x.device.code, blocks: x.base.blocks, globals: x.getGlobals(nil), world: x.world, calls: x.calls, own: x.base.own}
	memory, dirty := x.view(), x.dirtyBlocks()
	n := len(memory) / blockSize
	shared := true
	if n != len(s.blocks) {
		s.blocks, shared = append(slices.Clone(s.blocks), make([]block, n-len(s.blocks))...), false
	}
	if dirty != 0 {
		for i := range n {
			if dirty&(1<<(i&63)|1<<((i-1)&63)) == 0 {
				continue
			}
			now := memory[i*blockSize:][:blockSize]
			if bytes.Equal(now, content(s.blocks[i])) {
				continue
			}
			if shared {
				s.blocks, shared = slices.Clone(s.blocks), false
			}
			s.blocks[i] = nil
			if !isZero(now) {
				s.blocks[i] = block(slices.Clone(now))
				s.own += blockSize
			}
		}
	}
	x.base = s
	x.clean()
	return s
}

// Reset implements [dut.Instance].
func (x *instance) Reset() error { return x.restore(x.device.ready) }

// Restore implements [dut.Instance].
func (x *instance) Restore(s dut.Snapshot) error {
	st, ok := s.(*state)
	if !ok || st.code != x.device.code {
		return fmt.Errorf("the snapshot is of another module")
	}
	return x.restore(st)
}

func (x *instance) restore(s *state) error {
	if x.volatile() {
		if err := x.repeat(s); err != nil {
			return err
		}
		x.forget()
		return nil
	}
	x.forget()
	if size := len(s.blocks) * blockSize; x.memory != nil && int(x.memory.Size()) != size && !x.resize(size) {
		// A memory at its maximum cannot grow, and therefore not shrink; a new one is smaller.
		if err := x.renew(); err != nil {
			return err
		}
		if !x.resize(size) {
			return fmt.Errorf("the module's memory cannot be brought back to %d bytes", size)
		}
	}
	x.copyInto(s)
	x.setGlobals(s.globals)
	x.world, x.calls, x.base = s.world, s.calls, s
	x.clean()
	return nil
}

// forget drops the output, the trace and the last fault.
func (x *instance) forget() {
	x.stdout.clear()
	x.stderr.clear()
	x.fault = nil
	for i := range x.takeTrace {
		x.run(&x.takeTrace[i])
	}
}

// copyInto copies the blocks of s that were written or differ. Memory has the size of s and, except
// for dirty blocks, the content of x.base.
func (x *instance) copyInto(s *state) {
	memory, dirty := x.view(), x.dirtyBlocks()
	if slicesSame(s.blocks, x.base.blocks) {
		for first := range 64 {
			if dirty&(1<<first) == 0 {
				continue
			}
			for i := first; i < len(s.blocks); i += 64 {
				copy(memory[i*blockSize:][:blockSize], content(s.blocks[i]))
				if i+1 < len(s.blocks) {
					copy(memory[(i+1)*blockSize:][:straddle], content(s.blocks[i+1]))
				}
			}
		}
		return
	}
	for i, b := range s.blocks {
		to := memory[i*blockSize:][:blockSize]
		switch {
		case dirty&(1<<(i&63)) != 0 || b != x.base.at(i):
			copy(to, content(b))
		case dirty&(1<<((i-1)&63)) != 0:
			copy(to[:straddle], content(b))
		}
	}
}

// at returns a block; after the end of memory there are zeros.
func (s *state) at(i int) block {
	if i < len(s.blocks) {
		return s.blocks[i]
	}
	return nil
}

func slicesSame(a, b []block) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Changed implements [dut.Instance].
func (x *instance) Changed(since dut.Snapshot) (blocks, globals int) {
	s, ok := since.(*state)
	if !ok {
		return 0, 0
	}
	memory, dirty := x.view(), x.dirtyBlocks()
	for i := range len(memory) / blockSize {
		touched := dirty&(1<<(i&63)|1<<((i-1)&63)) != 0
		if !touched && x.base.at(i) == s.at(i) {
			continue
		}
		if !bytes.Equal(memory[i*blockSize:][:blockSize], content(s.at(i))) {
			blocks++
		}
	}
	x.words = x.getGlobals(x.words[:0])
	for i, w := range x.words {
		if w != s.globals[i] {
			globals++
		}
	}
	return blocks, globals
}
