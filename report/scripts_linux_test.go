package report_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// What stored runs say in every format.
func TestScripts(t *testing.T) { clitest.Here(t, "report_formats", "show_materialize") }
