// Package room reports in one sentence that a limit on the address space
// (ulimit -v) is too low, before Go's runtime would crash with a trace. It
// imports the standard library alone, so that it is initialized before the
// packages that reserve memory when they are.
package room

// needed is what thresh demo gets by with, and refusal what to say of a lower
// limit.
var (
	needed  uint64 = gigabytes * 1_000_000_000
	refusal        = "thresh: error: the address space is limited (ulimit -v), and thresh needs " + text + " GB of it: raise the limit with ulimit -v " +
		text + "000000. What a tested program may use is bounded by --memory-limit.\n"
)

var restore = func() {}

// Restore gives back the limit as it was, once all packages are initialized.
func Restore() { restore() }
