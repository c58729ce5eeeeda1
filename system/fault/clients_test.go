package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/fault"
)

// What a process was told to load is loaded still.
func TestEnvironmentKeepsWhatIsLoaded(t *testing.T) {
	t.Setenv("NODE_OPTIONS", "--no-warnings")
	c := open(t, nil).enter(fault.Rule{ID: "r", Layer: fault.Tool, Mode: fault.Error})
	for name, want := range map[string][]string{
		"NODE_OPTIONS": {"node.cjs", "--no-warnings"}, "JAVA_TOOL_OPTIONS": {"-Dhttp.proxyHost=127.0.0.1", "-Xmx64m"}, "PYTHONPATH": {"python", "/mine"},
	} {
		var got string
		for _, e := range c.Env([]string{"PYTHONPATH=/other", "PYTHONPATH=/mine", "JAVA_TOOL_OPTIONS=-Xmx64m"}) {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				got = value
			}
		}
		for _, part := range want {
			if !strings.Contains(got, part) || strings.Contains(got, "/other") {
				t.Errorf("%s is %q, want %q in it", name, got, part)
			}
		}
	}
}

// Python's aiohttp, which asks for no proxy unless it is told to, is told to;
// a sitecustomize of the user's own runs as ever, and what is said outright counts.
func TestPythonClients(t *testing.T) {
	if err := exec.Command("python3", "--version").Run(); err != nil {
		t.Skip("python3 is not there: ", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sitecustomize.py": "print('mine')",
		"aiohttp/client.py": `
class ClientSession:
    def __init__(self, base_url=None, *, trust_env=False):
        print(base_url, trust_env)
`,
		"aiohttp/__init__.py": "from .client import ClientSession",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, nil).enter(fault.Rule{ID: "r", Layer: fault.Tool, Mode: fault.Error})
	cmd := exec.Command("python3", "-c", "import aiohttp; aiohttp.ClientSession('x'); aiohttp.ClientSession(trust_env=False)")
	cmd.Env = append(os.Environ(), c.Env([]string{"PYTHONPATH=" + dir})...)
	out, err := cmd.CombinedOutput()
	if got := strings.Fields(string(out)); err != nil || strings.Join(got, " ") != "mine x True None False" {
		t.Errorf("%s %v", out, err)
	}
}

// The servers that SDKs of MCP start are started behind a shim, with what else was
// told; what other modules start is not.
func TestServersOfSDKs(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_book"}}`
	for name, files := range map[string]map[string]string{
		"python3": {
			"mcp/__init__.py":        "",
			"mcp/client/__init__.py": "",
			"mcp/client/stdio.py": `
import subprocess
class Server:
    def __init__(self, command, args):
        self.command, self.args = command, args
    def model_copy(self, update):
        return Server(**update)
def stdio_client(server, errlog=None):
    print(subprocess.run([server.command, *server.args], input='` + call + `\n', text=True, capture_output=True).stdout, errlog)
`,
			"main.py": `
import subprocess
from mcp.client.stdio import Server, stdio_client
stdio_client(Server("sh", ["-c", "cat >&2"]), errlog="told")
print(subprocess.run(["echo", "alone"], text=True, capture_output=True).stdout)
`,
		},
		"node": {
			"node_modules/@modelcontextprotocol/sdk/index.js": `
const { spawn } = require('child_process');
module.exports = () => {
  const server = spawn('sh', ['-c', 'cat >&2'], { stdio: ['pipe', 'inherit', 'ignore'] });
  server.stdin.end('` + call + `\n');
  server.on('exit', () => console.log('told'));
};
`,
			"main.py": `
require('@modelcontextprotocol/sdk')();
require('child_process').spawn('echo', ['alone'], { stdio: 'inherit' });
`,
		},
	} {
		if err := exec.Command(name, "--version").Run(); err != nil {
			t.Log(name, "is not there: ", err)
			continue
		}
		dir := t.TempDir()
		for file, text := range files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := open(t, nil).enter(tool(fault.Error, func(r *fault.Rule) { r.Tool = "find_book" }))
		cmd := exec.Command(name, "main.py")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), c.Env(nil)...)
		out, err := cmd.CombinedOutput()
		r := c.Close()
		for _, want := range []string{"503 Service Unavailable", "told", "alone"} {
			if err != nil || !strings.Contains(string(out), want) || len(r.Exchanges) != 1 || r.Exchanges[0].Tool != "find_book" {
				t.Errorf("%s: %s %v: want %s; %+v", name, out, err, want, r.Exchanges)
			}
		}
	}
}
