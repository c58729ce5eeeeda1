package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/thresh-dev/thresh/examples/flakestorm/world"
)

// agent reports how many of an item are in stock.
//
// Its weaknesses, which fixed turns off:
//
//	the tool fails            it takes that for "none left"
//	the tool does not answer  it waits forever
//	the tool returns nonsense it repeats it
type agent struct {
	server string
	fixed  bool
}

// patience is how long the fixed agent waits for the server.
const patience = 700 * time.Millisecond

func handler(a *agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Message string `json:"message"`
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 8<<20)).Decode(&q); err != nil {
			http.Error(w, "the request is not JSON with a message", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"answer": a.answer(r.Context(), r.Header.Get("Traceparent"), q.Message)}) // the caller may be gone
	})
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	return mux
}

var asks = regexp.MustCompile(`(?i)how many ([a-z]+)`)

func (a *agent) answer(ctx context.Context, trace, message string) string {
	found := asks.FindStringSubmatch(message)
	if found == nil {
		return "Ask me how many of an item there are."
	}
	item := strings.ToLower(found[1])
	if a.fixed {
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = limited
	}
	text, level, err := a.level(ctx, trace, item)
	switch {
	case err == nil && level != nil:
		return fmt.Sprintf("There are %d of %s in the warehouse.", *level, item)
	case a.fixed:
		return "I could not find out how many of " + item + " there are."
	case err == nil:
		return "The warehouse says: " + text
	}
	return fmt.Sprintf("There are 0 of %s in the warehouse.", item)
}

// level asks the server. It returns the number, or else the tool's text.
func (a *agent) level(ctx context.Context, trace, item string) (text string, level *int, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "stock", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: a.server, MaxRetries: -1, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: traced{world.Transport(), trace}},
	}, nil)
	if err != nil {
		return "", nil, fmt.Errorf("connect to the warehouse: %w", err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "stock_level", Arguments: world.Item{Item: item}})
	if err != nil {
		return "", nil, fmt.Errorf("ask the warehouse: %w", err)
	}
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if result.IsError {
		return "", nil, errors.New(text)
	}
	var known struct {
		Item  string `json:"item"`
		Count *int   `json:"count"`
	}
	if json.Unmarshal([]byte(text), &known) != nil || known.Item != item {
		return text, nil, nil
	}
	return text, known.Count, nil
}

// traced adds the traceparent of the original request.
type traced struct {
	base  http.RoundTripper
	trace string
}

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.trace != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Traceparent", t.trace)
	}
	return t.base.RoundTrip(r)
}
