package fuzzspec_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// What the format's own commands print and write.
func TestCommandsOfDocuments(t *testing.T) {
	clitest.Here(t, "fuzzspec_eval", "fuzzspec_grammar", "fuzzspec_mutate", "fuzzspec_schema", "fuzzspec_validate")
}

func TestCommandsOfCases(t *testing.T) {
	clitest.Here(t, "fuzzspec_corpus", "fuzzspec_dryrun", "fuzzspec_run", "fuzzspec_runone")
}

func TestCommandsOfCampaigns(t *testing.T) {
	clitest.Here(t, "fuzzspec_campaign", "fuzzspec_plan", "fuzzspec_resume", "fuzzspec_triage")
}
