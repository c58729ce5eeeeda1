package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard passes requests that come from this machine and have the token. It refuses pages of other
// sites before it looks at the token, including sites whose name points to this machine (DNS
// rebinding).
func guard(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !isLocalHost(r.Host) {
			http.Error(w, "this server answers only to addresses of this machine and localhost", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !isLocalHost(u.Host) {
				http.Error(w, "requests from pages of other machines are not answered", http.StatusForbidden)
				return
			}
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			given = r.URL.Query().Get("token") // for clients that cannot set a header
		}
		if sum := sha256.Sum256([]byte(given)); subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="thresh"`)
			http.Error(w, "this address needs the token of thresh mcp: Authorization: Bearer TOKEN, or ?token=TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocalHost reports whether a host, with or without a port, is this machine.
func isLocalHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}
