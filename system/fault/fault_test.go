package fault

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// TestMain is the shim and the MCP server of the tests, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "fault-test-shim":
			os.Exit(Shim(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "fault-test-mcp":
			os.Exit(serveMCP())
		}
	}
	os.Exit(m.Run())
}

// stage is a proxy with a port.
type stage struct {
	t     testing.TB
	proxy fault.Injector
	port  fault.Port
}

func open(t testing.TB, roots *x509.CertPool) *stage {
	t.Helper()
	before := runtime.NumGoroutine()
	p, err := Options{
		Shim: []string{os.Args[0], "fault-test-shim"}, Roots: roots, Upstream: func(*http.Request) (*url.URL, error) { return nil, nil },
	}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Port("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		settled(t, before)
	})
	return &stage{t, p, d}
}

// settled fails the test if goroutines are left. Those of connections that were
// just closed get a moment.
func settled(t testing.TB, before int) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Second); ; runtime.Gosched() {
		if runtime.NumGoroutine() <= before+4 { // those of servers that the test has not closed yet
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
			return
		}
	}
}

func (s *stage) enter(rules ...fault.Rule) fault.Cell {
	s.t.Helper()
	return s.plan(fault.Plan{Seed: 1, Rules: rules, Capture: 4096})
}

func (s *stage) plan(p fault.Plan) fault.Cell {
	s.t.Helper()
	c, err := s.port.Enter(p)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// client is an agent's client that calls through a proxy URL and trusts a file.
func client(t testing.TB, proxy, ca string) *http.Client {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ca)
	own, _ := pem.Decode(text) // the first; to read all that the system trusts takes its time
	if err != nil || own == nil {
		t.Fatal("no certificates: ", err)
	}
	cert, err := x509.ParseCertificate(own.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	tr := &http.Transport{Proxy: http.ProxyURL(u), TLSClientConfig: &tls.Config{RootCAs: pool}, DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func (s *stage) client() *http.Client { return client(s.t, s.port.Proxy(), s.port.CAFile()) }

type got struct {
	status int
	header http.Header
	body   string
	err    error
}

func get(c *http.Client, url string) got { return read(c.Get(url)) }

func post(c *http.Client, url, contentType, body string) got {
	return read(c.Post(url, contentType, strings.NewReader(body)))
}

func read(resp *http.Response, err error) got {
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(body), err}
}

// tools is a server with tools that count their calls.
func tools(t testing.TB) (*httptest.Server, *atomic.Int64) {
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"n":%d,"path":%q,"text":"the sun shines everywhere"}`, n, r.URL.RequestURI())
	}))
	t.Cleanup(s.Close)
	return s, &calls
}

func tool(m fault.Mode, set func(*fault.Rule)) fault.Rule {
	r := fault.Rule{ID: string(m), Layer: fault.Tool, Mode: m}
	if set != nil {
		set(&r)
	}
	return r
}

func tally(t testing.TB, c fault.Cell, i int) fault.Tally {
	t.Helper()
	return c.Report().Tallies[i]
}

func TestToolFaults(t *testing.T) {
	server, calls := tools(t)
	tests := []struct {
		rule  fault.Rule
		check func(got) error
		real  int64 // calls that reach the server
	}{
		{tool(fault.Error, nil), want(503, "Service Unavailable"), 0},
		{tool(fault.Error, func(r *fault.Rule) { r.Status, r.Message = 200, "m" }), want(200, "m"), 0},
		{tool(fault.Malformed, nil), func(g got) error {
			if json.Valid([]byte(g.body)) || g.status != 200 {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}, 0},
		{tool(fault.Malicious, func(r *fault.Rule) { r.Payload = "MARKER" }), want(200, "MARKER"), 0},
		{tool(fault.Reset, nil), func(g got) error {
			if !errors.Is(g.err, syscall.ECONNRESET) {
				return fmt.Errorf("%v", g.err)
			}
			return nil
		}, 0},
		{tool(fault.Timeout, func(r *fault.Rule) { r.Delay = time.Millisecond }), func(g got) error {
			if !errors.Is(g.err, io.EOF) {
				return fmt.Errorf("%v", g.err)
			}
			return nil
		}, 0},
		{tool(fault.Slow, func(r *fault.Rule) { r.Delay = time.Millisecond }), contains("sun"), 1},
		{tool(fault.Partial, nil), func(g got) error {
			if !errors.Is(g.err, io.ErrUnexpectedEOF) || len(g.body) < 10 || strings.Contains(g.body, "}") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}, 1},
		{tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate = 1000 }), contains("sun"), 1},
		{tool(fault.WrongType, nil), func(g got) error {
			if g.header.Get("Content-Type") != fault.WrongContentType || !strings.Contains(g.body, "sun") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}, 1},
		{tool(fault.Duplicate, nil), func(g got) error {
			half := g.body[:len(g.body)/2]
			if g.body != half+half || !json.Valid([]byte(half)) {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}, 1},
		{fault.Rule{ID: "i", Layer: fault.Context, Mode: fault.IndirectInjection, Payload: "MARKER"}, contains(`"text":"the sun shines everywhere\n\nMARKER"`), 1},
	}
	for _, test := range tests {
		t.Run(string(test.rule.Mode), func(t *testing.T) {
			s := open(t, nil)
			c := s.enter(test.rule)
			before := calls.Load()
			if err := test.check(get(s.client(), server.URL+"/weather?city=x")); err != nil {
				t.Error(err)
			}
			if n := calls.Load() - before; n != test.real {
				t.Errorf("%d calls reached the server, want %d", n, test.real)
			}
			r := c.Close()
			if k := r.Tallies[0]; k.Fired != 1 || k.Considered != 1 || len(k.Missed) > 0 {
				t.Errorf("tally %+v", k)
			}
			if len(r.Events) != 1 || r.Events[0].Target != "weather" || len(r.ToolCalls) != 1 || r.ToolCalls[0].Tool != "weather" {
				t.Errorf("events %+v, calls %+v", r.Events, r.ToolCalls)
			}
			if len(r.Exchanges) != 1 || !slices.Equal(r.Exchanges[0].Faults, []string{test.rule.ID}) {
				t.Errorf("exchanges %+v", r.Exchanges)
			}
		})
	}
}

func want(status int, body string) func(got) error {
	return func(g got) error {
		if g.err != nil || g.status != status || g.body != body {
			return fmt.Errorf("got %d %q %v, want %d %q", g.status, g.body, g.err, status, body)
		}
		return nil
	}
}

func contains(text string) func(got) error {
	return func(g got) error {
		if g.err != nil || !strings.Contains(g.body, text) {
			return fmt.Errorf("got %d %q %v, want %q in it", g.status, g.body, g.err, text)
		}
		return nil
	}
}

func TestStaleAnswers(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	c := s.enter(tool(fault.Stale, nil))
	first := get(s.client(), server.URL+"/a")
	if second := get(s.client(), server.URL+"/a"); second.body != first.body || first.body == "" {
		t.Errorf("%q, then %q", first.body, second.body)
	}
	if k := tally(t, c, 0); k.Fired != 1 || !slices.Equal(k.Missed, []string{"nothing earlier to answer with"}) {
		t.Errorf("%+v", k)
	}
}

func TestHTTPSIsOpened(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "secret ", r.Host, r.URL.Path)
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := open(t, roots)
	c := s.enter(tool(fault.Error, func(r *fault.Rule) { r.MatchURL, r.Calls = server.URL+"/p*", []int{2} }))
	agent := s.client()
	u := server.URL + "/path"
	for _, check := range []func(got) error{contains("secret 127.0.0.1:"), want(503, "Service Unavailable"), contains("/path")} {
		if err := check(get(agent, u)); err != nil {
			t.Error(err)
		}
	}
	if k := tally(t, c, 0); k.Considered != 3 || k.Fired != 1 {
		t.Errorf("%+v", k)
	}
	if e := c.Report().Exchanges[0]; e.URL != u || e.Status != 200 {
		t.Errorf("%+v", e)
	}
	// An agent that does not trust the proxy is told of.
	if g := get(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(mustURL(t, s.port.Proxy()))}}, u); g.err == nil {
		t.Error("the certificate was accepted")
	}
	for deadline := time.Now().Add(5 * time.Second); len(c.Report().Notes) == 0 && time.Now().Before(deadline); runtime.Gosched() {
	}
	if n := c.Report().Notes; len(n) != 1 || !strings.Contains(n[0], "did not accept the proxy's certificate") {
		t.Errorf("notes %q", n)
	}
}

func mustURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Cells that are open at the same time share nothing: each call is struck by
// the rules of its own cell, on every way.
func TestConcurrentCells(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	const cells, calls = 40, 5
	var all sync.WaitGroup
	for i := range cells {
		c := s.enter(tool(fault.Error, func(r *fault.Rule) { r.Calls = []int{i%calls + 1} }))
		all.Go(func() {
			agent := client(t, c.Proxy(), s.port.CAFile())
			gate, err := c.Gateway("weather", server.URL)
			if err != nil {
				t.Error(err)
				return
			}
			if i%3 == 1 {
				agent = http.DefaultClient
			}
			var statuses []int
			for range calls {
				target := server.URL + "/weather"
				if i%3 == 1 {
					target = gate + "/x"
				}
				q, _ := http.NewRequest("GET", target, nil)
				if i%3 == 2 {
					agent = s.client()
					for _, h := range c.Headers() {
						q.Header.Set(h[0], h[1])
					}
				}
				statuses = append(statuses, read(agent.Do(q)).status)
			}
			for j, status := range statuses {
				if (status == 503) != (j == i%calls) {
					t.Errorf("cell %d: %v", i, statuses)
					break
				}
			}
			if k := tally(t, c, 0); k.Considered != calls || k.Fired != 1 {
				t.Errorf("cell %d: %+v", i, k)
			}
		})
	}
	all.Wait()
	if n := s.proxy.Notes(); len(n) > 0 {
		t.Errorf("notes %q", n)
	}
}

func TestWhatCannotBeAttributedIsTold(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	agent := s.client()
	if g := get(agent, server.URL); g.status != 200 {
		t.Errorf("%+v", g)
	}
	a, b := s.enter(tool(fault.Error, nil)), s.enter(tool(fault.Error, nil))
	if g := get(agent, server.URL); g.status != 200 {
		t.Errorf("%+v", g)
	}
	for _, c := range []fault.Cell{a, b} {
		if n := c.Report().Notes; len(n) != 1 || !strings.Contains(n[0], "any of 2 cells") {
			t.Errorf("%q", n)
		}
	}
	late := a.Proxy()
	a.Close()
	if g := get(agent, server.URL); g.status != 503 {
		t.Errorf("the only open cell is not taken: %+v", g)
	}
	if g := get(client(t, late, s.port.CAFile()), server.URL); g.status != 200 {
		t.Errorf("a late call is taken for another cell's: %+v", g)
	}
	if n := s.proxy.Notes(); len(n) != 2 || !strings.Contains(n[0], "no cell was open") || !strings.Contains(n[1], "after its cell was over") {
		t.Errorf("%q", n)
	}
}

func TestGateways(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	c := s.enter(tool(fault.Error, func(r *fault.Rule) { r.Tool, r.Calls = "market_data_api", []int{3} }))
	gate, err := s.port.Gateway("market_data_api", server.URL+"/base/?k=1")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.port.Gateway("market_data_api", server.URL+"/base/?k=1"); err != nil || again != gate {
		t.Errorf("%s, then %s (%v)", gate, again, err)
	}
	checks := []func(got) error{contains(`"/base/a%2Fb?k=1\u0026q=2"`), contains(`"/base/?k=1"`), want(503, "Service Unavailable")}
	for i, path := range []string{"/a%2Fb?q=2", "", "/x"} {
		g := get(http.DefaultClient, gate+path)
		g.body = strings.ReplaceAll(g.body, "&", `\u0026`)
		if err := checks[i](g); err != nil {
			t.Error(err)
		}
	}
	if calls := c.Report().ToolCalls; len(calls) != 3 || calls[2].Tool != "market_data_api" {
		t.Errorf("%+v", calls)
	}
	for _, wrong := range []string{"localhost:80", "ftp://x/", "http:///x", "%"} {
		if _, err := s.port.Gateway("t", wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	for _, number := range []string{"1", "99", "-1", "one", ""} {
		if g := get(http.DefaultClient, s.port.Proxy()+"/gateway/"+number+"/-/x"); g.status != 404 || strings.TrimSpace(g.body) != "no such gateway" {
			t.Errorf("gateway %q: %+v", number, g)
		}
	}
	if g := get(http.DefaultClient, s.port.Proxy()+"/"); g.status != 404 || !strings.Contains(g.body, "HTTP_PROXY") {
		t.Errorf("%+v", g)
	}
}

func TestReplayTouchesNothingReal(t *testing.T) {
	server, calls := tools(t)
	s := open(t, nil)
	c := s.plan(fault.Plan{
		Capture: 100, Names: []fault.Named{{Tool: "forecast", URL: server.URL + "/weather*"}},
		Recorded: []fault.Recorded{{Tool: "forecast", Response: []byte(`{"recorded":true}`)}, {Tool: "forecast", Response: []byte(`"gone"`), Status: 410},
			{Tool: "forecast", Ended: fault.WasReset}, {Tool: "forecast", Ended: fault.WasClosed}, {Tool: "forecast", Response: []byte(`"{\"half"`), Ended: fault.WasClosed}},
	})
	part := func(body string) func(got) error {
		return func(g got) error {
			if g.err == nil || g.body != body {
				return fmt.Errorf("got %+v, wanted no whole answer, but %q of it", g, body)
			}
			return nil
		}
	}
	for _, check := range []func(got) error{want(200, `{"recorded":true}`), want(410, "gone"), part(""), part(""), part(`{"half`), contains("no response of forecast left")} {
		if err := check(get(s.client(), server.URL+"/weather?x=1")); err != nil {
			t.Error(err)
		}
	}
	r := c.Close()
	if r.Exchanges[2].Ended != fault.WasReset || r.Exchanges[4].Ended != fault.WasClosed || r.Exchanges[5].Ended != "" {
		t.Errorf("%+v", r.Exchanges)
	}
	if calls.Load() != 0 || len(r.Events) != 6 || r.Exchanges[1].Status != 410 || string(r.Exchanges[1].Response) != "gone" {
		t.Errorf("%d real calls, %+v", calls.Load(), r)
	}
}

// What speaks HTTP/2 alone, as gRPC does, gets its real server, and that is told.
func TestForeignTunnels(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	s := open(t, nil)
	c := s.enter(tool(fault.Error, nil))
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	proxy, err := url.Parse(c.Proxy())
	if err != nil {
		t.Fatal(err)
	}
	alone := new(http.Protocols)
	alone.SetHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}, Protocols: alone}}
	defer client.CloseIdleConnections()
	if err := want(200, "HTTP/2.0")(get(client, server.URL)); err != nil {
		t.Error(err)
	}
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		if conn, err := echo.Accept(); err == nil {
			io.Copy(conn, conn)
			conn.Close()
		}
	}()
	conn, err := net.Dial("tcp", proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\nPRI * HTTP/2.0\r\n\r\n", echo.Addr())
	said := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\nPRI * HTTP/2.0\r\n\r\n"))
	if _, err := io.ReadFull(conn, said); err != nil || !strings.HasSuffix(string(said), "PRI * HTTP/2.0\r\n\r\n") {
		t.Errorf("%q %v", said, err)
	}
	other := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots, NextProtos: []string{"imap"}}}}
	if g := get(other, server.URL); g.err == nil {
		t.Errorf("%+v", g)
	}
	r := c.Close()
	for i, want := range []string{server.URL[len("https://"):] + ", which is HTTP/2 alone", echo.Addr().String() + ", which is HTTP/2 alone", "which is no HTTP but imap"} {
		if len(r.Notes) != 3 || !strings.Contains(r.Notes[i], want) || r.Tallies[0].Considered != 0 {
			t.Errorf("%q, want %s; %+v", r.Notes, want, r.Tallies)
		}
	}
	if g := get(other, server.URL); g.err == nil { // of no cell
		t.Errorf("%+v", g)
	}
	if n := s.proxy.Notes(); len(n) != 2 || !strings.Contains(n[1], "which is no HTTP but imap") {
		t.Errorf("%q", n)
	}
	if err := s.port.Close(); err != nil { // ends what passes as well
		t.Error(err)
	}
	if rest, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

const javaProgram = `
import java.net.URI;
import java.net.http.*;

class Get {
    public static void main(String[] urls) throws Exception {
        for (String url : urls) {
            var r = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
            System.out.println(r.body() + " " + r.statusCode());
        }
    }
}
`

// Clients are reached as they are, those as well that ask no variable for a
// proxy, or trust no file that one names.
func TestRealPrograms(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "real answer") }))
	defer server.Close()
	plain, _ := tools(t)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	urls := []string{server.URL, server.URL, plain.URL, plain.URL}
	modern := []string{"node", "-e", "process.exit(Number(process.versions.node.split('.')[0]) >= 18 ? 0 : 1)"}
	source := filepath.Join(t.TempDir(), "Get.java")
	if err := os.WriteFile(source, []byte(javaProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	programs := []struct {
		name string
		argv []string // the URLs follow; a line for each is written
		need []string // a command that must succeed
	}{
		{"curl", []string{"curl", "-s", "-w", " %{http_code}\n"}, []string{"curl", "--version"}},
		{"python urllib", []string{"python3", "-c", `
import sys, urllib.request, urllib.error
for url in sys.argv[1:]:
    try: r = urllib.request.urlopen(url)
    except urllib.error.HTTPError as e: r = e
    print(r.read().decode(), r.status)`}, []string{"python3", "--version"}},
		{"python requests", []string{"python3", "-c", `
import sys, requests
for url in sys.argv[1:]:
    r = requests.get(url)
    print(r.text, r.status_code)`}, []string{"python3", "-c", "import requests"}},
		{"node", []string{"node", "-e", `
(async () => { for (const url of process.argv.slice(1)) { const r = await fetch(url); console.log(await r.text(), r.status) } })()`}, modern},
		{"node http", []string{"node", "-e", `
(async () => { for (const url of process.argv.slice(1)) await new Promise((done, fail) => {
  require(url.split(':')[0]).get(url, (r) => { let text = ''; r.on('data', (d) => text += d); r.on('end', () => done(console.log(text, r.statusCode))) }).on('error', fail)
}) })()`}, modern},
		{"java", []string{"java", "-XX:TieredStopAtLevel=1", source}, []string{"javac", "-version"}},
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if out, err := exec.Command(p.need[0], p.need[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not there: %v %s", p.name, err, bytes.TrimSpace(out))
			}
			s := open(t, roots)
			c := s.enter(tool(fault.Error, func(r *fault.Rule) { r.Calls = []int{2, 4} }))
			cmd := exec.Command(p.argv[0], append(p.argv[1:], urls...)...)
			cmd.Env = append(os.Environ(), c.Env(nil)...)
			out, err := cmd.Output()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if err != nil || len(lines) != len(urls) {
				t.Fatalf("%s %v", out, err)
			}
			for i, line := range lines {
				if (line == "Service Unavailable 503") != (i%2 == 1) {
					t.Errorf("call %d: %s", i+1, line)
				}
			}
			if k := tally(t, c, 0); k.Considered != 4 || k.Fired != 2 {
				t.Errorf("%+v", k)
			}
		})
	}
}

func TestUpgradedConnectionsPass(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Upgrade") != "echo" {
			http.Error(w, "ask for an upgrade", http.StatusUpgradeRequired)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(c, rw)
	}))
	defer server.Close()
	s := open(t, nil)
	c := s.enter(tool(fault.Duplicate, nil))
	gate, err := c.Gateway("live", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", mustURL(t, gate).Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", mustURL(t, gate).Path)
	buffer := make([]byte, 4096)
	seen := ""
	for !strings.Contains(seen, "\r\n\r\n") {
		n, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(seen, err)
		}
		seen += string(buffer[:n])
	}
	if !strings.HasPrefix(seen, "HTTP/1.1 101") {
		t.Fatal(seen)
	}
	fmt.Fprint(conn, "ping")
	if _, err := io.ReadFull(conn, buffer[:4]); err != nil || string(buffer[:4]) != "ping" {
		t.Errorf("%q %v", buffer[:4], err)
	}
	if k := tally(t, c, 0); k.Fired != 0 || len(k.Missed) != 1 {
		t.Errorf("%+v", k)
	}
	c.Close() // ends the connection
	if _, err := conn.Read(buffer); err == nil {
		t.Error("still open")
	}
}

// An agent that leaves once it has the answer of a stream did wait for it, though
// the stream goes on.
func TestLeavingAStreamBehindItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		path, ask, event string
		whole            bool
	}{
		"MCP":         {"/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":{}}}`, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`, true},
		"another's":   {"/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":{}}}`, `{"jsonrpc":"2.0","id":8,"result":{"content":[]}}`, false},
		"a model":     {"/v1/chat/completions", fmt.Sprintf(chats[0].body, true), "[DONE]", true},
		"half of one": {"/v1/chat/completions", fmt.Sprintf(chats[0].body, true), `{"choices":[{"delta":{"content":"a"}}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: %s\n\n", c.event)
				w.(http.Flusher).Flush()
				<-left
			}))
			defer server.Close()
			s := open(t, nil)
			cell := s.enter()
			resp, err := s.client().Post(server.URL+c.path, "application/json", strings.NewReader(c.ask))
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.Contains(line, c.event) {
				t.Fatal(line, err)
			}
			resp.Body.Close()
			r := cell.Close()
			close(left)
			if len(r.Exchanges) != 1 || (r.Exchanges[0].Error == "") != c.whole {
				t.Errorf("%+v", r.Exchanges)
			}
		})
	}
}

// The stream on which a server of MCP may say something by itself begins before it does, and
// outlives the case that it began in.
func TestAStreamOfAServerOutlivesItsCase(t *testing.T) {
	say := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case <-say:
			fmt.Fprint(w, "data: {}\n\n")
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	s := open(t, nil)
	cell := s.enter()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Mcp-Session-Id", "a")
	ask.Header.Set("Accept", "text/event-stream")
	resp, err := s.client().Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if r := cell.Close(); len(r.Exchanges) != 1 || r.Exchanges[0].Error != "" {
		t.Errorf("%+v", r.Exchanges)
	}
	close(say)
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "data: {}\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// An address of the user's stands for a server with and without TLS: clients that
// take no other base URL than one of https can be recorded.
func TestAddressSpeaksTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "real answer to "+r.URL.Path) }))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := open(t, roots)
	d, err := s.proxy.Port("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cell, err := d.Enter(fault.Plan{Capture: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Gateway("", server.URL); err != nil {
		t.Fatal(err)
	}
	plain := d.Proxy()
	for _, base := range []string{plain, strings.Replace(plain, "http:", "https:", 1), strings.Replace(plain, "http://127.0.0.1", "https://localhost", 1)} {
		c := client(t, "", d.CAFile())
		c.Transport.(*http.Transport).Proxy = nil
		r, err := c.Get(base + "/v1/models")
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		c.CloseIdleConnections()
		if string(body) != "real answer to /v1/models" {
			t.Errorf("%s: %q", base, body)
		}
	}
	if n := len(cell.Report().Exchanges); n != 3 {
		t.Errorf("%d calls were seen", n)
	}
	cell.Close()
	// A fault cuts the connection as it says, with TLS and without.
	for _, rule := range []fault.Rule{tool(fault.Reset, nil), tool(fault.Timeout, func(r *fault.Rule) { r.Delay = time.Millisecond })} {
		cell, err := d.Enter(fault.Plan{Rules: []fault.Rule{rule}})
		if err != nil {
			t.Fatal(err)
		}
		for _, base := range []string{plain, strings.Replace(plain, "http:", "https:", 1)} {
			c := client(t, "", d.CAFile())
			c.Transport.(*http.Transport).Proxy = nil
			g := get(c, base+"/weather")
			if g.err == nil || errors.Is(g.err, syscall.ECONNRESET) != (rule.Mode == fault.Reset) {
				t.Errorf("%s at %s: %+v", rule.Mode, base, g)
			}
		}
		cell.Close()
	}
	// Whoever waits for another answer learns that there is none to come.
	text, err := os.ReadFile(d.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	own, trusted := x509.NewCertPool(), &tls.Config{}
	own.AppendCertsFromPEM(text)
	trusted.RootCAs = own
	conn, err := tls.Dial("tcp", strings.TrimPrefix(plain, "http://"), trusted)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
	reader := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(reader, nil); err != nil {
		t.Error(err)
	} else if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	taken := strings.TrimPrefix(s.port.Proxy(), "http://")
	if d, err := s.proxy.Port(taken); err == nil || !strings.Contains(err.Error(), "open a port for the agent: ") {
		t.Errorf("%v at an address that is taken: %v", d, err)
	}
}
