package fresnelfir_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// Commands that need a store.
func TestScripts(t *testing.T) {
	clitest.Here(t, "fresnelfir_verbs", "promote_model")
}
