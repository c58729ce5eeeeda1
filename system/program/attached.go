package program

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"github.com/thresh-dev/thresh/diag"
)

// Attached runs a program on the streams of this one, with further variables, and
// returns its exit code. When the context ends, the program is interrupted.
func Attached(ctx context.Context, argv, env []string) (code int, err error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env, c.WaitDelay = append(os.Environ(), env...), 10*grace
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil
	}
	if err != nil {
		return 0, diag.Environment("starting %s: %w", argv[0], err)
	}
	return 0, nil
}
