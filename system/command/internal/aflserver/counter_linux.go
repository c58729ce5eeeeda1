package aflserver

import (
	"cmp"
	"encoding/binary"
	"math"
)

const (
	workVariable = "__THRESH_WORK_ID="
	workSize     = turnAt + 8
)

// Counter is memory shared with the processes of a program that counts its edges: how many edges a
// case may still take, its budget, and whose turn it is. A nil Counter counts nothing.
type Counter struct{ shared *segment }

// NewCounter returns a counter without a budget.
func NewCounter() (*Counter, error) {
	s, err := newSegment(workSize)
	if err != nil {
		return nil, err
	}
	c := &Counter{s}
	c.Fill(0)
	return c, nil
}

// Variable returns the environment variable through which a program finds the counter.
func (c *Counter) Variable() string { return c.shared.variable(workVariable) }

// Fill gives the next case its budget of edges; 0: no limit. When a case uses it up, the program
// ends it with SIGXCPU.
func (c *Counter) Fill(budget uint64) {
	if c == nil {
		return
	}
	budget = cmp.Or(budget, math.MaxUint64)
	binary.NativeEndian.PutUint64(c.shared.mem, budget)
	binary.NativeEndian.PutUint64(c.shared.mem[8:], budget)
}

// Taken returns the number of edges the last case took.
func (c *Counter) Taken() uint64 {
	if c == nil {
		return 0
	}
	left, budget := binary.NativeEndian.Uint64(c.shared.mem), binary.NativeEndian.Uint64(c.shared.mem[8:])
	return budget - left
}

// Close frees the memory.
func (c *Counter) Close() {
	if c != nil {
		c.shared.close()
	}
}
