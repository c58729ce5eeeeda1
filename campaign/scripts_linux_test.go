package campaign_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// What users see of campaigns of every kind.
func TestCampaigns(t *testing.T) {
	clitest.Here(t, "compare_runs", "list_runs", "replay_case", "replay_changed", "run_errors", "run_limits", "run_strict", "show_run")
}
