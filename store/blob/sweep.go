package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/store/lock"
)

// Info is what is known about a blob without reading it.
type Info struct {
	ID   string
	Size int64     // bytes on disk
	Put  time.Time // when it was last put
}

// All calls yield for every blob, in order of names.
func (d *Dir) All(yield func(Info) error) error {
	shards, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if !shard.IsDir() || len(shard.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(d.path, shard.Name()))
		if err != nil {
			return err
		}
		for _, file := range files {
			id, ok := strings.CutSuffix(file.Name(), suffix)
			if !ok || !validID(id) {
				continue
			}
			fi, err := file.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if err := yield(Info{id, fi.Size(), fi.ModTime()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep removes the blobs for which unwanted returns true, and what writers
// that died left behind before the time leftover. It returns the number of
// removed blobs and the bytes that this freed; a dry sweep removes nothing.
// While it runs, no existing blob can be put again.
func (d *Dir) Sweep(unwanted func(Info) bool, leftover time.Time, dry bool) (n int, freed int64, err error) {
	l, err := lock.Wait(filepath.Join(d.path, sweepLock), lock.Exclusive)
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	remove := os.Remove
	if dry {
		remove = func(string) error { return nil }
	}
	err = d.All(func(b Info) error {
		if !unwanted(b) {
			return nil
		}
		if err := remove(d.file(b.ID)); err != nil {
			return err
		}
		n++
		freed += b.Size
		return nil
	})
	if err != nil {
		return n, freed, err
	}
	files, err := os.ReadDir(d.path)
	if err != nil {
		return n, freed, err
	}
	for _, file := range files {
		fi, err := file.Info()
		if err != nil || !strings.HasPrefix(file.Name(), tempPrefix) || !fi.ModTime().Before(leftover) {
			continue
		}
		if err := remove(filepath.Join(d.path, file.Name())); err != nil {
			return n, freed, err
		}
		freed += fi.Size()
	}
	return n, freed, nil
}
