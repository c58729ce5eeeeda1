package cli

import (
	"os/exec"
	"testing"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

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
		"$HOME `x` \\ \"*":             "'$HOME `x` \\ \"*'",
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
