package scratch

import (
	"io/fs"
	"path/filepath"
	"time"
)

// entrySize is what any file or folder counts as in addition to its content, because an empty one
// takes space, too. mostLooked is the number of entries examined in a folder that others use.
const (
	entrySize  = 4096
	mostLooked = 20_000
)

// Room returns what the files and folders in dir leave of most bytes; once that is below 0, it
// stops looking. In a folder that others use (since is set), only files made after since count, and
// the growth of older files since the first look, which records their sizes in old; folders of
// Thresh and those that skip selects do not count. Programs may write meanwhile: what cannot be
// read does not count.
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
