// Package room reports in one sentence that a limit on the address space (ulimit -v) is too low,
// before Go's runtime would crash with a trace. It imports only the standard library, so that it is
// initialized before packages that reserve memory at their initialization.
package room

// needed is the address space that thresh demo requires, and refusal the message for a lower limit.
var (
	needed  uint64 = gigabytes * 1_000_000_000
	refusal        = "thresh: error: the address space is limited (ulimit -v), and thresh needs " + text + " GB of it: raise the limit with ulimit -v " +
		text + "000000. What a tested program may use is bounded by --memory-limit.\n"
)

var restore = func() {}

// Restore restores the limit after all packages are initialized.
func Restore() { restore() }
