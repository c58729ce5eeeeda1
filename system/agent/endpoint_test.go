package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// patience is a limit that nothing here comes near.
const patience = 30 * time.Second

func open(t testing.TB, plan agentcall.Plan) agentcall.Agent {
	t.Helper()
	a, err := New().Open(t.Context(), plan, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

func ask(t testing.TB, a agentcall.Agent, c agentcall.Call) agentcall.Reply {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	r, err := a.Call(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.OK() != (r.Error == "") {
		t.Errorf("%s with error %q", r.End, r.Error)
	}
	return r
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func post(url string) agentcall.Plan {
	return agentcall.Plan{HTTP: &agentcall.HTTP{URL: url, Method: "POST"}}
}

// Whatever a server sends, there is a clear end, and nothing but an answer is one.
func TestReplies(t *testing.T) {
	const json, page = "application/json", "text/html; charset=utf-8"
	for _, tc := range []struct {
		name, kind, body string
		status           int
		end              agentcall.End
		text, err        string
	}{
		{"JSON", json, `{"output": "hi"}`, 200, agentcall.Answered, "hi", ""},
		{"JSON of a kind", "application/problem+json", `{"output": "hi"}`, 200, agentcall.Answered, "hi", ""},
		{"text", "text/plain", `{"output": "hi"}`, 200, agentcall.Answered, `{"output": "hi"}`, ""},
		{"no JSON though it says so", json, `{"output": `, 200, agentcall.Answered, `{"output": `, ""},
		{"empty", "", "", 200, agentcall.Answered, "", ""},
		{"no content", "", "", 204, agentcall.Answered, "", ""},
		{"error null", json, `{"error": null, "output": "x"}`, 200, agentcall.Answered, "x", ""},
		{"error", json, `{"error": "broke"}`, 200, agentcall.Reported, `{"error": "broke"}`, "Agent error: broke"},
		{"status", "text/plain", "Service Unavailable", 503, agentcall.Refused, "", "HTTP 503: Service Unavailable"},
		{"redirect", "", "", 307, agentcall.Refused, "", "HTTP 307"},
		{"redirect that says where to", "/chat/", "", 307, agentcall.Refused, "", "HTTP 307: it redirects to /chat/, and redirects are not followed"},
		{"script as text", page, `<script>alert("x")</script>`, 200, agentcall.Answered, `<script>alert("x")</script>`, ""},
		{"script in JSON", json, `{"output": "</script><script>"}`, 200, agentcall.Answered, "</script><script>", ""},
		{"page", page, " <!DOCTYPE html><html>x</html>", 200, agentcall.Malformed, " <!DOCTYPE html><html>x</html>", "the reply is a page of HTML, not an answer"},
		{"Latin 1", "text/plain; charset=ISO-8859-1", "caf\xe9", 200, agentcall.Answered, "café", ""},
		{"Latin 1 in JSON", json + "; charset=latin1", "{\"output\": \"caf\xe9\"}", 200, agentcall.Answered, "café", ""},
		{"Shift JIS", "text/plain; charset=shift_jis", "\x93\xfa\x96\x7b", 200, agentcall.Answered, "日本", ""},
		{"UTF-16 by its mark", json, "\xff\xfe{\x00}\x00", 200, agentcall.Answered, "{}", ""},
		{"UTF-16 without a mark", json, "{\x00\"\x00x\x00\"\x00:\x001\x00}\x00", 200, agentcall.Answered, "1", ""},
		{"UTF-16 the other way round", json, "\x00{\x00\"\x00x\x00\"\x00:\x001\x00}", 200, agentcall.Answered, "1", ""},
		{"the same key twice", json, `{"output": "a", "output": "b"}`, 200, agentcall.Answered, "b", ""},
		{"UTF-8 with a mark", json, "\ufeff{\"output\": \"x\"}", 200, agentcall.Answered, "x", ""},
		{"undeclared charset", "text/plain", "caf\xe9", 200, agentcall.Malformed, "caf�", "the reply is not UTF-8 and declares no other charset"},
		{"unknown charset", "text/plain; charset=klingon", "x", 200, agentcall.Malformed, "x", `the reply is in the unknown charset "klingon"`},
		{"too large", "text/plain", strings.Repeat("x", 2000), 200, agentcall.TooLarge, strings.Repeat("x", 1000), "the reply is larger than 1000 bytes"},
		{"events", "text/event-stream", "data: a\n\ndata: b\n\n", 200, agentcall.Answered, "ab", ""},
		{"events, cut", "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", 200, agentcall.Cut, "x", "the stream ended before its end marker"},
		{"events, too many", "text/event-stream", strings.Repeat("data: 12345\n\n", 100), 200, agentcall.TooLarge, "", "the reply is larger than 1000 bytes"},
		{"lines", "application/x-ndjson", "{\"response\": \"a\", \"done\": true}\n", 200, agentcall.Answered, "a", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := post(serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = []string{tc.kind}
				if strings.HasPrefix(tc.kind, "/") {
					w.Header().Set("Location", tc.kind)
				}
				w.WriteHeader(tc.status)
				io.WriteString(w, tc.body)
			}))
			plan.MaxReply = 1000
			r := ask(t, open(t, plan), agentcall.Call{})
			if r.End != tc.end || r.Error != tc.err || r.Status != tc.status || r.Text != tc.text && tc.text != "" || r.Attempts != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// raw serves connections by hand.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(newBuffered(c)); err == nil {
					serve(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestBrokenConnections(t *testing.T) {
	t.Parallel() // mostly waits
	endless := strings.Repeat("y", 64<<10)
	for _, tc := range []struct {
		name  string
		serve func(net.Conn)
		limit time.Duration
		end   agentcall.End
		text  string
	}{
		{"closed before a reply", func(net.Conn) {}, 0, agentcall.Cut, ""},
		{"closed in the body", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc") }, 0, agentcall.Cut, "abc"},
		{"closed in a chunk", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n5\r\nab")
		}, 0, agentcall.Cut, "abcdeab"},
		{"no HTTP", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n") }, 0, agentcall.Malformed, ""},
		{"encoded unasked", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx")
		}, 0, agentcall.Malformed, ""},
		{"gzip that is none", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\nplain text all along")
		}, 0, agentcall.Malformed, ""},
		{"headers without end", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X: "+endless[:4096]+"\r\n"); err != nil {
					return
				}
			}
		}, 0, agentcall.TooLarge, ""},
		{"a reply without end", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := io.WriteString(c, endless); err != nil {
					return
				}
			}
		}, 0, agentcall.TooLarge, ""},
		{"a stream without end", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			for {
				if _, err := io.WriteString(c, "data: "+endless+"\n\n"); err != nil {
					return
				}
			}
		}, 0, agentcall.TooLarge, ""},
		{"1 GB announced", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
			for {
				if _, err := io.WriteString(c, endless); err != nil {
					return
				}
			}
		}, 0, agentcall.TooLarge, ""},
		{"silence", func(c net.Conn) { io.Copy(io.Discard, c) }, 200 * time.Millisecond, agentcall.TimedOut, ""},
		{"silence in the body", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
			io.Copy(io.Discard, c)
		}, 200 * time.Millisecond, agentcall.TimedOut, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := ask(t, open(t, post(raw(t, tc.serve))), agentcall.Call{Timeout: tc.limit})
			if r.End != tc.end || tc.text != "" && r.Text != tc.text || len(r.Text) > agentcall.DefaultMaxReply {
				r.Text = r.Text[:min(len(r.Text), 100)]
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("bomb", func(t *testing.T) {
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		for range 200 {
			z.Write([]byte(endless))
		}
		z.Close()
		r := ask(t, open(t, post(serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		}))), agentcall.Call{})
		if r.End != agentcall.TooLarge {
			t.Errorf("%s", r.End)
		}
	})
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	if r := ask(t, open(t, post(url)), agentcall.Call{}); r.End != agentcall.Unreachable || r.Error != "the connection was refused" {
		t.Errorf("%+v", r)
	}
	if r := ask(t, open(t, post("http://host.invalid/")), agentcall.Call{}); r.End != agentcall.Unreachable || !strings.Contains(r.Error, "host.invalid") {
		t.Errorf("%+v", r)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel() // mostly waits
	var calls atomic.Int32
	plan := post(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "at last")
	}))
	plan.HTTP.Retries = 2
	if r := ask(t, open(t, plan), agentcall.Call{}); r.Text != "at last" || r.Attempts != 3 || calls.Load() != 3 {
		t.Errorf("%+v after %d", r, calls.Load())
	}
	calls.Store(0)
	plan.HTTP.Retries = 1
	if r := ask(t, open(t, plan), agentcall.Call{}); r.End != agentcall.Cut || r.Attempts != 2 {
		t.Errorf("%+v", r)
	}
	calls.Store(0)
	if r := ask(t, open(t, plan), agentcall.Call{Timeout: 100 * time.Millisecond}); r.End != agentcall.Cut || r.Attempts != 1 {
		t.Errorf("the wait for a retry went over the limit: %+v", r)
	}
}

// request is what a server saw, as text.
func seen(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	return fmt.Sprintf("%s %s %s [%s]", r.Method, r.URL.RequestURI(), body, r.Header.Get("Content-Type"))
}

func TestRequests(t *testing.T) {
	for _, tc := range []struct {
		name string
		plan agentcall.HTTP
		call agentcall.Call
		want string
	}{
		{"default", agentcall.HTTP{}, agentcall.Call{Prompt: "a \"b\"\n"}, `POST / {"input": "a \"b\"\n"} [application/json]`},
		{"query of a POST", agentcall.HTTP{Query: [][2]string{{"k", "v w"}}}, agentcall.Call{Prompt: "x"}, `POST /?k=v+w {"input": "x"} [application/json]`},
		{"GET by JSON", agentcall.HTTP{Method: "GET", Template: `{"q": "{prompt}", "deep": true, "none": null, "l": [1, 2], "k": "mine"}`, Query: [][2]string{{"k", "v"}, {"z", "1"}}},
			agentcall.Call{Prompt: "hey you"}, `GET /?z=1&q=hey+you&deep=true&none=&l=1&l=2&k=mine  []`},
		{"GET by pairs", agentcall.HTTP{Method: "GET", Template: "q={prompt}&n=1"}, agentcall.Call{Prompt: "hey you&n=2"}, `GET /?q=hey+you%26n%3D2&n=1  []`},
		{"GET by text", agentcall.HTTP{Method: "DELETE", Template: "say {prompt}"}, agentcall.Call{Prompt: "hey"}, `DELETE /?q=say+hey  []`},
		{"form", agentcall.HTTP{Template: "q={prompt}&format=json"}, agentcall.Call{Prompt: "a&b"}, `POST / q=a%26b&format=json [application/x-www-form-urlencoded]`},
		{"text", agentcall.HTTP{Method: "put", Template: "Q: {prompt}"}, agentcall.Call{Prompt: "a&b"}, `PUT / Q: a&b [text/plain; charset=utf-8]`},
		{"XML", agentcall.HTTP{Template: "<q>{prompt}</q>", Headers: [][2]string{{"content-type", "text/xml"}}}, agentcall.Call{Prompt: "a<b"}, `POST / <q>a&lt;b</q> [text/xml]`},
		{"list", agentcall.HTTP{Template: `["{prompt}"]`}, agentcall.Call{Prompt: "x"}, `POST / ["x"] [application/json]`},
		{"fields", agentcall.HTTP{Template: `{"p": "{productName}"}`, Fields: true}, agentcall.Call{Prompt: "Product name: tea"}, `POST / {"p": "tea"} [application/json]`},
		{"no fields", agentcall.HTTP{Template: `{"p": "{productName}"}`}, agentcall.Call{Prompt: "Product name: tea"}, `POST / {"p": "{productName}"} [application/json]`},
		{"method", agentcall.HTTP{}, agentcall.Call{Prompt: "x", Wire: &agentcall.Wire{Method: "PATCH", ContentType: "text/xml", Query: [][2]string{{"a", "1"}, {"a", "2"}}, Pad: 2}}, `PATCH /?a=1&a=2 {"input": "x"}   [text/xml]`},
		{"chunked", agentcall.HTTP{}, agentcall.Call{Prompt: "x", Wire: &agentcall.Wire{Encoding: "chunked"}}, `POST / {"input": "x"} [application/json]`},
		{"gzip", agentcall.HTTP{}, agentcall.Call{Prompt: "x", Wire: &agentcall.Wire{Encoding: "gzip"}}, "POST / \x1f\x8b"},
		{"UTF-16", agentcall.HTTP{}, agentcall.Call{Prompt: "x", Wire: &agentcall.Wire{Encoding: "utf-16"}}, "POST / \xff\xfe{\x00"},
		{"slow", agentcall.HTTP{}, agentcall.Call{Prompt: "x", Wire: &agentcall.Wire{Trickle: 16 * time.Millisecond}}, `POST / {"input": "x"} [application/json]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			tc.plan.URL = serve(t, func(w http.ResponseWriter, r *http.Request) { got = seen(r) })
			if tc.plan.Method == "" {
				tc.plan.Method = "POST"
			}
			ask(t, open(t, agentcall.Plan{HTTP: &tc.plan}), tc.call)
			if got != tc.want && !(tc.call.Wire != nil && strings.HasPrefix(got, tc.want)) {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestHeadersAndCookies(t *testing.T) {
	plan := post(serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := 1
		if c, err := r.Cookie("n"); err == nil {
			fmt.Sscan(c.Value, &n)
			n++
		}
		http.SetCookie(w, &http.Cookie{Name: "n", Value: fmt.Sprint(n)})
		fmt.Fprintln(w, n, r.Header["X-A"], r.Header["X-Session"], r.Host, r.UserAgent())
	}))
	plan.HTTP.Headers = [][2]string{{"X-A", "plan"}, {"X-Session", "s-{session}"}, {"Host", "agent.example"}}
	a := open(t, plan)
	for _, tc := range []struct {
		call agentcall.Call
		want string
	}{
		{agentcall.Call{Session: "one"}, "1 [plan] [s-one] agent.example thresh"},
		{agentcall.Call{Session: "one", Headers: [][2]string{{"x-a", "call"}}}, "2 [call] [s-one] agent.example thresh"},
		{agentcall.Call{Session: "one", Wire: &agentcall.Wire{Headers: [][2]string{{"X-A", "more"}}}}, "3 [plan more] [s-one] agent.example thresh"},
		{agentcall.Call{Session: "two"}, "1 [plan] [s-two] agent.example thresh"},
		{agentcall.Call{}, "1 [plan] [s-thresh-0-5] agent.example thresh"},
		{agentcall.Call{}, "1 [plan] [s-thresh-0-6] agent.example thresh"},
	} {
		if r := ask(t, a, tc.call); r.Text != tc.want+"\n" {
			t.Errorf("%q, want %q", r.Text, tc.want)
		}
	}
	for want, agents := range map[string][][2]string{"mine": {{"User-Agent", "mine"}}, "": {{"user-agent", ""}}} {
		named := post(serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Join(r.Header["User-Agent"], " ")) }))
		named.HTTP.Headers = agents
		if r := ask(t, open(t, named), agentcall.Call{}); r.Text != want {
			t.Errorf("%q, want %q", r.Text, want)
		}
	}
	ask(t, a, agentcall.Call{Session: "three"})
	if err := a.Reset(t.Context(), patience); err != nil || a.Forgets() {
		t.Error(err)
	}
	if r := ask(t, a, agentcall.Call{Session: "three"}); !strings.HasPrefix(r.Text, "1 ") {
		t.Errorf("cookies outlive a reset: %s", r.Text)
	}
	for _, h := range [][2]string{{"Content-Length", "7"}, {"transfer-encoding", "x"}, {"X A", "1"}, {"", "1"}, {"X-A", "1\r\nX-B: 2"}} {
		c := agentcall.Call{Timeout: patience, Wire: &agentcall.Wire{Headers: [][2]string{h}}}
		if _, err := a.Call(t.Context(), c); err == nil || !strings.Contains(err.Error(), "cannot be se") {
			t.Errorf("%q: %v", h, err)
		}
	}
}

func TestCopies(t *testing.T) {
	var calls, most, now atomic.Int32
	all := make(chan struct{})
	a := open(t, post(serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		most.Store(max(most.Load(), n))
		if calls.Add(1) == 4 {
			close(all)
		}
		<-all
		if n == 4 {
			w.WriteHeader(500)
		}
	})))
	r := ask(t, a, agentcall.Call{Wire: &agentcall.Wire{Copies: 4}})
	if r.End != agentcall.Refused || len(r.Copies) != 4 || most.Load() != 4 {
		t.Errorf("%+v, %d at once", r, most.Load())
	}
}

func TestConcurrencyIsHonoured(t *testing.T) {
	var now, most atomic.Int32
	plan := post(serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		runtime.Gosched()
		now.Add(-1)
	}))
	plan.Concurrency = 2
	agents := New()
	var group sync.WaitGroup
	for lane := range 8 {
		a, err := agents.Open(t.Context(), plan, lane, nil)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for range 20 {
				ask(t, a, agentcall.Call{})
			}
			a.Close()
		})
	}
	group.Wait()
	if most.Load() > 2 || len(agents.plans)+len(agents.turns) > 0 {
		t.Errorf("%d at once, %d plans and %d turns left", most.Load(), len(agents.plans), len(agents.turns))
	}
}

func TestResets(t *testing.T) {
	status, resets := 204, ""
	plan := post(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset" {
			resets += r.Method
			w.WriteHeader(status)
			io.WriteString(w, "busy")
		}
	}) + "/chat")
	plan.Reset = agentcall.Reset{URL: "/reset"}
	a := open(t, plan)
	if err := a.Reset(t.Context(), patience); err != nil || resets != "POST" || !a.Forgets() {
		t.Error(err, resets)
	}
	for status = range map[int]bool{500: true, 302: true, 404: true} {
		if err := a.Reset(t.Context(), patience); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("reset the agent by /reset: HTTP %d: busy", status)) {
			t.Error(err)
		}
	}
}

func TestThroughAProxy(t *testing.T) {
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "direct") }))
	target.Config.ErrorLog = log.New(io.Discard, "", 0)
	target.StartTLS()
	defer target.Close()
	proxied := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "by proxy to "+r.URL.Host+" as "+r.Header.Get("Proxy-Authorization"))
	})
	a := open(t, post("http://127.0.0.1:9/x"))
	via := agentcall.Via{Proxy: strings.Replace(proxied, "http://", "http://u:p@", 1)}
	if r := ask(t, a, agentcall.Call{Via: via}); r.Text != "by proxy to 127.0.0.1:9 as Basic dTpw" {
		t.Errorf("%+v", r)
	}
	secure := open(t, post(target.URL))
	if r := ask(t, secure, agentcall.Call{}); r.End != agentcall.Unreachable || !strings.Contains(r.Error, "certificate") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, secure, agentcall.Call{Via: agentcall.Via{CA: pemOf(target)}}); r.Text != "direct" {
		t.Errorf("%+v", r)
	}
}

func TestChat(t *testing.T) {
	var got string
	reply := `{"choices": [{"message": {"content": "hi"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 1}}`
	kind := "application/json"
	plan := agentcall.Plan{Chat: &agentcall.Chat{Model: "m", System: "be kind", Headers: [][2]string{{"Authorization", "Bearer k"}}, MaxTokens: 5,
		URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			got = seen(r) + r.Header.Get("Authorization")
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, reply)
		}) + "/v1"}}
	a := open(t, plan)
	r := ask(t, a, agentcall.Call{Prompt: "q", History: []agentcall.Message{{Role: "assistant", Text: "x"}}})
	if r.Text != "hi" || r.Tokens != (agentcall.Tokens{Prompt: 2, Completion: 1, Known: true}) {
		t.Errorf("%+v", r)
	}
	if got != `POST /v1/chat/completions {"model":"m","messages":[{"role":"system","content":"be kind"},{"role":"assistant","content":"x"},{"role":"user","content":"q"}],"max_tokens":5} [application/json]Bearer k` {
		t.Error(got)
	}
	kind = "text/plain"
	if r := ask(t, a, agentcall.Call{}); r.Text != "hi" {
		t.Errorf("%+v", r)
	}
	kind = "application/json"
	for body, end := range map[string]agentcall.End{`{"choices": []}`: agentcall.Malformed, `{`: agentcall.Malformed, `{"error": {"message": "no"}}`: agentcall.Reported} {
		reply = body
		if r := ask(t, a, agentcall.Call{}); r.End != end {
			t.Errorf("%s: %+v", body, r)
		}
	}
	kind, reply = "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"
	if r := ask(t, a, agentcall.Call{}); r.Text != "a" || r.Chunks != 1 || r.First == 0 {
		t.Errorf("%+v", r)
	}
}

// Models that refuse a temperature, and a limit by its old name, are asked again
// without; any other refusal stands.
func TestChatThatTakesLess(t *testing.T) {
	var bodies []string
	zero := 0.0
	a := open(t, agentcall.Plan{Chat: &agentcall.Chat{Model: "m", MaxTokens: 5, Temperature: &zero, URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		for _, word := range []string{"max_tokens", "temperature", "no"} {
			if strings.Contains(string(body), `"`+word+`"`) {
				http.Error(w, "Unsupported parameter: '"+word+"', use 'max_completion_tokens'", http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices": [{"message": {"content": "hi"}}]}`)
	})}})
	for _, tc := range []struct {
		prompt string
		asked  int
		end    agentcall.End
	}{{"q", 3, agentcall.Answered}, {"q", 1, agentcall.Answered}, {"no", 1, agentcall.Refused}} {
		bodies = nil
		if r := ask(t, a, agentcall.Call{Prompt: tc.prompt}); r.End != tc.end || len(bodies) != tc.asked || !strings.Contains(bodies[tc.asked-1], `"max_completion_tokens":5`) {
			t.Errorf("%+v after %q", r, bodies)
		}
	}
	if notes := a.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "takes no temperature") {
		t.Error(notes)
	}
}

func TestRefusedPlansAndCalls(t *testing.T) {
	http := &agentcall.HTTP{URL: "http://127.0.0.1:9", Method: "POST"}
	for want, plan := range map[string]agentcall.Plan{
		"of one kind":              {},
		"of one kind of":           {HTTP: http, Chat: &agentcall.Chat{}},
		"is not an HTTP method":    {HTTP: &agentcall.HTTP{Method: "TRACE"}},
		"response path":            {HTTP: &agentcall.HTTP{Method: "GET", ResponsePath: "a["}},
		"either a command or":      {MCP: &agentcall.MCP{}},
		"command is empty":         {Command: &agentcall.Command{}},
		"started for its calls":    {Command: &agentcall.Command{Argv: []string{"true"}}, Start: &agentcall.Start{}},
		"needs a command":          {HTTP: http, Start: &agentcall.Start{}},
		"cannot be replaced":       {HTTP: http, Reset: agentcall.Reset{Renew: true}},
		"not negative":             {HTTP: http, Concurrency: -1},
		"find the agent's program": {Command: &agentcall.Command{Argv: []string{"no-such-program"}}},
	} {
		if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := New().Open(t.Context(), agentcall.Plan{HTTP: http}, 0, []string{"A=1"}); err == nil {
		t.Error("an environment for nobody")
	}
	a := open(t, agentcall.Plan{HTTP: http})
	for want, c := range map[string]agentcall.Call{
		"time limit": {}, "earlier turns": {Timeout: 1, History: []agentcall.Message{{}}}, "environment": {Timeout: 1, Env: []string{"A=1"}},
		"watched": {Timeout: 1, Watcher: &recorder{}}, "not an encoding": {Timeout: 1, Wire: &agentcall.Wire{Encoding: "rot13"}},
	} {
		if _, err := a.Call(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Call(ctx, agentcall.Call{Timeout: patience}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkCall(b *testing.B) {
	a := open(b, post(serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"output": "hi"})
	})))
	for b.Loop() {
		ask(b, a, agentcall.Call{Prompt: "x"})
	}
}
