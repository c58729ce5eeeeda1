//go:build unix

package python

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/system/scratch"
)

// folder is a lane's private folder, in memory if there is room.
type folder struct{ *scratch.Folder }

func newFolder() (folder, error) {
	parent, _ := scratch.Memory()
	f, err := scratch.Make(parent)
	return folder{f}, err
}

// fresh returns an empty folder for a case.
func (f folder) fresh() (string, error) {
	dir := filepath.Join(f.Path, "tmp")
	if err := scratch.Remove(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	return dir, nil
}

// anonymous returns a new file without a name.
func (f folder) anonymous() (*os.File, error) {
	file, err := os.CreateTemp(f.Path, "file")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary file: %w", err), file.Close())
	}
	return file, nil
}
