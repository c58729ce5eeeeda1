package systems_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// Every kind takes the bytes of a FuzzSpec, the prompts of an agent's document, the
// children of an operator campaign and the input of a Spec-Test case.
func TestFormatsByKinds(t *testing.T) {
	t.Parallel() // mostly waits
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"content":"hello"}}]}`)
	}))
	t.Cleanup(model.Close)
	systems := map[string]string{
		"command": write("command.yaml", "schema: thresh.system.v1\nkind: command\ncommand: [cat]\n"),
		"chat":    write("chat.yaml", "schema: thresh.system.v1\nkind: chat\nmodel: m\nurl: "+model.URL+"/v1\n"),
		"http":    "parser-http.system.yaml", "mcp": "parser-mcp.system.yaml", "driver": "parser-driver.system.yaml",
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "speaker.wasm"), "../../system/wasm/testdata/speaker")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err == nil {
		systems["wasm"] = write("wasm.yaml", "schema: thresh.system.v1\nkind: wasm\nentry: speaker.wasm\n")
	} else {
		t.Logf("Go builds no WASI modules here: %v\n%s", err, out)
	}
	spec := write("spec.json", fmt.Sprintf(`{"schema_version":"llmfuzz.fuzzspec.v1","campaign_id":"kinds",
"target":{"agent_id":"a","command":["/bin/cat","<input_path>"],"work_root_base":%q},
"seed":{"path":%q},"mutations":{"rng_seed":7,"cases":3,"max_ops_per_case":0},
"execution":{"work_root_mode":"per_run"},"outputs":{"out_dir":"runs/<run_id>/out","eval_dir":"runs/<run_id>/eval"}}`, dir, write("seed.txt", "he")))
	prompts := write("agent.yaml", `version: "2.0"
agent: {endpoint: "http://127.0.0.1:1/"}
golden_prompts: [how do I return a shoe]
mutations: {count: 2, types: [noise]}
invariants: [{type: latency, max_ms: 60000}]
`)
	cases := write("kinds.spec.md", "```yaml spec-test\nid: K\ntype: system.call\ninput: he\nassert: [{target: end, must: [{contain: [answered]}]}]\n```\n")
	write("prompts.txt", "how do I return a shoe\n")
	children := write("operators.json", `{"schema_version": "thresh.operators.v1", "seeds": ["prompts.txt"], "children": 3, "steps": 1, "select": {"include": ["op_lex_whitespace_perturb"]},
"judges": [{"id": "ends", "type": "completes"}]}`)
	for i, c := range []struct{ doc, python string }{
		{spec, "parser-python.system.yaml"}, {prompts, "bot.system.yaml"}, {cases, "parser-python.system.yaml"}, {children, "bot.system.yaml"},
	} {
		systems["python"] = c.python
		for k, kind := range slices.Sorted(maps.Keys(systems)) {
			if (i+k)%4 != 0 && !testproc.Long() {
				continue // each kind with one document, and each document with some kinds
			}
			job := thresh.Job{Paths: []string{c.doc}, Store: t.TempDir(), Workers: 1, Options: map[string][]string{"system": {systems[kind]}}}
			t.Run(filepath.Base(c.doc)+"/"+kind, func(t *testing.T) {
				t.Parallel()
				rec, err := thresh.Run(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				if c := rec.Campaigns[0].Cases; c.Run == 0 || c.Error != 0 || c.Pass != c.Run {
					t.Errorf("%+v %+v", c, rec.Findings)
				}
			})
		}
	}
}
