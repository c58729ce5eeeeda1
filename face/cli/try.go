package cli

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// tryTime is the default time for running a draft.
const tryTime = time.Minute

func (a *application) tryCommand() *cobra.Command {
	var f runFlags
	var dir string
	var yes bool
	c := &cobra.Command{
		Use:   "try THING [-- SEEDS...]",
		Short: "Test something for a minute; the document is drafted for you",
		Long: `Try looks at what you give it, drafts the document that tests it, runs that for a
minute (--time), reports the findings, and keeps the document for thresh run.

  ./parser @@ -- seeds/       a program; @@ is the path of its input, else it
                              reads standard input; SEEDS are files or folders
  http://HOST/openapi.json    a service, by its OpenAPI document (or a file)
  mcp: python3 server.py      an MCP server
  module.wasm                 a WebAssembly module, by its exports; SEEDS are
                              for one that reads standard input or takes a text
  chat http://HOST/v1         a chat endpoint
  agent.py:chain              an agent in Python
  docs/                       Markdown pages with test blocks or transcripts

It never prompts. What it could not know is a question in the draft, with the
line to edit. Only with --yes are methods other than GET and HEAD called, and
tools marked as destructive; and pages without any test are copied, and their
console blocks run.

The draft goes to a new folder, try-NAME. Flags go before or after THING; within a
program's command line, only --time, --yes, --dir and --store are read as flags of
try.

Exit codes are those of thresh run.`,
		Example: `  thresh try ./parser @@ -- seeds/
  thresh try --time 20s python3 cli.py @@
  thresh try http://127.0.0.1:8000/openapi.json
  thresh try mcp: python3 server.py --yes
  thresh try module.wasm`,
	}
	f.register(c, a.app.Contracts)
	fs := c.Flags()
	fs.SetInterspersed(false)
	fs.StringVar(&dir, "dir", "", "`FOLDER` for the draft (default: try-NAME, a new one)")
	fs.BoolVar(&yes, "yes", false, "also call operations that may change or delete data; run console blocks of pages without tests")
	timeFlag := fs.Lookup("time")
	timeFlag.DefValue, timeFlag.Usage = tryTime.String(), "end after this long, looking at it included (0: run the draft to its end)"
	f.time = tryTime
	c.RunE = func(c *cobra.Command, args []string) error {
		words, seeds, err := tryWords(fs, args)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return diag.WithHint(usagef("thresh try needs what to try"), "thresh try ./parser @@ -- seeds/")
		}
		if err := f.validate(); err != nil {
			return err
		}
		if f.resume != "" {
			return usagef("thresh try starts a new run; it cannot continue %s", f.resume)
		}
		start := time.Now()
		d, err := a.app.Draft(c.Context(), app.Try{Words: words, Seeds: seeds, Folder: dir, Yes: yes || fs.Changed("writes"), Lanes: f.workers, Time: f.time})
		if err != nil {
			return err
		}
		a.drafted(a.io.Err, d)
		f.time = max(f.time/2, f.time-time.Since(start))
		for _, o := range d.Options {
			// The user's flags take precedence, also those that exclude a guided run.
			if !fs.Changed(o.Name) && (o.Name != "guided" || !slices.ContainsFunc([]string{"mutators", "sandbox", "executor"}, fs.Changed)) {
				f.options.set(o.Name, cmp.Or(o.Value, "true"))
			}
		}
		rec, err := a.app.Run(c.Context(), a.job(&f, displayPath(d.Path())))
		err = a.close(rec, &f, err)
		if rec.RunID != "" {
			a.tryNext(a.io.Out, d, rec, f.store)
		}
		return err
	}
	return c
}

// tryWords splits the arguments into the thing to test and, after "--", the seeds, and parses flags
// among them. The words of a program or server belong to it, except for a few flags.
func tryWords(fs *pflag.FlagSet, args []string) (words, seeds []string, err error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	args = unquoted(args)
	own := slices.Index(args, "--")
	rest := []string(nil)
	if own >= 0 {
		args, rest = args[:own], args[own+1:]
	}
	thing, err := draft.Read(args, nil, app.IsFolder)
	program := err == nil && (thing.Kind == draft.Program || thing.Kind == draft.Server)
	if words, err = takeFlags(fs, args, !program); err != nil {
		return nil, nil, err
	}
	if seeds, err = takeFlags(fs, rest, true); err != nil {
		return nil, nil, err
	}
	return words, seeds, nil
}

// unquoted splits a thing that was quoted as one word, such as "mcp: python3 server.py".
func unquoted(words []string) []string {
	if len(words) == 0 || !strings.ContainsRune(words[0], ' ') || app.IsThere(words[0]) {
		return words
	}
	return append(strings.Fields(words[0]), words[1:]...)
}

// takeFlags parses the flags in a list and returns the other words. Unless all is set, it takes
// only the few flags that no program under test is expected to have.
func takeFlags(fs *pflag.FlagSet, list []string, all bool) (left []string, err error) {
	for i := 0; i < len(list); i++ {
		word := list[i]
		name, _, given := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		long := strings.HasPrefix(word, "--")
		if !strings.HasPrefix(word, "-") || word == "-" || !all && (!long || !slices.Contains([]string{"time", "yes", "dir", "store"}, name)) {
			left = append(left, word)
			continue
		}
		part := list[i : i+1]
		flag := fs.Lookup(name)
		if !given && i+1 < len(list) && (long && flag != nil && flag.NoOptDefVal == "" || word == "-j") {
			i++
			part = list[i-1 : i+1]
		}
		if err := fs.Parse(part); err != nil {
			return nil, usagef("%w", err)
		}
	}
	return left, nil
}

// displayPath returns a path as the user would write it in the working directory.
func displayPath(path string) string {
	if wd, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// drafted prints what was drafted and why.
func (a *application) drafted(w io.Writer, d *draft.Draft) {
	fmt.Fprintf(w, "%s: %s\n", d.Format, printable(displayPath(d.Path())))
	for _, why := range d.Why {
		a.wrapped(w, "  ", printable(why))
	}
}

// wrapped prints a line of text after an indent, on a terminal in lines that fit.
func (a *application) wrapped(w io.Writer, indent, text string) {
	width := a.width()
	if w == a.io.Err {
		width = a.io.Width // 0 unless it is a terminal
	}
	lines := []string{text}
	if width > 0 {
		lines = report.Wrap(text, width-len(indent)-2)
	}
	fmt.Fprintf(w, "%s%s\n", indent, strings.Join(lines, "\n"+indent+"  "))
}

// questions prints what could not be determined, and what to type next.
func (a *application) questions(w io.Writer, d *draft.Draft) {
	if len(d.Questions) == 0 {
		return
	}
	fmt.Fprintln(w, "\nQuestions:")
	for _, q := range d.Questions {
		a.wrapped(w, "  ", printable(displayPath(d.Place(q)))+": "+printable(q.Ask))
	}
}

// shellWords quotes a command line of this program.
func shellWords(words ...string) string { return selfCommand() + " " + app.ShellLine(words) }

func (a *application) tryNext(w io.Writer, d *draft.Draft, rec campaign.Record, store string) {
	if d.Doubt != "" && len(rec.Findings) == 0 {
		fmt.Fprintln(w)
		a.wrapped(w, "", fmt.Sprintf("This says little: %s Give valid inputs: thresh try ... -- FOLDER", printable(d.Doubt)))
	}
	a.questions(w, d)
	fmt.Fprintln(w, "\nNext:")
	var at []string
	if store != app.DefaultStore {
		at = []string{"--store", store}
	}
	if len(rec.Findings) > 0 {
		fmt.Fprintf(w, "  %s\n", shellWords(append([]string{"replay", rec.Findings[0].ID}, at...)...))
	}
	if d.Next != nil {
		at = nil // the command needs no store
	}
	fmt.Fprintf(w, "  %s\n", nextLine(d, at...))
}

// nextLine returns the command to type after a draft.
func nextLine(d *draft.Draft, flags ...string) string {
	next := d.Next
	if next == nil {
		next = []string{"run"}
	}
	return shellWords(slices.Concat(next, d.Words(displayPath(d.Path())), flags)...)
}

// fromThing is init KIND --from THING. args are KIND, the further words of THING and, after "--",
// the seeds.
func (a *application) fromThing(c *cobra.Command, args []string, from, dir string, yes bool) error {
	words, seeds := append([]string{from}, args[1:]...), []string(nil)
	if n := c.ArgsLenAtDash(); n >= 0 {
		words = append([]string{from}, args[1:max(n, 1)]...)
		var err error
		if seeds, err = takeFlags(c.Flags(), args[max(n, 1):], true); err != nil {
			return err
		}
		dir, yes = c.Flag("dir").Value.String(), c.Flag("yes").Value.String() == "true"
	}
	words = unquoted(words)
	t := app.Try{Words: words, Seeds: seeds, Format: args[0], Folder: dir, Yes: yes, Lanes: runtime.NumCPU()}
	d, err := a.app.Draft(c.Context(), t)
	if err != nil {
		return err
	}
	a.drafted(a.io.Err, d)
	for _, f := range d.Files {
		fmt.Fprintln(a.io.Out, displayPath(filepath.Join(d.Folder, f.Name)))
	}
	a.questions(a.io.Err, d)
	fmt.Fprintf(a.io.Err, "\nNext:\n  %s\n", nextLine(d))
	return nil
}
