package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/diag"
)

// usageOf turns an error of the command line into plain words, with the command's usage and an
// example.
func usageOf(c *cobra.Command, err error) error {
	if _, ok := errors.AsType[*diag.CodedError](err); ok {
		return err
	}
	hint := "usage: " + c.UseLine()
	if example := exampleOf(c); example != "" {
		hint += "\n  for example: " + example
	}
	return diag.WithHint(diag.Refused("%s", describeUsageError(c, err)), hint)
}

// exampleOf returns the first example of a command, without its explanation.
func exampleOf(c *cobra.Command) string {
	line, _, _ := strings.Cut(firstExample(c.Example), "   # ")
	return strings.TrimSpace(line)
}

var (
	tooFew   = regexp.MustCompile(`^(?:requires at least|accepts) (\d+) arg\(s\), (?:only )?received (\d+)$`)
	tooMany  = regexp.MustCompile(`^accepts at most (\d+) arg\(s\), received (\d+)$`)
	between  = regexp.MustCompile(`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`)
	surplus  = regexp.MustCompile(`^unknown command "([^"]*)" for `)
	required = regexp.MustCompile(`^required flag\(s\) (.+) not set$`)
)

// describeUsageError says what the command-line library found wrong.
func describeUsageError(c *cobra.Command, err error) string {
	text, path := err.Error(), c.CommandPath()
	wants := strings.TrimSpace(strings.TrimPrefix(c.Use, c.Name()))
	var want, most, got int
	number := func(s string) (n int) { _, _ = fmt.Sscan(s, &n); return n }
	if m := tooFew.FindStringSubmatch(text); m != nil {
		want, got = number(m[1]), number(m[2])
		most = max(want, got)
		if strings.HasPrefix(text, "accepts") {
			most = want
		}
	} else if m := tooMany.FindStringSubmatch(text); m != nil {
		most, got = number(m[1]), number(m[2])
	} else if m := between.FindStringSubmatch(text); m != nil {
		want, most, got = number(m[1]), number(m[2]), number(m[3])
	} else if m := surplus.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("%s takes no argument, got %q", path, m[1])
	} else if m := required.FindStringSubmatch(text); m != nil {
		return path + " needs " + flagNames(m[1])
	} else {
		return path + ": " + text
	}
	switch {
	case got == 0:
		return fmt.Sprintf("%s needs %s", path, wants)
	case got < want:
		return fmt.Sprintf("%s needs %s, got only %s", path, wants, diag.Plural(got, "argument"))
	}
	return fmt.Sprintf("%s takes at most %s, %s, got %d; put quotes around a name with spaces", path, diag.Plural(most, "argument"), wants, got)
}

// flagNames returns quoted names as they are typed.
func flagNames(list string) string {
	names := strings.Split(strings.ReplaceAll(list, `"`, ""), ", ")
	return "--" + strings.Join(names, " and --")
}
