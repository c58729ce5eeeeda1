package aflserver

import (
	"syscall"
	"time"
	"unsafe"
)

// A process that takes turns with us can run many cases in one turn, for two context switches in
// all. It records the edges and the work of each, and hands over early if something needs our
// attention. c/runtime.c of package coverage is the other side.

// BatchMost is the maximum number of cases in a batch.
const BatchMost = 64

// batchSpare is the number of edges after which a batch begins no further case, so that a batch
// ends soon.
const batchSpare = 1 << 21

type batch struct {
	known, cases, done, _ uint32
	spare                 uint64
	each                  [BatchMost]struct {
		at, length uint32
		work       uint64
		end, _     uint32
	}
	tuples [1 << 18]uint32
}

const batchSize = int(unsafe.Sizeof(batch{})) // the inputs follow

func (s *Server) shared() *batch { return (*batch)(unsafe.Pointer(&s.batch.mem[0])) }

// Batches reports whether RunBatch may be called.
func (s *Server) Batches() bool {
	return s.batch != nil && s.turns && s.sharedInput && s.shared().known != 0
}

// RunBatch runs cases in one process until one of them needs attention or the process ends. done is
// the number of cases that ran; all of them passed, and the captured output is that of the last. If
// the process ended in the next case, ended is set and status says how; if the next case did not
// end in time, late is set.
func (s *Server) RunBatch(inputs [][]byte, timeout time.Duration) (done int, status syscall.WaitStatus, ended, late bool, err error) {
	if s.pid == 0 {
		return 0, 0, false, false, ErrServerDied
	}
	b := s.shared()
	room := s.batch.mem[batchSize:]
	at := 0
	for i, input := range inputs[:min(len(inputs), BatchMost)] {
		if len(input) > len(room)-at {
			inputs = inputs[:i]
			break
		}
		b.each[i].at, b.each[i].length = uint32(at), uint32(len(input))
		at += copy(room[at:], input)
	}
	s.inFlight.begin()
	word := stopped
	if err = s.warm(timeout); err == nil && s.waiting {
		b.cases, b.done, b.spare = uint32(min(len(inputs), BatchMost)), 0, batchSpare
		clear(s.counts)
		word, late, err = s.runOne(timeout)
		b.cases, done = 0, int(b.done)
	}
	if err = s.settle(err); err != nil {
		return 0, 0, false, false, err
	}
	status = syscall.WaitStatus(word)
	return done, status, !late && !status.Stopped(), late, nil
}

// Of returns the work of case i of the last batch, and its edges appended to dst.
func (s *Server) Of(i int, dst []uint32) (edges []uint32, work uint64) {
	b, from := s.shared(), uint32(0)
	if i > 0 {
		from = b.each[i-1].end
	}
	for _, t := range b.tuples[from:b.each[i].end] {
		dst = append(dst, t&^0xff|uint32(bucket[t&0xff]))
	}
	return dst, b.each[i].work
}
