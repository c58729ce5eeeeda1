package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every defect that is known of programs for FuzzSpec v1 and every gap of its
// contract text (A: the contract leaves it open, B: programs get it wrong, C:
// nobody has it), and the test that shows it is not ours.
var defects = []struct {
	id, what string
	test     func(*testing.T)
}{
	{"A1", "no operator and no generator is defined", TestA1_CasesHaveTheirKnownBytes},
	{"A2", "allowlist, placeholders and environment are not mentioned", TestA2_EnvironmentAndPlaceholdersAreAsDocumented},
	{"A2", "", TestA2_AllowlistSaysWhyAndHasAWayOut},
	{"A3", "fields that only a schema knows, unknown fields", TestA3_UnknownFieldsAreRefusedWithTheNearestName},
	{"A4", "'..' in output templates, seeds that are not there", TestA4_TemplatesLeadNowhere},
	{"A5", "the schema is stricter than programs", TestA5_SchemaLimitsWarnAndStrictRefuses},
	{"A6", "mutations.cases against --cases", TestA6_CasesBeyondThePlanAreToldAndNotRun},
	{"B1", "the quickstart reports false failures", TestB1_CasesBeyondThePlanAreNoFailures},
	{"B2", "two verdicts that disagree", TestB2_OneVerdictStopsAndCounts},
	{"B3", "different bugs collapse, equal bugs split", TestB3_CauseTellsBugsApartAndNoiseDoesNot},
	{"B4", "--timeout-s is ignored", TestB4_TimeoutOfTheCommandLineHolds},
	{"B5", "orphans survive, a pipe holder is a timeout", TestB5_OrphansAreKilledAndPipeHolderIsNoTimeout},
	{"B6", "a stale lock blocks resume for ever", TestB6_LockOfAKilledProcessBlocksNobody},
	{"B7", "a torn cases.jsonl kills resume", TestB7_TornCaseLineIsMended},
	{"B8", "stale evidence, failed starts that pass", TestB8_EvidenceIsOfTheRunAlone},
	{"B8", "", TestB8_FolderOfAnEarlierRunGoes},
	{"B8", "", TestB8_ProgramThatCannotStartNeverPasses},
	{"B9", "seed.sha256 is never verified", TestB9_SeedDigestIsVerified},
	{"B10", "records contradict each other", TestB10_RecordsAgreeAndLeaveNothingOut},
	{"B11", "ids lead out of their folder", TestB11_IDsStayInTheirFolder},
	{"B12", "shipped samples are refused, planned cases are unknown", TestB12_ShippedSamplesRun},
	{"B12", "", TestB12_PlannedCasesAreDryRuns},
	{"B13", "numbers and seeds that are accepted and then crash", TestB13_ImpossibleValuesAreRefusedWithTheirReason},
	{"B14", "an edit in the middle changes what runs", TestB14_EditsDoNotChangeWhatRuns},
	{"B14", "", TestB14_CampaignOfAnotherSeedIsNotContinued},
	{"B15", "a large max_bytes takes for ever", TestB15_LargeAppendsAreLinear},
	{"C1", "replay, minimize, promote", TestC1_ReplayShrinkPromote},
	{"C1", "workers change nothing", TestC1_Workers},
	{"C1", "time budget and case budget", TestC1_Budgets},
	{"C1", "corpus, dictionary, structure-aware mutations", TestC1_DeepMutators},
	{"C1", "delivery on standard input, real file extension", TestC1_Delivery},
	{"C1", "output cap, memory and file limits", TestC1_Limits},
	{"C1", "flaky findings are labelled", TestC1_FlakyIsLabelled},
	{"C1", "report formats", TestC1_Reports},
	{"C1", "exit codes that tell of findings", TestC1_ExitCodes},
	{"C1", "progress", TestC1_Progress},
	{"C1", "retention", TestC1_Retention},
}

func TestEveryDefectHasATest(t *testing.T) {
	for letter, n := range map[string]int{"A": 6, "B": 15, "C": 1} {
		for i := range n {
			id := fmt.Sprintf("%s%d", letter, i+1)
			if !slices.ContainsFunc(defects, func(d struct {
				id, what string
				test     func(*testing.T)
			}) bool {
				return d.id == id && d.test != nil
			}) {
				t.Errorf("%s has no test", id)
			}
		}
	}
}

func TestA1_CasesHaveTheirKnownBytes(t *testing.T) {
	l := newLab(t, "exit 0")
	l.write("seed.bin", `{"hello":"llmfuzz quickstart"}`+"\n")
	// Measured with the implementation that users of the format have.
	for _, known := range []struct {
		edits edits
		want  []string // SHA-256 of the first cases
	}{
		{edits{"mutations.max_ops_per_case": 1, "mutations.rng_seed": nil}, []string{"f1c474be8ba323b8b81f2aa2bba7b2057157a75b608c77adde40d50f55b1ab4e", "028512783c5deeda3717f8147f47e3a8875366f38e73d85b2a85f32927aaf8d4"}},
		{edits{"mutations.max_ops_per_case": 0, "mutations.rng_seed": 42}, []string{"5b3d5509ca94f221db826ab805589cdf7a57222468726a490fdd3a227e3f53b2", "5b3d5509ca94f221db826ab805589cdf7a57222468726a490fdd3a227e3f53b2"}},
		{edits{"mutations.max_ops_per_case": 3, "mutations.rng_seed": 42, "mutations.max_bytes": 10}, []string{"9ccef551920d97fb3debc12122b56619ce72c3498be542a5cefe76f10ce01236", "f18230722780e6e27fc1828496c91d93c69f4bba2559c5213e3578ee77c7bd97"}},
		{edits{"mutations.max_ops_per_case": 8, "mutations.rng_seed": 42, "mutations.max_bytes": 32}, []string{"5c11fbe6c66f42a311018e29077d18e9cb48c6a53bab874ebf79457e5e106f03", "5a2b58bd3b2f8d5f042495e8f62b72a2dbe7adfbe847bbbecd56339d225aa492"}},
	} {
		l.document(known.edits)
		for range 2 { // also without rng_seed: equal documents make equal cases
			r := call("fuzzspec", "mutate", "--spec", l.path("spec.json"), "--cases", fmt.Sprintf("0:%d", len(known.want)))
			expect(t, r, 0, known.want...)
		}
	}
}

func TestA2_EnvironmentAndPlaceholdersAreAsDocumented(t *testing.T) {
	l := newLab(t, "")
	l.document(edits{"target.command": []string{
		"/bin/sh", "-c", `[ "$LLMFUZZ_RUN_ID $LLMFUZZ_RUN_DIR $LLMFUZZ_INPUT_PATH $LLMFUZZ_OUT_DIR" = "$*" ] || exit 7
			[ "$(pwd)" = "$LLMFUZZ_RUN_DIR" ] || exit 8
			/usr/bin/env | /bin/grep -c = >"$4/count.json"`, "sh", "<run_id>", "<run_dir>", "<input_path>", "<out_dir>",
	}, "mutations.cases": 1, "execution.env_overrides": map[string]string{"PYTHONUNBUFFERED": "1"}})
	expect(t, l.one("--fail-on", "FAIL,TIMEOUT,BLOCKED"), 0)
	// The four variables and the override; a shell adds _, PWD, SHLVL or OLDPWD.
	n := strings.TrimSpace(l.read("work/runs/one/out/count.json"))
	if n < "5" || n > "9" || len(n) != 1 {
		t.Errorf("the program saw %s variables", n)
	}
}

func TestA2_AllowlistSaysWhyAndHasAWayOut(t *testing.T) {
	l := newLab(t, "")
	l.write("mine", "#!/bin/sh\nexit 0\n")
	must(t, os.Chmod(l.path("mine"), 0o755))
	l.document(edits{"target.command": []string{l.path("mine"), "<input_path>"}})
	expect(t, l.run(), 2, "target.command[0]", "--allow-exec "+l.path("mine"))
	expect(t, l.run("--allow-exec", l.path("mine")), 0, "20 cases")
	expect(t, l.run("--allow-exec", "mine"), 2, "must be an absolute path")
}

func TestA3_UnknownFieldsAreRefusedWithTheNearestName(t *testing.T) {
	l := newLab(t, "exit 0")
	l.document(edits{"target.timeout": 3, "target.engine": "e", "target.runtime_root": l.path("rt"), "target.engine_policy": l.path("p"), "target.run_agent_script": l.path("s")})
	expect(t, l.run(), 2, "spec.json:", "target.timeout: ", "did you mean timeout_s?")
	l.document(edits{"target.engine": "e", "target.runtime_root": l.path("rt"), "target.engine_policy": l.path("p"), "target.run_agent_script": l.path("s")})
	expect(t, l.run(), 0)
	l.document(edits{"target.runtime_root": l.dir})
	expect(t, l.run(), 2, "target.work_root_base", "runtime_root")
}

func TestA4_TemplatesLeadNowhere(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	l.document(edits{"outputs.out_dir": "../../out", "mutations.cases": 1})
	expect(t, l.run("--keep", "all"), 0, "outputs.out_dir", "reserved and has no effect")
	l.whole(l.path("work/runs"))
	for _, name := range []string{"../out", "out", "work/out"} {
		if _, err := os.Stat(l.path(name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	expect(t, l.run("--strict"), 2, "outputs.out_dir")
	l.document(edits{"outputs.out_dir": "/tmp/out"})
	expect(t, l.run(), 2, "outputs.out_dir", "relative to target.work_root_base")
	l.document(edits{"outputs.out_dir": "runs/<artifact_id>/out"})
	expect(t, l.run(), 2, "must be a template without <artifact_id>")
	l.document(edits{"seed.path": l.path("missing")})
	expect(t, l.run(), 2, "seed.path")
}

func TestA5_SchemaLimitsWarnAndStrictRefuses(t *testing.T) {
	l := newLab(t, "exit 0")
	l.document(edits{"campaign_id": "", "seed.media_type": strings.Repeat("x", 300)})
	expect(t, l.run(), 0, "campaign_id: must be 1 to 128 characters long", "seed.media_type: must be 1 to 256")
	expect(t, l.run("--strict"), 2, "campaign_id", "seed.media_type", "2 errors")
	expect(t, call("fuzzspec", "validate", "--spec", l.path("spec.json")), 0)
	l.write("spec.json", strings.Replace(l.read("spec.json"), `"cases": 20`, `"cases": 20.0`, 1))
	expect(t, l.run(), 2, "mutations.cases: must be an integer")
}

func TestA6_CasesBeyondThePlanAreToldAndNotRun(t *testing.T) {
	l := newLab(t, "exit 0")
	expect(t, l.run("--cases", "7"), 0, "7 cases")
	expect(t, l.run("--cases", "30"), 0, "20 cases")
	equal(t, "cases run", l.report().Campaigns[0].Cases.Run, 20)
}

func TestB1_CasesBeyondThePlanAreNoFailures(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	l.document(edits{"mutations.cases": 1})
	expect(t, l.campaign("--cases", "3", "--fail-on", "FAIL,TIMEOUT,BLOCKED"), 0, "the document plans 1")
	equal(t, "counts", l.summary()["counts"], map[string]int{"BLOCKED": 0, "DRY_RUN": 0, "FAIL": 0, "PASS": 1, "TIMEOUT": 0})
	if c := l.object("work/llmfuzz/campaigns/c/triage/triage.json")["clusters"].([]any); len(c) != 0 {
		t.Errorf("clusters of failures: %v", c)
	}
}

func TestB2_OneVerdictStopsAndCounts(t *testing.T) {
	// Case by case: no output, broken output, good output.
	script := `case $LLMFUZZ_RUN_ID in
		*0) ;;
		*1) echo "{" >"$2/a.json" ;;
		*) echo 1 >"$2/a.json" ;;
	esac`
	l := newLab(t, script)
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE", "--fail-on", "FAIL"), 1)
	counts := l.summary()["counts"].(map[string]any)
	equal(t, "failing", counts["FAIL"], 4)
	equal(t, "passing", counts["PASS"], 16)
	for _, line := range l.lines("work/llmfuzz/campaigns/c/cases.jsonl") {
		equal(t, fmt.Sprintf("evaluation of case %v", line["case_index"]), line["verdict_eval"], line["verdict"])
		if line["verdict"] == "FAIL" {
			run := "work/runs/" + line["run_id"].(string)
			equal(t, run, l.object(run + "/llmfuzz/eval.json")["verdict"], "FAIL")
			if v := l.object(run + "/eval/failure_record.json")["verdict"].(string); !strings.HasPrefix(v, "FAIL_") {
				t.Errorf("%s: the record says %s, the evaluation FAIL", run, v)
			}
		}
	}
	l = newLab(t, strings.Replace(script, "*0)", "none)", 1))
	expect(t, l.campaign("--cases", "20"), 0)
	equal(t, "first failure", l.summary()["first_failure"].(map[string]any)["case_index"], 1)
	equal(t, "cases until the stop", l.summary()["cases_completed"], 2)
}

func TestB3_CauseTellsBugsApartAndNoiseDoesNot(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in
		*0) exit 1 ;; *1) exit 2 ;; *2) kill -SEGV $$ ;; *3) kill -ABRT $$ ;;
		*4) echo "oops at 0xdead$$ in pid $$ on $(date)" >&2; exit 4 ;;
	esac`)
	expect(t, l.run(), 1)
	var kinds []string
	for _, f := range l.report().Findings {
		kinds = append(kinds, fmt.Sprintf("%s x%d", f.Kind, f.Cases))
		if f.Flaky {
			t.Errorf("%s is flaky", f.Title)
		}
	}
	slices.Sort(kinds)
	equal(t, "findings", kinds, []string{"crash x2", "crash x2", "exit x2", "exit x2", "exit x2"})
}

func TestB4_TimeoutOfTheCommandLineHolds(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `case $LLMFUZZ_RUN_ID in one | *_case_*)
		sleep 0.3; [ -e "$LAB/long" ] && sleep 9MARK ;;
	esac; echo 1 >"$2/a.json"`)
	l.document(edits{"target.timeout_s": 0.05})
	expect(t, l.one("--timeout-s", "30", "--fail-on", "TIMEOUT,FAIL"), 0)
	equal(t, "timeout that the record names", l.object("work/runs/one/exec/exec.json")["timeout_s"], 30)
	l.write("long", "")
	l.document(edits{"target.timeout_s": 86400})
	expect(t, l.one("--timeout-s", "1", "--fail-on", "TIMEOUT"), 1)
	equal(t, "timeout that the record names", l.object("work/runs/one/exec/exec.json")["timeout_s"], 1)
	expect(t, l.campaign("--cases", "1", "--timeout-s", "1", "--shrink", "0", "--fail-on", "TIMEOUT"), 1)
	equal(t, "timeouts", l.summary()["counts"].(map[string]any)["TIMEOUT"], 1)
	expect(t, l.one("--timeout-s", "0"), 2, "--timeout-s", "above 0")
}

func TestB5_OrphansAreKilledAndPipeHolderIsNoTimeout(t *testing.T) {
	t.Parallel() // mostly waits
	// A child in another session that holds the pipes and outlives its parent.
	holder := newLab(t, `case $LLMFUZZ_RUN_ID in *_case_*) setsid sleep 9MARK & ;; esac; exit 0`)
	holder.document(edits{"mutations.cases": 3})
	expect(t, holder.run("--shrink", "0"), 1, "processes left running", "3 cases")
	equal(t, "findings", len(holder.report().Findings), 1)
	equal(t, "kind", holder.report().Findings[0].Kind, "leftovers")
	// A program that does so for its own seed too is not failed for it.
	always := newLab(t, `setsid sleep 9MARK & (sleep 9MARK & sleep 9MARK) & exit 0`)
	always.document(edits{"mutations.cases": 3})
	expect(t, always.run(), 0, "leaves processes running for its unmodified seed")
	// On a timeout the whole tree goes.
	stuck := newLab(t, `case $LLMFUZZ_RUN_ID in *_case_*) setsid sh -c 'trap "" TERM HUP; sleep 9MARK; sleep 9MARK' & sleep 9MARK ;; esac`)
	stuck.document(edits{"mutations.cases": 2, "target.timeout_s": 0.3})
	expect(t, stuck.run("--shrink", "0"), 1)
	equal(t, "kind", stuck.report().Findings[0].Kind, "timeout")
}
