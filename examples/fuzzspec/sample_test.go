package fuzzspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/internal/golden"
)

// expect.json is the catalogue's expectations for tests in other places.
func TestExpectFile(t *testing.T) {
	want := map[string][]string{}
	for _, e := range catalog() {
		want[e.Name] = append([]string{}, e.Expect...)
	}
	b, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "expect.json", string(b)+"\n")
}

func TestReadmeNamesEveryExample(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range catalog() {
		if !bytes.Contains(b, []byte("`"+e.Name+"`")) {
			t.Errorf("README.md does not name %s", e.Name)
		}
	}
}

func TestRefused(t *testing.T) {
	if _, err := Write(t.Context(), "relative"); err == nil {
		t.Error("a relative folder is accepted")
	}
	if _, err := Write(t.Context(), t.TempDir(), "nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("an unknown example gives %v", err)
	}
}

// run runs a written example on an input and returns its death and output
// folder.
func run(t *testing.T, w Written, input []byte) (crash.Death, string) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, input, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), w.Program, in)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"LLMFUZZ_OUT_DIR=" + dir}, &stdout, &stderr
	err := cmd.Run()
	d := crash.Death{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		if status.Signaled() {
			d.Signal = int(status.Signal())
		} else {
			d.ExitCode = status.ExitStatus()
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

// The faults that end by themselves, each by one changed byte of the seed. A
// hang, a flood and their like need a runner that contains them.
var faults = map[string][2]string{
	"null_deref":     {"title", "tible"},
	"heap_overflow":  {"0c", "00"},
	"stack_buffer":   {";role", "{role"},
	"use_after_free": {"pda", "pd!"},
	"failed_assert":  {"-30", "-70"},
	"abort_call":     {"AAB", "CAB"},
	"exit_code":      {"2.1", "2.9"},
	"int_overflow":   {"w=00", "w=10"},
	"double_free":    {"oc oc", "oc !c"},
	"recursion":      {"5>0", "5>1"},
}

func TestExamples(t *testing.T) {
	t.Parallel() // mostly waits
	list, err := Write(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		t.Run(w.Name, func(t *testing.T) {
			if w.Skipped != "" {
				t.Skip(w.Skipped)
			}
			var spec struct {
				Target struct{ Command []string }
				Seed   struct{ Path string }
			}
			b, err := os.ReadFile(w.Spec)
			if err == nil {
				err = json.Unmarshal(b, &spec)
			}
			if err != nil || spec.Seed.Path != w.SeedPath || !strings.Contains(strings.Join(spec.Target.Command, " "), "<input_path>") {
				t.Fatalf("spec %v, %+v", err, spec)
			}
			if w.Program == "" {
				return
			}
			d, out := run(t, w, w.Seed)
			if c := crash.Analyze(d); c.Class != crash.ClassNone {
				t.Fatalf("the seed fails: %+v\n%s", c, d.Stderr)
			}
			results, err := filepath.Glob(filepath.Join(out, "*.json"))
			if err != nil || len(results) != 1 {
				t.Fatalf("results %v, %v", results, err)
			}
			if b, err := os.ReadFile(results[0]); err != nil || !json.Valid(b) {
				t.Fatalf("result %q, %v", b, err)
			}
			edit, ok := faults[w.Name]
			if !ok {
				return
			}
			bad := strings.Replace(string(w.Seed), edit[0], edit[1], 1)
			if bad == string(w.Seed) {
				t.Fatalf("the seed does not hold %q", edit[0])
			}
			d, _ = run(t, w, []byte(bad))
			c := crash.Analyze(d)
			words := strings.ToLower(strings.Join([]string{c.Class, c.Kind, c.Title}, "\n"))
			for _, e := range w.Expect {
				found := false
				for alt := range strings.SplitSeq(e, "|") {
					found = found || strings.Contains(words, strings.ToLower(alt))
				}
				if !found {
					t.Errorf("found %+v, want %q\n%s", c, e, d.Stderr)
				}
			}
		})
	}
}

// The spec that is shipped as it is must fit any Linux.
func TestSystemSpec(t *testing.T) {
	b, err := os.ReadFile("system/awk.json")
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Schema string `json:"schema_version"`
		Seed   struct{ Path string }
	}
	if err := json.Unmarshal(b, &spec); err != nil || spec.Schema != "llmfuzz.fuzzspec.v1" || !filepath.IsAbs(spec.Seed.Path) {
		t.Fatalf("%v %+v", err, spec)
	}
}
