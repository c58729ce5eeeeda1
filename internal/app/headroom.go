package app

import (
	"os"
	"runtime/debug"
)

// ordinaryHeap is about what a run has on the heap beside the texts of its
// documents, and littleText is how much of those makes no difference to it.
const (
	ordinaryHeap = 16 << 20
	littleText   = 2 << 20
	// leastGrowth, in per cent, keeps the collector from running all the time
	// over what does hold pointers, however long the texts are.
	leastGrowth = 10
)

// holdTexts makes the collector leave out the texts of documents when it
// chooses how far the heap may grow before it runs, which is by as much again
// as it holds: texts hold no pointers, so that running does not cost more for
// them, and a run of long documents would need twice their size for nothing.
// The function that it returns ends that. It is for verbs that are all that the
// process does: the setting is the whole process's.
func holdTexts(docs []document) (release func()) {
	size := 0
	for _, d := range docs {
		size += len(d.Data)
	}
	if size < littleText || os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(max(100*ordinaryHeap/(ordinaryHeap+size), leastGrowth))
	return func() { debug.SetGCPercent(before) }
}
