package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestB6_LockOfAKilledProcessBlocksNobody(t *testing.T) {
	l := newLab(t, `printf . >"$LAB/ticks"; echo 1 >"$2/a.json"`)
	ticks := l.ticker()
	args := []string{"fuzzspec", "campaign", "--spec", l.path("spec.json"), "--exec", "-j", "1", "--campaign-id", "c", "--cases", "20", "--resume"}
	if !killAfter(t, child(t, "thresh", args...), ticks, 8) {
		t.Fatal("the process ended before it could be killed")
	}
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
	equal(t, "cases", l.summary()["cases_completed"], 20)
	equal(t, "lines", len(l.lines("work/llmfuzz/campaigns/c/cases.jsonl")), 20)
	// What other programs leave as a lock is no lock either.
	l.write("work/llmfuzz/campaigns/c/locks/campaign.lock", "pid=1\nts_utc=2025-01-01T00:00:00Z\n")
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
}

func TestB7_TornCaseLineIsMended(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *2) exit 1 ;; esac; echo 1 >"$2/a.json"`)
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE"), 0)
	const cases = "work/llmfuzz/campaigns/c/cases.jsonl"
	whole := l.read(cases)
	l.write(cases, whole[:len(whole)-40])
	r := call("fuzzspec", "triage-campaign", "--work-root-base", l.path("work"), "--campaign-id", "c")
	expect(t, r, 0, "the last line was cut off")
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE", "--resume"), 0)
	equal(t, "cases.jsonl", l.read(cases), whole)
}

func TestB8_EvidenceIsOfTheRunAlone(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	expect(t, l.one("--fail-on", "FAIL"), 0)
	l.program("exit 0")
	expect(t, l.one("--fail-on", "FAIL"), 1)
	if _, err := os.Stat(l.path("work/runs/one/out/a.json")); err == nil {
		t.Error("the output of the earlier run is still there")
	}
	eval := l.object("work/runs/one/llmfuzz/eval.json")
	equal(t, "verdict", eval["verdict"], "FAIL")
	if s := eval["signature_v1"].(string); !strings.HasPrefix(s, "OUT_MISSING:") {
		t.Errorf("signature %s", s)
	}
}

func TestB8_FolderOfAnEarlierRunGoes(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *5) exit 1 ;; esac; echo 1 >"$2/a.json"`)
	kept := func() []string {
		list, err := filepath.Glob(l.path("work/runs/*"))
		must(t, err)
		return list
	}
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE"), 0)
	equal(t, "folders", kept(), []string{l.path("work/runs/c_case_000005"), l.path("work/runs/c_case_000015")})
	l.program(`case $LLMFUZZ_RUN_ID in *15) exit 1 ;; esac; echo 1 >"$2/a.json"`)
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE"), 0)
	equal(t, "folders", kept(), []string{l.path("work/runs/c_case_000015")})
}

func TestB8_ProgramThatCannotStartNeverPasses(t *testing.T) {
	l := newLab(t, "")
	l.write("mine", "#!"+l.path("no-interpreter")+"\n")
	must(t, os.Chmod(l.path("mine"), 0o755))
	l.document(edits{"target.command": []string{l.path("mine"), "<input_path>"}})
	l.write("work/runs/one/out/old.json", "1")
	allow := []string{"--allow-exec", l.path("mine")}
	expect(t, l.run(allow...), 3, l.path("mine"))
	expect(t, l.one(append(allow, "--fail-on", "BLOCKED")...), 1)
	equal(t, "verdict", l.object("work/runs/one/llmfuzz/eval.json")["verdict"], "BLOCKED")
	equal(t, "record", l.object("work/runs/one/eval/failure_record.json")["verdict"], "BLOCKED_ENVIRONMENT")
	if l.object("work/runs/one/exec/exec.json")["error"] == nil {
		t.Error("the record says nothing of why the program did not start")
	}
	if _, err := os.Stat(l.path("work/runs/one/out/old.json")); err == nil {
		t.Error("what lay in the folder before counts as output")
	}
}

func TestB9_SeedDigestIsVerified(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, "exit 0")
	sum := sha256.Sum256([]byte(l.read("seed.bin")))
	good := hex.EncodeToString(sum[:])
	l.document(edits{"seed.sha256": strings.ToUpper(good)})
	expect(t, l.run(), 0)
	bad := strings.Repeat("0", 64)
	l.document(edits{"seed.sha256": bad})
	expect(t, l.run(), 2, "seed.sha256", good, bad, "placeholder")
	expect(t, l.one(), 2, "seed.sha256")
	expect(t, l.campaign("--cases", "1"), 2, "seed.sha256")
}

func TestB10_RecordsAgreeAndLeaveNothingOut(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	l.document(edits{"target.timeout_s": 10.7, "execution.env_overrides": map[string]string{"PYTHONUNBUFFERED": "1"}})
	expect(t, l.one("--fail-on", "FAIL"), 0)
	exec := l.object("work/runs/one/exec/exec.json")
	equal(t, "timeout", exec["timeout_s"], 10.7)
	equal(t, "override in exec/exec.json", exec["env"].(map[string]any)["PYTHONUNBUFFERED"], "1")
	rec := l.object("work/runs/one/eval/failure_record.json")
	equal(t, "override in the record", rec["env_subset"].(map[string]any)["PYTHONUNBUFFERED"], "1")
	for name, path := range map[string]string{"input": "input", "spec_ref": "llmfuzz", "mutation_ref": "llmfuzz"} {
		ref := rec[name].(map[string]any)
		data, err := os.ReadFile(ref["path"].(string))
		must(t, err)
		sum := sha256.Sum256(data)
		equal(t, "digest of "+name, ref["sha256"], hex.EncodeToString(sum[:]))
		if !strings.HasPrefix(ref["path"].(string), l.path("work/runs/one/"+path)) {
			t.Errorf("%s is at %s", name, ref["path"])
		}
	}
	outputs := rec["observed_outputs"].([]any)
	equal(t, "outputs", len(outputs), 1)
	equal(t, "output", outputs[0].(map[string]any)["path"], "out/a.json")
}

func TestB11_IDsStayInTheirFolder(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	before := l.tree()
	for _, id := range []string{"../../esc", "..", ".", "/tmp/esc", "a/b", `a\b`, "-x", ".hidden", "a\nb", strings.Repeat("x", 300)} {
		expect(t, call("fuzzspec", "run", "--spec", l.path("spec.json"), "--case-index", "0", "--run-id="+id), 1, "run id", "must")
		expect(t, call("fuzzspec", "eval-run", "--work-root-base", l.path("work"), "--run-id="+id), 1, "run id", "must")
		expect(t, call("fuzzspec", "campaign", "--spec", l.path("spec.json"), "--cases", "1", "--exec", "--campaign-id="+id), 2, "campaign id", "must")
		expect(t, call("fuzzspec", "triage-campaign", "--work-root-base", l.path("work"), "--campaign-id="+id), 1, "campaign id", "must")
	}
	equal(t, "files", l.tree(), before)
	// An agent's name cannot reach outside either.
	l.write("secret/x_one.json", "1")
	l.document(edits{"target.agent_id": "../../secret"})
	expect(t, l.one(), 0)
	if text := l.read("work/runs/one/eval/failure_record.json"); strings.Contains(text, "x_one.json") {
		t.Errorf("the record lists a file outside: %s", text)
	}
}

func TestB12_ShippedSamplesRun(t *testing.T) {
	dir := t.TempDir()
	expect(t, call("init", "fuzzspec", dir), 0)
	spec := filepath.Join(dir, "fuzzspec.json")
	expect(t, call("check", spec, "--strict"), 0)
	expect(t, call("fuzzspec", "validate", "--spec", spec, "--strict"), 0)
	r := call("run", spec, "--store", filepath.Join(dir, "store"), "--shrink", "0", "-j", "2")
	if r.code > 1 {
		expect(t, r, 1)
	}
}

func TestB12_PlannedCasesAreDryRuns(t *testing.T) {
	l := newLab(t, `echo 1 >"$2/a.json"`)
	plan := call("fuzzspec", "campaign", "--spec", l.path("spec.json"), "--cases", "20", "--campaign-id", "c")
	expect(t, plan, 0)
	if text := l.read("work/llmfuzz/campaigns/c/cases.jsonl"); strings.Count(text, `"verdict":"DRY_RUN"`) != 20 {
		t.Errorf("lines of the plan: %s", text)
	}
	expect(t, call("fuzzspec", "triage-campaign", "--work-root-base", l.path("work"), "--campaign-id", "c"), 0)
	counts := l.object("work/llmfuzz/campaigns/c/triage/triage.json")["verdict_counts"].(map[string]any)
	equal(t, "planned", counts["DRY_RUN"], 20)
	if n := counts["UNKNOWN"]; n != nil && n != 0.0 {
		t.Errorf("%v cases are unknown", n)
	}
	// A plan is not a result: the cases are still to be run.
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
	equal(t, "passing", l.summary()["counts"].(map[string]any)["PASS"], 20)
}

func TestB13_ImpossibleValuesAreRefusedWithTheirReason(t *testing.T) {
	l := newLab(t, "exit 0")
	good := l.read("spec.json")
	for _, timeout := range []string{"NaN", "Infinity", "-Infinity", "1e400", "1e12", "1" + strings.Repeat("0", 400), "0", "-1"} {
		l.write("spec.json", strings.Replace(good, `"timeout_s": 20`, `"timeout_s": `+timeout, 1))
		expect(t, l.run(), 2, "target.timeout_s: must be a number")
		if r := l.one(); r.code == 0 {
			t.Errorf("timeout %s ran", timeout)
		}
	}
	l.write("spec.json", good)
	expect(t, call("fuzzspec", "run", "--spec", l.path("spec.json"), "--case-index", "20"), 1, "case_index must be from 0 to 19", "got 20")
	expect(t, l.run("--timeout-s", "NaN"), 2, "--timeout-s")
	for what, path := range map[string]string{"a directory": l.dir, "a device": "/dev/zero"} {
		l.document(edits{"seed.path": path})
		expect(t, l.run(), 2, "seed.path: must be a regular file", what)
	}
	for field, value := range map[string]any{"mutations.max_ops_per_case": 1e15, "mutations.max_bytes": 1e15, "mutations.cases": 0} {
		l.document(edits{field: json.Number(fmt.Sprintf("%.0f", toFloat(value)))})
		expect(t, l.run(), 2, field)
	}
}

func toFloat(v any) float64 {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	return v.(float64)
}

func TestB14_EditsDoNotChangeWhatRuns(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `printf . >"$LAB/ticks"
		[ -e "$LAB/meddle" ] && { echo B >"$LAB/seed.bin"; echo '{}' >"$LAB/spec.json"; }
		read x <"$1"; case "$x" in A*) exit 0 ;; esac; exit 3`)
	ticks := l.ticker()
	spec, seed := l.read("spec.json"), l.read("seed.bin")
	first := l.run()
	expect(t, first, 1)
	want := l.report().Digest
	// In the middle.
	l.write("meddle", "")
	expect(t, l.run(), 1)
	equal(t, "digest of a run in which both were edited", l.report().Digest, want)
	equal(t, "the seed now", l.read("seed.bin"), "B\n")
	must(t, os.Remove(l.path("meddle")))
	// Between a kill and going on.
	for i := range 3 {
		l.write("spec.json", spec)
		l.write("seed.bin", seed)
		args := []string{"run", l.path("spec.json"), "-j", "1", "--shrink", "30", "--store", l.path("store")}
		if !killAfter(t, child(t, "thresh", args...), ticks, 3+5*i) {
			t.Fatal("the process ended before it could be killed")
		}
		must(t, os.Remove(l.path("seed.bin")))
		l.write("spec.json", "nonsense")
		expect(t, l.resume(), 1)
		equal(t, "digest of a run that went on after both were edited", l.report().Digest, want)
	}
	// The evidence of a finding shows the seed that was run.
	expect(t, l.stored("replay", l.report().Findings[0].ID, "--as-stored"), 1, "shows again")
}

func TestB14_CampaignOfAnotherSeedIsNotContinued(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *5) exit 1 ;; esac; echo 1 >"$2/a.json"`)
	expect(t, l.campaign("--cases", "20"), 0) // stops at case 5
	equal(t, "cases", l.summary()["cases_completed"], 6)
	listed := l.read("work/llmfuzz/campaigns/c/cases.jsonl")
	seed := l.read("seed.bin")
	l.write("seed.bin", "another")
	expect(t, l.campaign("--cases", "20", "--resume"), 1, "seed.bin has changed", "--campaign-id")
	equal(t, "the cases listed", l.read("work/llmfuzz/campaigns/c/cases.jsonl"), listed)
	l.write("seed.bin", seed)
	l.document(edits{"mutations.cases": 21})
	expect(t, l.campaign("--cases", "20", "--resume"), 1, "belongs to another document")
	// Mended, it goes on past the case that it stopped at.
	l.document(nil)
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
	equal(t, "cases", l.summary()["cases_completed"], 16)
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
	equal(t, "cases", l.summary()["cases_completed"], 20)
	// Equal for any number of workers, also where a run is cut.
	short := l.read("work/llmfuzz/campaigns/c/triage/triage.json")
	must(t, os.RemoveAll(l.path("work")))
	for _, workers := range []string{"8", "1"} {
		expect(t, l.campaign("--cases", "20", "--resume", "-j", workers), 0)
	}
	expect(t, l.campaign("--cases", "20", "--resume"), 0)
	equal(t, "triage", l.read("work/llmfuzz/campaigns/c/triage/triage.json"), short)
}

func TestB15_LargeAppendsAreLinear(t *testing.T) {
	l := newLab(t, "exit 0")
	work := func(maxBytes int) (size, allocated int64, allocations int64) {
		l.document(edits{"mutations.max_bytes": maxBytes, "mutations.max_ops_per_case": 1, "mutations.strategies": []string{"append_bytes"}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := call("fuzzspec", "mutate", "--spec", l.path("spec.json"), "--case", "0", "--raw")
		runtime.ReadMemStats(&after)
		expect(t, result{code: r.code}, 0)
		return int64(len(r.out)), int64(after.TotalAlloc - before.TotalAlloc), int64(after.Mallocs - before.Mallocs)
	}
	work(1000) // what is made once
	small, _, few := work(1000)
	size, allocated, many := work(10 << 20)
	if size < 100*small {
		t.Fatalf("a case has %d bytes at a limit of 1000, and %d at 10 MiB", small, size)
	}
	// A handful of copies, and no allocation for a byte.
	if allocated > 16*size || many > 2*few+1000 {
		t.Errorf("a case of %d bytes took %d bytes in %d allocations (a small one takes %d)", size, allocated, many, few)
	}
	l.document(edits{"mutations.max_bytes": 10 << 20, "mutations.cases": 4})
	expect(t, l.run(), 0, "4 cases")
}

// tree is the names of all files of the lab.
func (l *lab) tree() []string {
	l.t.Helper()
	var names []string
	must(l.t, filepath.WalkDir(l.dir, func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	return names
}
