package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpOfEveryCommand holds every command, also those to come, to a line, a
// page and examples that are about it.
func TestHelpOfEveryCommand(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: the short text must be a line without a full stop, is %q", c.CommandPath(), c.Short)
		}
		if row := fmt.Sprintf("  %-*s %s", c.NamePadding(), c.Name(), c.Short); utf8.RuneCountInString(row) > helpWidth {
			t.Errorf("a row of the commands is wider than a terminal: %q", row)
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example + "\n" + flagTexts(c.LocalFlags())) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > helpWidth {
				t.Errorf("%s: a line of the help is wider than a terminal: %q", c.CommandPath(), line)
			}
		}
		if c.HasSubCommands() {
			if !strings.Contains(c.Example, c.CommandPath()) && c.HasParent() {
				t.Errorf("%s: no example shows it:\n%s", c.CommandPath(), c.Example)
			}
			for _, sub := range c.Commands() {
				visit(sub)
			}
			return
		}
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: no example shows it:\n%s", c.CommandPath(), c.Example)
		}
		continued := false
		for line := range strings.SplitSeq(c.Example, "\n") {
			command, note, noted := strings.Cut(line, "   ")
			if noted && strings.TrimSpace(command) != "" && !strings.HasPrefix(strings.TrimSpace(note), "# ") {
				t.Errorf("%s: a shell takes the explanation of an example for arguments: %q", c.CommandPath(), line)
			}
			more := continued
			continued = strings.HasSuffix(line, ` \`)
			if more {
				continue
			}
			if !strings.HasPrefix(line, "  thresh ") && !(strings.HasPrefix(line, "  ") && (strings.Contains(line, "| thresh ") || strings.Contains(line, `="thresh `))) {
				t.Errorf("%s: an example must be indented by two and begin with thresh, or hand it on: %q", c.CommandPath(), line)
			}
		}
	}
	visit(newRoot(&Stdio{}, nil))
}

// TestCommandsThatAreMadeAlone: a command line makes few commands, and its own is the one
// that stands among all.
func TestCommandsThatAreMadeAlone(t *testing.T) {
	text := func(c *cobra.Command) string {
		var b strings.Builder
		c.SetOut(&b)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var count func(*cobra.Command) int
	count = func(root *cobra.Command) (n int) {
		for _, c := range root.Commands() {
			n += 1 + count(c)
		}
		return n
	}
	root, most := newRoot(&Stdio{}, nil), 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		line := strings.Fields(c.CommandPath())[1:]
		root := newRoot(&Stdio{args: line}, nil)
		alone, rest, err := root.Find(line)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%v: %v remain: %v", line, rest, err)
		}
		if got, want := text(alone), text(c); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", line, got, want)
		}
		if c.HasParent() && line[0] != "completion" && line[0] != "man" {
			most = max(most, count(root))
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	all := count(root)
	if most*3 > all {
		t.Errorf("a line makes %d commands of %d", most, all)
	}
	for _, line := range [][]string{{"help", "fuzzspec", "corpus"}, {"man", "run"}, {"-q", "run"}, {"__complete", "run"}} {
		if n := count(newRoot(&Stdio{args: line}, nil)); n < all-2 { // help and its flag are added when they are asked for
			t.Errorf("%v makes %d commands of %d", line, n, all)
		}
	}
}

// TestColor: colour is for terminals whose user has not declined it.
func TestColor(t *testing.T) {
	for _, c := range []struct {
		name string
		tty  bool
		env  map[string]string
		want bool
	}{
		{"terminal", true, nil, true},
		{"pipe", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR", true, map[string]string{"NO_COLOR": ""}, true},
		{"dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Main([]string{"thresh", "run"}, Stdio{
				In: strings.NewReader(""), Out: &out, Err: &errs, ErrTTY: c.tty, Getenv: func(k string) string { return c.env[k] },
			})
			if code != 2 || out.Len() > 0 {
				t.Errorf("exit code %d, standard output %q", code, out.String())
			}
			if got := strings.Contains(errs.String(), "\x1b["); got != c.want {
				t.Errorf("coloured: %t, want %t: %q", got, c.want, errs.String())
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain, süß\tand\nlines":  "plain, süß\tand\nlines",
		"\x1b[2J\r\x00\x7f\u009b": "\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFD",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}
