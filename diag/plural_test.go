package diag_test

import (
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 cases", 1: "1 case", 2: "2 cases", -1: "-1 cases", 999: "999 cases", 1000: "1,000 cases", -1234567: "-1,234,567 cases",
	} {
		if got := diag.Plural(n, "case"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestArticles(t *testing.T) {
	for noun, want := range map[string]string{
		"int": "an int", "str": "a str", "Order": "an Order", "Update": "an Update", "User": "a User", "unit": "a unit", "URL": "a URL", "euro": "a euro", "": "a ",
	} {
		if got := diag.A(noun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestUnquoted(t *testing.T) {
	for in, want := range map[string]string{
		`noise of "a: \"b: c": broken`: `noise of            : broken`,
		`no quotes: at all`:            `no quotes: at all`,
		`one " alone`:                  `one " alone`,
	} {
		if got := diag.Unquoted(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
