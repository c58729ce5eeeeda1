package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a manual page for every command",
		Long: `Man writes thresh.1 and a page for every command to DIR, for man. The packages of a
release include them.`,
		Example: `  thresh man ~/.local/share/man/man1
  thresh man build/man`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return diag.Environment("make the folder %s: %s", args[0], app.Reason(err))
			}
			n, err := writePages(args[0], c.Root())
			if err != nil {
				return diag.Environment("write a manual page: %w", err)
			}
			fmt.Fprintf(a.io.Out, "%s in %s\n", diag.Plural(n, "page"), args[0])
			return nil
		},
	}
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func writePages(dir string, c *cobra.Command) (n int, err error) {
	if c.Hidden || c.Name() == "help" {
		return 0, nil
	}
	if err := os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
		return 0, err
	}
	n = 1
	for _, sub := range c.Commands() {
		more, err := writePages(dir, sub)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

// manPage returns a command's help in man's format. It has no date, so equal versions have equal
// pages.
func manPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"thresh %s\" \"Thresh\"\n.nh\n.ad l\n", strings.ToUpper(pageName(c)), app.Version)
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	verbatim := func(text string) { fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(strings.Trim(text, "\n"))) }
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	section("SYNOPSIS")
	verbatim(c.UseLine())
	section("DESCRIPTION")
	text := c.Long
	if text == "" {
		text = c.Short
	}
	verbatim(text)
	flags := func(title string, set *pflag.FlagSet) {
		if !set.HasAvailableFlags() {
			return
		}
		section(title)
		set.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" && f.ShorthandDeprecated == "" {
				name = "-" + f.Shorthand + ", " + name
			}
			if value != "" {
				name += " " + value
			}
			if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" && d != "0s" {
				usage += " (default " + d + ")"
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
		})
	}
	flags("OPTIONS", c.NonInheritedFlags())
	flags("OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		section("EXAMPLES")
		verbatim(c.Example)
	}
	var also []string
	if c.HasParent() {
		also = append(also, pageName(c.Parent())+"(1)")
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			also = append(also, pageName(sub)+"(1)")
		}
	}
	if len(also) > 0 {
		section("SEE ALSO")
		fmt.Fprintln(&b, roff(strings.Join(also, ", ")))
	}
	return b.String()
}

// roff escapes a text so that nothing in it is a request or an escape.
func roff(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	text = strings.ReplaceAll(text, "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
