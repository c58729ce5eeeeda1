//go:build !unix

package fuzzspec

import (
	"errors"
	"os"
)

// holdStage makes an empty folder.
func holdStage(stage string) (hold *os.File, err error) {
	if err := os.Mkdir(stage, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := emptyFolder(stage); err != nil {
		return nil, err
	}
	return os.Open(stage)
}

func awaitKept(string) error { return nil }
