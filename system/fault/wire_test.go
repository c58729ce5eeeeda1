package fault

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // of Java's form of certificates
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/engine/fault"
)

// What an agent accepts reaches the server, but where an answer is shown or changed: it
// must not be compressed then.
func TestWhatAgentsAccept(t *testing.T) {
	accepts := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts <- r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"content":"a"}}]}`)
	}))
	defer server.Close()
	for name, x := range map[string]struct {
		plan fault.Plan
		path string
		want string
	}{
		"nothing looks":   {fault.Plan{}, "/weather", "br"},
		"a slow answer":   {fault.Plan{Rules: []fault.Rule{tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate = 1 << 20 })}}, "/weather", "br"},
		"it is shown":     {fault.Plan{Capture: 1}, "/weather", ""},
		"it is repeated":  {fault.Plan{Rules: []fault.Rule{tool(fault.Duplicate, nil)}}, "/weather", ""},
		"it is remarked":  {fault.Plan{Rules: []fault.Rule{{Layer: fault.Context, Mode: fault.IndirectInjection}}}, "/weather", ""},
		"it may be stale": {fault.Plan{Rules: []fault.Rule{tool(fault.Stale, func(r *fault.Rule) { r.AfterCalls = 2 })}}, "/weather", ""},
		"a model's":       {fault.Plan{}, "/v1/chat/completions", ""},
	} {
		s := open(t, nil)
		c := s.plan(x.plan)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+x.path, strings.NewReader(fmt.Sprintf(chats[0].body, false)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "br")
		g := read(s.client().Do(req))
		if got := <-accepts; g.status != 200 || got != x.want {
			t.Errorf("%s: %+v; the server was asked for %q, want %q", name, g, got, x.want)
		}
		c.Close()
	}
}

// The file of certificates holds the proxy's own and after it what the system, or the user, trusts.
func TestCertificatesOfTheSystem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.pem")
	if err := os.WriteFile(file, []byte("what the user trusts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var system []byte
	for _, b := range slices.Backward(bundles[:]) {
		if text, err := os.ReadFile(b); err == nil {
			system = text
		}
	}
	for set, want := range map[string][]byte{file: []byte("what the user trusts\n"), "": system, file + ".gone": system} {
		t.Setenv("SSL_CERT_FILE", set)
		text, err := os.ReadFile(open(t, nil).port.CAFile())
		own, rest := pem.Decode(text)
		if err != nil || own == nil || !bytes.Equal(rest, want) {
			t.Errorf("SSL_CERT_FILE=%s: %v, %d bytes after the proxy's own certificate, want %d", set, err, len(rest), len(want))
		}
	}
	a, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 60) + ".example"
	var seen []string
	for _, host := range []string{long, long, "short.example"} {
		c, err := a.leaf(host)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprintf("%s %p", commonName(host), c))
	}
	if seen[0] != seen[1] || seen[1] == seen[2] || !strings.HasPrefix(seen[0], long[:64]+" ") || !strings.HasPrefix(seen[2], "short.example ") {
		t.Errorf("certificates %q", seen)
	}
}

// An answer keeps the headers that are still true of it, and no other.
func TestHeadersOfAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Etag", `"1"`)
		h.Set("Content-Md5", "x")
		h.Set("Digest", "x")
		h.Set("Keep-Alive", "timeout=5")
		h.Set("X-Own", "1")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "1")
		switch r.URL.Path {
		case "/unchanged":
			w.WriteHeader(http.StatusNotModified)
		default:
			h.Set("Content-Type", "text/plain")
			io.WriteString(w, "twelve bytes")
		}
	}))
	defer server.Close()
	own := map[string]string{"Etag": `"1"`, "Content-Md5": "x", "Digest": "x", "X-Own": "1", "Keep-Alive": "", "X-Hop": "", "Content-Length": "12"}
	for _, x := range []struct {
		method, path string
		rules        []fault.Rule
		differs      map[string]string
	}{
		{"GET", "/", nil, nil},
		{"HEAD", "/", nil, nil},
		{"HEAD", "/", []fault.Rule{tool(fault.Duplicate, nil)}, nil},
		{"GET", "/unchanged", nil, map[string]string{"Content-Length": ""}},
		{"GET", "/unchanged", []fault.Rule{tool(fault.Partial, nil)}, map[string]string{"Content-Length": ""}},
		{"GET", "/", []fault.Rule{tool(fault.Duplicate, nil)}, map[string]string{"Content-Length": "24"}},
		{"GET", "/", []fault.Rule{{Layer: fault.Context, Mode: fault.IndirectInjection, Payload: "M"}}, map[string]string{"Content-Length": "15", "Etag": "", "Content-Md5": "", "Digest": ""}},
	} {
		s := open(t, nil)
		c := s.enter(x.rules...)
		req, err := http.NewRequestWithContext(t.Context(), x.method, server.URL+x.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		g := read(s.client().Do(req))
		for name, want := range own {
			if other, ok := x.differs[name]; ok {
				want = other
			}
			if got := g.header.Get(name); g.err != nil || got != want {
				t.Errorf("%s %s, %v: %s is %q, want %q, %v", x.method, x.path, x.rules, name, got, want, g.err)
			}
		}
		c.Close()
	}
}

// A fault on what an answer says undoes its encoding where it can, and lets the answer
// pass as it is where it cannot.
func TestEncodingsOfAnswers(t *testing.T) {
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	io.WriteString(z, "plain")
	z.Close()
	var large bytes.Buffer
	z = zlib.NewWriter(&large)
	z.Write(make([]byte, maxWhole+1))
	z.Close()
	for _, x := range []struct {
		encoding, body string
		want, left     string
	}{
		{"identity", "plain", "plain\n\nM", ""},
		{"deflate", deflated.String(), "plain\n\nM", ""},
		{"deflate", large.String(), large.String(), "deflate"},
		{"deflate", deflated.String()[:8], deflated.String()[:8], "deflate"},
		{"gzip", "no gzip", "no gzip", "gzip"},
		{"zstd", "whatever", "whatever", "zstd"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", x.encoding)
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, x.body)
		}))
		s := open(t, nil)
		c := s.enter(fault.Rule{Layer: fault.Context, Mode: fault.IndirectInjection, Payload: "M"})
		g := get(s.client(), server.URL)
		k := c.Close().Tallies[0]
		var missed []string
		if x.left != "" {
			missed = []string{"the answer is compressed as " + x.left}
		}
		if g.err != nil || g.body != x.want || g.header.Get("Content-Encoding") != x.left || !slices.Equal(k.Missed, missed) {
			t.Errorf("%s: %.20q as %q, %v; want %.20q as %q; %+v", x.encoding, g.body, g.header.Get("Content-Encoding"), g.err, x.want, x.left, k)
		}
		server.Close()
	}
}

// A tunnel that fails ends, and the report claims only what happened.
func TestTunnelsThatFail(t *testing.T) {
	dead := httptest.NewServer(nil)
	host := strings.TrimPrefix(dead.URL, "http://")
	dead.Close()
	s := open(t, nil)
	c := s.enter(tool(fault.Error, nil))
	alone := new(http.Protocols)
	alone.SetHTTP2(true)
	agent := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(mustURL(t, c.Proxy())), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, Protocols: alone, //nolint:gosec // nobody is there to be trusted
	}}
	defer agent.CloseIdleConnections()
	if g := get(agent, "https://"+host); g.err == nil {
		t.Errorf("%+v", g)
	}
	if n := c.Report().Notes; len(n) != 1 || !strings.Contains(n[0], "the connection to "+host+", which is HTTP/2 alone") {
		t.Errorf("%q", n)
	}
	nowhere, err := net.Dial("tcp", mustURL(t, s.port.Proxy()).Host)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	fmt.Fprint(nowhere, "CONNECT h HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if said, err := io.ReadAll(nowhere); err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 400 ") || !strings.Contains(string(said), "CONNECT needs host:port") {
		t.Errorf("%q, %v", said, err)
	}
	conn, err := net.Dial("tcp", mustURL(t, s.port.Proxy()).Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n\x16\x03\x01\x00\x04\xff\xff\xff\xff")
	if said, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 200 ") {
		t.Errorf("%q, %v", said, err)
	}
	if n := c.Report().Notes; len(n) != 2 || !strings.Contains(n[1], "the proxy's certificate for h:1") {
		t.Errorf("%q", n)
	}
}

// A call that its server does not answer cannot be made twice, and why is said.
func TestCallsThatCannotBeMadeTwice(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	var calls atomic.Int64
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		if calls.Add(1) == 1 {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(make([]byte, 100))
	}))
	defer cut.Close()
	for url, want := range map[string]string{dead.URL: "the server gave no answer", cut.URL: "the answer did not come whole"} {
		s := open(t, nil)
		c := s.enter(tool(fault.Twice, nil))
		g := post(s.client(), url+"/pay", "application/json", `{"amount":5}`)
		if k := c.Close().Tallies[0]; g.err != nil || k.Fired != 0 || len(k.Missed) == 0 || k.Missed[0] != want {
			t.Errorf("%+v; %+v, want %s", g, k, want)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls reached the server", calls.Load())
	}
}

// Java's form of the certificates holds each of them, and a digest of it all.
func TestKeyStore(t *testing.T) {
	block := func(kind, text string) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(text)}) }
	store := keyStore(slices.Concat(block("CERTIFICATE", "one"), block("PRIVATE KEY", "secret"), block("CERTIFICATE", "second")))
	const want = "\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x02" +
		"\x00\x00\x00\x02\x00\x03ca1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05X.509\x00\x00\x00\x03one" +
		"\x00\x00\x00\x02\x00\x03ca2\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05X.509\x00\x00\x00\x06second"
	if got := string(store[:len(store)-sha1.Size]); got != want {
		t.Errorf("%q", got)
	}
	digest := sha1.Sum([]byte("\x00c\x00h\x00a\x00n\x00g\x00e\x00i\x00tMighty Aphrodite" + want)) //nolint:gosec // the form asks for it
	if !bytes.Equal(store[len(want):], digest[:]) {
		t.Errorf("its digest is %x, want %x", store[len(want):], digest)
	}
}

// What is said of a call that came to nothing names who ended it.
func TestWhoEndedACall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	for _, rules := range [][]fault.Rule{nil, {tool(fault.Duplicate, nil)}} {
		s := open(t, nil)
		c := s.enter(rules...)
		if g := get(s.client(), server.URL); g.err == nil {
			t.Errorf("%+v", g)
		}
		if e := c.Close().Exchanges; len(e) != 1 || e[0].Error != "the server cut the answer" || e[0].Ended != fault.WasClosed || e[0].Status != 200 {
			t.Errorf("%v: %+v", rules, e)
		}
	}
}

// A request whose length is not known in advance is looked into where it may be one of a model
// or of MCP, and passes as it comes elsewhere: it cannot be made twice.
func TestRequestsOfUnknownLength(t *testing.T) {
	var got atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Add(n)
	}))
	defer server.Close()
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"a":1}}}`
	ask := fmt.Sprintf(chats[0].body, false)
	for _, x := range []struct {
		path, kind, body string
		want             fault.Kind
		name             string
	}{
		{"/mcp", "application/json", call, fault.MCPCall, "look"},
		{"/v1/chat/completions", "", ask, fault.ModelCall, "openai"},
		{"/upload", "application/octet-stream", call, fault.ToolCall, "upload"},
	} {
		got.Store(0)
		s := open(t, nil)
		c := s.enter(tool(fault.Twice, nil))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+x.path, struct{ io.Reader }{strings.NewReader(x.body)})
		if err != nil {
			t.Fatal(err)
		}
		if x.kind != "" {
			req.Header.Set("Content-Type", x.kind)
		}
		if g := read(s.client().Do(req)); g.err != nil {
			t.Error(g.err)
		}
		r := c.Close()
		if len(r.Exchanges) != 1 || r.Exchanges[0].Kind != x.want || r.Exchanges[0].Tool != x.name || string(r.Exchanges[0].Request) != x.body || got.Load() != int64(len(x.body)) {
			t.Errorf("%s: the server got %d bytes; %+v", x.path, got.Load(), r.Exchanges)
		}
		if k := r.Tallies[0]; x.want != fault.ModelCall && (k.Fired != 0 || !slices.Equal(k.Missed, []string{"the request cannot be made twice"})) {
			t.Errorf("%s: %+v", x.path, k)
		}
	}
}

// The arguments of a call are its body, as far as people read it, or else its query.
func TestArgumentsOnTheWire(t *testing.T) {
	server, _ := tools(t)
	long := strings.Repeat("a", 16<<10+1)
	for body, want := range map[string]string{"": "q=1", "1": "1", long: long[1:]} {
		s := open(t, nil)
		c := s.enter()
		post(s.client(), server.URL+"/look?q=1", "text/plain", body)
		if calls := c.Close().ToolCalls; len(calls) != 1 || !reflect.DeepEqual(calls[0], fault.SeenCall{Tool: "look", Names: calls[0].Names, Arguments: want, Source: fault.SeenOnWire}) || calls[0].Names[0] != "look" {
			t.Errorf("%d bytes: %d calls", len(body), len(calls))
		}
	}
}

// A trace is as the standard has it, and names its cell long after that has closed.
func TestTraces(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	var headers [][2]string
	for range maxRetired + 2 {
		c := s.enter()
		headers = append(headers, c.Headers()[0])
		c.Close()
	}
	if h := headers[0]; h[0] != "Traceparent" || !regexp.MustCompile("^00-[0-9a-f]{32}-[0-9a-f]{16}-01$").MatchString(h[1]) {
		t.Errorf("%q", h)
	}
	c := s.enter(tool(fault.Error, nil))
	for i, status := range map[int]int{0: 503, 1: 503, 2: 200, maxRetired + 1: 200} { // the oldest are forgotten: the one open cell's
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(headers[i][0], headers[i][1])
		if g := read(s.client().Do(req)); g.status != status {
			t.Errorf("a call of closed cell %d: %d, want %d", i, g.status, status)
		}
	}
	c.Close()
}
