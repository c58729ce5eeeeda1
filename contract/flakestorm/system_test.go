package flakestorm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// waters is an agent that calls a tool.
const waters = `import json, sys, threading, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

class Outside(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"done": true}')
    def log_message(self, *_):
        pass

outside = HTTPServer(("127.0.0.1", 0), Outside)
threading.Thread(target=outside.serve_forever, daemon=True).start()
sys.stdin.read()
try:
    urllib.request.urlopen("http://127.0.0.1:%d/irrigate" % outside.server_port, b"{}", 5).read()
    print("The beds were irrigated.")
except OSError:
    print("Sorry, the pump does not answer.")
`

// Calls of a system that is a bare command are seen and struck. Of others a check
// says what it cannot see.
func TestSystemsThatAreCommands(t *testing.T) {
	t.Parallel() // mostly waits
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("agent.py", waters)
	put("bare.yaml", "schema: thresh.system.v1\nname: beds\nkind: command\ncommand: [python3, agent.py]\n")
	put("limited.yaml", "schema: thresh.system.v1\nname: beds\nkind: command\ncommand: [python3, agent.py]\nlimits: {timeout: 5s}\n")
	document := func(system, scenario string) campaign.Spec {
		return campaign.Spec{Path: filepath.Join(dir, "doc.yaml"), Data: []byte("agent: {system: " + system + "}\ngolden_prompts: [Water the beds.]\nphases: [contract]\n" +
			"contract: {name: c, invariants: [{id: once, type: trace, event: {tool: irrigate}, exactly: 1}, {id: says, type: contains, value: irrigated}], chaos_matrix: [" + scenario + "]}\n")}
	}
	p := play(t, document("bare.yaml", "{name: calm}, {name: down, tool_faults: [{tool: irrigate, mode: error}]}"))
	if got := p.titles(); p.count(campaign.VerdictPass) != 3 || p.count(campaign.VerdictFail) != 1 || !strings.Contains(got, "says in down") {
		t.Errorf("%s", got)
	}
	_, list := front().Compile(t.Context(), document("limited.yaml", "{name: calm}"), settings())
	if list.HasErrors() || len(list) != 1 || !strings.Contains(list[0].Message, "trace will be undecided") {
		t.Errorf("%v", list)
	}
}

// An agent that was given up is started again: what it does late belongs to no
// other case.
func TestLateCallsOfAnotherCase(t *testing.T) {
	t.Parallel() // mostly waits
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	agent := filepath.Join(t.TempDir(), "agent.py")
	if err := os.WriteFile(agent, []byte(`import json, os, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        self.do_POST()
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if b"first" in body:
            time.sleep(2)
            urllib.request.urlopen("http://127.0.0.1:%s/late" % os.environ["PORT"], b"{}", 5).read()
        if b"second" in body:
            time.sleep(1.8)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"output": "done"}')
    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := play(t, spec(t, fmt.Sprintf(`agent: {endpoint: "http://127.0.0.1:{port}/ask", command: [python3, %q], ready: "http://127.0.0.1:{port}/up", timeout: 1900}
golden_prompts: [first, {prompt: second, expect: [{id: none, type: trace, event: {tool: late}, at_most: 0}]}]
invariants: [{type: output_not_empty}]
checks: off
phases: [chaos]
chaos: {llm_faults: [{mode: empty}]}
`, agent)))
	if got := p.titles(); !strings.Contains(got, "timed out") || strings.Contains(got, "late") {
		t.Errorf("%s", got)
	}
}
