package fault

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// matches reports whether a rule applies to a call at all; its trigger decides
// whether it strikes.
func (l *Ledger) matches(r *Rule, c *Call) bool {
	switch {
	case r.Layer == LLM && c.Kind != ModelCall, r.At == AtLLMRequest && c.Kind != ModelCall, r.At == AtPrompt:
		return false
	case r.At == AtToolResult && c.Kind != ToolCall && c.Kind != MCPCall:
		return false
	case r.MatchURL != "":
		return MatchURL(r.MatchURL, c.URL)
	case r.Layer == Tool && c.Kind != ToolCall && c.Kind != MCPCall:
		return false
	case r.Tool == "" || r.Tool == "*":
		return true
	}
	return MatchName(r.Tool, l.namesFor(r.Tool, c)) || c.Wanted != "" && MatchName(r.Tool, []string{c.Wanted})
}

// namesFor returns the names of a call that a rule or a recorded answer for a tool may mean: only
// its own if other calls have the tool's name as their own, as /orders has that of /orders/7/pay.
func (l *Ledger) namesFor(tool string, c *Call) []string {
	if l.own[plainName(tool)] && !strings.ContainsAny(tool, "*?[") {
		return c.Names[:min(1, len(c.Names))]
	}
	return c.Names
}

// MatchName reports whether a glob matches one of a call's names, ignoring case and
// whether words are joined by "-" or "_".
func MatchName(glob string, names []string) bool {
	glob = plainName(glob)
	return slices.ContainsFunc(names, func(n string) bool { return Glob(glob, plainName(n)) })
}

func plainName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// MatchURL reports whether a glob matches a URL. Scheme and host are
// case-insensitive, a default port is ignored, and an address without a path may end
// in a slash.
func MatchURL(glob, raw string) bool {
	if raw == "" {
		return false
	}
	text := plainURL(raw)
	return Glob(glob, raw) || Glob(glob, text) || Glob(glob, strings.TrimSuffix(text, "/")) || Glob(plainURL(glob), text)
}

// plainURL returns a URL with scheme and host in lower case and without the default
// port. It also works on globs, whose "*" URL parsers refuse.
func plainURL(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && !strings.HasPrefix(rest[i:], "?*") {
		host, path = rest[:i], rest[i:]
	}
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	if port := map[string]string{"http": ":80", "https": ":443"}[scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + host + path
}

// Derived returns the names of a URL that nobody has named, see [Call].
func Derived(u *url.URL) []string {
	var names []string
	add := func(n string) {
		if n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	for _, s := range slices.Backward(segments) {
		if word(s) {
			add(s)
		}
	}
	host := strings.ToLower(u.Hostname())
	if u.Port() != "" {
		add(host + ":" + u.Port())
	}
	add(host)
	if label, rest, ok := strings.Cut(host, "."); ok && strings.ContainsFunc(rest, unicode.IsLetter) {
		add(label)
	}
	return names
}

// word distinguishes a name in a path from a number, a version or an identifier that
// differs from call to call.
func word(s string) bool {
	letters, digits := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return letters > digits && len(s) <= 64
}

// Name puts the user's name for whatever is at a URL before its other names.
func (p *Plan) Name(raw string, names []string) []string {
	for _, n := range p.Names {
		if MatchURL(n.URL, raw) {
			return append([]string{n.Tool}, slices.DeleteFunc(names, func(s string) bool { return s == n.Tool })...)
		}
	}
	return names
}
