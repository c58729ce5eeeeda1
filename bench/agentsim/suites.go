package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

const scenarios = 20

// matrix is a contract with so many cells. Its agent is already running, or is started by Thresh
// behind its proxy, with a fault in each scenario.
func matrix(cells int, at, command, tool string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"2.0\"\nagent:\n  reset_endpoint: /reset\n")
	if command == "" {
		fmt.Fprintf(&b, "  endpoint: %s/chat\n", at)
	} else {
		fmt.Fprintf(&b, "  endpoint: http://127.0.0.1:{port}/chat\n  command: [%q, serve]\n  env: {TOOL_URL: %q}\n  ready: http://127.0.0.1:{port}/health\n", command, tool)
	}
	b.WriteString("golden_prompts: [\"Is the answer yes?\"]\ninvariants: [{type: output_not_empty}]\ncontract:\n  name: bench\n  invariants:\n")
	for i := range cells / scenarios {
		fmt.Fprintf(&b, "    - {id: i%d, type: contains, value: answer}\n", i)
	}
	b.WriteString("  chaos_matrix:\n")
	for i := range scenarios {
		fmt.Fprintf(&b, "    - name: s%d\n", i)
		if command != "" {
			b.WriteString("      tool_faults: [{tool: tool, mode: error}]\n")
		}
	}
	return b.String()
}

// suites returns the contenders; missing lists those that cannot run here.
func suites(dir string, o options, a *instant, at string) (list []contender, missing []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	add := func(name string, cells int, text string) {
		c := contender{name: name, cells: cells, dir: filepath.Join(dir, fmt.Sprint(len(list)))}
		c.argv = []string{o.thresh, "flakestorm", "contract", "run", "--quiet", "--report", "json=report.json"}
		if err == nil {
			err = write(filepath.Join(c.dir, "flakestorm.yaml"), text)
		}
		list = append(list, c)
	}
	add("thresh, a reset before each cell", o.cells, matrix(o.cells, at, "", ""))
	add("thresh, agent behind its proxy, a tool fault in each cell", o.cells, matrix(o.cells, "", self, at+"/tool"))
	if o.promptfoo == "" {
		missing = append(missing, "promptfoo")
	} else {
		c := contender{name: "promptfoo eval -j 4", cells: o.cells, dir: filepath.Join(dir, "promptfoo"), peer: true}
		c.argv = []string{o.promptfoo, "eval", "-c", "promptfoo.json", "--no-cache", "-j", "4", "--no-table", "--no-progress-bar", "-o", "out.json"}
		c.env = append(os.Environ(), "PROMPTFOO_CONFIG_DIR="+c.dir, "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", "PROMPTFOO_DISABLE_REMOTE_GENERATION=1")
		text, merr := promptfoo(o.cells, at)
		if merr != nil {
			return nil, nil, merr
		}
		if err == nil {
			err = write(filepath.Join(c.dir, "promptfoo.json"), text)
		}
		list = append(list, c)
	}
	list = append(list, contender{name: "bare Go loop, the same requests", cells: o.cells, alone: func(ctx context.Context) error { return loop(ctx, at, o.cells) }})
	if o.many > 0 {
		add("thresh, a reset before each cell", o.many, matrix(o.many, at, "", ""))
	}
	return list, missing, err
}

// promptfoo is a promptfoo configuration with the same prompts, agent and check.
func promptfoo(cells int, at string) (string, error) {
	type object = map[string]any
	tests := make([]object, cells)
	for i := range tests {
		tests[i] = object{"vars": object{"n": i}, "assert": []object{{"type": "contains", "value": "answer"}}}
	}
	text, err := json.Marshal(object{"prompts": []string{"Is the answer yes? {{n}}"}, "tests": tests,
		"providers": []object{{"id": at + "/chat", "config": object{"method": "POST", "headers": object{"Content-Type": "application/json"}, "body": object{"input": "{{prompt}}"}, "transformResponse": "json.output"}}}})
	if err != nil {
		return "", fmt.Errorf("write promptfoo's configuration: %w", err)
	}
	return string(text), nil
}

// loop sends a reset and a question for each cell.
func loop(ctx context.Context, at string, cells int) error {
	for range cells {
		for _, path := range []string{"/reset", "/chat"} {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, at+path, strings.NewReader(`{"input": "Is the answer yes?"}`))
			if err != nil {
				return fmt.Errorf("ask the agent: %w", err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return fmt.Errorf("ask the agent: %w", err)
			}
			var reply struct{ Output string }
			if path == "/chat" && (json.NewDecoder(answer.Body).Decode(&reply) != nil || !strings.Contains(reply.Output, "answer")) {
				return fmt.Errorf("the agent says %q", reply.Output)
			}
			answer.Body.Close()
		}
	}
	return nil
}
