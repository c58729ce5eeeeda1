package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/face/web"
)

func TestGuard(t *testing.T) {
	st := openStore(t, t.TempDir())
	id := keep(t, st, rich(t), 1, "done")
	base, u := serve(t, st, func(c *web.Config) { c.Hosts = []string{"builder.example.org"} })
	host := strings.TrimPrefix(base, "http://")
	promote := "/runs/" + id + "/findings/F-1a2b3c4d/promote"
	for _, c := range []struct {
		name, method, path string
		header             []string
		code               int
	}{
		{"as a page of its own asks", "GET", "/", nil, 200},
		{"by the name localhost", "GET", "/", []string{"Host", "localhost:1"}, 200},
		{"by a name that was allowed", "GET", "/", []string{"Host", "Builder.Example.org"}, 200},
		{"by an address of version 6", "GET", "/", []string{"Host", "[::1]:80"}, 200},
		{"by a name that was pointed here", "GET", "/api/v1/runs", []string{"Host", "evil.example"}, 421},
		{"by a name that begins like an allowed one", "GET", "/", []string{"Host", "localhost.evil.example"}, 421},
		{"by no name", "GET", "/", []string{"Host", " "}, 421},
		{"a script of another site", "GET", "/api/v1/runs", []string{"Origin", "http://evil.example"}, 403},
		{"a page without an origin", "GET", "/api/v1/runs", []string{"Origin", "null"}, 403},
		{"a picture in another site", "GET", "/api/v1/runs", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"a frame in another site", "GET", "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"another port of this machine", "GET", "/api/v1/runs", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"a link in another site", "GET", "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"a form of another site", "POST", promote, []string{"Origin", "http://evil.example"}, 403},
		{"a form that is navigated to", "POST", promote, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"a form that hides where it is from", "POST", promote, nil, 403},
		{"a form of its own", "POST", promote, []string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}, 200},
		{"a form of its own that promotes what cannot be", "POST", strings.Replace(promote, "F-1a2b3c4d", "F-c0ffee00", 1), []string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}, 409},
		{"a link that promotes", "GET", promote, nil, 404},
	} {
		a := ask(t, c.method, base+c.path, c.header...)
		if a.code != c.code {
			t.Errorf("%s: %d, want %d: %.100s", c.name, a.code, c.code, a.body)
		}
		if p := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: policy %q", c.name, p)
		}
	}
	if n := len(u.promoted); n != 1 {
		t.Errorf("%d findings were promoted, want 1", n)
	}
}

func TestToken(t *testing.T) {
	st := openStore(t, t.TempDir())
	keep(t, st, rich(t), 1, "done")
	base, _ := serve(t, st, func(c *web.Config) { c.Token = "s3cret" })
	for _, path := range []string{"/", "/api/v1/runs", "/metrics", "/static/x/app.js", "/?token=wrong"} {
		if a := ask(t, "GET", base+path); a.code != http.StatusUnauthorized || strings.Contains(a.body, "s3cret") || strings.Contains(a.body, "pdf-parser") {
			t.Errorf("%s without the token: %d", path, a.code)
		}
	}
	if a := ask(t, "GET", base+"/api/v1/runs", "Authorization", "Bearer s3cret"); a.code != 200 {
		t.Errorf("with the token as a program gives it: %d", a.code)
	}
	if a := ask(t, "GET", base+"/", "Authorization", "Bearer S3cret"); a.code != 401 {
		t.Errorf("with another token: %d", a.code)
	}
	a := ask(t, "GET", base+"//evil.example/?token=s3cret&q=x")
	if to := a.header.Get("Location"); a.code != http.StatusSeeOther && a.code != http.StatusTemporaryRedirect && a.code != http.StatusMovedPermanently || strings.HasPrefix(to, "//") {
		t.Errorf("the token leads to %q (%d)", to, a.code)
	}
	a = ask(t, "GET", base+"/?token=s3cret&q=x")
	cookie := a.header.Get("Set-Cookie")
	if a.code != http.StatusSeeOther || a.header.Get("Location") != "/?q=x" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("coming with the token: %d to %q with %q", a.code, a.header.Get("Location"), cookie)
	}
	name, _, _ := strings.Cut(cookie, ";")
	if a := ask(t, "GET", base+"/", "Cookie", name); a.code != 200 {
		t.Errorf("coming again: %d", a.code)
	}
}
