package operator_test

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) {
	operator.ShortPauses()
	clitest.Main(m)
}

// What the format's own commands print and write.
func TestCommands(t *testing.T) {
	clitest.Here(t, "operator_list", "operator_edition", "mutate_once", "mutate_stream")
}

func TestCommandsThatJudge(t *testing.T) {
	clitest.Here(t, "operator_replies", "promote_operator", "run_operator")
}

func TestChecklistCommand(t *testing.T) { clitest.Here(t, "operator_check") }
