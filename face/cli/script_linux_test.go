package cli_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
	"github.com/thresh-dev/thresh/internal/golden"
)

// TestScript runs the scripts of the command line.
func TestScript(t *testing.T) { clitest.Processes(t, golden.Update()) }
