package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Reply is a complete answer of a server.
type Reply struct {
	Status      int
	ContentType string
	Header      [][2]string // further headers
	Body        []byte
	Cut         bool // the connection ends after the body, which is incomplete
}

const (
	typeJSON   = "application/json"
	typeSSE    = "text/event-stream"
	typeNDJSON = "application/x-ndjson"
)

// object is a JSON object; its keys are written in order.
type object = map[string]any

// Answer returns a complete answer of the provider with a text, streamed if the
// request asks for that. number is part of its identifiers.
func (r *Request) Answer(text string, number int, now time.Time) Reply {
	id := fmt.Sprintf("chaos%06d", number)
	words := len(strings.Fields(text))
	prompt := len(r.body) / 4
	var parts []object // of the stream, or the one answer
	contentType := typeJSON
	switch r.Shape {
	case OpenAIChat:
		parts = r.chat(id, text, now, object{"prompt_tokens": prompt, "completion_tokens": words, "total_tokens": prompt + words})
	case OpenAICompletions:
		choice := object{"index": 0, "text": text, "logprobs": nil, "finish_reason": "stop"}
		parts = []object{{
			"id": "cmpl-" + id, "object": "text_completion", "created": now.Unix(), "model": r.Model, "choices": []object{choice},
			"usage": object{"prompt_tokens": prompt, "completion_tokens": words, "total_tokens": prompt + words},
		}}
	case OpenAIResponses:
		parts = r.responses(id, text, now, object{
			"input_tokens": prompt, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": words, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": prompt + words,
		})
	case AnthropicMessages:
		parts = r.messages(id, text, prompt, words)
	default:
		parts = r.ollama(text, now, prompt, words)
	}
	if r.Stream && r.Shape.Provider() == "ollama" {
		contentType = typeNDJSON
	} else if r.Stream {
		contentType = typeSSE
	}
	body := events(contentType, parts)
	if contentType == typeSSE && (r.Shape == OpenAIChat || r.Shape == OpenAICompletions) {
		body = append(body, "data: [DONE]\n\n"...)
	}
	return Reply{Status: 200, ContentType: contentType, Body: body}
}

func (r *Request) chat(id, text string, now time.Time, usage object) []object {
	whole := object{"id": "chatcmpl-" + id, "object": "chat.completion", "created": now.Unix(), "model": r.Model}
	if !r.Stream {
		whole["choices"] = []object{{
			"index": 0, "message": object{"role": "assistant", "content": text, "refusal": nil}, "logprobs": nil, "finish_reason": "stop",
		}}
		whole["usage"] = usage
		return []object{whole}
	}
	whole["object"] = "chat.completion.chunk"
	chunk := func(delta object, finish any) object {
		return with(whole, object{"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}})
	}
	parts := []object{chunk(object{"role": "assistant", "content": ""}, nil)}
	if text != "" {
		parts = append(parts, chunk(object{"content": text}, nil))
	}
	return append(parts, chunk(object{}, "stop"))
}

func (r *Request) responses(id, text string, now time.Time, usage object) []object {
	part := object{"type": "output_text", "text": text, "annotations": []object{}}
	item := object{"type": "message", "id": "msg_" + id, "status": "completed", "role": "assistant", "content": []object{part}}
	whole := object{
		"id": "resp_" + id, "object": "response", "created_at": now.Unix(), "status": "completed", "error": nil, "incomplete_details": nil,
		"instructions": nil, "max_output_tokens": nil, "metadata": object{}, "model": r.Model, "output": []object{item},
		"parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": []object{}, "top_p": 1.0, "usage": usage,
	}
	if !r.Stream {
		return []object{whole}
	}
	begun := with(whole, object{"status": "in_progress", "output": []object{}, "usage": nil})
	place := object{"item_id": "msg_" + id, "output_index": 0, "content_index": 0}
	parts := []object{
		{"type": "response.created", "response": begun},
		{"type": "response.in_progress", "response": begun},
		{"type": "response.output_item.added", "output_index": 0, "item": with(item, object{"status": "in_progress", "content": []object{}})},
		with(place, object{"type": "response.content_part.added", "part": with(part, object{"text": ""})}),
		with(place, object{"type": "response.output_text.delta", "delta": text}),
		with(place, object{"type": "response.output_text.done", "text": text}),
		with(place, object{"type": "response.content_part.done", "part": part}),
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": whole},
	}
	for i := range parts {
		parts[i]["sequence_number"] = i
	}
	return parts
}

func (r *Request) messages(id, text string, prompt, words int) []object {
	content := []object{}
	if text != "" {
		content = []object{{"type": "text", "text": text}}
	}
	whole := object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": "end_turn", "stop_sequence": nil, "usage": object{"input_tokens": prompt, "output_tokens": words},
	}
	if !r.Stream {
		return []object{whole}
	}
	begun := with(whole, object{"content": []object{}, "stop_reason": nil, "usage": object{"input_tokens": prompt, "output_tokens": 0}})
	parts := []object{{"type": "message_start", "message": begun}}
	if text != "" {
		parts = append(parts,
			object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
			object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": text}},
			object{"type": "content_block_stop", "index": 0})
	}
	return append(parts,
		object{"type": "message_delta", "delta": object{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": object{"output_tokens": words}},
		object{"type": "message_stop"})
}

func (r *Request) ollama(text string, now time.Time, prompt, words int) []object {
	said := func(text string, more object) object {
		o := object{"model": r.Model, "created_at": now.UTC().Format(time.RFC3339Nano)}
		if r.Shape == OllamaChat {
			o["message"] = object{"role": "assistant", "content": text}
		} else {
			o["response"] = text
		}
		return with(o, more)
	}
	end := object{
		"done": true, "done_reason": "stop", "total_duration": 1_000_000, "load_duration": 0,
		"prompt_eval_count": prompt, "prompt_eval_duration": 500_000, "eval_count": words, "eval_duration": 500_000,
	}
	switch {
	case !r.Stream:
		return []object{said(text, end)}
	case text == "":
		return []object{said("", end)}
	}
	return []object{said(text, object{"done": false}), said("", end)}
}

// with returns an object with additional or changed keys.
func with(o, more object) object {
	out := make(object, len(o)+len(more))
	for _, m := range []object{o, more} {
		maps.Copy(out, m)
	}
	return out
}

// Failure returns an error in the provider's format. A retryAfter of 0 sends none.
func (r *Request) Failure(status int, message string, retryAfter time.Duration) Reply {
	var body object
	var header [][2]string
	kind := failureKind(status)
	seconds := max(1, int((retryAfter+time.Second-1)/time.Second))
	if retryAfter > 0 {
		header = append(header, [2]string{"Retry-After", strconv.Itoa(seconds)})
	}
	switch r.Shape.Provider() {
	case "anthropic":
		body = object{"type": "error", "error": object{"type": kind.anthropic, "message": message}}
		if retryAfter > 0 {
			header = append(header, [2]string{"Anthropic-Ratelimit-Requests-Remaining", "0"})
		}
	case "ollama":
		body = object{"error": message}
	default:
		body = object{"error": object{"message": message, "type": kind.openai, "param": nil, "code": kind.code}}
		if retryAfter > 0 {
			header = append(header, [2]string{"X-Ratelimit-Remaining-Requests", "0"}, [2]string{"X-Ratelimit-Reset-Requests", strconv.Itoa(seconds) + "s"})
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(`{}`) // cannot happen: all values are strings
	}
	return Reply{Status: status, ContentType: typeJSON, Header: header, Body: data}
}

type kinds struct {
	openai, anthropic string
	code              any
}

// failureKind returns what the providers' documents call errors of a status.
func failureKind(status int) kinds {
	switch {
	case status == 429:
		return kinds{"requests", "rate_limit_error", "rate_limit_exceeded"}
	case status == 401:
		return kinds{"invalid_request_error", "authentication_error", "invalid_api_key"}
	case status == 403:
		return kinds{"invalid_request_error", "permission_error", nil}
	case status == 404:
		return kinds{"invalid_request_error", "not_found_error", "model_not_found"}
	case status == 413:
		return kinds{"invalid_request_error", "request_too_large", nil}
	case status == 529:
		return kinds{"server_error", "overloaded_error", nil}
	case status >= 500:
		return kinds{"server_error", "api_error", nil}
	}
	return kinds{"invalid_request_error", "invalid_request_error", nil}
}
