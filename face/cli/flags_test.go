package cli

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func TestParseRange(t *testing.T) {
	if from, to, err := parseRange("3:17"); from != 3 || to != 17 || err != nil {
		t.Errorf("3:17 is %d, %d, %v", from, to, err)
	}
	for _, bad := range []string{"", ":", "3", "3:", ":3", "3:3", "4:3", "-1:3", "a:b", "0:9223372036854775808", "1:2:3", " 1:2"} {
		_, _, err := parseRange(bad)
		var usage *usageError
		if !errors.As(err, &usage) {
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

func TestParseReport(t *testing.T) {
	f, file, err := parseReport("json=a=b.json")
	if f.Name != "json" || file != "a=b.json" || err != nil {
		t.Errorf("%s %s %v", f.Name, file, err)
	}
	for _, bad := range []string{"json", "json=", "=x", "jsn=x"} {
		if _, _, err := parseReport(bad); diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestShellQuote reads back what is quoted with a shell, where there is one.
func TestShellQuote(t *testing.T) {
	sh, missing := exec.LookPath("sh")
	for in, want := range map[string]string{
		"plain-Word_1.2/3:4=5@6%7+8,9": "plain-Word_1.2/3:4=5@6%7+8,9",
		"":                             "''",
		"two words":                    "'two words'",
		"it's":                         `'it'\''s'`,
		"$HOME `x` \\ \"\n*":           "'$HOME `x` \\ \"\n*'",
		"süß":                          "'süß'",
	} {
		got := app.ShellQuote(in)
		if got != want {
			t.Errorf("app.ShellQuote(%q) = %s, want %s", in, got, want)
		}
		if missing != nil {
			continue
		}
		if out, err := exec.Command(sh, "-c", "printf %s "+got).Output(); string(out) != in || err != nil {
			t.Errorf("a shell reads %s as %q: %v", got, out, err)
		}
	}
	if got := app.ShellLine(app.ResumeCommand(app.DefaultStore, "r1")); got != "thresh run --resume r1" {
		t.Errorf("the default store is named: %q", got)
	}
	if got := app.ShellLine(app.ResumeCommand("my store", "r1")); got != "thresh run --resume r1 --store 'my store'" {
		t.Errorf("%q", got)
	}
}
