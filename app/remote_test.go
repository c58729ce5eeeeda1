package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client's files are below the root, and no link leads it elsewhere.
func TestClientsStayBelowTheRoot(t *testing.T) {
	out, root := t.TempDir(), t.TempDir()
	for path, data := range map[string]string{filepath.Join(out, "secret"): "s", filepath.Join(root, "own"): "o"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"folder": out, "file": filepath.Join(out, "secret"), "inside": filepath.Join(root, "own")} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	u := &Remote{root: root}
	for path, fault := range map[string]string{
		"own": "", "inside": "", filepath.Join(root, "own"): "", "not-there": "",
		"../x": "outside", filepath.Join(out, "secret"): "outside", "folder/secret": "symbolic link", "file": "symbolic link",
		filepath.Join(root, "folder", "secret"): "symbolic link",
	} {
		if _, err := u.pathBelowRoot(path); (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
