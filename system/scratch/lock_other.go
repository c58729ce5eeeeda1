//go:build !unix

package scratch

import "os"

// lock does nothing: folders cannot be locked here, so none is swept.
func lock(string) (*os.File, error) { return nil, nil }

func own(string) bool { return false }
