package agentcall

import "github.com/thresh-dev/thresh/engine/jsontree"

// The forms of streamed parts that model servers send. Each function reports
// whether the part has its form.

// chat processes a chunk of OpenAI's chat completions. The reply ends with
// [DONE], or with the stream after a finish reason.
func (s *Stream) chat(n *jsontree.Node) bool {
	choices := n.Get("choices")
	if choices == nil || choices.Kind != jsontree.Array {
		return false
	}
	if len(choices.Items) == 0 {
		return true // a part with the usage
	}
	if !s.finished {
		s.marked = true
	}
	choice := &choices.Items[0]
	if delta := firstChoice(n, "delta"); delta != nil {
		s.add(contentText(delta.Get("content")))
		if calls := delta.Get("tool_calls"); calls != nil {
			for i := range calls.Items {
				s.toolPiece(&calls.Items[i], i)
			}
		}
	}
	if r := choice.Get("finish_reason"); r != nil && r.Kind == jsontree.String {
		s.finished, s.marked = true, false // [DONE] may follow, or nothing
	}
	return true
}

// toolPiece processes a piece of a tool's call: its name, or more of its
// arguments.
func (s *Stream) toolPiece(n *jsontree.Node, place int) {
	if i, ok := count(n.Get("index")); ok {
		place = int(min(i, maxTools))
	}
	f := n.Get("function")
	if f == nil || place >= maxTools {
		return
	}
	s.tool(place, member(f, "name"), member(f, "arguments"))
}

// maxTools is how many calls of one reply are distinguished.
const maxTools = 256

func (s *Stream) tool(place int, name, args string) {
	for len(s.tools) <= place {
		s.tools = append(s.tools, &streamedTool{})
	}
	s.chunks++
	s.tools[place].name += name
	s.tools[place].args.WriteString(args)
}

// typed processes an event that names its type: Anthropic's messages and
// OpenAI's responses.
func (s *Stream) typed(n *jsontree.Node) bool {
	place, _ := count(n.Get("index"))
	place = min(place, maxTools-1)
	delta := n.Get("delta")
	switch member(n, "type") {
	case "message_start":
		s.marked = true
		if m := n.Get("message"); m != nil {
			s.use(tokens(m))
		}
	case "content_block_start":
		if b := n.Get("content_block"); b != nil && member(b, "type") == "tool_use" {
			s.tool(int(place), member(b, "name"), "")
		}
	case "content_block_delta":
		if delta != nil {
			s.add(member(delta, "text"))
			if args := member(delta, "partial_json"); args != "" {
				s.tool(int(place), "", args)
			}
		}
	case "message_stop", "response.completed":
		if r := n.Get("response"); r != nil {
			s.use(tokens(r))
		}
		s.done = true
	case "response.created":
		s.marked = true
	case "response.output_text.delta":
		s.add(member(n, "delta"))
	case "response.output_item.done":
		if i := n.Get("item"); i != nil && member(i, "type") == functionCall {
			place, _ = count(n.Get("output_index"))
			s.tool(int(min(place, maxTools-1)), member(i, "name"), member(i, "arguments"))
		}
	case "ping", "content_block_stop", "message_delta":
	default:
		return s.marked && member(n, "type") != "" // other events of such a stream
	}
	return true
}

// ollama processes a part of Ollama's chat or generate.
func (s *Stream) ollama(n *jsontree.Node) bool {
	done := n.Get("done")
	if done == nil || done.Kind != jsontree.Bool {
		return false
	}
	s.marked = true
	if m := n.Get("message"); m != nil && m.Kind == jsontree.Object {
		s.add(contentText(m.Get("content")))
		for _, c := range toolCalls(m.Get("tool_calls")) {
			s.tool(min(len(s.tools), maxTools-1), c.Tool, string(c.Args))
		}
	}
	s.add(member(n, "response"))
	s.done = done.Bool
	return true
}
