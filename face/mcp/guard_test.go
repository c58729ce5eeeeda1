package mcp

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	h := guard("secret", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, c := range []struct {
		host, origin, auth, query string
		want                      int
	}{
		{"127.0.0.1:80", "", "Bearer secret", "", http.StatusTeapot},
		{"localhost", "http://[::1]:3", "", "?token=secret", http.StatusTeapot},
		{"[::1]:80", "", "Bearer ", "", http.StatusUnauthorized},
		{"127.0.0.1", "", "Basic secret", "", http.StatusUnauthorized},
		{"127.0.0.1.example.org", "", "Bearer secret", "", http.StatusForbidden},
		{"10.0.0.1", "", "Bearer secret", "", http.StatusForbidden},
		{"localhost", "http://localhost.example.org", "Bearer secret", "", http.StatusForbidden},
		{"localhost", "::", "Bearer secret", "", http.StatusForbidden},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp"+c.query, nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r.Header.Set("Authorization", c.auth)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || (w.Header().Get("WWW-Authenticate") == `Bearer realm="thresh"`) != (c.want == http.StatusUnauthorized) ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%+v: %d, %v", c, w.Code, w.Header())
		}
	}
}
