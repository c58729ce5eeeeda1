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

// making is held while an environment is made, so that lanes make one.
var making sync.Mutex

// Environment is the folder of a virtual environment that has the packages of a
// requirements file of pip, kept in the user's cache folder, or that of THRESH_CACHE,
// for as long as neither the file nor the interpreter changes. Setting is as in
// [Interpreter]; text is what the file held, in case it is not there. note receives a line
// when packages are installed, which may take minutes.
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

// makeEnvironment makes one under a name of its own, which dir becomes a link to: an
// environment cannot be moved, and another process may make the same.
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
