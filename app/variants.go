package app

import (
	"fmt"
	"os"
	"path/filepath"
)

// cacheFolder returns the folder for one kind of cached data: below THRESH_CACHE, or below thresh
// in the user's cache folder; "": there is none.
func cacheFolder(getenv func(string) string, kind string) string {
	if dir := getenv("THRESH_CACHE"); dir != "" {
		return filepath.Join(dir, kind)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "thresh", kind)
}

// variants implements flakestorm.Variants: one file per text, named by its key. Without a folder it
// keeps nothing.
type variants struct{ dir string }

func (v variants) path(key string) string { return filepath.Join(v.dir, key[:2], key[2:]+".txt") }

// Recall implements flakestorm.Variants. The caller writes unreadable texts anew.
func (v variants) Recall(key string) (string, bool) {
	if v.dir == "" {
		return "", false
	}
	text, err := os.ReadFile(v.path(key))
	return string(text), err == nil
}

// Remember implements flakestorm.Variants. Readers see a text whole or not at all.
func (v variants) Remember(key, text string) error {
	if v.dir == "" {
		return nil
	}
	path := v.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the cache's folder: %w", err)
	}
	if err := WriteWhole(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write to the cache: %w", err)
	}
	return nil
}
