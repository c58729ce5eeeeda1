//go:build !unix

package fuzzspec

import "os"

// accessExecute checks the mode bits on systems without access(2).
func accessExecute(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&0o111 != 0
}
