package markup

import (
	"errors"
	"fmt"
	"strings"
)

// escaper returns the function that writes a value in a place; nil: no value is
// allowed there.
func (p place) escaper() func(any) (string, error) {
	switch {
	case p.raw != "":
		return raw
	case p.attr == "style" || p.attr == "srcset" || p.attr == "srcdoc" || strings.HasPrefix(p.attr, "on"):
		return nil
	case p.attr == "href" || p.attr == "src" || p.attr == "action" || p.attr == "formaction" || p.attr == "xlink:href":
		return p.url.escape
	case p.attr != "":
		return func(v any) (string, error) { return Escape(text(v)), nil }
	case p.tag != "":
		return nil
	}
	return func(v any) (string, error) {
		if markup, ok := v.(HTML); ok {
			return string(markup), nil
		}
		return Escape(text(v)), nil
	}
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

func raw(v any) (string, error) {
	s, ok := v.(Raw)
	if !ok {
		return "", errors.New("only a value of type Raw may stand in a style sheet or a script")
	}
	return string(s), nil
}

var escapes = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// Escape escapes text for text and for quoted attributes.
func Escape(s string) string { return escapes.Replace(s) }

// escape writes a part of an address. If it begins the address with a scheme
// other than http, https or mailto, it is replaced.
func (u urlPart) escape(v any) (string, error) {
	s := text(v)
	if u == urlStart {
		scheme, _, found := strings.Cut(s, ":")
		if found && !strings.Contains(scheme, "/") {
			switch strings.ToLower(scheme) {
			case "http", "https", "mailto":
			default:
				s = "#unsafe-address"
			}
		}
	}
	kept := "-._~"
	if u != urlQuery {
		kept += "!#$&*+,/:;=?@[]"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(kept, c) >= 0,
			c == '%' && u != urlQuery && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return Escape(b.String()), nil
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
