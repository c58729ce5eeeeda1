package fault

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// matches reports whether a rule is for a call at all; whether it strikes is
// for the trigger to say.
func (r *Rule) matches(c *Call) bool {
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
	return MatchName(r.Tool, c.Names) || c.Wanted != "" && MatchName(r.Tool, []string{c.Wanted})
}

// MatchName reports whether a glob covers one of a call's names. Case does not
// matter, nor whether words are joined by "-" or "_".
func MatchName(glob string, names []string) bool {
	glob = plainName(glob)
	return slices.ContainsFunc(names, func(n string) bool { return Glob(glob, plainName(n)) })
}

func plainName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// MatchURL reports whether a glob covers a URL. The scheme and the host of a URL
// have no case, a port that goes without saying is left out, and an address
// without a path may be written with or without the slash.
func MatchURL(glob, raw string) bool {
	if raw == "" {
		return false
	}
	text := plainURL(raw)
	return Glob(glob, raw) || Glob(glob, text) || Glob(glob, strings.TrimSuffix(text, "/")) || Glob(plainURL(glob), text)
}

// plainURL is a URL with scheme and host in lower case and without the default
// port. It works on globs too, whose "*" no parser of URLs would take.
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

// Derived returns the names that a URL goes by if nobody has given it one, see
// [Call].
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

// Name puts what the user calls whatever is at a URL before its other names.
func (p *Plan) Name(raw string, names []string) []string {
	for _, n := range p.Names {
		if MatchURL(n.URL, raw) {
			return append([]string{n.Tool}, slices.DeleteFunc(names, func(s string) bool { return s == n.Tool })...)
		}
	}
	return names
}
