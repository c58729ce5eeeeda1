//go:build unix

package testproc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the program be the interpreters: one in a folder whose name ends with an o is old.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "python3" {
		if strings.HasSuffix(filepath.Dir(os.Args[0]), "o") {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestPlainPython(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const finds = "#!/bin/sh\necho /opt/python/bin/python3\n"
	for _, c := range []struct{ path, script, long, want string }{
		{"s", finds, "", "/opt/python/bin s"},
		{"s", "#!/bin/sh\nexit 1\n", "", "s"},
		{"p", "", "", "p"},
		{"p s", finds, "", "p s"},
		{"none s s2 o p none", finds, "", "none p s s2 o p none"},
		{"s o", finds, "", "/opt/python/bin s o"},
		{"s p", finds, "1", "/opt/python/bin s p"},
	} {
		root := t.TempDir()
		dirs := strings.Fields(c.path)
		for i, name := range dirs {
			dirs[i] = filepath.Join(root, name)
			python := filepath.Join(dirs[i], "python3")
			err := os.MkdirAll(dirs[i], 0o755)
			switch {
			case err != nil || name == "none":
			case name[0] == 's':
				err = os.WriteFile(python, []byte(c.script), 0o755)
			default:
				err = os.Symlink(own, python)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", strings.Join(dirs, ":"))
		t.Setenv("THRESH_CI", "")
		t.Setenv("THRESH_TEST_LONG", c.long)
		plainPython()
		if got := strings.ReplaceAll(strings.ReplaceAll(os.Getenv("PATH"), root+"/", ""), ":", " "); got != c.want {
			t.Errorf("%q %q: PATH is %s, want %s", c.path, c.script, got, c.want)
		}
	}
}
