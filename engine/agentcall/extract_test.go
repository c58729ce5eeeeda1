package agentcall

import (
	"reflect"
	"testing"
)

func TestPaths(t *testing.T) {
	const doc = `{"choices": [{"message": {"content": "hi"}}, {"n": 2}], "a.b": {"c d": 1}, "1": "one", "x": null}`
	root, err := ParseReply([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"choices.0.message.content": "hi", "$.choices[0].message.content": "hi", "$['choices'][0][\"message\"].content": "hi",
		".choices[-1].n": "2", "['a.b']['c d']": "1", "1": "one", "choices[ 1 ].n": "2",
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if n := p.In(root); n == nil || Text(n) != want {
			t.Errorf("%s: %v, want %s", path, n, want)
		}
	}
	for _, path := range []string{"choices.2", "choices.x", "a.b", "choices[-3]", "1.2"} {
		if p, err := ParsePath(path); err != nil || p.In(root) != nil {
			t.Errorf("%s leads somewhere, or to %v", path, err)
		}
	}
	for path, want := range map[string]string{
		"a[0": `"a[0": [ is not closed`, "a]": `"a]": ] without [`, "a[*].b": `"a[*].b": [*] is not supported: use a number or a quoted name`,
		"a..b": `"a..b": a name is missing after the dot`, "a[]": `"a[]": [] is not supported: use a number or a quoted name`, "a['b": `"a['b": ' is not closed`,
		"a.": `"a.": a name is missing after the dot`,
	} {
		if _, err := ParsePath(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestExtract(t *testing.T) {
	for _, tc := range []struct{ reply, path, want string }{
		{`{"output": "x"}`, "output", "x"},
		{`{"data": {"result": "x"}}`, "data.result", "x"},
		{`{"data": {"result": "x"}}`, "$.data.result", "x"},
		{`{"output": "x"}`, "", "x"},
		{`{"response": "x"}`, "", "x"},
		{`{"output": "x"}`, "missing.path", "x"},
		{`{"output": null, "answer": "x"}`, "output", "x"},
		{`{"Text": "x", "n": 1}`, "", "x"},
		{`{"only": true}`, "", "True"},
		{`{"a": 1.50, "b": "ö"}`, "", `{"a": 1.5, "b": "ö"}`},
		{`{"result": {"z": [1, 2], "a": null}}`, "", `{"z": [1, 2], "a": null}`},
		{`[]`, "", "[]"}, {`["x"]`, "", "x"}, {`[1, "a"]`, "", `[1, "a"]`},
		{`[{"text": "x"}, {"text": "y"}]`, "", "x"},
		{`null`, "", ""}, {`1.5`, "", "1.5"}, {`"text"`, "", "text"}, {`false`, "", "False"},
		{`{"id": 1, "choices": [{"message": {"content": "x"}}]}`, "", "x"},
		{`{"id": 1, "choices": [{"message": {"content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}}]}`, "", "xy"},
		{`{"output": "\ud800 <script>"}`, "", "� <script>"},
	} {
		root, err := ParseReply([]byte(tc.reply))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParsePath(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Extract(root, p); got != tc.want {
			t.Errorf("%s at %q: %q, want %q", tc.reply, tc.path, got, tc.want)
		}
	}
}

func TestComplaints(t *testing.T) {
	for reply, want := range map[string]string{
		`{"error": null, "output": "x"}`: "", `{"error": false}`: "", `{"error": ""}`: "", `{"success": true}`: "", `["error"]`: "",
		`{"error": "no money"}`:                      "Agent error: no money",
		`{"Error": {"message": "m", "code": 1}}`:     "Agent error: m",
		`{"error": {"code": 1}}`:                     `Agent error: {"code": 1}`,
		`{"error": true, "message": "m"}`:            "Agent error: m",
		`{"error": true}`:                            "Agent error: Unknown error",
		`{"success": false, "message": "m"}`:         "Agent returned failure: m",
		`{"success": false}`:                         "Agent returned failure: Request failed",
		`{"success": false, "error": "out", "x": 1}`: "Agent error: out",
	} {
		root, err := ParseReply([]byte(reply))
		if err != nil {
			t.Fatal(err)
		}
		if got := Complaint(root); got != want {
			t.Errorf("%s: %q, want %q", reply, got, want)
		}
	}
}

func TestObserve(t *testing.T) {
	for _, tc := range []struct {
		reply  string
		tools  []ToolCall
		tokens Tokens
	}{
		{`{"choices": [{"message": {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}`,
			[]ToolCall{{Tool: "f", Args: []byte(`{"a": 1}`)}}, Tokens{3, 4, true}},
		{`{"content": [{"type": "text", "text": "x"}, {"type": "tool_use", "name": "f", "input": {"a": 1}}], "usage": {"input_tokens": 3, "output_tokens": 4}}`,
			[]ToolCall{{Tool: "f", Args: []byte(`{"a": 1}`)}}, Tokens{3, 4, true}},
		{`{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, "prompt_eval_count": 3, "eval_count": 4}`,
			[]ToolCall{{Tool: "f", Args: []byte(`{"a": 1}`)}}, Tokens{3, 4, true}},
		{`{"tool_calls": [{"name": "f", "args": {"a": 1}, "result": "r", "error": "e"}]}`, []ToolCall{{Tool: "f", Args: []byte(`{"a": 1}`), Result: []byte(`"r"`), Error: "e"}}, Tokens{}},
		{`{"content": ["f"], "usage": {"prompt_tokens": -1}}`, nil, Tokens{}},
		{`[1]`, nil, Tokens{}},
	} {
		root, err := ParseReply([]byte(tc.reply))
		if err != nil {
			t.Fatal(err)
		}
		tools, tokens := Observe(root)
		if !reflect.DeepEqual(tools, tc.tools) || tokens != tc.tokens {
			t.Errorf("%s:\n%s %v", tc.reply, tools, tokens)
		}
	}
}
