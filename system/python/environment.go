package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/diag"
)

// making is held while an environment is created, so that several lanes create only one.
var making sync.Mutex

// Environment returns the folder of a virtual environment with the packages of a pip requirements
// file. It is kept in the user's cache folder, or in THRESH_CACHE, and reused until the file or the
// interpreter changes. setting is as in [Interpreter]; text is the content the file had, in case it
// has changed or is missing. note receives a line when packages are installed, which may take
// minutes.
func Environment(ctx context.Context, setting, file, text string, note func(line string)) (string, error) {
	interpreter, err := Interpreter(setting)
	if err != nil {
		return "", err
	}
	cache := os.Getenv("THRESH_CACHE")
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			return "", diag.Environment("find a folder for the packages of %s: %w", file, err)
		}
		cache = filepath.Join(cache, "thresh")
	}
	sum := sha256.Sum256([]byte(interpreter + "\x00" + text))
	dir := filepath.Join(cache, "python", hex.EncodeToString(sum[:8]))
	making.Lock()
	defer making.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if note != nil {
		note(fmt.Sprintf("installing the packages of %s in %s, once for this file", file, dir))
	}
	if err := makeEnvironment(ctx, interpreter, file, text, dir); err != nil {
		return "", diag.Environment("installing the packages of %s: %w", file, err)
	}
	return dir, nil
}

// makeEnvironment creates an environment under a unique name and makes dir a link to it, because an
// environment cannot be moved and another process may create the same one.
func makeEnvironment(ctx context.Context, interpreter, file, text, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	own, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(own)
		}
	}()
	if now, err := os.ReadFile(file); err != nil || string(now) != text {
		file = filepath.Join(own, "requirements.txt")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{
		{interpreter, "-m", "venv", own},
		{filepath.Join(own, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", file},
	} {
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		if said, err := c.CombinedOutput(); err != nil {
			lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(said, nil))), "\n")
			return fmt.Errorf("%w: %s", err, strings.Join(lines[max(0, len(lines)-3):], "; "))
		}
	}
	if err := os.Symlink(filepath.Base(own), dir); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// oldest is the oldest Python that the host runs on.
const oldest = "3.8"

// Interpreter finds the python3 to run: setting, THRESH_PYTHON, the active virtual environment,
// PATH, in this order. The first one that is set decides; if it does not exist, that is an error,
// except that PATH replaces a missing virtual environment.
func Interpreter(setting string) (string, error) {
	source := "the setting python"
	name := setting
	if name == "" {
		name, source = os.Getenv("THRESH_PYTHON"), "THRESH_PYTHON"
	}
	if name == "" {
		if venv := os.Getenv("VIRTUAL_ENV"); venv != "" {
			name, source = filepath.Join(venv, "bin", "python"), "VIRTUAL_ENV"
		}
	}
	if name == "" {
		name, source = "python3", "PATH"
	}
	path, err := exec.LookPath(name)
	if err != nil && source == "VIRTUAL_ENV" { // a stale variable is common
		name, source = "python3", "PATH"
		path, err = exec.LookPath(name)
	}
	if err != nil {
		return "", missing("cannot find the Python interpreter %s (from %s): %w", name, source, err)
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the Python interpreter %s: %w", name, err)
	}
	return path, nil
}

// missing returns the error for an unusable or missing Python.
func missing(format string, args ...any) error {
	return diag.WithHint(diag.Environment(format, args...),
		"install Python "+oldest+" or newer, or name one with THRESH_PYTHON=/path/to/python3")
}
