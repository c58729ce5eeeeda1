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

// policy restricts a page to this server's own styles, scripts and images, and to requests to this
// server.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// tokenCookie returns the name of the cookie that keeps the token for a browser. All ports of a
// machine share cookies, so servers with different tokens need different names.
func (s *Server) tokenCookie() string {
	sum := sha256.Sum256([]byte("cookie of " + s.cfg.Token))
	return "thresh-token-" + hex.EncodeToString(sum[:4])
}

// guard handles every request first. In this order, it sets the headers of all answers and checks
// the Host header, where the request comes from, and the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // without a policy, a browser sends no origin either
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

// calledBy reports whether a page of this server may have sent a Host header. A name that somebody
// else points at this machine (DNS rebinding) does not count; addresses cannot be redirected that
// way.
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

// refusalReason says why a request comes neither from a page of this server nor from its user but
// from another site's script, form or frame. Links may be followed from anywhere.
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

// admit checks the token: in the header of a program, in a browser's cookie, or in the address with
// which a browser first arrives. It moves a token from the address into the cookie.
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

// isToken compares in constant time, so that the time reveals nothing about the token.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
