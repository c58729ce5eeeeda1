package fuzzspec_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/process"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600))

// keep writes a run of the sample document below a new work root. The program
// ran in another folder, which holds the given files.
func keep(t *testing.T, change func(*fuzzspec.RunRecord), files map[string]string) (root string, kept fuzzspec.KeptRun) {
	t.Helper()
	root = t.TempDir()
	return root, keepIn(t, root, change, files)
}

func keepIn(t *testing.T, root string, change func(*fuzzspec.RunRecord), files map[string]string) fuzzspec.KeptRun {
	t.Helper()
	spec, list := fuzzspec.Check([]byte(edit(t, sample, "/srv/fuzz\"", root+"\"", `"execution": {}`, `"execution": {"env_overrides": {"PYTHONUNBUFFERED": "1"}}`)),
		debian(root), fuzzspec.CheckOptions{ReadSeed: readSeed})
	if spec == nil {
		t.Fatal(list)
	}
	lane := t.TempDir()
	write(t, lane, files)
	r := fuzzspec.RunRecord{
		Spec: spec, CaseIndex: 7, Seed: []byte("seed"), Input: []byte("se\x00d"), MutationLog: []byte(`{"i":0}` + "\n"), Executable: "/bin/cat",
		Result: &process.Result{Stdout: []byte("out\xff"), Stderr: []byte("err"), Started: started, Elapsed: 1234567 * time.Microsecond, Dir: lane},
	}
	if change != nil {
		change(&r)
	}
	f, err := fuzzspec.NewRunFolder(root, "run-7")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := f.Write(r)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listing is every file below a folder, sorted, with its content.
func listing(t *testing.T, dir string) (names []string, content map[string]string) {
	t.Helper()
	content = map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		names = append(names, rel)
		content[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, content
}

func record(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestRunFolderHoldsEveryDocumentedFile(t *testing.T) {
	var lane string
	root, kept := keep(t, func(r *fuzzspec.RunRecord) { lane = r.Result.Dir }, map[string]string{"out/b.json": "{}", "out/sub/.a.json": "[1]", "out/note.txt": "x", "eval/report.json": "{}"})
	names, content := listing(t, root+"/runs")
	var b strings.Builder
	for _, name := range names {
		b.WriteString("== " + name + "\n" + strings.TrimSuffix(content[name], "\n") + "\n")
	}
	snapshot := sha256.Sum256([]byte(content["run-7/llmfuzz/fuzzspec.json"])) // names the work root, which differs
	got := strings.NewReplacer(root, "@ROOT@", lane, "@LANE@", hex.EncodeToString(snapshot[:]), "@SNAPSHOT@", "\x00", `\x00`, "\xff", `\xff`).Replace(b.String())
	golden.Check(t, "testdata/runfolder.golden", got)
	if kept.Verdict != "PASS" || kept.CaseVerdict() != "PASS" || len(kept.Notes) > 0 {
		t.Errorf("kept as %+v", kept)
	}
}

func TestOneVerdictPerRun(t *testing.T) {
	good := map[string]string{"out/a.json": "{}"}
	for _, c := range []struct {
		name                  string
		change                func(*fuzzspec.RunRecord)
		files                 map[string]string
		verdict, reason, line string
		signature             string
	}{
		{"a pass", nil, good, "PASS", "runner_ok", "PASS", "PASS"},
		{"an exit code", func(r *fuzzspec.RunRecord) { r.Result.ExitCode = 3 }, good, "FAIL_EXCEPTION", "runner_nonzero_exit", "FAIL", "CRASH:d9eb253e06987fa7"},
		{"an accepted exit code", func(r *fuzzspec.RunRecord) { r.Result.ExitCode = 3; r.Evaluate.AcceptExit = []int{3} }, good, "PASS", "runner_ok", "PASS", "PASS"},
		{"a signal", func(r *fuzzspec.RunRecord) { r.Result.Status, r.Result.Signal = process.Signaled, 11 }, good, "FAIL_EXCEPTION", "runner_nonzero_exit", "FAIL", "CRASH:d9eb253e06987fa7"},
		{"a timeout", func(r *fuzzspec.RunRecord) { r.Result.Status = process.TimedOut }, good, "TIMEOUT", "runner_timeout", "TIMEOUT", "TIMEOUT:5"},
		{"too much output", func(r *fuzzspec.RunRecord) { r.Result.OutputLimit = true }, good, "FAIL_EXCEPTION", "output_limit", "FAIL", "OUTPUT_LIMIT"},
		{"no output", nil, nil, "FAIL_MISSING_OUTPUT", "output_missing", "FAIL", "OUT_MISSING:2989be8c1740e25a"},
		{"no output, and none expected", func(r *fuzzspec.RunRecord) { r.Evaluate.NoneExpected = true }, nil, "PASS", "runner_ok", "PASS", "PASS"},
		{"broken output", nil, map[string]string{"out/a.json": "{"}, "FAIL_SCHEMA_INVALID", "output_not_json", "FAIL", "JSON_BAD:a.json:JSONDecodeError"},
		{"a dry run", func(r *fuzzspec.RunRecord) { r.Result = nil }, nil, "BLOCKED_POLICY", "dry_run", "DRY_RUN", "DRY_RUN"},
		{"no start", func(r *fuzzspec.RunRecord) { r.Result, r.StartError = nil, errors.New("no such file") }, nil, "BLOCKED_ENVIRONMENT", "runner_not_started", "BLOCKED", "BLOCKED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, kept := keep(t, c.change, c.files)
			if kept.Verdict != c.verdict || kept.Reason != c.reason || kept.CaseVerdict() != c.line {
				t.Errorf("kept as %s, %s, %s", kept.Verdict, kept.Reason, kept.CaseVerdict())
			}
			if kept.Evaluation.Signature != c.signature {
				t.Errorf("signature %s, want %s", kept.Evaluation.Signature, c.signature)
			}
			_, content := listing(t, root+"/runs/run-7")
			fr, eval := record(t, content["eval/failure_record.json"]), record(t, content["llmfuzz/eval.json"])
			if fr["verdict"] != c.verdict || eval["verdict"] != c.line {
				t.Errorf("the record says %v, the evaluation %v", fr["verdict"], eval["verdict"])
			}
			// Whoever evaluates the kept folder again comes to the same bytes.
			o := fuzzspec.EvaluateOptions{}
			if c.change != nil {
				r := fuzzspec.RunRecord{Result: &process.Result{}}
				c.change(&r)
				o = r.Evaluate
			}
			if again := fuzzspec.EvaluateRun(os.DirFS(root+"/runs/run-7"), "run-7", o); string(again.JSON) != content["llmfuzz/eval.json"] {
				t.Errorf("evaluated again:\n%s\nkept:\n%s", again.JSON, content["llmfuzz/eval.json"])
			}
		})
	}
}

func TestAReusedRunFolderKeepsNothingOld(t *testing.T) {
	root, _ := keep(t, nil, map[string]string{"out/stale.json": "{}"})
	write(t, root, map[string]string{"runs/.run-7.new/left.over": "x", "runs/.run-7.old/left.over": "x"})
	kept := keepIn(t, root, nil, nil)
	names, _ := listing(t, root+"/runs")
	if kept.CaseVerdict() != "FAIL" || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "stale") || strings.Contains(n, "left") }) {
		t.Errorf("%s with %v", kept.CaseVerdict(), names)
	}
}

// Two processes may run one campaign at once, and keep the same cases.
func TestOneRunFolderIsWrittenByManyAtOnce(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 8 {
				keepIn(t, root, nil, map[string]string{"out/a.json": "{}"})
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(filepath.Join(root, "runs"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d folders, %v", len(entries), err)
	}
}

func TestARunInItsOwnFolderKeepsItsOutputs(t *testing.T) {
	root, _ := keep(t, nil, map[string]string{"out/a.json": "{}"})
	kept := keepIn(t, root, func(r *fuzzspec.RunRecord) { r.Result.Dir = root + "/runs/run-7" }, nil)
	_, content := listing(t, root+"/runs/run-7")
	if kept.CaseVerdict() != "PASS" || content["out/a.json"] != "{}" || strings.Contains(content["exec/exec.json"], "executed_in") {
		t.Errorf("%s: %s", kept.CaseVerdict(), content["exec/exec.json"])
	}
}

func TestOutputsThatLeadElsewhereAreNotFollowed(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, kept := keep(t, func(r *fuzzspec.RunRecord) {
		out := filepath.Join(r.Result.Dir, "out")
		for link, to := range map[string]string{"x.json": secret, "d": "/", "loop.json": "loop.json"} {
			if err := os.Symlink(to, filepath.Join(out, link)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(filepath.Join(out, "pipe.json"), 0o644); err != nil {
			t.Fatal(err)
		}
	}, map[string]string{"out/real.json": "{}"})
	if kept.CaseVerdict() != "PASS" {
		t.Errorf("verdict %s: %s", kept.CaseVerdict(), kept.Evaluation.JSON)
	}
	for _, part := range []string{"out/x.json was not read", "out/loop.json was not read", "out/pipe.json was not kept: it is a named pipe"} {
		if !strings.Contains(strings.Join(kept.Notes, "\n"), part) {
			t.Errorf("notes %q lack %q", kept.Notes, part)
		}
	}
}

func TestAWorkRootThatCannotBeWritten(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"runs": "a file is in the way"})
	f, err := fuzzspec.NewRunFolder(root, "r")
	if err != nil {
		t.Fatal(err)
	}
	spec := &fuzzspec.Spec{Mutations: fuzzspec.Mutations{Cases: big.NewInt(1), MaxOpsPerCase: big.NewInt(1)}}
	_, err = f.Write(fuzzspec.RunRecord{Spec: spec})
	if !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "keep run r: ") {
		t.Errorf("got %v", err)
	}
	names, _ := listing(t, root)
	if !slices.Equal(names, []string{"runs"}) {
		t.Errorf("left behind: %v", names)
	}
}

func BenchmarkKeepRun(b *testing.B) {
	root := b.TempDir()
	spec, list := fuzzspec.Check([]byte(sample), debian(), fuzzspec.CheckOptions{ReadSeed: readSeed})
	if spec == nil {
		b.Fatal(list)
	}
	f, err := fuzzspec.NewRunFolder(root, "r")
	if err != nil {
		b.Fatal(err)
	}
	r := fuzzspec.RunRecord{Spec: spec, Seed: []byte("seed"), Input: []byte("seed"), MutationLog: []byte("{}\n"), Result: &process.Result{}}
	for b.Loop() {
		if _, err := f.Write(r); err != nil {
			b.Fatal(err)
		}
	}
}

// The record of a case has the digest of its engine's policy, and no digest of one that cannot
// be read.
func TestEnginePolicyIsFingerprinted(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.json")
	for _, text := range []string{"", `{"allow": []}`} {
		if text != "" {
			write(t, filepath.Dir(policy), map[string]string{"policy.json": text})
		}
		root, _ := keep(t, func(r *fuzzspec.RunRecord) { r.Spec.Target.EnginePolicy = &policy }, nil)
		_, content := listing(t, root+"/runs/run-7")
		sum := sha256.Sum256([]byte(text))
		want := any(hex.EncodeToString(sum[:]))
		if text == "" {
			want = nil
		}
		if got := record(t, content["eval/failure_record.json"])["policy_fingerprint"]; got != want {
			t.Errorf("of %q: %v, want %v", text, got, want)
		}
	}
}
