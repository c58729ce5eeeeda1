package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
)

// instant is an agent that answers at once and counts its requests. If it has a tool, it calls that
// first, and answers whatever the result.
type instant struct {
	asked, resets atomic.Int64
	tool          string
	client        *http.Client
}

func (a *instant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/reset":
		a.resets.Add(1)
	case "/tool", "/health":
		fmt.Fprint(w, `{"found": true}`)
	default:
		a.asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // a truncated prompt is also a prompt
		if a.tool != "" {
			if answer, err := a.client.Get(a.tool); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"output": "the answer is yes"}`)
	}
}

// listen serves the agent on a port; 0 stands for any port.
func (a *instant) listen(port string) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return "", fmt.Errorf("start the agent: %w", err)
	}
	go func() { _ = http.Serve(l, a) }() // until the program ends
	return "http://" + l.Addr().String(), nil
}

// serve is the agent in its own process, started by Thresh behind the proxy in HTTP_PROXY.
func serve() error {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil || proxy.Host == "" {
		return errors.New("HTTP_PROXY names no proxy")
	}
	a := &instant{tool: os.Getenv("TOOL_URL"), client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}}
	if _, err := a.listen(os.Getenv("PORT")); err != nil {
		return err
	}
	select {}
}
