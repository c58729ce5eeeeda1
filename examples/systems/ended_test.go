package systems_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
)

// A driver that ends a moment after it has answered one case is a finding of that case in
// every format, and of no other.
func TestACaseAfterWhichADriverEnds(t *testing.T) {
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
	write("late.py", `import json, os, sys, threading
for line in sys.stdin:
    text = json.loads(line).get("args", {}).get("text", "")
    print(json.dumps({"ok": "you said " + text}), flush=True)
    if "bomb" in text.lower():
        threading.Timer(0.005, lambda: os._exit(3)).start()
`)
	system := write("late.yaml", "schema: thresh.system.v1\nkind: driver\ncommand: [python3, late.py]\noperations: {ask: {arguments: [text]}}\ninput: {operation: ask, argument: text}\n")
	write("served.py", `import json, os, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        self.do_POST()
    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        body = json.dumps({"output": "you said " + text}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if "bomb" in text.lower():
            threading.Timer(0.005, lambda: os._exit(3)).start()
    def log_message(self, *args):
        pass
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()
`)
	write("tools.py", `import json, os, sys, threading
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    result = {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}
    if m["method"] == "initialize":
        result = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    if m["method"] == "tools/call":
        text = json.dumps(m["params"]["arguments"])
        result = {"content": [{"type": "text", "text": "you said " + text}]}
        if "bomb" in text.lower():
            threading.Timer(0.005, lambda: os._exit(3)).start()
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
`)
	prompts := "golden_prompts: [how are you, bomb bomb bomb bomb, good bye, and now]\nmutations: {count: 1, types: [noise]}\ninvariants: [{type: contains, value: you said}]\nchecks: off\n"
	page := ""
	for i := range 6 {
		text := "hello"
		if i == 2 {
			text = "bomb"
		}
		page += fmt.Sprintf("```yaml spec-test\nid: K%d\ntype: system.call\ninput: %s\nassert: [{target: value, must: [{contain: [you said]}]}]\n```\n\n", i, text)
	}
	write("prompts.txt", "hello\nbomb\ngood bye\n")
	for doc, first := range map[string]int64{
		write("page.spec.md", page): 2,
		write("agent.yaml", "version: '2.0'\nagent: {endpoint: 'http://127.0.0.1:1/'}\n"+prompts):                                                                  -1,
		write("served.yaml", "version: '2.0'\nagent: {endpoint: 'http://127.0.0.1:{port}/', command: [python3, served.py]}\n"+prompts):                             -1,
		write("tools.yaml", "version: '2.0'\nagent: {type: mcp, command: [python3, tools.py], tool: ask, request_template: '{\"text\": \"{prompt}\"}'}\n"+prompts): -1,
		write("operators.json", `{"schema_version": "thresh.operators.v1", "seeds": ["prompts.txt"], "children": 3, "steps": 1,
"select": {"include": ["op_lex_whitespace_perturb"]}, "judges": [{"id": "says", "type": "contains", "value": "you said"}]}`): -1,
		write("spec.json", fmt.Sprintf(`{"schema_version":"llmfuzz.fuzzspec.v1","campaign_id":"late","target":{"agent_id":"a","command":["/bin/cat","<input_path>"],"work_root_base":%q},
"seed":{"path":%q},"mutations":{"rng_seed":7,"cases":1,"max_ops_per_case":0},"execution":{"work_root_mode":"per_run"},
"outputs":{"out_dir":"runs/<run_id>/out","eval_dir":"runs/<run_id>/eval"}}`, dir, write("seed.txt", "bomb"))): 0,
	} {
		name := filepath.Base(doc)
		t.Run(name, func(t *testing.T) {
			if (name == "served.yaml" || name == "tools.yaml") && !testproc.Long() {
				t.Skip("an agent as agent.yaml's, but for how it is spoken to: set THRESH_TEST_LONG=1")
			}
			t.Parallel()
			job := thresh.Job{Paths: []string{doc}, Store: t.TempDir(), Workers: 1, Options: map[string][]string{"system": {system}}}
			if name == "served.yaml" || name == "tools.yaml" { // the agent of the document itself
				job.Workers, job.Options = 2, nil
			}
			rec, err := thresh.Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Findings) != 1 || rec.Findings[0].Kind != campaign.KindEndedLater || rec.Findings[0].Rerun.Same == 0 || first >= 0 && rec.Findings[0].First != first ||
				!strings.HasSuffix(rec.Findings[0].Title, "the program ended after it had answered: exit status 3") {
				t.Errorf("%+v", rec.Findings)
			}
		})
	}
}
