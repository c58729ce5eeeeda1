//go:build !unix

package fuzzspec

import "os"

// accessExecute goes by the mode bits where there is no access(2).
func accessExecute(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&0o111 != 0
}
