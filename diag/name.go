package diag

import (
	"os"
	"path"
	"path/filepath"
)

// DocumentName is a document's name in reports and digests: its path from the
// working directory, with slashes. Of one that lies elsewhere it is the last two
// elements, so that a run is the same wherever the documents lie.
func DocumentName(p string) string {
	if filepath.IsAbs(p) {
		short := path.Join(filepath.Base(filepath.Dir(p)), filepath.Base(p))
		cwd, err := os.Getwd()
		if err != nil {
			return short
		}
		if p, err = filepath.Rel(cwd, p); err != nil || !filepath.IsLocal(p) {
			return short
		}
	}
	return path.Clean(filepath.ToSlash(p))
}
