package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of the terminals that help is written for.
const helpWidth = 80

// readableHelp breaks the lines of flags, and puts those for documents of one
// format under a heading of their own.
func readableHelp(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		var text strings.Builder
		out := c.OutOrStderr()
		c.SetOut(&text)
		err := usage(c)
		c.SetOut(out)
		flags := c.LocalFlags()
		fmt.Fprint(out, strings.Replace(text.String(), strings.TrimRight(flags.FlagUsages(), " \n"), flagTexts(flags), 1))
		return err
	})
}

// ofFormats is how the text of a flag names the formats it is for.
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
