// Command tway writes few rows of inputs that hold every combination of the values of any t
// parameters, from models in the formats of PICT and ACTS, and checks rows of any origin. README.md
// describes its use. It is separate from Thresh, whose package engine/tway makes its own arrays.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/tools/tway/covering"
	"github.com/thresh-dev/thresh/tools/tway/modelfile"
	"github.com/thresh-dev/thresh/tools/tway/verify"
)

// stdio holds the standard streams of the process.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// exitError is an exit code whose reason has already been printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() { os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})) }

// run runs one command line and returns the exit code.
func run(args []string, io stdio) int {
	c := command(io)
	c.SetArgs(args)
	c.SetOut(io.out)
	c.SetErr(io.err)
	err := c.Execute()
	var code exitError
	var coded *diag.CodedError
	var list diag.List
	switch {
	case err == nil:
		return diag.ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &list):
		fmt.Fprint(io.err, list.Render(diag.Style{}))
		return diag.ExitRefused
	case !errors.As(err, &coded): // an error of the command line
		err = diag.WithHint(diag.Refused("%w", err), diag.Hint(err))
	}
	fmt.Fprintln(io.err, "tway: error: "+printable(err.Error()))
	if h := diag.Hint(err); h != "" {
		fmt.Fprintln(io.err, "  hint: "+h)
	}
	return diag.ExitCode(err)
}

// flags holds the values of the command line.
type flags struct {
	strength int
	all      bool // combine all parameters
	seed     int64
	effort   int
	format   string
	rows     string
	verify   string
	dialect  modelfile.Dialect
	drawn    bool // the seed is random
}

// formats are the output formats of rows.
var formats = []string{"table", "csv", "tsv", "json", "summary"}

func command(io stdio) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "tway MODEL [SWITCH...]",
		Short: "Write few rows of inputs that hold every combination of t parameters' values",
		Long: `Reads a model of parameters, values and constraints (PICT, or ACTS as text
or XML; - is standard input) and writes rows that together hold every combination of
the values of any two parameters, or of as many as --strength says, that the
constraints allow. Rows go to standard output; what they cover, and what
nothing can cover for which constraints, goes to standard error.

The rows follow from the model, --strength, --seed and --effort alone. Effort is
counted in steps of work, not in time: 1 takes some tenths of a second, 100 is for
the smallest array that patience can buy, 0 writes the first one that covers all.

Every array is checked, by other means than it was made, before it is written.
With --verify, rows from a file are checked instead: other tools' or your own.

Switches are those of PICT, in its own spelling, after the model: /o:3 /d:; /a:/
/n:! /e:rows.txt /r:7 /c /s. With one of them rows are written as PICT does.

Exit codes: 0 all that is possible is covered, 1 it is not (--verify) or could
not be decided, 2 the model or the rows were refused.`,
		Example: `  tway model.txt
  tway model.txt --strength 3 --format csv
  tway model.txt --rows must.tsv       begin with rows of your own
  tway model.txt --verify rows.tsv     do these rows cover everything?
  tway model.txt /o:3 /e:must.txt      as PICT is called`,
		Args:          cobra.MinimumNArgs(1),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.switches(args[1:], c.Flags()); err != nil {
				return err
			}
			return io.tway(args[0], f)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.IntVarP(&f.strength, "strength", "t", 0, "combine so many parameters, 1 to 6 (0: as the model says, otherwise 2)")
	fs.Int64Var(&f.seed, "seed", 1, "another seed gives other rows of the same worth")
	fs.IntVar(&f.effort, "effort", 1, "how much work goes into fewer rows (0: none)")
	fs.StringVar(&f.format, "format", "table", "how rows are written: "+strings.Join(formats, ", "))
	fs.StringVar(&f.dialect.Separator, "separator", ",", "`CHARACTER` between the values of a PICT model; space and tab are ones")
	fs.StringVar(&f.dialect.Alias, "alias-separator", "|", "`CHARACTER` between the names of a value")
	fs.StringVar(&f.dialect.Negative, "negative-prefix", "~", "`CHARACTER` before a value that is invalid")
	fs.BoolVar(&f.dialect.CaseSensitive, "case-sensitive", false, "tell names and text of a PICT model apart by their case")
	fs.StringVar(&f.rows, "rows", "", "begin with the rows of a `FILE` (tab- or comma-separated, or JSON); empty cells are filled")
	fs.StringVar(&f.verify, "verify", "", "make no rows, check those of a `FILE`")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *flags) validate() error {
	switch {
	case f.strength < 0 || f.strength > covering.MaxStrength:
		return diag.Refused("--strength must be from 1 to %d, got %d", covering.MaxStrength, f.strength)
	case f.effort < 0 || f.effort > 1_000_000:
		return diag.Refused("--effort must be from 0 to 1000000, got %d", f.effort)
	case f.verify != "" && f.format == "summary":
		return diag.Refused("--format summary writes no rows, and --verify makes none: give one of them")
	case f.verify != "" && f.rows != "":
		return diag.Refused("--rows begins an array and --verify makes none: give one of them")
	}
	if err := f.dialect.Check(); err != nil {
		return diag.Refused("%w", err)
	}
	for _, known := range formats {
		if f.format == known {
			return nil
		}
	}
	err := diag.Refused("--format must be one of %s, got %q", strings.Join(formats, ", "), f.format)
	if h := diag.DidYouMean(f.format, formats); h != "" {
		return diag.WithHint(err, h)
	}
	return err
}

func (t stdio) tway(path string, f flags) error {
	for _, c := range []*string{&f.dialect.Separator, &f.dialect.Alias} {
		if name, ok := map[string]string{"space": " ", "tab": "\t"}[*c]; ok {
			*c = name
		}
	}
	if err := f.validate(); err != nil {
		return err
	}
	if f.drawn {
		fmt.Fprintf(t.err, "seed %d\n", f.seed)
	}
	data, err := t.readModel(path)
	if err != nil {
		return err
	}
	file, list := f.dialect.Read(path, data)
	t.warn(list)
	switch {
	case file == nil:
		return exitError(diag.ExitRefused)
	case file.Format != "pict" && f.dialect != (modelfile.Dialect{Separator: ",", Alias: "|", Negative: "~"}):
		return diag.Refused("%s: separators, signs and case can be told of PICT models alone; this is one for ACTS", path)
	}
	m := file.At(f.strengthOf(file))
	if err := m.Check(); err != nil {
		return diag.Refused("%s: %w", path, err)
	}
	if f.verify != "" {
		return t.verifyRows(file, m, f)
	}
	if f.rows != "" {
		rows, err := t.readRows(file, f.rows, false)
		if err != nil {
			return err
		}
		m.Rows = append(m.Rows, rows...)
	}
	array, err := covering.Generate(m, covering.Options{Seed: uint64(f.seed), Effort: f.effort})
	if err != nil {
		return refused(file, path, err)
	}
	verdict, err := verify.Array(m, array.Rows)
	if err != nil {
		return diag.Environment("checking the array: %w", err)
	}
	if len(verdict.Missing)+len(verdict.Broken) > 0 {
		return diag.Environment("the array is wrong, which is a fault of thresh: %d combinations missing, %d rows that break constraints",
			len(verdict.Missing), len(verdict.Broken))
	}
	about := t.err
	if f.format == "summary" {
		about = t.out
	} else if err := writeRows(t.out, file, array.Rows, f.format); err != nil {
		return diag.Environment("writing the rows: %w", err)
	}
	summarizeArray(about, file, m, array)
	if len(array.Unproven) > 0 {
		return exitError(diag.ExitFindings)
	}
	return nil
}

// strengthOf is the requested strength, or that of the file, or 2; a single parameter allows only
// 1.
func (f *flags) strengthOf(file *modelfile.File) int {
	switch {
	case f.all:
		n := 0
		for i := range file.Params {
			if file.Model.Outcome == nil || !file.Model.Outcome[i] {
				n++
			}
		}
		return n
	case f.strength > 0:
		return f.strength
	case file.Strength > 0:
		return file.Strength
	}
	return min(2, len(file.Params))
}

func (t stdio) readModel(path string) ([]byte, error) {
	if path == "-" {
		data, err := io.ReadAll(t.in)
		if err != nil {
			return nil, diag.Environment("reading standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Refused("%w", err)
	}
	return data, nil
}

func (t stdio) readRows(file *modelfile.File, path string, strict bool) ([][]int, error) {
	data, err := t.readModel(path)
	if err != nil {
		return nil, err
	}
	rows, list := file.ReadRows(path, data, strict)
	t.warn(list)
	if list.HasErrors() {
		return nil, exitError(diag.ExitRefused)
	}
	return rows, nil
}

// refused explains why there is no array, with the constraints that contradict each other.
func refused(file *modelfile.File, path string, err error) error {
	var c *covering.Contradiction
	switch {
	case errors.Is(err, covering.ErrTooHard):
		return &diag.CodedError{Code: diag.ExitFindings, Err: fmt.Errorf("%s: %w", path, err)}
	case !errors.As(err, &c):
		return diag.Refused("%s: %w", path, err)
	}
	var list diag.List
	for _, i := range c.Conds {
		message := "contradicts the other constraints told here, so that no row is possible: "
		if len(c.Conds) == 1 {
			message = "cannot hold, so that no row is possible: "
		}
		list = append(list, diag.Diagnostic{Code: "tway.contradiction", Pos: file.Conds[i].Pos, Message: message + file.Conds[i].Text})
	}
	return list
}

func (t stdio) warn(list diag.List) {
	if len(list) > 0 {
		fmt.Fprint(t.err, list.Render(diag.Style{}))
	}
}
