package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

// mostCompleted is how many runs and findings are offered to a shell.
const mostCompleted = 50

// showExamples gives each group command the first examples of its commands, and the commands that
// print completions examples of their own.
func showExamples(c *cobra.Command) {
	if p := c.Parent(); p != nil && p.Name() == "completion" {
		c.Example = fmt.Sprintf("  thresh completion %s", c.Name())
	}
	var first []string
	for _, sub := range c.Commands() {
		showExamples(sub)
		if line := firstExample(sub.Example); line != "" && !sub.Hidden && len(first) < 4 && !slices.Contains(first, line) {
			first = append(first, line)
		}
	}
	if c.Example == "" {
		c.Example = strings.Join(first, "\n")
	}
	if c.Name() == "completion" {
		c.Short = "Print a script with which a shell completes commands"
		c.Long = "Completion prints a script for a shell. With it, the shell completes commands, flags,\nruns, findings and formats. The help of each shell says where the script goes."
	}
}

// firstExample returns the first command of an example, with the lines that a backslash adds to it.
func firstExample(text string) string {
	var first []string
	for line := range strings.SplitSeq(text, "\n") {
		if first = append(first, line); !strings.HasSuffix(line, `\`) {
			break
		}
	}
	return strings.Join(first, "\n")
}

// completions makes shells complete the arguments and flag values of verbs.
func (a *application) completions(root *cobra.Command) {
	runs, findings := a.completeRuns, a.completeFindings
	both := func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		f, _ := findings(c, args, word)
		r, directive := runs(c, args, word)
		return slices.Concat(f, r), directive
	}
	var formats []string
	for _, f := range a.documentFormats() {
		formats = append(formats, f.Name+"\t"+f.Summary)
	}
	schemas := cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)
	for verb, complete := range map[string]cobra.CompletionFunc{
		"show": both, "replay": both, "open": both, "shrink": findings, "promote": findings, "report": runs, "compare": runs, "verify": runs, "schema": schemas,
	} {
		if c, _, err := root.Find([]string{verb}); err == nil && c != root {
			c.ValidArgsFunction = complete
		}
	}
	var contracts []string
	for _, k := range a.app.Contracts {
		contracts = append(contracts, k.Name())
	}
	values := map[string]cobra.CompletionFunc{"resume": runs, "baseline": withFiles(runs)}
	for flag, words := range map[string][]string{
		"contract": contracts, "verdict": {"pass", "fail", "error"}, "fail-on": {app.FailOnAny, app.FailOnNew, app.FailOnRegression},
		"raw": {"minimized", "input"},
	} {
		values[flag] = cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	options := a.optionValues()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for flag, complete := range values {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, complete) // a contract may have registered it already
			}
		}
		for _, o := range options {
			if c.Flags().Lookup(o.name) != nil {
				_ = c.RegisterFlagCompletionFunc(o.name, cobra.FixedCompletions(o.words, cobra.ShellCompDirectiveNoFileComp))
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

func withFiles(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		list, _ := f(c, nil, word)
		return list, cobra.ShellCompDirectiveDefault
	}
}

type words struct {
	name  string
	words []string
}

// optionValues returns the options of formats that accept only certain words.
func (a *application) optionValues() []words {
	var list []words
	for _, k := range a.app.Contracts {
		for _, o := range k.Options() {
			if len(o.Values) > 0 {
				list = append(list, words{o.Name, o.Values})
			}
		}
	}
	return list
}

// newest opens the store that a command line names, if it exists.
func (a *application) newest(c *cobra.Command, use func(*app.Store, []string)) {
	dir := app.DefaultStore
	if f := c.Flags().Lookup("store"); f != nil {
		dir = f.Value.String()
	}
	st, err := a.app.ExistingStore(dir)
	if err != nil {
		return // nothing to offer
	}
	defer st.Close()
	runs, err := st.Runs(app.RunQuery{Limit: mostCompleted})
	if err != nil {
		return
	}
	var about []string
	for _, r := range runs {
		about = append(about, r.RunID+"\t"+strings.Join([]string{r.Verdict, r.Created.Format("2006-01-02 15:04"), strings.Join(r.Campaigns, ", ")}, " "))
	}
	use(st, about)
}

func (a *application) completeRuns(c *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 && c.Name() != "compare" || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.newest(c, func(_ *app.Store, runs []string) {
		if len(runs) > 0 {
			list = append([]string{"latest\tthe newest run"}, runs...)
		}
	})
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeFindings offers the findings of the newest runs, each once.
func (a *application) completeFindings(c *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	seen := map[string]bool{}
	a.newest(c, func(st *app.Store, runs []string) {
		for _, r := range runs {
			id, _, _ := strings.Cut(r, "\t")
			page, err := st.Findings(app.FindingQuery{RunID: id, Limit: mostCompleted})
			if err != nil {
				continue
			}
			for _, f := range page.Findings {
				if !seen[f.ID] && len(list) < mostCompleted {
					seen[f.ID] = true
					list = append(list, f.ID+"\t"+f.Severity.String()+" "+printable(diag.Cut(f.Title, 60)))
				}
			}
		}
	})
	return list, cobra.ShellCompDirectiveNoFileComp
}
