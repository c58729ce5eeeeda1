package cli_test

import (
	"flag"
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

var updateScripts = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

// TestScript runs the scripts of the command line.
func TestScript(t *testing.T) { clitest.Processes(t, *updateScripts) }
