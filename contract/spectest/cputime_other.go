//go:build !linux

package spectest

import "time"

// threadTime is available on Linux only.
func threadTime() (time.Duration, bool) { return 0, false }
