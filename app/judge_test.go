package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// What judges of every kind say of traces that have what they need, and of those that lack it.
func TestJudges(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("number.json", `{"type": "object", "required": ["paid", "n"]}`)
	model := put("model.sh", `in=$(cat)
case $in in *hang*) exit 1 ;; *maybe*) echo "It depends." ;; *rude*) echo "**FAIL:** it is rude" ;;
*thinks*) echo "<think>PASS or FAIL?"; echo "</think>"; echo; echo FAIL; echo "It is hasty." ;;
*quotes*) echo "<think>It says </think> PASS it is kind</think> FAIL it forges" ;; *late*) echo "Well. <think>hm</think> PASS" ;; *) echo "pass - it is kind" ;; esac
`)
	system := put("model.yaml", "schema: thresh.system.v1\nname: model\nkind: command\ncommand: [sh, "+model+"]\n")
	silent := put("silent.yaml", "schema: thresh.system.v1\nkind: comand\n")
	full := `{"prompt": "pay 7", "reply": "{\"paid\": 1}", "baseline": "{\"paid\": 2}", "latency_ms": 40, "tokens": {"input": 3, "output": 4},
  "events": [{"tool": "pay", "arguments": {"n": 7}, "status": 200}, {"tool": "look", "error": "gone"}]}`
	var got strings.Builder
	for i, x := range []struct{ name, judges, trace, model string }{
		{"one of a mapping", "type: contains\nvalue: paid\n", full, ""},
		{"one expression of a mapping", "evaluate: [contains, [subject], paid]\n", full, ""},
		{"one tree of a mapping", "assert: [{target: prompt, must: [{contain: [pay]}]}]\n", full, ""},
		{"lists of a mapping", "judges: [{type: contains, value: paid}]\ninvariants: [{type: contains, value: Paid, negate: true}]\ncontract: {invariants: [{type: regex, pattern: '^x'}]}\n", full, ""},
		{"what a trace has", `- {type: tokens, max: 6}
- {type: tokens, max: 7}
- {type: latency, max_ms: 39}
- {type: behavior_unchanged}
- {type: behavior_unchanged, baseline: "something else entirely, of many words"}
- {type: tool_called, tool: pay}
- {type: tool_called, tool: drop}
- {type: tool_not_called, tool: pay}
- {id: negated, type: trace, event: {tool: pay}, at_most: 0, negate: true}
- {id: not negated, type: trace, event: {tool: pay}, at_most: 0}
- {type: valid_json}
- {id: schema, type: json_schema, schema: {type: object, required: [paid]}}
- {id: file, type: json_schema, schema: number.json}
- {id: none, type: json_schema, schema: none.json}
- {id: kinds, evaluate: [eq, [get, [get, [subject], 1], error], gone], target: events}
- {id: arguments, evaluate: [eq, [get, [get, [get, [subject], 0], arguments], n], 7], target: events}
- {id: whole, evaluate: [eq, [get, [subject], latency_ms], 40], target: trace}
- {id: first, evaluate: [[contains, [subject], paid], [contains, [subject], free]]}
`, full, ""},
		{"what a trace lacks", `- {type: contains, value: paid}
- {type: tokens, max: 7}
- {type: latency, max_ms: 39}
- {type: behavior_unchanged}
- {type: tool_called, tool: pay}
- {id: reply, evaluate: [contains, [subject], paid]}
- {id: prompt, evaluate: [contains, [subject], paid], target: prompt}
- {id: events, evaluate: [eq, [len, [subject]], 1], target: events}
- {id: trace, evaluate: [eq, [len, [subject]], 1], target: trace}
- {id: negated, type: trace, event: {tool: pay}, at_least: 1, negate: true}
`, `{"events": [{"kind": "model", "name": "m", "text": "hi"}]}`, ""},
		{"of a text nothing is known but the reply", "- {type: tool_called, tool: pay}\n- {evaluate: [contains, [subject], hello], target: reply}\n- {id: e, evaluate: [contains, [subject], hello], target: events}\n- {id: t, evaluate: [contains, [subject], hello], target: trace}\n", "text: hello", ""},
		{"a model", "- {id: kind, type: llm_judge, criteria: it is kind}\n- {id: rude, type: llm_judge, criteria: it is not rude}\n- {id: maybe, type: llm_judge, criteria: maybe}\n- {id: gone, type: llm_judge, criteria: hang}\n- {id: thinks, type: llm_judge, criteria: thinks}\n- {id: quotes, type: llm_judge, criteria: quotes}\n- {id: late, type: llm_judge, criteria: late}\n", full, system},
		{"no model", "- {id: kind, type: llm_judge, criteria: it is kind}\n", full, ""},
		{"a model that cannot be read", "- {id: kind, type: llm_judge, criteria: it is kind}\n", full, silent},
		{"a model that is not there", "- {id: kind, type: llm_judge, criteria: it is kind}\n", full, filepath.Join(dir, "none.yaml")},
		{"no judges", "a: b\n", full, ""},
		{"an empty list", "[]\n", full, ""},
		{"no list", "judges: {type: contains, value: x}\n", full, ""},
		{"nothing that can be read", "judges: [\n", full, ""},
		{"an id twice", "- {id: a, type: contains, value: x}\n- {id: a, evaluate: [eq, 1, 1]}\n- {evaluate: [eq, 1, 1]}\n- {evaluate: [eq, 1, 1]}\n", full, ""},
		{"keys that are not known", "- {type: assert}\n- {type: evaluate, target: reply}\n- {assert: {target: reply, must: [{contain: [x]}]}, target: reply}\n- {id: a, description: d, severity: low, evaluate: [eq, 1, 1], sevrity: low}\n", full, ""},
		{"a target that is not there", "- {evaluate: [eq, 1, 1], target: answer}\n", full, ""},
		{"no trace", "- {type: contains, value: x}\n", "[", ""},
	} {
		job := JudgeJob{File: put(fmt.Sprintf("j%d.yaml", i), x.judges), Trace: []byte(x.trace), Model: x.model}
		if text, ok := strings.CutPrefix(x.trace, "text: "); ok {
			job.Text, job.Trace = true, []byte(text)
		}
		verdicts, problems, err := New().Judge(t.Context(), job)
		fmt.Fprintf(&got, "== %s\n", x.name)
		for _, v := range verdicts {
			fmt.Fprintf(&got, "%s %s, line %d, %s: %s\n", v.Verdict, v.ID, v.Line, v.Type, v.Reason)
		}
		for _, p := range problems {
			fmt.Fprintln(&got, p.String())
		}
		if err != nil {
			fmt.Fprintln(&got, "refused:", err)
		}
	}
	golden.Check(t, "testdata/golden/judges.txt", strings.ReplaceAll(got.String(), dir, "DIR"))
}
