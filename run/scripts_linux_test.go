package run_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// Runs that are shared by workers, collected, and whose findings are made smaller.
func TestScripts(t *testing.T) {
	clitest.Here(t, "gc_keep", "run_workers", "shrink_finding")
}
