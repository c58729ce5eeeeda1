package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tools returns the tools GET /weather?city= and GET /search?q=, with JSON answers.
func Tools() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /weather", func(w http.ResponseWriter, r *http.Request) {
		city := r.URL.Query().Get("city")
		n := 0
		for _, c := range strings.ToLower(city) {
			n += int(c)
		}
		send(w, map[string]any{"city": city, "sky": []string{"sunny", "cloudy", "rainy"}[n%3], "degrees": 5 + n%14})
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query().Get("q")
		send(w, map[string]any{"results": []map[string]string{{"title": "A short history of " + q, "text": "Much is known about " + q + "."}}})
	})
	return mux
}

// stock is the warehouse's stock by item.
var stock = map[string]int{"lamp": 12, "chair": 4, "table": 0, "shelf": 31}

// Item names an item of the warehouse.
type Item struct {
	Item string `json:"item" jsonschema:"name of the item, such as lamp"`
}

// Level is the stock of an item.
type Level struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

// Warehouse returns an MCP server with the tool stock_level.
func Warehouse() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "warehouse", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "stock_level", Description: "How many of an item are in the warehouse."},
		func(_ context.Context, _ *mcp.CallToolRequest, in Item) (*mcp.CallToolResult, Level, error) {
			n, ok := stock[strings.ToLower(strings.TrimSuffix(in.Item, "s"))]
			if !ok {
				return nil, Level{}, fmt.Errorf("there is no item %q", in.Item)
			}
			return nil, Level{in.Item, n}, nil
		})
	return s
}

// Addresses are the URLs of the world's parts.
type Addresses struct{ LLM, Weather, Search, Warehouse string }

// Start starts the world on a free port of this machine. It ends with the program, or when stop is
// called.
func Start() (at Addresses, stop func(), err error) {
	mux := http.NewServeMux()
	mux.Handle("/v1/", LLM())
	mux.Handle("/weather", Tools())
	mux.Handle("/search", Tools())
	warehouse := Warehouse()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return warehouse }, &mcp.StreamableHTTPOptions{Stateless: true}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return at, nil, fmt.Errorf("start the world of the examples: %w", err)
	}
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(l) }() // ends through stop
	base := "http://" + l.Addr().String()
	return Addresses{base + "/v1", base + "/weather", base + "/search", base + "/mcp"}, func() { _ = server.Close() }, nil
}
