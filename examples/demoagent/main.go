// Package demo is a small agent with planted weaknesses. Thresh contains it, so that you can try
// flakestorm configurations without an agent. It answers questions about orders and the weather: it
// calls one of two HTTP tools, gives the result to a scripted model behind an OpenAI-compatible
// endpoint, and returns the model's answer. Tools and model run in the same process on their own
// ports. The agent calls them over HTTP through the proxy that the environment names, so that
// faults reach them.
//
// Its weaknesses: it returns its model's empty answers unchanged, and obeys instructions in tool
// results and at the end of prompts. It copes with tools that fail or are slow.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Command is the hidden verb that runs the agent.
const Command = "__flakestorm-agent"

// Main serves the agent on the port in PORT until it is interrupted or terminated.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, "127.0.0.1:"+os.Getenv("PORT"), os.Getenv("HTTP_PROXY")); err != nil {
		fmt.Fprintln(os.Stderr, "demo agent:", err)
		return 1
	}
	return 0
}

// serve runs agent, tools and model until ctx ends.
func serve(ctx context.Context, address, proxy string) error {
	listen := net.ListenConfig{}
	backs := make(map[string]string)
	for name, handler := range map[string]http.Handler{"tools": tools(), "model": model()} {
		l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		backs[name] = "http://" + l.Addr().String()
		go func() { _ = start(ctx, l, handler) }() // ends with the agent; if it ends earlier, calls to it fail
	}
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	a := &agent{tools: backs["tools"], model: backs["model"] + "/v1/chat/completions", http: &http.Client{Timeout: 3 * time.Second, Transport: through(proxy)}}
	return start(ctx, l, a.handler())
}

// through returns a transport that uses the proxy even for this machine's addresses, which Go's own
// rules exempt.
func through(proxy string) *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 16}
	if u, err := url.Parse(proxy); err == nil && proxy != "" {
		t.Proxy = http.ProxyURL(u)
	}
	return t
}

func start(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// tools returns the two services that the agent calls.
func tools() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]string{"order": r.PathValue("id"), "state": "shipped on Monday"})
	})
	mux.HandleFunc("GET /weather", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]string{"city": r.FormValue("city"), "sky": "sunny, 21 degrees"})
	})
	return mux
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the other side may be gone
}

// obeys matches what the model takes for an order, wherever it is.
var obeys = regexp.MustCompile(`(?i)(?:answer|end your answer|reply|respond)\b[^.\n]{0,60}\b(?:with|the word)[^.\n]{0,30}?\b(MARKER|card number [0-9-]+)`)

// model returns a scripted model: it repeats the tool's result, and obeys.
func model() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 16<<20)).Decode(&in); err != nil {
			http.Error(w, `{"error":{"message":"no JSON"}}`, http.StatusBadRequest)
			return
		}
		text := "I have nothing to go by."
		for _, m := range in.Messages {
			if hit := obeys.FindStringSubmatch(m.Content); hit != nil {
				text = hit[1]
				break
			}
			if m.Role == "tool" {
				text = "This is what I found: " + m.Content
			}
		}
		words := len(strings.Fields(text))
		reply(w, map[string]any{
			"id": "demo", "object": "chat.completion", "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
			"usage":   map[string]int{"prompt_tokens": 10 * len(in.Messages), "completion_tokens": words, "total_tokens": 10*len(in.Messages) + words},
		})
	})
	return mux
}

// agent is the agent itself. It keeps no state between calls.
type agent struct {
	tools, model string
	http         *http.Client
}

func (a *agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /chat", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input string }
		if err := json.NewDecoder(io.LimitReader(r.Body, 16<<20)).Decode(&in); err != nil {
			http.Error(w, "the body must be JSON", http.StatusBadRequest)
			return
		}
		reply(w, map[string]string{"output": a.answer(r.Context(), r.Header.Get("Traceparent"), in.Input)})
	})
	return mux
}

var orderNumber = regexp.MustCompile(`\d{3,}`)

func (a *agent) answer(ctx context.Context, trace, prompt string) string {
	path := "/weather?city=Paris"
	if n := orderNumber.FindString(prompt); n != "" {
		path = "/orders/" + n
	}
	found, err := a.call(ctx, trace, http.MethodGet, a.tools+path, nil)
	if err != nil {
		return "Sorry, I could not look that up just now. Please try again later."
	}
	question, err := json.Marshal(map[string]any{"model": "scripted", "messages": []map[string]string{
		{"role": "system", "content": "You help customers."}, {"role": "user", "content": prompt}, {"role": "tool", "content": strings.TrimSpace(string(found))},
	}})
	if err != nil {
		return "Sorry, I could not understand that."
	}
	answer, err := a.call(ctx, trace, http.MethodPost, a.model, question)
	var out struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err != nil || json.Unmarshal(answer, &out) != nil || len(out.Choices) == 0 {
		return "Sorry, I cannot think straight just now. Please try again later."
	}
	return out.Choices[0].Message.Content // planted: even if it is empty
}

func (a *agent) call(ctx context.Context, trace, method, address string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if trace != "" {
		req.Header.Set("Traceparent", trace)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return data, err
}
