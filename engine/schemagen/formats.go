package schemagen

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// format is a format of values: examples, and values that look similar but are invalid.
// Formats that services interpret differently are read leniently.
type format struct {
	name    string
	check   func(v any) error
	valid   []string // the usual one first
	invalid []string
}

var errFormat = errors.New("is not of its format")

// ofTexts checks a format of texts; it accepts other values.
func ofTexts(is func(string) bool) func(any) error {
	return func(v any) error {
		if s, ok := v.(string); ok && !is(s) {
			return errFormat
		}
		return nil
	}
}

// within checks whole numbers of a number of bits.
func within(bits uint) func(any) error {
	high := new(big.Int).Lsh(big.NewInt(1), bits-1)
	low := new(big.Int).Neg(high)
	return func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		if f, whole := new(big.Rat).SetString(n.String()); whole && f.IsInt() && (f.Num().Cmp(low) < 0 || f.Num().Cmp(high) >= 0) {
			return errFormat
		}
		return nil
	}
}

func layouts(list ...string) func(any) error {
	return ofTexts(func(s string) bool {
		return slices.ContainsFunc(list, func(l string) bool { _, err := time.Parse(l, s); return err == nil })
	})
}

var (
	uuid = lazy.Pattern(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	// leap matches a leap second, which time.Parse refuses.
	leap = lazy.Pattern(`:60`)
)

func ip(four bool) func(any) error {
	return ofTexts(func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() == four })
}

func hasScheme(s string) bool { u, err := url.Parse(s); return err == nil && u.Scheme != "" }

// formats are those that are checked. A date and time without a zone, or with a space
// between them, is accepted, since many services write them so.
var formats = []format{
	{"date", layouts(time.DateOnly), []string{"2024-05-17", "2024-02-29", "2024-01-31", "9999-12-31", "1900-01-01"}, []string{"2024-02-30", "thresh"}},
	{"date-time", ofTexts(isDateTime), []string{"2024-05-17T12:00:00Z", "2024-02-29T12:00:00Z", "2024-01-31T12:00:00Z", "9999-12-31T23:59:59Z", "1900-01-01T00:00:00+14:00"}, []string{"2024-02-30T12:00:00Z", "thresh"}},
	{"time", ofTexts(func(s string) bool { return isDateTime("2024-02-29T" + s) }), []string{"12:00:00Z"}, []string{"25:00:00Z", "thresh"}},
	{"uuid", ofTexts(func(s string) bool { return uuid().MatchString(s) }), []string{"123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"}, []string{"123e4567-e89b-42d3-a456-42661417400", "thresh"}},
	{"email", ofTexts(func(s string) bool { _, err := mail.ParseAddress(s); return err == nil }), []string{"a@example.com", "a+b.c@mail.example.com"}, []string{"a@", "thresh"}},
	{"ipv4", ip(true), []string{"127.0.0.1", "255.255.255.255"}, []string{"256.1.1.1", "thresh"}},
	{"ipv6", ip(false), []string{"::1", "2001:db8::1"}, []string{"1::2::3", "thresh"}},
	{"uri", ofTexts(hasScheme), []string{"http://example.com/a"}, []string{"thresh"}},
	{"url", ofTexts(hasScheme), []string{"http://example.com/a"}, []string{"thresh"}},
	{"hostname", nothing, []string{"example.com"}, nil},
	{"byte", nothing, []string{"YQ==", ""}, nil},
	{"duration", nothing, []string{"PT1H", "P1D"}, nil},
	{"int32", within(32), nil, nil},
	{"int64", within(64), nil, nil},
	// Other formats of the checker are written in so many ways that nothing follows
	// from them.
	{"iri", nothing, nil, nil},
	{"idn-email", nothing, nil, nil},
	{"period", nothing, nil, nil},
	{"semver", nothing, nil, nil},
	{"uri-reference", nothing, nil, nil},
	{"iri-reference", nothing, nil, nil},
	{"uri-template", nothing, nil, nil},
}

func nothing(any) error { return nil }

func isDateTime(s string) bool {
	s = leap().ReplaceAllString(s, ":59")
	for _, l := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700"} {
		if _, err := time.Parse(l, s); err == nil {
			return true
		}
		if len(s) > 10 && (s[10] == ' ' || s[10] == 't') {
			if _, err := time.Parse(l, s[:10]+"T"+s[11:]); err == nil {
				return true
			}
		}
	}
	return false
}

// formatOf returns the format of a schema's texts; nil if it has none that is known.
func formatOf(n map[string]any) *format {
	name, _ := n["format"].(string)
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &formats[i]
}
