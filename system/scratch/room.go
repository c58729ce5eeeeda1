package scratch

import (
	"io/fs"
	"path/filepath"
	"time"
)

// What any file or folder counts as: an empty one takes room too. And how many of a
// folder that others use are looked at.
const (
	entrySize  = 4096
	mostLooked = 20_000
)

// Room returns what is left of a number of bytes by the files and folders in dir; below 0, it
// has not looked at all of them. In a folder that others use, only what was made after
// a time counts, and by how much older files are larger than the first look has noted in
// old; neither what Thresh keeps there does, nor a folder that skip names. Programs may
// write there meanwhile: what cannot be read is not counted.
func Room(most int64, dir string, since time.Time, old map[string]int64, skip func(dir string) bool) int64 {
	entries := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if entries++; err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if !since.IsZero() {
			switch {
			case entries > mostLooked:
				return fs.SkipAll
			case d.IsDir() && path != dir && (ours.MatchString(d.Name()) || skip(path)):
				return fs.SkipDir
			case path == dir:
				return nil
			case !born(path, info).After(since):
				if size := allocated(info); d.Type().IsRegular() {
					if _, seen := old[path]; !seen {
						old[path] = size
					}
					most -= max(0, size-old[path])
				}
				return nil
			}
		}
		if most -= entrySize; d.Type().IsRegular() {
			most -= allocated(info)
		}
		if most < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return most
}
