package fresnelfir_test

import (
	"flag"
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

var _ = flag.Bool("update", false, "rewrite golden files")

// What the format's own commands print and write.
func TestCommands(t *testing.T) { clitest.Commands(t) }
