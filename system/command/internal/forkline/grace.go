package forkline

import "time"

// mostGrace bounds how often its limit a case may wait for a processor.
const mostGrace = 20

// Grace is the time that a case is owed at its deadline: on a busy machine it has
// waited for a processor, and a limit that counted that would find timeouts that
// are none.
type Grace struct{ limit, granted, counted time.Duration }

// Begin begins a case that may take limit.
func (g *Grace) Begin(limit time.Duration) { *g = Grace{limit: limit} }

// Since leaves out what the process of the case had waited before it.
func (g *Grace) Since(waited time.Duration) { g.counted = waited }

// More returns by how much the deadline moves for a case that has waited for so long.
func (g *Grace) More(waited func() time.Duration) time.Duration {
	left := mostGrace*g.limit - g.granted
	if left <= 0 {
		return 0
	}
	now := waited()
	more := min(now-g.counted, left)
	if more < g.limit/20 {
		return 0 // what an idle machine costs
	}
	g.counted = now
	g.granted += more
	return more
}

// Longest is how long a case may take that may take limit without waiting.
func Longest(limit time.Duration) time.Duration { return (1 + mostGrace) * limit }
