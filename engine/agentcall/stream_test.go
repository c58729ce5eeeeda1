package agentcall

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// streams are replies as servers send them, events or lines.
var streams = []struct {
	name, reply, path string
	framing           Framing
	text, tools, fail string
	done, cut         bool
	tokens            int64
}{
	{name: "OpenAI", framing: Events, done: true, text: "Hello you", tokens: 7,
		reply: "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\" you\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n"},
	{name: "OpenAI, tools in pieces", framing: Events, done: true, tools: `f{"a": 1} g{}`,
		reply: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\": 1}\"}},{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n"},
	{name: "OpenAI, without DONE", framing: Events, text: "x",
		reply: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"},
	{name: "OpenAI, cut", framing: Events, text: "x", cut: true,
		reply: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"},
	{name: "OpenAI, an error within", framing: Events, text: "x", fail: "Agent error: overloaded", cut: true,
		reply: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\n"},
	{name: "Anthropic", framing: Events, done: true, text: "Hi", tools: `f{"a":1}`, tokens: 5,
		reply: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"name\":\"f\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n"},
	{name: "OpenAI responses", framing: Events, done: true, text: "Hi", tokens: 5,
		reply: "data: {\"type\":\"response.created\"}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}}\n\n"},
	{name: "Ollama chat", framing: Lines, done: true, text: "Hi you", tokens: 5,
		reply: "{\"message\":{\"content\":\"Hi\"},\"done\":false}\n{\"message\":{\"content\":\" you\"},\"done\":true,\"prompt_eval_count\":3,\"eval_count\":2}\n"},
	{name: "Ollama generate, cut", framing: Lines, text: "Hi", cut: true, reply: "{\"response\":\"Hi\",\"done\":false}\n"},
	{name: "plain text", framing: Events, text: "Hi you", reply: "data: Hi\n\n: a comment\ndata:  you\n\n"},
	{name: "CR LF, lines of one event, no end", framing: Events, text: "a\nb c", reply: "data: a\r\ndata: b\r\n\r\nid: 1\r\ndata:  c"},
	{name: "a path", framing: Events, path: "part.text", text: "ab", reply: "data: {\"part\":{\"text\":\"a\"}}\n\ndata: {\"status\":\"thinking\"}\n\ndata: {\"part\":{\"text\":\"b\"}}\n\n"},
	{name: "tokens", framing: Events, text: "ab", reply: "data: {\"token\":\"a\"}\n\ndata: {\"token\":\"b\"}\n\ndata: {\"seen\":true}\n\n"},
	{name: "error event", framing: Events, fail: "Agent error: out of order", reply: "event: error\ndata: out of order\n\n"},
	{name: "lines without an end", framing: Lines, text: "ab", reply: "{\"text\":\"a\"}\n\n{\"text\":\"b\"}"},
	{name: "nothing", framing: Events},
}

func TestStreams(t *testing.T) {
	for _, tc := range streams {
		t.Run(tc.name, func(t *testing.T) {
			p, err := ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			// However the reply is cut into pieces, it is the same.
			rapid.Check(t, func(t *rapid.T) {
				s := NewStream(tc.framing, p)
				for rest := tc.reply; rest != ""; {
					n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
					s.Write([]byte(rest[:n]))
					rest = rest[n:]
				}
				s.Close()
				var tools []string
				for _, c := range s.Tools() {
					tools = append(tools, c.Tool+string(c.Args))
				}
				if s.Text() != tc.text || strings.Join(tools, " ") != tc.tools || s.Complaint() != tc.fail || s.Done() != tc.done || s.Cut() != tc.cut || s.Tokens().Prompt+s.Tokens().Completion != tc.tokens {
					t.Fatalf("text %q tools %q complaint %q done %v cut %v tokens %v", s.Text(), tools, s.Complaint(), s.Done(), s.Cut(), s.Tokens())
				}
			})
		})
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.reply), s.framing == Lines)
	}
	f.Fuzz(func(t *testing.T, reply []byte, lines bool) {
		framing := Events
		if lines {
			framing = Lines
		}
		s := NewStream(framing, Path{})
		s.Write(reply)
		s.Close()
		if len(s.Text()) > 8*len(reply)+64 {
			t.Fatalf("%d bytes of text from %d of reply", len(s.Text()), len(reply))
		}
		s.Tools()
	})
}

// The calls that an answer of a model asks for, in each of the forms.
func TestAskedFor(t *testing.T) {
	for _, x := range []struct{ contentType, body, want string }{
		{"application/json", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"book","arguments":"{\"n\": 2}"}}]}}]}`, `book {"n": 2}`},
		{"application/json", `{"output":[{"type":"reasoning","name":"no"},{"type":"function_call","call_id":"c","name":"book","arguments":"{}"}]}`, "book {}"},
		{"application/json", `{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t","name":"book","input":{"n":2}}]}`, `book {"n": 2}`},
		{"application/json", `{"output":[{"name":"Alice"}]}`, ""},
		{"text/event-stream", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"book\",\"arguments\":\"{\\\"n\\\":\"}}]}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"2}\"}}]}}]}\n\ndata: [DONE]\n\n", `book {"n":2}`},
		{"application/x-ndjson", `{"message":{"content":"","tool_calls":[{"function":{"name":"book","arguments":{"n":2}}}]},"done":true}` + "\n", `book {"n": 2}`},
		{"application/json", `{"choices":`, ""},
	} {
		got := ""
		for _, c := range AskedFor(x.contentType, []byte(x.body)) {
			got += c.Tool + " " + string(c.Args)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.body, got, x.want)
		}
	}
}
