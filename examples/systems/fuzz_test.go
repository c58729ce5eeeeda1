package systems_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
)

// The bytes of a FuzzSpec reach a system in the program's place; what it dies
// of, hangs in or reports is found, made small and shows again.
func TestFuzzSystems(t *testing.T) {
	t.Parallel() // mostly waits
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	doc, seed := filepath.Join(dir, "spec.json"), filepath.Join(dir, "seed.txt")
	text := fmt.Sprintf(`{"schema_version":"llmfuzz.fuzzspec.v1","campaign_id":"greetings",
"target":{"agent_id":"a","command":["/bin/cat","<input_path>"],"work_root_base":%q},
"seed":{"path":%q},"mutations":{"rng_seed":7,"cases":40,"max_ops_per_case":3},
"execution":{"work_root_mode":"per_run"},"outputs":{"out_dir":"runs/<run_id>/out","eval_dir":"runs/<run_id>/eval"}}`, dir, seed)
	for name, data := range map[string]string{doc: text, seed: "he"} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for kind, wants := range map[string][]string{
		"http":   {"KeyError in parser.py:parse", "ended during the call: exit status 4", "timeout"},
		"mcp":    {"ended during the call: exit status 4", "timeout"},
		"driver": {"KeyError in parser.py:parse", "ended during the call: exit status 4", "timeout"},
		"python": {"KeyError in parser.py:parse", "the process ended", "timeout"},
	} {
		if kind != "driver" && os.Getenv("THRESH_TEST_LONG") == "" {
			t.Logf("%s: each hang is waited for: set THRESH_TEST_LONG=1", kind)
			continue
		}
		rec, err := thresh.Run(t.Context(), thresh.Job{Paths: []string{doc}, Store: filepath.Join(dir, kind), Workers: 2,
			Options: map[string][]string{"system": {"parser-" + kind + ".system.yaml"}, "keep": {"none"}}})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var titles []string
		for _, f := range rec.Findings {
			titles = append(titles, f.Title)
			if f.Flaky || f.Minimized == nil || f.Minimized.Size > 1 {
				t.Errorf("%s: %s: flaky %t, smallest %+v", kind, f.Title, f.Flaky, f.Minimized)
			}
		}
		for _, want := range wants {
			if !strings.Contains(strings.Join(titles, "\n"), want) {
				t.Errorf("%s: %q, want %s", kind, titles, want)
			}
		}
		if len(titles) != len(wants) {
			t.Errorf("%s: %q", kind, titles)
		}
	}
}
