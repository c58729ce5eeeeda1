package python

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/thresh-dev/thresh/diag"
)

// oldest is the oldest Python that the host runs on.
const oldest = "3.8"

// Interpreter finds the python3 to run: setting, THRESH_PYTHON, the active
// virtual environment, PATH, in this order. The first that is set decides; that
// it does not exist is an error then, not a reason to go on.
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

// missing is the error for people of there being no usable Python.
func missing(format string, args ...any) error {
	return diag.WithHint(diag.Environment(format, args...),
		"install Python "+oldest+" or newer, or name one with THRESH_PYTHON=/path/to/python3")
}
