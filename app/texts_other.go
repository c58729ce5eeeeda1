//go:build !linux

package app

import (
	"errors"
	"os"
)

// mapFile is for systems whose mappings show at once what is written to a file.
func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func dropPages([]byte) {}
