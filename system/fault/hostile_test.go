package fault

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// An answer of a gigabyte passes in little memory, and a fault that would need
// all of it is told as missed.
func TestHugeAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		piece := make([]byte, 1<<20)
		for range hugeAnswer / len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	s := open(t, nil)
	c := s.enter(tool(fault.Duplicate, nil))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := s.client().Get(server.URL + "/big")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	runtime.ReadMemStats(&after)
	if n != hugeAnswer || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 128<<20 {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
	r := c.Close()
	if k := r.Tallies[0]; k.Fired != 0 || len(k.Missed) != 1 || k.Missed[0] != "the answer is larger than 8 MiB" {
		t.Errorf("%+v", k)
	}
	if e := r.Exchanges[0]; e.ResponseSize != hugeAnswer || len(e.Response) != 4096 {
		t.Errorf("%d bytes counted, %d kept", e.ResponseSize, len(e.Response))
	}
}

// endless is a server that never answers, or never ends. The channel says that
// an agent's call has arrived.
func endless(t testing.TB) (*httptest.Server, chan bool) {
	arrived := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			arrived <- true
			<-r.Context().Done()
			return
		}
		for {
			if _, err := fmt.Fprint(w, "data: {\"a\":\"more\"}\n\n"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case arrived <- true:
			case <-r.Context().Done():
				return
			default:
			}
		}
	}))
	t.Cleanup(server.Close)
	return server, arrived
}

// Streams that never end, answers that never begin and agents that are slow end
// with the cell, and nothing of them is left.
func TestEndlessEnds(t *testing.T) {
	for _, rules := range [][]fault.Rule{nil, {tool(fault.Timeout, nil)}, {tool(fault.Slow, nil)}, {tool(fault.Partial, nil)}, {tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate = 1 })}} {
		for _, path := range []string{"/silent", "/stream"} {
			t.Run(fmt.Sprint(path, rules), func(t *testing.T) {
				server, arrived := endless(t)
				s := open(t, nil)
				c := s.enter(rules...)
				done := make(chan got, 1)
				agent := s.client()
				go func() {
					resp, err := agent.Get(server.URL + path)
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					done <- got{err: err}
				}()
				if len(rules) == 0 || rules[0].Mode != fault.Timeout && rules[0].Mode != fault.Slow {
					<-arrived
				} else {
					for len(c.Report().Events) == 0 {
						runtime.Gosched()
					}
				}
				c.Close()
				if len(rules) > 0 && rules[0].Mode == fault.Partial && path == "/stream" {
					<-done // half of what came so far is an end as well
				} else if g := <-done; g.err == nil {
					t.Error("the answer ended well")
				}
			})
		}
	}
}

// An agent that does not read its answer, or does not finish its request, does
// not keep its cell from closing.
func TestAgentsThatStall(t *testing.T) {
	server, arrived := endless(t)
	for _, said := range []string{
		"GET " + server.URL + "/stream HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST " + server.URL + "/stream HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
	} {
		s := open(t, nil)
		c := s.enter()
		conn, err := net.Dial("tcp", mustURL(t, s.port.Proxy()).Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, said)
		if strings.HasPrefix(said, "GET") {
			for range 3 { // the pipes are filling
				<-arrived
			}
		}
		c.Close()
	}
}

// A server that closes in the middle is a server that closes in the middle, to
// the agent as well.
func TestCutAnswersAndOthers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/latin":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			fmt.Fprint(w, "gr\xfc\xdfe")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, `{"text":"plain"}`)
			z.Close()
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "\x8b\x01\x80x\x03")
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/error":
			http.Error(w, "own error", http.StatusInternalServerError)
		case "/script":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<script>alert(1)</script>")
		}
	}))
	defer server.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	inject := fault.Rule{ID: "i", Layer: fault.Context, Mode: fault.IndirectInjection, Payload: "MARKER"}
	tests := []struct {
		url    string
		check  func(got) error
		missed string
	}{
		{server.URL + "/cut", func(g got) error {
			if g.err == nil {
				return errors.New("the answer is whole")
			}
			return nil
		}, "the answer did not come whole"},
		{server.URL + "/latin", want(200, "gr\xfc\xdfe\n\nMARKER"), ""},
		{server.URL + "/gzip", want(200, `{"text":"plain\n\nMARKER"}`), ""},
		{server.URL + "/brotli", want(200, "\x8b\x01\x80x\x03"), "the answer is compressed as br"},
		{server.URL + "/error", want(500, "own error\n"), "the server answered with an error, 500"},
		{server.URL + "/script", want(200, "<script>alert(1)</script>\n\nMARKER"), ""},
		{dead.URL + "/x", contains("the connection was refused"), "the server gave no answer"},
	}
	s := open(t, nil)
	for _, test := range tests {
		c := s.enter(inject)
		if err := test.check(get(s.client(), test.url)); err != nil {
			t.Errorf("%s: %v", test.url, err)
		}
		k := c.Close().Tallies[0]
		if (k.Fired == 1) != (test.missed == "") || test.missed != "" && (len(k.Missed) != 1 || k.Missed[0] != test.missed) {
			t.Errorf("%s: %+v", test.url, k)
		}
	}
	c := s.enter()
	if g := get(s.client(), server.URL+"/empty"); g.status != 204 || g.body != "" {
		t.Errorf("%+v", g)
	}
	if resp, err := s.client().Head(server.URL + "/latin"); err != nil || resp.StatusCode != 200 || resp.ContentLength != 5 {
		t.Errorf("%+v %v", resp, err)
	}
	c.Close()
}

// Agents that say nothing, half of something, or nonsense hold nothing up.
func TestHostileAgents(t *testing.T) {
	s := open(t, nil)
	address := mustURL(t, s.port.Proxy()).Host
	for _, said := range []string{
		"", "GET ", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "CONNECT nonsense HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n\x16\x03\x01nonsense", "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
		"GET /shim?server=x&token=y HTTP/1.1\r\nHost: h\r\n\r\n", "GET /shim HTTP/1.1\r\nHost: h\r\n\r\na\xff\xff\xff\xff",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, said)
		if strings.HasPrefix(said, "CONNECT example") {
			if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
				t.Errorf("%q %v", line, err)
			}
		}
	}
	began := time.Now()
	if err := s.proxy.Close(); err != nil { // with all of them still connected
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s to close", took)
	}
	if _, err := s.proxy.Port(""); err == nil {
		t.Error("a closed proxy opens ports")
	}
}

func TestTheRunEndsTheProxy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Options{}.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Port("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Enter(fault.Plan{Rules: []fault.Rule{tool(fault.Timeout, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan got, 1)
	agent := client(t, d.Proxy(), d.CAFile())
	go func() { done <- get(agent, "http://127.0.0.1:1/") }()
	for len(c.Report().Events) == 0 {
		runtime.Gosched()
	}
	cancel()
	if g := <-done; g.err == nil {
		t.Errorf("%+v", g)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Faults on a body fire where there is one that the agent reads, and nowhere else.
func TestAnswersWithoutABody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNoContent)
		case "/moved":
			http.Redirect(w, r, "/gone", http.StatusFound)
		default:
			io.WriteString(w, "some words")
		}
	}))
	defer server.Close()
	for _, rule := range []fault.Rule{
		{ID: "i", Layer: fault.Context, Mode: fault.IndirectInjection}, tool(fault.Partial, nil), tool(fault.Duplicate, nil),
		tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate = 1 << 20 }),
	} {
		s := open(t, nil)
		c := s.enter(rule)
		for _, path := range []string{"/moved", "/gone"} { // a redirect's own page is for people
			if g := get(s.client(), server.URL+path); rule.Mode == fault.IndirectInjection && (g.err != nil || g.status != 204) {
				t.Errorf("%s: %+v", rule.Mode, g)
			}
		}
		if g := read(s.client().Head(server.URL + "/words")); g.err != nil || g.body != "" {
			t.Errorf("%s: %+v", rule.Mode, g)
		}
		k := c.Close().Tallies[0]
		if rule.Mode == fault.IndirectInjection && k.Fired != 0 || k.Fired > 1 || len(k.Missed) == 0 {
			t.Errorf("%s: %+v", rule.Mode, k)
		}
	}
}
