package systems_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh"
)

// A finding of any format is replayed on another system than that of its run: on
// one that is mended it no longer shows, on one that is not it shows again.
func TestReplayOnAnotherSystem(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The faulty system of the run is gone when the finding is replayed: it must
	// not be touched then.
	gone := write("faulty.sh", "cat >/dev/null; echo wrong; exit 3\n")
	faulty := write("faulty.system.yaml", "schema: thresh.system.v1\nname: s\nkind: command\ncommand: [sh, faulty.sh]\n")
	mended := write("mended.system.yaml", "schema: thresh.system.v1\nname: s\nkind: command\ncommand: [cat]\n")
	write("still.sh", "cat >/dev/null; echo wrong; exit 3\n")
	still := write("still.system.yaml", "schema: thresh.system.v1\nname: s\nkind: command\ncommand: [sh, still.sh]\n")
	seed := write("seed.txt", "hello")
	write("seeds.jsonl", `{"id": "hello", "text": "hello there"}`)
	type on struct{ run, mended, still string }
	shell := on{faulty, mended, still}
	for doc, use := range map[string]on{
		write("spec.json", fmt.Sprintf(`{"schema_version":"llmfuzz.fuzzspec.v1","campaign_id":"again",
"target":{"agent_id":"a","command":["/bin/cat","<input_path>"],"work_root_base":%q},
"seed":{"path":%q},"mutations":{"rng_seed":7,"cases":3,"max_ops_per_case":0},
"execution":{"work_root_mode":"per_run"},"outputs":{"out_dir":"runs/<run_id>/out","eval_dir":"runs/<run_id>/eval"}}`, dir, seed)): shell,
		write("agent.yaml", `version: "2.0"
agent: {endpoint: "http://127.0.0.1:1/"}
golden_prompts: [hello]
mutations: {count: 1, types: [noise]}
invariants: [{type: not_contains, value: wrong}]
`): shell,
		write("campaign.json", `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "children": 2, "select": {"include": ["op_lex_*"]},
"judges": [{"id": "right", "type": "not_contains", "value": "wrong"}], "system": "faulty.system.yaml"}`): shell,
		write("case.spec.md", "```yaml spec-test\nid: K\ntype: system.call\ninput: hello\nassert: [{target: output, must: [{contain: [hello]}]}]\n```\n"): shell,
		"orders.json": {"wasm.system.yaml", "mended.system.yaml", "wasm.system.yaml"},
	} {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			job := thresh.Job{Paths: []string{doc}, Store: t.TempDir(), Workers: 1, Options: map[string][]string{"system": {use.run}}}
			if doc == "orders.json" {
				job.Options["budget"] = []string{"12"}
			}
			rec, err := thresh.Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Findings) == 0 {
				t.Fatal("the faulty system has no finding")
			}
			if use.run == faulty {
				if err := os.Rename(gone, gone+".gone"); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = os.Rename(gone+".gone", gone) }()
			}
			for system, want := range map[string]int{use.mended: 0, use.still: 1} {
				job.Options = map[string][]string{"system": {system}}
				r, err := thresh.Replay(t.Context(), rec.Findings[0].ID, job)
				if err != nil {
					t.Fatalf("%s: %v", filepath.Base(system), err)
				}
				if r.Rerun.Same != want {
					t.Errorf("on %s: %+v, now %q, of %q", filepath.Base(system), r.Rerun, r.Now, r.Finding.Title)
				}
			}
		})
	}
}
