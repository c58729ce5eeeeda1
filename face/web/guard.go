package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy is what a page may do: load this server's own style, scripts and
// pictures, ask this server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// tokenCookie is the name of what keeps the token for a browser that came with
// it once. Cookies are shared by all ports of a machine: servers with tokens of
// their own have cookies of their own.
func (s *Server) tokenCookie() string {
	sum := sha256.Sum256([]byte("cookie of " + s.cfg.Token))
	return "thresh-token-" + hex.EncodeToString(sum[:4])
}

// guard is what every request goes through, in this order: headers that hold
// for every answer, the name the server was called by, where the request comes
// from, and the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // without any, a browser sends no origin either
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if !s.calledBy(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("this server is not called %q; thresh ui --host allows a name", r.Host))
			return
		}
		if why := refusalReason(r); why != "" {
			refuse(w, http.StatusForbidden, why)
			return
		}
		if s.cfg.Token != "" && !s.admit(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintln(w, why)
}

// calledBy reports whether a Host header is one that a page of this server can
// have sent. A name that somebody else has pointed at this machine (DNS
// rebinding) is none: addresses cannot be pointed anywhere.
func (s *Server) calledBy(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// refusalReason says why a request is none of this server's own pages or of its
// user: another site's script, form or frame. A link may be followed from
// anywhere.
func refusalReason(r *http.Request) string {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	origin := r.Header.Get("Origin")
	if origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return fmt.Sprintf("requests from %s are not answered", origin)
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "cross-site", "same-site":
		if !reading || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return "requests from other sites are not answered"
		}
	case "":
		if !reading && origin == "" {
			return "a request that changes something must say where it comes from (Origin)"
		}
	}
	return ""
}

// admit asks for the token: in the header of a program, in the cookie of a
// browser, or in the address by which a browser first comes; that one is put
// away in a cookie and taken out of the address.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && s.isToken(given) {
		return true
	}
	if c, err := r.Cookie(s.tokenCookie()); err == nil && s.isToken(c.Value) && !r.URL.Query().Has("token") {
		return true
	}
	if q := r.URL.Query(); r.Method == http.MethodGet && s.isToken(q.Get("token")) {
		http.SetCookie(w, &http.Cookie{
			Name: s.tokenCookie(), Value: q.Get("token"), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
		})
		q.Del("token")
		http.Redirect(w, r, localPath(r.URL.Path, q.Encode()), http.StatusSeeOther)
		return false
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="thresh"`)
	refuse(w, http.StatusUnauthorized, "this address needs the token that thresh ui printed: /?token=… in a browser, Authorization: Bearer … in a program")
	return false
}

// isToken compares in a time that tells nothing of the token.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
