package app_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/clitest"
	"github.com/thresh-dev/thresh/internal/testproc"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// What users see of runs, of what is wrong with documents, of findings, and of
// programs without a document.
func TestDocuments(t *testing.T) {
	clitest.Here(t, "check_errors", "check_spectest", "check_warnings", "fleet_keys", "judge_trace", "run_refused", "schema", "system_check")
}

func TestRuns(t *testing.T) {
	clitest.Here(t, "run_environment", "run_findings", "run_flags", "run_pass", "run_spectest", "verify_rewritten")
}

func TestRunsOfFolders(t *testing.T) {
	clitest.Here(t, "merge_shards", "run_baseline", "run_folder", "run_known", "run_paths", "run_report", "run_unjudged")
}

func TestFindings(t *testing.T) {
	clitest.Here(t, "promote_finding", "replay_elsewhere", "replay_finding", "replay_system")
}

func TestRunsThatWereStored(t *testing.T) {
	clitest.Here(t, "show_finding", "tools_around")
}

// What packages below run as well.
func TestScriptsOfPackagesBelow(t *testing.T) {
	if !testproc.Long() {
		t.Skip("packages campaign, report and run run these: set THRESH_TEST_LONG=1")
	}
	clitest.Here(t, "compare_runs", "list_runs", "replay_case", "replay_changed", "run_errors", "run_limits", "run_strict",
		"show_materialize", "show_run", "shrink_finding")
}

func TestProgramsWithoutDocuments(t *testing.T) {
	clitest.Here(t, "init_starter", "try_program", "try_server")
}

func TestAgentsAndModelsWithoutDocuments(t *testing.T) { clitest.Here(t, "init_model", "try_agent") }
