package fuzzspec_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

// evaluationVectors are run folders and campaigns with what existing tools
// make of them.
type evaluationVectors struct {
	Fixtures []struct {
		Name     string            `json:"name"`
		RunID    string            `json:"run_id"`
		Files    map[string]string `json:"files"`
		Patch    bool              `json:"patch"`
		Stdout   string            `json:"stdout"`
		EvalJSON string            `json:"eval_json"`
		After    string            `json:"failure_record_after"`
	} `json:"fixtures"`
	Triage struct {
		Cases   string `json:"cases_jsonl"`
		R40     string `json:"runs/r40/llmfuzz/eval.json"`
		Summary string `json:"summary_json_before"`
		Results []struct {
			Args    []string `json:"args"`
			JSON    string   `json:"triage_json"`
			MD      string   `json:"triage_md"`
			Summary string   `json:"summary_json_after"`
		} `json:"results"`
	} `json:"triage"`
}

func readEvaluationVectors(t testing.TB) evaluationVectors {
	t.Helper()
	data, err := os.ReadFile("testdata/evaluation.json")
	if err != nil {
		t.Fatal(err)
	}
	var v evaluationVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func folder(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func TestEvaluateRunAnswersAsExistingToolsDo(t *testing.T) {
	for _, f := range readEvaluationVectors(t).Fixtures {
		t.Run(f.Name, func(t *testing.T) {
			e := fuzzspec.EvaluateRun(folder(f.Files), f.RunID, fuzzspec.EvaluateOptions{})
			if string(e.JSON) != f.EvalJSON {
				t.Errorf("got\n%s\nwant\n%s", e.JSON, f.EvalJSON)
			}
			if e.Signature+"\n" != f.Stdout {
				t.Errorf("signature %q, want %q", e.Signature, f.Stdout)
			}
			if f.Patch {
				got, ok := e.PatchRecord([]byte(f.Files["eval/failure_record.json"]), f.RunID)
				if !ok || string(got) != f.After {
					t.Errorf("patched record\n%s\nwant\n%s", got, f.After)
				}
			}
		})
	}
}

const (
	context = `{"run_id": "r", "artifact_id": "aaaaaaaaaaaa", "input_sha256": "aaaaaaaaaaaaaaaa"}`
	exited0 = `{"exit_code": 0, "timed_out": false}`
)

func TestEvaluateRunBeyondTheVectors(t *testing.T) {
	listed := func(path string) string {
		return fmt.Sprintf(`{"verdict": "PASS", "observed_outputs": [{"path": %q}]}`, path)
	}
	for _, c := range []struct {
		name                 string
		files                map[string]string
		o                    fuzzspec.EvaluateOptions
		verdict, sig, detail string // detail of a check, in its line
	}{
		{"nothing at all", nil, fuzzspec.EvaluateOptions{}, "FAIL", "OUT_MISSING:76e2f8f397522b2a", "RUNNER_EXIT FAIL exec_missing"},
		{"an exit code of true", map[string]string{"exec/exec.json": `{"exit_code": true}`}, fuzzspec.EvaluateOptions{}, "FAIL", "CRASH:dd5f118875a5f990", "RUNNER_EXIT FAIL exit_code=True"},
		{"a signal", map[string]string{"exec/exec.json": `{"exit_code": -11}`}, fuzzspec.EvaluateOptions{}, "FAIL", "CRASH:dd5f118875a5f990", "RUNNER_EXIT FAIL exit_code=-11"},
		{"a timeout below a second", map[string]string{"exec/exec.json": `{"timed_out": true, "timeout_s": 0.7}`}, fuzzspec.EvaluateOptions{}, "TIMEOUT", "TIMEOUT:0", ""},
		{"a negative timeout", map[string]string{"exec/exec.json": `{"timed_out": true, "timeout_s": -2}`}, fuzzspec.EvaluateOptions{}, "TIMEOUT", "TIMEOUT", ""},
		{"timed_out is not known to legacy evidence", map[string]string{"llmfuzz/exec.json": `{"timed_out": true, "exit_code": 3}`}, fuzzspec.EvaluateOptions{}, "FAIL", "CRASH:dd5f118875a5f990", ""},
		{"a context of another artifact", map[string]string{"context.json": strings.Replace(context, "aaaa", "bbbb", 1)}, fuzzspec.EvaluateOptions{}, "FAIL", "OUT_MISSING:76e2f8f397522b2a", "CONTEXT_PRESENT PASS ok (artifact_id != input_sha256[:12])"},
		{"a context that is not an object", map[string]string{"context.json": "7"}, fuzzspec.EvaluateOptions{}, "FAIL", "OUT_MISSING:76e2f8f397522b2a", "CONTEXT_PRESENT FAIL json parse error (TypeError)"},
		{"a listed file outside the folder", map[string]string{"context.json": context, "exec/exec.json": exited0, "eval/failure_record.json": listed("../x/a.json")}, fuzzspec.EvaluateOptions{}, "FAIL", "", "OUTPUTS_PRESENT FAIL missing=a.json"},
		{"an absolute listed file", map[string]string{"context.json": context, "exec/exec.json": exited0, "eval/failure_record.json": listed("/etc/a.json")}, fuzzspec.EvaluateOptions{}, "FAIL", "", "OUTPUTS_PRESENT FAIL missing=a.json"},
		{"a listed file with the folder's own prefix", map[string]string{"context.json": context, "exec/exec.json": exited0, "eval/failure_record.json": listed("runs/r/out/a.json"), "out/a.json": "[]"}, fuzzspec.EvaluateOptions{}, "PASS", "PASS", "OUTPUTS_PRESENT PASS count=1"},
		{"an output that is not UTF-8", map[string]string{"context.json": context, "exec/exec.json": exited0, "out/a.json": "\xff"}, fuzzspec.EvaluateOptions{}, "FAIL", "JSON_BAD:a.json:UnicodeDecodeError", ""},
		{"an output nested too deep", map[string]string{"context.json": context, "exec/exec.json": exited0, "out/a.json": strings.Repeat("[", 20000)}, fuzzspec.EvaluateOptions{}, "FAIL", "JSON_BAD:a.json:RecursionError", ""},
		{"the 21st output is not read", map[string]string{"context.json": context, "exec/exec.json": exited0,
			"out/00.json": "0", "out/01.json": "0", "out/02.json": "0", "out/03.json": "0", "out/04.json": "0", "out/05.json": "0", "out/06.json": "0", "out/07.json": "0", "out/08.json": "0", "out/09.json": "0",
			"out/10.json": "0", "out/11.json": "0", "out/12.json": "0", "out/13.json": "0", "out/14.json": "0", "out/15.json": "0", "out/16.json": "0", "out/17.json": "0", "out/18.json": "0", "out/19.json": "0", "out/20.json": "broken"},
			fuzzspec.EvaluateOptions{}, "PASS", "PASS", "JSON_PARSE PASS parsed_bytes=20"},
		{"no outputs, and none expected", map[string]string{"context.json": context, "exec/exec.json": exited0}, fuzzspec.EvaluateOptions{NoneExpected: true}, "PASS", "PASS", "OUTPUTS_PRESENT PASS none expected: the seed writes none"},
		{"none expected does not excuse a program that did not start", map[string]string{"context.json": context, "exec/exec.json": `{"exit_code": null}`}, fuzzspec.EvaluateOptions{NoneExpected: true}, "FAIL", "OUT_MISSING:2989be8c1740e25a", ""},
		{"none expected does not excuse broken JSON", map[string]string{"context.json": context, "exec/exec.json": exited0, "out/a.json": "{"}, fuzzspec.EvaluateOptions{NoneExpected: true}, "FAIL", "JSON_BAD:a.json:JSONDecodeError", ""},
		{"an exit code that is not a failure", map[string]string{"context.json": context, "exec/exec.json": `{"exit_code": 2}`, "out/a.json": "1"}, fuzzspec.EvaluateOptions{AcceptExit: []int{2}}, "PASS", "PASS", "RUNNER_EXIT PASS exit_code=2 (accepted)"},
		{"outputs that nobody asked for", map[string]string{"context.json": context, "exec/exec.json": exited0, "out/a.json": "{"}, fuzzspec.EvaluateOptions{IgnoreOutputs: true}, "PASS", "PASS", "JSON_PARSE PASS not judged"},
		{"ignored outputs do not excuse a crash", map[string]string{"context.json": context, "exec/exec.json": `{"exit_code": 1}`}, fuzzspec.EvaluateOptions{IgnoreOutputs: true}, "FAIL", "CRASH:dd5f118875a5f990", ""},
		{"a program that wrote too much", map[string]string{"context.json": context, "exec/exec.json": `{"exit_code": 0, "output_limit": true}`, "out/a.json": "1"}, fuzzspec.EvaluateOptions{}, "FAIL", "OUTPUT_LIMIT", "RUNNER_EXIT FAIL output_limit=true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fuzzspec.EvaluateRun(folder(c.files), "r", c.o)
			if e.Verdict != c.verdict || c.sig != "" && e.Signature != c.sig {
				t.Errorf("got %s %s, want %s %s", e.Verdict, e.Signature, c.verdict, c.sig)
			}
			var lines []string
			for _, k := range e.Checks {
				status := "FAIL"
				if k.Pass {
					status = "PASS"
				}
				lines = append(lines, k.Code+" "+status+" "+k.Detail)
			}
			if all := strings.Join(lines, "\n"); c.detail != "" && !strings.Contains(all+"\n", c.detail+"\n") {
				t.Errorf("checks:\n%s\nwant one to be %s", all, c.detail)
			}
		})
	}
}

func TestExtraFieldsStandBesideTheDocumentedOnes(t *testing.T) {
	e := fuzzspec.EvaluateRun(folder(nil), "r", fuzzspec.EvaluateOptions{Extra: map[string]any{"signature_v2": "x", "verdict": "PASS"}})
	if !strings.Contains(string(e.JSON), "\"signature_v1\": \"OUT_MISSING:76e2f8f397522b2a\",\n  \"signature_v2\": \"x\",\n  \"verdict\": \"FAIL\"\n") {
		t.Errorf("got %s", e.JSON)
	}
}

func TestSignatures(t *testing.T) {
	data, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Signatures []struct {
			Text       string  `json:"stderr_text"`
			RunID      string  `json:"run_id"`
			Normalized string  `json:"normalized_text"`
			FromFile   string  `json:"from_file_signature"`
			FromTail   *string `json:"from_stderr_tail_field_signature"`
		} `json:"signatures"`
		Raw []struct {
			B64       string `json:"child_stderr_b64"`
			Signature string `json:"signature"`
		} `json:"child_stderr_bytes"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors.Signatures {
		got := fuzzspec.NormalizeStderr(v.Text, v.RunID)
		if start, cut := strings.CutSuffix(v.Normalized, "..."); cut && strings.HasPrefix(got, start) {
			got = v.Normalized // long texts are abbreviated in the file
		}
		if got != v.Normalized {
			t.Errorf("%.80q became %.80q, want %.80q", v.Text, got, v.Normalized)
		}
		evaluate := func(exec string) string {
			files := map[string]string{"exec/exec.json": exec, "exec/stderr.txt": v.Text}
			return fuzzspec.EvaluateRun(folder(files), v.RunID, fuzzspec.EvaluateOptions{}).Signature
		}
		if got := evaluate(`{"exit_code": 1}`); got != v.FromFile {
			t.Errorf("%.80q in the file is %s, want %s", v.Text, got, v.FromFile)
		}
		if v.FromTail != nil && strings.TrimSpace(v.Text) != "" {
			tail, _ := json.Marshal(v.Text)
			if got := evaluate(`{"exit_code": 1, "stderr_tail": ` + string(tail) + `}`); got != *v.FromTail {
				t.Errorf("%.80q in the record is %s, want %s", v.Text, got, *v.FromTail)
			}
		}
	}
	for _, v := range vectors.Raw {
		raw, err := base64.StdEncoding.DecodeString(v.B64)
		if err != nil {
			t.Fatal(err)
		}
		if got := fuzzspec.CrashSignature(fuzzspec.StderrTail(raw), "r", len(raw) > 0); got != v.Signature {
			t.Errorf("%.40q is %s, want %s", raw, got, v.Signature)
		}
	}
}

// FuzzEvaluate looks for run folders that crash the evaluation, or that a
// triage cannot group.
func FuzzEvaluate(f *testing.F) {
	for _, v := range readEvaluationVectors(f).Fixtures {
		f.Add(v.Files["context.json"], v.Files["exec/exec.json"], v.Files["eval/failure_record.json"], v.Files["exec/stderr.txt"], v.Files["out/a.json"], v.RunID)
	}
	f.Fuzz(func(t *testing.T, context, exec, record, stderr, out, runID string) {
		files := map[string]string{"context.json": context, "exec/exec.json": exec, "eval/failure_record.json": record, "exec/stderr.txt": stderr, "out/a.json": out}
		for _, o := range []fuzzspec.EvaluateOptions{{}, {NoneExpected: true, AcceptExit: []int{1}}, {IgnoreOutputs: true}} {
			e := fuzzspec.EvaluateRun(folder(files), runID, o)
			if !json.Valid(e.JSON) || len(e.Checks) != 5 || e.Verdict == "" || e.Signature == "" {
				t.Fatalf("%+v", e)
			}
			line, err := json.Marshal(map[string]any{"verdict_eval": e.Verdict, "signature_v1": e.Signature, "run_id": runID})
			if err != nil {
				t.Fatal(err)
			}
			if c := fuzzspec.TriageCampaign(fuzzspec.TriageInput{Cases: line}, fuzzspec.TriageOptions{IncludePass: true, TopK: 1}).Clusters; len(c) != 1 || c[0].Count != 1 {
				t.Fatalf("%s gives %+v", line, c)
			}
		}
	})
}

// Broken UTF-8 is read as Python does: all sequences of up to four bytes at the
// borders of what a sequence may hold. The digest is that of CPython 3's
// bytes.decode("utf-8", "replace"), each with a line feed behind it.
func TestBrokenText(t *testing.T) {
	borders := []byte{0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5}
	sum := sha256.New()
	for length := 1; length <= 4; length++ {
		text, place := make([]byte, length), make([]int, length)
		for done := false; !done; {
			for i, p := range place {
				text[i] = borders[p]
			}
			io.WriteString(sum, fuzzspec.StderrTail(text)+"\n")
			done = true
			for i := length - 1; i >= 0 && done; i-- {
				if place[i]++; place[i] < len(borders) {
					done = false
				} else {
					place[i] = 0
				}
			}
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil))[:16]; got != "946d2d3f824fa928" {
		t.Errorf("got %s", got)
	}
}
