package fuzzspec

import (
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

func TestParseRange(t *testing.T) {
	if from, to, err := parseRange("3:17"); from != 3 || to != 17 || err != nil {
		t.Errorf("3:17 is %d, %d, %v", from, to, err)
	}
	for _, bad := range []string{"", ":", "3", "3:", ":3", "3:3", "4:3", "-1:3", "a:b", "0:9223372036854775808", "1:2:3", " 1:2"} {
		_, _, err := parseRange(bad)
		if diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("%q is taken: %v", bad, err)
		}
	}
}

func TestParseBool(t *testing.T) {
	for word, want := range map[string]bool{"true": true, " Yes ": true, "1": true, "y": true, "ON": true, "false": false, "No": false, "0": false, "n": false, "off": false} {
		if got, err := parseBool("f", word); got != want || err != nil {
			t.Errorf("%q is %t, %v", word, got, err)
		}
	}
	if _, err := parseBool("f", ""); err == nil {
		t.Error("an empty word is taken")
	}
}
