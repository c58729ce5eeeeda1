package forkline

import "time"

// Bounds of what a case gets beyond its limit, in limits: of time, if it hardly ever gets a
// processor, and of processor time, if it has many threads that wait for each other.
const (
	mostGrace = 1000
	mostWork  = 20
)

// Standing is what a process has had of the processor.
type Standing struct {
	Used   time.Duration // by all of its threads
	Waited time.Duration // ready to run while others ran, by the thread that waited longest
	Ready  bool          // a thread runs, or waits to, or for who traces it or reads how it ended
}

// Grace is the time that a case is owed at its deadline: on a busy machine it has
// waited for a processor, and a limit that counted that would find timeouts that
// are none.
type Grace struct {
	limit, granted time.Duration
	before         Standing
}

// Begin begins a case that may take limit.
func (g *Grace) Begin(limit time.Duration) { *g = Grace{limit: limit} }

// Since leaves out what the process of the case had before it.
func (g *Grace) Since(before Standing) { g.before = before }

// More returns by how much the deadline moves for a case that stands so.
func (g *Grace) More(look func() Standing) time.Duration {
	left := mostGrace*g.limit - g.granted
	if left <= 0 {
		return 0
	}
	now := look()
	used := now.Used - g.before.Used
	more := now.Waited - g.before.Waited - g.granted
	if more < g.limit/20 && now.Ready {
		// The kernel counts a wait when it is over: this one may have lasted since the start.
		more = g.limit - used
	}
	if more = min(more, left); more < g.limit/20 || used >= mostWork*g.limit { // less is what an idle machine costs
		return 0
	}
	g.granted += more
	return more
}

// Longest is how long a case may take that may take limit without waiting.
func Longest(limit time.Duration) time.Duration { return (1 + mostGrace) * limit }
