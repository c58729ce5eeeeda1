package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the terminal width, in columns, that help is written for.
const helpWidth = 80

// readableHelp wraps lines and groups the flags for documents of one format under a heading.
func readableHelp(root *cobra.Command) {
	breakLines(root)
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		var text strings.Builder
		out := c.OutOrStderr()
		c.SetOut(&text)
		err := usage(c)
		c.SetOut(out)
		flags := c.LocalFlags()
		page := strings.Replace(text.String(), strings.TrimRight(flags.FlagUsages(), " \n"), flagTexts(flags), 1)
		// The line of the library does not fit a terminal where the names are long.
		fmt.Fprint(out, strings.Replace(page, " for more information about a command.", " for the help of a command.", 1))
		return err
	})
}

// ofFormats matches the part of a flag's description that names its formats.
var ofFormats = regexp.MustCompile(`^\[([a-z, ]+)\] | \[([a-z, ]+)\]$`)

func flagTexts(all *pflag.FlagSet) string {
	groups := map[string]*pflag.FlagSet{}
	var order []string
	all.VisitAll(func(f *pflag.Flag) {
		shown, name := *f, ""
		if m := ofFormats.FindStringSubmatch(f.Usage); m != nil {
			name, shown.Usage = m[1]+m[2], ofFormats.ReplaceAllString(f.Usage, "")
		}
		if groups[name] == nil {
			groups[name] = pflag.NewFlagSet(name, pflag.ContinueOnError)
			groups[name].SortFlags = all.SortFlags
			if name != "" {
				order = append(order, name)
			}
		}
		groups[name].AddFlag(&shown)
	})
	var b strings.Builder
	for _, name := range slices.Insert(order, 0, "") {
		if groups[name] == nil {
			continue
		}
		if name != "" {
			b.WriteString("\n\nFlags for documents of " + name + ":\n")
		}
		b.WriteString(strings.TrimRight(groups[name].FlagUsagesWrapped(helpWidth), "\n"))
	}
	return b.String()
}

// breakLines wraps the paragraphs of long texts, except paragraphs with indented lines.
func breakLines(c *cobra.Command) {
	paragraphs := strings.Split(c.Long, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			continue
		}
		var b strings.Builder
		width := 0
		for word := range strings.FieldsSeq(p) {
			n := utf8.RuneCountInString(word)
			switch {
			case width == 0:
			case width+1+n > helpWidth:
				b.WriteByte('\n')
				width = 0
			default:
				b.WriteByte(' ')
				width++
			}
			b.WriteString(word)
			width += n
		}
		paragraphs[i] = b.String()
	}
	c.Long = strings.Join(paragraphs, "\n\n")
	for _, sub := range c.Commands() {
		breakLines(sub)
	}
}
