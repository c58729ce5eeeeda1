package operator_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

// What the format's own commands print and write.
func TestCommandLines(t *testing.T) { clitest.Commands(t) }
