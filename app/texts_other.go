//go:build !linux

package app

import (
	"errors"
	"os"
)

// mapFile fails on systems other than Linux, so that texts stay on the heap.
func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func dropPages([]byte) {}
