package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// LLM returns the model's endpoint: /v1/chat/completions, streamed or not, and /v1/models.
func LLM() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		send(w, map[string]any{"object": "list", "data": []map[string]string{{"id": "scripted", "object": "model"}}})
	})
	return mux
}

// send writes a reply. It ignores that the other end may be gone.
func send(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

type completion struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Stream   bool      `json:"stream"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

func complete(w http.ResponseWriter, r *http.Request) {
	var q completion
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		send(w, map[string]any{"error": map[string]string{"message": "no conversation in the request", "type": "invalid_request_error"}})
		return
	}
	var offered []string
	for _, t := range q.Tools {
		offered = append(offered, t.Function.Name)
	}
	m := Answer(q.Messages, offered)
	reason := "stop"
	if len(m.ToolCalls) > 0 {
		reason = "tool_calls"
	}
	use := map[string]int{"prompt_tokens": 0, "completion_tokens": len(strings.Fields(m.Content)) + 5*len(m.ToolCalls)}
	for _, message := range q.Messages {
		use["prompt_tokens"] += len(strings.Fields(message.Content))
	}
	use["total_tokens"] = use["prompt_tokens"] + use["completion_tokens"]
	if q.Stream {
		stream(w, q.Model, m, reason, use)
		return
	}
	send(w, map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "model": q.Model, "usage": use,
		"choices": []map[string]any{{"index": 0, "message": m, "finish_reason": reason}}})
}

// stream sends a reply word by word.
func stream(w http.ResponseWriter, model string, m Message, reason string, use map[string]int) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, reason any) {
		text, err := json.Marshal(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model,
			"choices": []map[string]any{{"index": 0, "delta": delta, "finish_reason": reason}}})
		if err != nil {
			return // maps of strings cannot fail
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	chunk(map[string]any{"role": "assistant"}, nil)
	for _, word := range strings.SplitAfter(m.Content, " ") {
		if word != "" {
			chunk(map[string]any{"content": word}, nil)
		}
	}
	for _, c := range m.ToolCalls {
		chunk(map[string]any{"tool_calls": []ToolCall{c}}, nil)
	}
	chunk(map[string]any{}, reason)
	text, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "choices": []any{}, "usage": use})
	if err == nil {
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text)
	}
}
