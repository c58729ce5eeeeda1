package main

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"
)

// processorTime is the user and system time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// model is a fleet in the simulation. Two of the costs come from a run of this program that
// docs/scale.md shows; the transit is assumed.
type model struct {
	workers  int
	mean     float64 // seconds per case
	spread   float64 // sigma of the logarithm of a case's time
	rounds   int
	perRound int
}

const (
	perCase  = 1.0e-6 // processor time of the coordinator per case, measured with cases that take no time
	perLease = 1.1e-3 // the same per lease: 12 µs for a case of 5 ms with 16 workers, about 100 cases per lease
	transit  = 1e-3   // from the end of one lease to the start of the next; assumed
	aim      = 0.5    // seconds for which a lease should keep a worker busy
)

// efficiency simulates a campaign: one coordinator, which does one thing at a time, and workers
// that take leases and wait at the end of each round. It returns the share of workers' time spent
// on cases.
func (m model) efficiency(seed uint64) float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	size := max(1, int(aim/m.mean))
	now, busy, serving := 0.0, 0.0, 0.0
	for range m.rounds {
		left := m.perRound
		free := make(times, m.workers)
		for i := range free {
			free[i] = now
		}
		heap.Init(&free)
		end := now
		for left > 0 {
			at := heap.Pop(&free).(float64)
			n := min(size, max(1, left/(2*m.workers)), left)
			left -= n
			// The coordinator serves one worker after another.
			cost := perLease + float64(n)*perCase
			serving = max(serving, at) + cost
			work := 0.0
			for range n {
				work += m.mean * math.Exp(m.spread*random.NormFloat64()-m.spread*m.spread/2)
			}
			busy += work
			done := serving + transit + work
			end = max(end, done)
			heap.Push(&free, done)
		}
		now = end
	}
	return busy / (now * float64(m.workers))
}

// times is a heap of the times at which workers become free.
type times []float64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}

// simulation is a table of efficiencies.
func simulation() string {
	var b strings.Builder
	b.WriteString("share of the workers' time that goes into cases, simulated\n\n")
	b.WriteString("| case | spread | rounds | 1 | 4 | 16 | 64 | 256 | 1000 |\n| -: | -: | -: | -: | -: | -: | -: | -: | -: |\n")
	for _, m := range []model{
		{mean: 0.0003, spread: 0.3, rounds: 1}, {mean: 0.005, spread: 0.3, rounds: 1}, {mean: 0.005, spread: 1, rounds: 1},
		{mean: 0.005, spread: 0.3, rounds: 20}, {mean: 0.005, spread: 1, rounds: 20}, {mean: 1, spread: 1, rounds: 1}, {mean: 1, spread: 1, rounds: 20},
	} {
		fmt.Fprintf(&b, "| %g ms | %g | %d |", m.mean*1000, m.spread, m.rounds)
		for _, w := range []int{1, 4, 16, 64, 256, 1000} {
			m.workers = w
			// Ten seconds of work per worker, over all rounds.
			seconds := 100.0 / float64(m.rounds)
			m.perRound = max(w, int(seconds*float64(w)/m.mean/10))
			fmt.Fprintf(&b, " %.2f |", m.efficiency(1))
		}
		b.WriteString("\n")
	}
	return b.String()
}
