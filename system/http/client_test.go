package http_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/exchange"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

func client(t *testing.T) exchange.Client {
	t.Helper()
	c, err := httpsys.OpenClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestDo(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Add("X-Two", "a")
			w.Header().Add("X-Two", "b")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.Host, r.Header.Get("X-Own"), body, r.Header.Get("Cookie"))
		case "/cookie":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
		case "/away":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/large":
			fmt.Fprint(w, strings.Repeat("x", 2000))
		case "/latin", "/latin-1", "/euc", "/unheard":
			charset := map[string]string{"/latin": "ISO-8859-1", "/latin-1": "latin-1", "/euc": "EUC_KR", "/unheard": "x-unheard-of"}[r.URL.Path]
			w.Header().Set("Content-Type", "text/plain; charset="+charset)
			if r.URL.Path == "/euc" {
				fmt.Fprint(w, "\xc7\xd1")
				return
			}
			fmt.Fprint(w, "caf\xe9")
		case "/wide": // with its byte order mark
			w.Header().Set("Content-Type", "application/json; charset=utf-16")
			fmt.Fprint(w, "\xfe\xff\x00{\x00}")
		case "/packed", "/bomb", "/torn":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, strings.Repeat("z", map[string]int{"/packed": 3, "/bomb": 100_000, "/torn": 3}[r.URL.Path]))
			z.Flush()
			if r.URL.Path != "/torn" {
				z.Close()
			}
		case "/not-packed":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "plain text")
		case "/a b/é":
			fmt.Fprint(w, r.URL.RequestURI())
		case "/slow":
			<-r.Context().Done()
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	c := client(t)
	do := func(path string) (exchange.Response, error) {
		return c.Do(t.Context(), exchange.Request{
			Method: "POST", URL: s.URL + path, Headers: [][2]string{{"X-Own", "own"}, {"Host", "named.example"}},
			Body: []byte("body"), Timeout: 5 * time.Second, MaxBody: 1000,
		})
	}
	if _, err := do("/cookie"); err != nil {
		t.Fatal(err)
	}
	r, err := do("/echo")
	if err != nil || r.Status != http.StatusTeapot || string(r.Body) != "POST named.example own body " {
		t.Errorf("%v %d %q", err, r.Status, r.Body)
	}
	if i := slices.Index(r.Headers, [2]string{"X-Two", "a"}); i < 0 || r.Headers[i+1] != [2]string{"X-Two", "b"} {
		t.Errorf("headers %q", r.Headers)
	}
	if r, err := do("/away"); err != nil || r.Status != http.StatusTeapot || !strings.HasPrefix(string(r.Body), "GET") {
		t.Errorf("redirect: %v %d %q", err, r.Status, r.Body)
	}
	for most, want := range map[int]string{0: "302 0", 1: "418 1"} {
		r, err := c.Do(t.Context(), exchange.Request{Method: "GET", URL: s.URL + "/away", Redirects: &most, MaxBody: 1000, Timeout: 5 * time.Second})
		if got := fmt.Sprint(r.Status, r.Redirects); err != nil || got != want {
			t.Errorf("%d redirects: %s, %v, want %s", most, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"/latin": "café", "/latin-1": "café", "/euc": "한", "/unheard": "caf\xe9", "/wide": "{}", "/packed": "zzz", "/a b/é?q=a b&é": "/a%20b/%C3%A9?q=a%20b&%C3%A9",
	} {
		if r, err := do(path); err != nil || string(r.Body) != want {
			t.Errorf("%s: %v %q, want %q", path, err, r.Body, want)
		}
	}
	for path, want := range map[string]string{"/loop": "redirects", "/large": "larger than 1000", "/cut": "cut", "/bomb": "larger than 1000",
		"/torn": "the body ends before its gzip does", "/not-packed": "the Content-Encoding is gzip, but the body does not begin as gzip does"} {
		if _, err := do(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	_, err = c.Do(t.Context(), exchange.Request{Method: "GET", URL: s.URL + "/slow", Timeout: 50 * time.Millisecond, MaxBody: 10})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slow: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Do(ctx, exchange.Request{Method: "GET", URL: s.URL + "/echo"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestNamesOfHeaders(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			w.Header()["X-AWAY"] = []string{"1"}
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusEarlyHints)
		w.Header()["ETag"] = []string{`"1"`}
		w.Header()["x-lower"] = []string{"a", "b"}
		w.Header()["Date"] = nil
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "x-body: b\r\n\r\n")
	}
	plain, secret := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewUnstartedServer(http.HandlerFunc(answer))
	secret.EnableHTTP2 = true
	secret.StartTLS()
	defer plain.Close()
	defer secret.Close()
	c := client(t)
	urls := []string{plain.URL, plain.URL + "/away"}
	if runtime.GOOS == "linux" { // where a variable says whom to trust
		trusted := filepath.Join(t.TempDir(), "trusted.pem")
		data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secret.Certificate().Raw})
		if err := os.WriteFile(trusted, data, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SSL_CERT_FILE", trusted)
		urls = append(urls, secret.URL)
	}
	want := [][2]string{{"ETag", `"1"`}, {"Transfer-Encoding", "chunked"}, {"x-lower", "a"}, {"x-lower", "b"}}
	for _, url := range urls {
		r, err := c.Do(t.Context(), exchange.Request{Method: "GET", URL: url, MaxBody: 100, Timeout: 20 * time.Second})
		if err != nil || !slices.Equal(r.Headers, want) {
			t.Errorf("%s: %v %q", url, err, r.Headers)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	c := client(t)
	if _, err := c.Do(t.Context(), exchange.Request{Method: "GET", URL: url, MaxBody: 1, Timeout: time.Second}); err == nil || err.Error() != "the connection was refused" {
		t.Error(err)
	}
	if _, err := c.Do(t.Context(), exchange.Request{Method: "GET", URL: "http://[bad", MaxBody: 1, Timeout: time.Second}); err == nil {
		t.Error("a URL that is none is sent")
	}
}

// A proxy that takes no connection says nothing of the server behind it.
func TestProxyUnreachable(t *testing.T) {
	_, err := client(t).Do(t.Context(), exchange.Request{Method: "GET", URL: "http://127.0.0.1:1/x", Proxy: "http://127.0.0.1:2", MaxBody: 1})
	var nobody *exchange.UnreachableError
	if !errors.As(err, &nobody) || nobody.Server != "the proxy http://127.0.0.1:2" {
		t.Errorf("got %v", err)
	}
}
