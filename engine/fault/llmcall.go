package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// What models say when a fault makes them request something that no agent can do.
const (
	brokenArguments = `{"id": "47`
	missingTool     = "open_archive_drawer"
	refusalText     = "I'm sorry, but I can't help with that request."
	contextText     = "The conversation is longer than this model's context: 140000 tokens were sent and 128000 are the most. Shorten the messages."
)

// Unasked says why a fault cannot strike a request; "": it can. A model without
// tools calls none.
func (s *Strike) Unasked(r *Request) string {
	switch s.Rule.Mode {
	case BrokenCall, UnknownCall, CutCall:
		if len(r.Offered()) == 0 {
			return "the request offers no tools to the model"
		}
		if r.Shape == OpenAICompletions || r.Shape == OllamaGenerate {
			return "requests of this kind carry no tools"
		}
	}
	return ""
}

// toolCall returns the answer of a model that calls a tool. If the answer is cut, it
// has half of the arguments.
func (r *Request) toolCall(s *Strike, number int, now time.Time) Reply {
	name, args := r.Offered()[0].Name, brokenArguments
	switch s.Rule.Mode {
	case UnknownCall:
		name, args = missingTool, `{"id": "4711"}`
	case CutCall:
		args = `{"id": "4711", "note": "a note that goes on`
	}
	out := r.Answer("", number, now)
	id := fmt.Sprintf("call_chaos%06d", number)
	var parts []object
	switch r.Shape {
	case OpenAIResponses:
		parts = r.responsesCall(id, name, args)
	case AnthropicMessages:
		parts = r.messagesCall(id, name, args)
	case OllamaChat:
		// Arguments are an object here, so broken ones are a text.
		var given any = args
		if s.Rule.Mode == UnknownCall {
			given = json.RawMessage(args)
		}
		parts = []object{{"model": r.Model, "created_at": now.UTC().Format(time.RFC3339Nano), "done": true, "done_reason": "stop",
			"message": object{"role": "assistant", "content": "", "tool_calls": []object{{"function": object{"name": name, "arguments": given}}}}}}
	default:
		parts = r.chatCall(id, name, args, now)
	}
	out.Body = events(out.ContentType, parts)
	if r.Stream && r.Shape == OpenAIChat {
		out.Body = append(out.Body, "data: [DONE]\n\n"...)
	}
	if s.Rule.Mode == CutCall {
		out.Cut = true
		text, _ := json.Marshal(args) // a string
		end := bytes.Index(out.Body, text) + len(text) - 1
		if out.ContentType == typeSSE { // clients ignore an event that does not end
			end += bytes.IndexByte(out.Body[end:], '\n') + 2
		}
		out.Body = out.Body[:min(end, len(out.Body))]
	}
	return out
}

// events encodes the parts of an answer for the wire.
func events(contentType string, parts []object) (body []byte) {
	for _, p := range parts {
		data, err := json.Marshal(p)
		if err != nil {
			continue // cannot fail for maps of strings and numbers
		}
		switch {
		case contentType != typeSSE:
			body = append(append(body, data...), '\n')
		case p["type"] != nil:
			body = fmt.Appendf(body, "event: %s\ndata: %s\n\n", p["type"], data)
		default:
			body = fmt.Appendf(body, "data: %s\n\n", data)
		}
	}
	return body
}

func (r *Request) chatCall(id, name, args string, now time.Time) []object {
	whole := object{"id": "chatcmpl-" + id, "object": "chat.completion", "created": now.Unix(), "model": r.Model}
	call := object{"id": id, "type": "function", "function": object{"name": name, "arguments": args}}
	if !r.Stream {
		whole["choices"] = []object{{"index": 0, "logprobs": nil, "finish_reason": "tool_calls",
			"message": object{"role": "assistant", "content": nil, "tool_calls": []object{call}}}}
		whole["usage"] = object{"prompt_tokens": len(r.body) / 4, "completion_tokens": 10, "total_tokens": len(r.body)/4 + 10}
		return []object{whole}
	}
	whole["object"] = "chat.completion.chunk"
	chunk := func(delta object, finish any) object {
		return with(whole, object{"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}})
	}
	return []object{
		chunk(object{"role": "assistant", "content": nil, "tool_calls": []object{{"index": 0, "id": id, "type": "function", "function": object{"name": name, "arguments": ""}}}}, nil),
		chunk(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": args}}}}, nil),
		chunk(object{}, "tool_calls"),
	}
}

func (r *Request) responsesCall(id, name, args string) []object {
	item := object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": name, "arguments": args, "status": "completed"}
	empty := with(item, object{"arguments": "", "status": "in_progress"})
	parts := r.responses(id, "", time.Time{}, object{"input_tokens": len(r.body) / 4, "output_tokens": 10, "total_tokens": len(r.body)/4 + 10})
	whole := parts[0]
	if r.Stream {
		whole, _ = parts[len(parts)-1]["response"].(object)
	}
	whole["output"] = []object{item}
	if !r.Stream {
		return []object{whole}
	}
	parts = []object{
		parts[0], parts[1],
		{"type": "response.output_item.added", "output_index": 0, "item": empty},
		{"type": "response.function_call_arguments.delta", "item_id": "fc_" + id, "output_index": 0, "delta": args},
		{"type": "response.function_call_arguments.done", "item_id": "fc_" + id, "output_index": 0, "arguments": args},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": whole},
	}
	for i := range parts {
		parts[i]["sequence_number"] = i
	}
	return parts
}

func (r *Request) messagesCall(id, name, args string) []object {
	// A block holds an object; anything else is possible only in a stream, piece by
	// piece.
	var input any = object{"unparsed": args}
	if json.Valid([]byte(args)) {
		input = json.RawMessage(args)
	}
	usage := object{"input_tokens": len(r.body) / 4, "output_tokens": 10}
	whole := object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": r.Model, "stop_reason": "tool_use", "stop_sequence": nil, "usage": usage,
		"content": []object{{"type": "tool_use", "id": "toolu_" + id, "name": name, "input": input}}}
	if !r.Stream {
		return []object{whole}
	}
	return []object{
		{"type": "message_start", "message": with(whole, object{"content": []object{}, "stop_reason": nil})},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "tool_use", "id": "toolu_" + id, "name": name, "input": object{}}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "input_json_delta", "partial_json": args}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": "tool_use", "stop_sequence": nil}, "usage": object{"output_tokens": 10}},
		{"type": "message_stop"},
	}
}
