//go:build !linux

package spectest

import "time"

// threadTime is known on Linux alone.
func threadTime() (time.Duration, bool) { return 0, false }
