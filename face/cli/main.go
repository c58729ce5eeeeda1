package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// dropLog discards what net/http logs: it logs unexpected bytes of a service, including any secrets
// in them.
func dropLog() { log.SetOutput(io.Discard) }

// Stdio is the process's surroundings as the command line sees them.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	OutTTY   bool // standard output is a terminal
	ErrTTY   bool // standard error is a terminal
	Width    int  // columns of the terminal; 0: unknown
	args     []string
}

// System returns the standard input, output and environment of the process.
func System() Stdio {
	s := Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
	s.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	s.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
		s.Width = w
	}
	return s
}

// color reports whether text for a stream may be coloured.
func (s Stdio) color(tty bool) bool {
	return tty && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// exitError carries an exit code whose reason has been shown already.
type exitError = diag.ExitError

// Main runs one command line with the built-in contracts and further ones, and returns the exit
// code of the process.
func Main(argv []string, io Stdio, contracts ...campaign.Contract) int {
	if code, ran := app.Hidden(argv); ran {
		return code
	}
	if len(contracts) > 0 {
		app.CallProgram(argv[0])
	}
	outliveFileLimit()
	dropLog()
	ctx, stop := signal.NotifyContext(context.Background(), interruptions()...)
	defer stop()
	go func() { // a second signal ends the process at once
		<-ctx.Done()
		stop()
	}()
	io.args = argv[1:]
	root := newRoot(&io, contracts)
	root.SetArgs(io.args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return diag.ExitOK
	}
	if c.Annotations[begun] == "" { // refused before the verb began
		err = usageOf(c, err)
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(io.Err, "interrupted: "+c.CommandPath()+" did not finish")
		return diag.ExitInterrupted
	}
	printError(io, err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return diag.ExitRefused
	}
	return diag.ExitCode(err)
}

// application is the state that all verbs share.
type application struct {
	io  *Stdio
	app *app.App
	// told holds the warnings already shown; the report on the same screen does not repeat them.
	told []string
}

func newApplication(io *Stdio, contracts []campaign.Contract) *application {
	a := &application{io: io, app: app.New(contracts...)}
	a.app.Note = func(line string) { fmt.Fprintln(io.Err, printable(line)) }
	a.app.Warn = a.warn
	a.app.Getenv = io.Getenv
	return a
}

// printError shows an error to people.
func printError(io Stdio, err error) {
	style := diag.Style{Color: io.color(io.ErrTTY)}
	if list, ok := errors.AsType[diag.List](err); ok {
		fmt.Fprint(io.Err, named(err, list.Render(style), io.args))
		return
	}
	label := "thresh: error: "
	if style.Color {
		label = "thresh: \x1b[1;31merror\x1b[0m: "
	}
	fmt.Fprintln(io.Err, label+printable(named(err, err.Error(), io.args)))
	if h := diag.Hint(err); h != "" {
		fmt.Fprintln(io.Err, "  hint: "+printable(named(err, h, io.args)))
	}
}

// named returns a message about an error in which names from the command line, and names of files,
// are written by [diag.Name].
func named(err error, text string, names []string) string {
	if file := new(fs.PathError); errors.As(err, &file) {
		names = append(slices.Clone(names), file.Path)
	}
	for _, name := range names {
		if quoted := diag.Name(name); quoted != name {
			text = strings.ReplaceAll(text, name, quoted)
		}
	}
	return text
}

// printable makes control characters harmless for a terminal and keeps line ends.
func printable(s string) string { return diag.Printable(s) }

// usageError reports an invalid command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// newRoot builds the command tree.
func newRoot(io *Stdio, contracts []campaign.Contract) *cobra.Command {
	root := &cobra.Command{
		Use:   "thresh",
		Short: "test software until the bugs fall out",
		Long: `Thresh runs documents that describe how to test software. It detects the format
of each document, runs its cases, groups the failures into findings, shrinks the
input of each finding and prints the command that reproduces it.

Runs are kept in the folder .thresh, where the commands below find them.

Exit codes of every command: 0 all held, 1 findings or failures, 2 a document or
the command line was refused, 3 the environment failed, 130 interrupted.`,
		Example: `  thresh demo                   # see it work, nothing to set up
  thresh run spec.json          # run a campaign
  thresh check spec.json        # find mistakes without running anything
  thresh show F-3fa9c1d2e0      # show a finding
  thresh replay F-3fa9c1d2e0    # does it still fail? exit 1: yes, 0: no`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// Cobra's own flag prints through text/template, which costs the program 4 MB.
	version := root.Flags().BoolP("version", "v", false, "version for thresh")
	root.Args = cobra.ArbitraryArgs
	root.RunE = func(c *cobra.Command, args []string) error {
		if *version {
			fmt.Fprintln(io.Out, app.Version)
			return nil
		}
		return group(c, args)
	}
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "main", Title: "Run:"},
		&cobra.Group{ID: "work", Title: "Work on stored runs and findings:"},
		&cobra.Group{ID: "fleet", Title: "Many machines:"},
		&cobra.Group{ID: "contract", Title: "Formats:"},
	)
	a := newApplication(io, contracts)
	verbs, line := onlyNamed(a.contractVerbs(a.verbs()), io.args, func(v verb) string { return v.name })
	for _, v := range verbs {
		c := v.command(line)
		c.GroupID = v.group
		root.AddCommand(c)
	}
	if len(verbs) != 1 {
		root.AddCommand(a.manCommand()) // needs the complete tree
	}

	if len(io.args) > 0 && strings.HasPrefix(io.args[0], cobra.ShellCompRequestCmd) { // a call from a shell
		a.completions(root)
	}
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(helpCommand(root))
	showExamples(root)
	readableHelp(root)
	requireSubcommand(root)
	markBegun(root)
	return root
}

// verb is a command of the root. It is created only if the command line may need it. The function's
// argument is the command line after the verb's name.
type verb struct {
	group, name string
	command     func(line []string) *cobra.Command
}

// verbs returns the commands that belong to no format and do not depend on other commands.
func (a *application) verbs() []verb {
	var list []verb
	add := func(group, name string, command func() *cobra.Command) {
		list = append(list, verb{group, name, func([]string) *cobra.Command { return command() }})
	}
	add("main", "run", a.runCommand)
	add("main", "check", a.checkCommand)
	add("main", "demo", a.demoCommand)
	add("main", "try", a.tryCommand)
	add("main", "init", a.initCommand)
	add("main", "schema", a.schemaCommand)
	add("main", "system", a.systemCommand)
	add("main", "judge", a.judgeCommand)
	add("work", "list", a.listCommand)
	add("work", "show", a.showCommand)
	add("work", "replay", a.replayCommand)
	add("work", app.TryVerb, a.tryCaseCommand)
	add("work", "shrink", a.shrinkCommand)
	add("work", "promote", a.promoteCommand)
	add("work", "report", a.reportCommand)
	add("work", "merge", a.mergeCommand)
	add("work", "compare", a.compareCommand)
	add("work", "verify", a.verifyCommand)
	add("work", "doctor", a.doctorCommand)
	add("work", "ui", a.uiCommand)
	add("work", "open", a.openCommand)
	add("work", "mcp", a.mcpCommand)
	add("work", "lsp", a.lspCommand)
	add("work", "gc", a.gcCommand)
	add("fleet", "worker", a.workerCommand)
	add("fleet", "fleet", a.fleetCommand)
	add("fleet", "top", a.topCommand)
	add("", "version", a.versionCommand)
	return list
}

// onlyNamed returns the element named at the start of a command line, and the rest of the line; or
// else all elements and no line. Most command lines name a command, and creating all hundred
// commands takes as long as many commands run.
func onlyNamed[T any](all []T, line []string, name func(T) string) ([]T, []string) {
	if len(line) > 0 {
		if i := slices.IndexFunc(all, func(one T) bool { return name(one) == line[0] }); i >= 0 {
			return all[i : i+1], line[1:]
		}
	}
	return all, nil
}

// begun is the annotation of a command whose verb has begun. From then on, errors are the verb's
// and not usage errors.
const begun = "begun"

// markBegun makes every command set its annotation when its verb begins.
func markBegun(c *cobra.Command) {
	for _, sub := range c.Commands() {
		markBegun(sub)
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			c.Annotations = map[string]string{begun: "yes"}
			return run(c, args)
		}
	}
}

// requireSubcommand makes a group command show its help if no verb is given, and suggest the
// nearest verb if an unknown one is given.
func requireSubcommand(c *cobra.Command) {
	for _, sub := range c.Commands() {
		requireSubcommand(sub)
	}
	if c.Runnable() || !c.HasSubCommands() {
		return
	}
	c.Args, c.RunE = cobra.ArbitraryArgs, group
}

func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return unknownCommand(c, args[0])
}

// flagsInstead maps words that users take for commands to a hint at the flag.
var flagsInstead = map[string]string{"resume": "thresh run --resume RUN continues a run"}

// unknownCommand returns the error for a verb that c does not have. It suggests the nearest.
func unknownCommand(c *cobra.Command, name string) error {
	names := make([]string, 0, len(c.Commands()))
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	err := diag.Refused("%s has no command %q", c.CommandPath(), name)
	return diag.WithHint(err, cmp.Or(flagsInstead[name], diag.DidYouMean(name, names), c.CommandPath()+" --help lists its commands"))
}

// helpCommand returns thresh help, which refuses unknown commands.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Long: `Help shows what a command does, with examples and all its flags, as --help does
after the command.`,
		Example: "  thresh help run\n  thresh help fuzzspec corpus",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil {
				return diag.Refused("%w", err)
			}
			if len(rest) > 0 {
				return unknownCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// flagError suggests the nearest flag for one that does not exist.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownCommand(c, words[0]) // the flags belong to a verb that does not exist
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		return diag.Refused("--%s must be %s, got %q", f.Name, flagWants(f), invalid.GetValue())
	}
	name, found := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !found {
		return diag.WithHint(diag.Refused("%s: %w", c.CommandPath(), err), "see "+c.CommandPath()+" --help")
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	e := diag.Refused("%s has no flag --%s", c.CommandPath(), name)
	if n := diag.Nearest(name, names); n != "" {
		return diag.WithHint(e, "did you mean --"+n+"?")
	}
	return diag.WithHint(e, "see "+c.CommandPath()+" --help")
}

// flagWants describes the values that a flag takes.
func flagWants(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "an integer"
	case "duration":
		return "a time such as 90s or 10m"
	case "bool":
		return "true or false"
	}
	return "a " + f.Value.Type()
}
