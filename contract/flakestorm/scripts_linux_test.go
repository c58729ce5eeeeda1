package flakestorm_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

// What the format's own commands print and write.
func TestCommands(t *testing.T) {
	clitest.Here(t, "flakestorm_scores", "flakestorm_user", "flakestorm_verbs", "record")
}
