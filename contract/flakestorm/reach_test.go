package flakestorm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/internal/golden"
)

// kinds are agents of every kind, as documents have them.
var kinds = []string{
	`{endpoint: "http://h/chat", method: get, query_params: {q: "1"}, headers: {A: b}, response_path: $.x, reset_endpoint: /reset}`,
	`{endpoint: "http://h/chat", request_template: '{"m": {history}}', reset_endpoint: "http://other/reset"}`,
	`{endpoint: "http://h/chat", command: [serve, "{gateway:stock}"], dir: sub, env: {K: v}, ready: "http://h/up", isolate: true, tool_gateways: {stock: "http://s"}}`,
	`{type: openai, endpoint: "http://h/v1", model: m, system: Be kind., api_key: "${KEY}", headers: {A: b}}`,
	`{type: openai, endpoint: "http://h/v1", model: m, command: serve, llm_gateway: "http://m/v1"}`,
	`{type: python, endpoint: "m:f", reset_function: "m:r", python: python3.12, env: {K: v}, isolate: true, dir: /abs}`,
	`{type: python, endpoint: "m:f", tools: ["m:t"]}`,
	`{type: langchain, endpoint: "m:f", tool_registry: "m:r", request_template: '{"a": "{prompt}"}', parse_structured_input: false}`,
	`{type: command, command: [run, "{prompt}"], dir: sub, env: {K: v}, request_template: "{prompt}!", response_path: $.x}`,
	`{type: mcp, command: [serve], tool: ask, request_template: '{"q": "{prompt}"}', isolate: true}`,
	`{type: mcp, command: [serve]}`,
	`{type: mcp, endpoint: "http://h/mcp", headers: {A: b}}`,
	`{type: mcp, endpoint: "http://h/mcp", command: [serve], isolate: true}`,
}

// someFaults are of every kind that has a rule of its own for where it strikes.
const someFaults = `
  tool_faults: [{tool: "*", mode: error}, {tool: stock, mode: slow, delay_ms: 1}, {tool: stock, mode: performed_twice}, {tool: "*", mode: error, match_url: "http://h/*"}, {tool: "*", mode: error, match_url: "http://away/*"}]
  llm_faults: [{mode: empty}, {mode: timeout}, {mode: refusal}]
  context_attacks: [{type: memory_poisoning, payload: x, inject_at: prompt}, {type: indirect_injection, payload: x}, {type: overflow, inject_at: llm_request}]
`

// How an agent of each kind is reached, and where each fault strikes it or why it cannot.
func TestReachOfEveryKind(t *testing.T) {
	empty := regexp.MustCompile(`"[A-Z]\w*":(?:null|""|0|false|\[\]|\{\}),?`)
	var b strings.Builder
	for _, kind := range kinds {
		document := "agent: " + kind + "\ngolden_prompts: [hi]\ninvariants: [{type: completes}]\nchaos:" + someFaults + "advanced: {retries: 1, concurrency: 3}\n"
		cfg, list := config.Decode("doc.yaml", []byte(document), config.Options{})
		fmt.Fprintf(&b, "%s\n", kind)
		if list.HasErrors() {
			t.Fatal(kind, list)
		}
		getenv := func(name string) (string, bool) { return "sesame", name == "KEY" }
		missing := func(d diag.Diagnostic, name string) { fmt.Fprintf(&b, "missing %s %s\n", d.Path, name) }
		plan := agentPlan(&cfg.Agent, cfg.Advanced, "/home", getenv, missing)
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		reach := reachOf(&cfg.Agent)
		fmt.Fprintf(&b, "  %s\n  %+v\n", empty.ReplaceAll(text, nil), reach)
		j, told := reach.plan("doc.yaml", "chaos", cfg.Chaos, func(f *config.Fault, p point) { fmt.Fprintf(&b, "  %s %s: %s\n", f.ID, f.Mode, p) })
		ids := func(rules []fault.Rule) (names []string) {
			for _, r := range rules {
				names = append(names, strings.TrimPrefix(r.ID, "chaos.")+" "+r.MatchURL)
			}
			return names
		}
		fmt.Fprintf(&b, "  rules %q\n  reply %q\n  via %t, active %+v\n", ids(j.rules), ids(j.reply), j.via, j.active)
		for _, d := range told {
			fmt.Fprintf(&b, "  %s\n", d.String())
		}
	}
	golden.Check(t, "testdata/reach.txt", b.String())
}

// Every kind of failure has its own advice, and one that is not known some.
func TestAdviceOfEveryKind(t *testing.T) {
	seen := make(map[string]bool)
	kinds := append(config.InvariantTypes[:len(config.InvariantTypes):len(config.InvariantTypes)], "no answer", departed, "injected", "")
	for _, k := range kinds {
		text := advice(k)
		if seen[text] = true; len(text) < 20 || k != "" && text == advice("") {
			t.Errorf("%s: %q", k, text)
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d kinds of advice", len(seen))
	}
}

// An invariant under each condition, by what is active.
func TestConditions(t *testing.T) {
	for when, want := range map[string]string{"tool_faults_active": "0101", "llm_faults_active": "0011", "any_chaos_active": "0111", "no_chaos": "1000", "always": "1111"} {
		got := ""
		for _, a := range []activity{{}, {tools: true, any: true}, {llm: true, any: true}, {tools: true, llm: true, any: true}} {
			got += map[bool]string{true: "1", false: "0"}[a.applies(when)]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
}
