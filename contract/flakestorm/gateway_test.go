package flakestorm_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

// An agent that names a gateway in its environment gets the tool's own address if no fault applies,
// and the gateway's otherwise, whatever kind of agent it is.
func TestGatewaysOfEveryKind(t *testing.T) {
	t.Parallel() // mostly waits
	tool := answerer(t, echo)
	const program = `import os, urllib.request
def ask(prompt):
    try:
        body = b'{"input": "a pen"}'
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return opener.open(urllib.request.Request(os.environ["STOCK_URL"], body), timeout=5).read().decode() + os.environ["MOOD"]
    except Exception as e:
        return "no stock: %s" % e
if __name__ == "__main__":
    print(ask(""))
`
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/shop.py", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"type: command, command: [python3, shop.py]", "type: python, endpoint: \"shop:ask\", tools: [\"shop:ask\"]"} {
		text := "agent: {" + agent + ", env: {STOCK_URL: \"{gateway:stock}/sum\", MOOD: well}, tool_gateways: {stock: \"" + tool.URL + "\"}}\n" +
			"golden_prompts: [\"Is there a pen?\"]\ninvariants: [{type: contains, value: \"echo a pen\\\"}\\nwell\"}]\nmutations: {count: 1, types: [noise]}\n"
		s := campaign.Spec{Path: dir + "/flakestorm.yaml", Data: []byte(text)}
		if p := play(t, s); p.count(campaign.VerdictPass) != 1 {
			t.Errorf("%s, without faults:\n%s", agent, p.titles())
		}
		if strings.Contains(agent, "python,") {
			continue // its tools are struck inside of it
		}
		s.Data = []byte(text + "contract:\n  name: c\n  invariants: [{id: a, type: regex, pattern: \"no stock.*503\"}]\n  chaos_matrix: [{name: out, tool_faults: [{tool: stock, mode: error}]}]\n")
		if p := play(t, s, flakestorm.OptPhase, flakestorm.PhaseContract); p.count(campaign.VerdictPass) != 1 {
			t.Errorf("%s, with a fault:\n%s", agent, p.titles())
		}
	}
}

// A session that was recorded without gateways replays in a document that has some.
func TestSessionsRecordedWithoutGateways(t *testing.T) {
	tool := answerer(t, echo)
	const program = `import os, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for _ in range(int(os.environ["CALLS"])):
    reply = opener.open(os.environ["STOCK_URL"] + "/pens?n=1", timeout=5).read().decode()
print(reply)
`
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/shop.py", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for calls, want := range map[string]campaign.Verdict{"1": campaign.VerdictPass, "2": campaign.VerdictFail} {
		text := "agent: {type: command, command: [python3, shop.py], env: {STOCK_URL: \"{gateway:stock}\", CALLS: \"" + calls + "\"}, tool_gateways: {stock: \"" + tool.URL + "\"}}\n" + `golden_prompts: [How many]
invariants: [{type: output_not_empty}]
replays:
  sessions:
    - id: pens
      input: How many
      model: recorded
      tool_responses: [{tool: pens, response: "7"}, {tool: pens, response: "7"}]
      model_responses: [{model: openai, response: {}}]
      trace: ["tool pens /pens?n=1"]
`
		if p := play(t, campaign.Spec{Path: dir + "/flakestorm.yaml", Data: []byte(text)}, flakestorm.OptPhase, flakestorm.PhaseReplay); p.count(want) != 1 {
			t.Errorf("%s calls:\n%s", calls, p.titles())
		}
	}
}

// A run of replays alone asks no golden prompt: that would call the real tools, and say of
// them what no replay does.
func TestReplaysReachNoTool(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	var asked atomic.Int64
	tool := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(tool.Close)
	dir := t.TempDir()
	program := "import sys, urllib.request\nprint(urllib.request.urlopen(\"" + tool.URL + "/pens\", timeout=5).read().decode(), sys.stdin.read())\n"
	if err := os.WriteFile(dir+"/shop.py", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `agent: {type: command, command: [python3, shop.py]}
golden_prompts: [Buy one]
replays: {sessions: [{id: pens, input: How many, tool_responses: [{tool: pens, response: "7"}]}]}
`
	p := play(t, campaign.Spec{Path: dir + "/flakestorm.yaml", Data: []byte(text)}, flakestorm.OptPhase, flakestorm.PhaseReplay)
	if n := asked.Load(); n > 0 || len(p.outcomes) != 1 || p.count(campaign.VerdictPass) != 1 {
		t.Errorf("%d requests reached the tool\n%s", n, p.titles())
	}
}
