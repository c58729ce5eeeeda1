package app_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// What users see of runs, of what is wrong with documents, of findings, and of
// programs without a document.
func TestDocuments(t *testing.T) {
	clitest.Here(t, "check_errors", "check_spectest", "check_warnings", "fleet_keys", "judge_trace", "run_refused", "schema", "system_check")
}

func TestRuns(t *testing.T) {
	clitest.Here(t, "run_environment", "run_errors", "run_findings", "run_flags", "run_limits", "run_pass", "run_spectest", "run_strict", "verify_rewritten")
}

func TestRunsOfFolders(t *testing.T) {
	clitest.Here(t, "merge_shards", "run_baseline", "run_folder", "run_known", "run_paths", "run_report", "run_unjudged")
}

func TestFindings(t *testing.T) {
	clitest.Here(t, "list_runs", "promote_finding", "replay_case", "replay_changed", "replay_elsewhere", "replay_finding", "replay_system",
		"show_materialize", "shrink_finding")
}

func TestRunsThatWereStored(t *testing.T) {
	clitest.Here(t, "compare_runs", "show_finding", "show_run", "tools_around")
}

func TestProgramsWithoutDocuments(t *testing.T) {
	clitest.Here(t, "init_starter", "try_program", "try_server")
}

func TestAgentsAndModelsWithoutDocuments(t *testing.T) { clitest.Here(t, "init_model", "try_agent") }
