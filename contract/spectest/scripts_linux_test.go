package spectest_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// Commands that need a store.
func TestScripts(t *testing.T) {
	clitest.Here(t, "spectest_conformance", "spectest_authors", "spectest_import")
}
