package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// The demonstration takes seconds: it runs the first cases of each sample and minimizes findings on
// a small budget.
const (
	demoCases  = 120
	demoShrink = 30
)

func (a *application) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a bundled sample of every format, with nothing to set up",
		Long: `Demo writes a bundled sample of every format into a folder, one folder for each,
and runs all of them as one run. What the samples test is part of thresh itself: a
parser of a made-up format with planted bugs for FuzzSpec, and what thresh init
writes for the others. No compiler and no other program is needed.

It runs at most 120 cases of each sample; --cases 0 runs all of them. The screen
shows the worst finding of each format; thresh report shows all of them.

Exit code 1 means that planted bugs were found.`,
		Example: `  thresh demo
  thresh demo --cases 0             # every case; takes a minute
  thresh report                     # every finding of that run`,
		Args: cobra.NoArgs,
	}
	var f runFlags
	f.register(c, a.app.Contracts)
	for name, value := range map[string]int{"cases": demoCases, "shrink": demoShrink} {
		flag := c.Flags().Lookup(name)
		flag.DefValue = strconv.Itoa(value)
		_ = flag.Value.Set(flag.DefValue) // the default always parses
	}
	c.Flags().StringVar(&dir, "dir", "thresh-demo", "`FOLDER` for the samples and their work")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.prepare(&f); err != nil {
			return err
		}
		if f.resume != "" {
			return diag.WithHint(usagef("thresh demo starts a new run; it cannot continue %s", f.resume), "thresh run --resume "+app.ShellQuote(f.resume))
		}
		return a.demo(c.Context(), dir, &f)
	}
	return c
}

func (a *application) demo(ctx context.Context, dir string, f *runFlags) error {
	docs, err := a.app.Demo(dir)
	if err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprintf(a.io.Err, "running the samples in %s\n", dir)
	}
	f.options.set("allow-exec", campaign.Self)
	f.screen = func(w io.Writer, rec campaign.Record) error { return a.demoScreen(w, rec, dir, f.store) }
	rec, err := a.execute(ctx, docs, f)
	return a.close(rec, f, err)
}

// demoScreen shows one screen: what was tested, the worst finding of each format, and what to type
// next.
func (a *application) demoScreen(w io.Writer, rec campaign.Record, dir, store string) error {
	var b strings.Builder
	bold, plain := "", ""
	if a.io.color(a.io.OutTTY) {
		bold, plain = "\x1b[1m", "\x1b[0m"
	}
	var cases int64
	var shown *campaign.Finding
	for _, c := range rec.Campaigns {
		cases += c.Cases.Run
		var found []*campaign.Finding
		for i := range rec.Findings {
			if f := &rec.Findings[i]; f.Contract == c.Contract && f.Campaign == c.Name {
				found = append(found, f)
			}
		}
		result := "all held"
		if len(found) > 0 {
			result = diag.Plural(len(found), "finding")
		}
		about := ""
		if k, ok := a.app.Contract(c.Contract); ok {
			about, _, _ = strings.Cut(k.Summary(), " (")
		}
		counts := diag.Plural(c.Cases.Run, "case") + ", " + result
		fmt.Fprintf(&b, "%s%-10s%s  %s: %s\n", bold, c.Contract, plain, inWords(about, 66-len(counts)), counts)
		if len(found) == 0 {
			continue
		}
		slices.SortStableFunc(found, func(x, y *campaign.Finding) int {
			return cmp.Or(cmp.Compare(y.Severity, x.Severity), cmp.Compare(x.First, y.First))
		})
		f := found[0]
		if shown == nil {
			shown = f
		}
		title := strings.ToUpper(f.Severity.String()) + " " + f.ID + "  " + printable(f.Title)
		first := inWords(title, 66)
		fmt.Fprintf(&b, "            %s\n", strings.TrimSuffix(first, "…"))
		if rest, more := strings.CutPrefix(title, strings.TrimSuffix(first, "…")); more && strings.TrimSpace(rest) != "" {
			fmt.Fprintf(&b, "            %s\n", inWords(strings.TrimSpace(rest), 66))
		}
	}
	elapsed := time.Duration(rec.Environment.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	fmt.Fprintf(&b, "\n%s: %s and %s in %s, from the samples in %s%c\n", strings.ToUpper(rec.Verdict), diag.Plural(len(rec.Findings), "finding"), diag.Plural(cases, "case"), elapsed, dir, filepath.Separator)
	self, at := selfCommand(), ""
	if store != app.DefaultStore {
		at = " --store " + app.ShellQuote(store)
	}
	fmt.Fprintln(&b, "\nNext:")
	line := func(command, about string) { fmt.Fprintf(&b, "  %-44s %s\n", self+" "+command+at, about) }
	if shown != nil {
		line("replay "+shown.ID, "run it again; exit 1: still fails")
		line("show "+shown.ID, "its evidence and smallest input")
	}
	line("report", "every finding")
	line("ui --open", "the same in a browser")
	_, err := io.WriteString(w, b.String())
	return err
}

// inWords returns the text, cut after the last word that fits into n characters and followed by an
// ellipsis. It cuts a word that is too long for a line.
func inWords(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if at := strings.LastIndexByte(string(r[:n]), ' '); at > n/2 {
		return string(r[:n])[:at] + "…"
	}
	return diag.Runes(s, n)
}

// selfCommand returns the command by which the user started this program.
func selfCommand() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") && filepath.Ext(exe) != ".test" { // go test also runs from there
		return "go run ./cmd/thresh"
	}
	return "thresh"
}
