package spectest

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// variable returns the last value of a name in an environment; on Windows, case does not matter.
func variable(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(environ[i], "="); ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			return v, true
		}
	}
	return "", false
}

// programIn finds the file of a program: a path, or a name on the PATH of an environment.
func (x *executor) programIn(name string, env []string) (string, error) {
	var ends []string
	if runtime.GOOS == "windows" {
		ends = windowsEnds(env)
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(x.cwd, name)
		}
		return programFile(name, ends)
	}
	path, _ := variable(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		dir = cmp.Or(dir, ".")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(x.cwd, dir)
		}
		if full, err := programFile(filepath.Join(dir, name), ends); err == nil {
			return full, nil
		}
	}
	return "", errors.New("no such program on PATH")
}

// windowsEnds are the extensions of programs.
func windowsEnds(env []string) []string {
	ends, ok := variable(env, "PATHEXT")
	if !ok {
		ends = ".com;.exe;.bat;.cmd"
	}
	return filepath.SplitList(strings.ToLower(ends))
}

// programFile returns the file of the program at a path. On systems with extensions for programs,
// the path may omit the extension, and the file mode does not matter.
func programFile(path string, ends []string) (string, error) {
	if ends == nil {
		return path, executable(path, true)
	}
	err := errors.New("its name does not end as a program's: " + strings.Join(ends, ", "))
	for _, end := range ends {
		if strings.HasSuffix(strings.ToLower(path), end) {
			return path, executable(path, false)
		}
	}
	for _, end := range ends {
		if err = executable(path+end, false); err == nil {
			return path + end, nil
		}
	}
	return "", err
}

func executable(path string, byMode bool) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return errors.New(diag.Reason(err))
	case st.IsDir():
		return errors.New("it is a directory")
	case byMode && st.Mode()&0o111 == 0:
		return errors.New("it may not be executed")
	}
	return nil
}
