//go:build !linux

package scratch

import "os"

// Memory returns the folder for temporary files: this system has none in memory.
func Memory() (dir, why string) { return os.TempDir(), "" }
