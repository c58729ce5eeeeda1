package forkline

import "time"

// The most that a case gets beyond its limit, as multiples of the limit: time, if it rarely gets a
// processor; processor time, if it has many threads that wait for each other.
const (
	mostGrace = 1000
	mostWork  = 20
)

// Standing is the processor time that a process has had.
type Standing struct {
	Used   time.Duration // by all its threads
	Waited time.Duration // ready to run while others ran, by the thread that waited longest
	Ready  bool          // a thread runs, or waits for a processor, its tracer or its reaper
}

// Grace is the time that a case is owed at its deadline because it has waited for a processor. If a
// limit counted such waits, a busy machine would cause false timeouts.
type Grace struct {
	limit, granted time.Duration
	before         Standing
}

// Begin starts a case that may take limit.
func (g *Grace) Begin(limit time.Duration) { *g = Grace{limit: limit} }

// Since excludes what the process had before the case.
func (g *Grace) Since(before Standing) { g.before = before }

// More returns how far to move the deadline of a case with the standing that look returns; 0 if the
// case has timed out.
func (g *Grace) More(look func() Standing) time.Duration {
	left := mostGrace*g.limit - g.granted
	if left <= 0 {
		return 0
	}
	now := look()
	used := now.Used - g.before.Used
	more := now.Waited - g.before.Waited - g.granted
	if more < g.limit/20 && now.Ready {
		// The kernel counts a wait only when it ends: this one may have lasted since the start.
		more = g.limit - used
	}
	if more = min(more, left); more < g.limit/20 || used >= mostWork*g.limit { // an idle machine causes shorter waits, too
		return 0
	}
	g.granted += more
	return more
}

// Longest returns the longest time that a case with the given limit can take, waits included.
func Longest(limit time.Duration) time.Duration { return (1 + mostGrace) * limit }
