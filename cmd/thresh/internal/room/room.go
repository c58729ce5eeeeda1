// Package room says in a sentence that a limit on the address space (ulimit -v)
// is too low, where the run time of Go would print a trace and die. It imports
// the standard library alone, so that it is initialised before the packages that
// reserve memory when they are.
package room

import "fmt"

// needed is what thresh demo gets by with. Go's run time itself cannot start
// with less than some 600 MB, and says so in its own words.
const needed = 2_000_000_000

// refusal is what to say of a limit in bytes; "" if there is room.
func refusal(limit uint64) string {
	if limit >= needed {
		return ""
	}
	return fmt.Sprintf("thresh: error: the address space is limited to %d MB, and thresh needs %d MB of it: raise it with ulimit -v %d. "+
		"What a tested program may use is bounded by --memory-limit.", limit/1_000_000, needed/1_000_000, needed/1000)
}
