//go:build unix && !linux

package python

import "os"

func tempParent() string { return os.TempDir() }
