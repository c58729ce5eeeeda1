package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
	"github.com/thresh-dev/thresh/tools/tway/modelfile"
	"github.com/thresh-dev/thresh/tools/tway/verify"
)

// writeRows writes rows below the names of parameters.
func writeRows(w io.Writer, file *modelfile.File, rows [][]int, format string) error {
	names, labels := file.Names(), file.Labels(rows)
	switch format {
	case "json":
		if labels == nil {
			labels = [][]string{}
		}
		text, err := json.MarshalIndent(modelfile.RowSet{Parameters: names, Rows: labels}, "", "  ")
		if err != nil {
			return fmt.Errorf("encoding rows: %w", err)
		}
		_, err = w.Write(append(text, '\n'))
		return err
	case "csv", "tsv":
		c := csv.NewWriter(w)
		if format == "tsv" {
			c.Comma = '\t'
		}
		return c.WriteAll(append([][]string{names}, labels...))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range append([][]string{names}, labels...) {
		for i := range line {
			line[i] = strings.ReplaceAll(printable(line[i]), "\t", " ")
		}
		if _, err := fmt.Fprintln(t, strings.Join(line, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// shownTuples is the number of combinations of one kind that are listed.
const shownTuples = 20

// summarizeArray describes what an array covers and what no array can cover.
func summarizeArray(w io.Writer, file *modelfile.File, m *covering.Model, array *covering.Array) {
	for _, r := range array.Refused {
		why := "it holds two invalid values"
		if len(r.Conds) > 0 {
			why = because(file, r.Conds)
		}
		fmt.Fprintf(w, "warning: given row %d is left out: %s\n", r.Row+1, why)
	}
	cover := "cover"
	if len(array.Rows) == 1 {
		cover = "covers"
	}
	fmt.Fprintf(w, "%s, strength %d: %s %s %s (no array has fewer than %s)\n", diag.Plural(len(m.Levels), "parameter"), m.Strength,
		diag.Plural(len(array.Rows), "row"), cover, diag.Plural(array.Tuples, "combination"), diag.Plural(array.Lower, "row"))
	if n := len(array.Unreachable); n > 0 {
		fmt.Fprintf(w, "%s that no row can hold:\n", diag.Plural(n, "smallest combination"))
		for _, u := range array.Unreachable[:min(n, shownTuples)] {
			fmt.Fprintf(w, "  %s: %s\n", tupleText(file, u.Tuple), because(file, u.Conds))
		}
		more(w, n)
	}
	if n := len(array.Unproven); n > 0 {
		fmt.Fprintf(w, "%s that may be possible and may be missing: the constraints were too hard to say\n", diag.Plural(n, "combination"))
		tellTuples(w, file, array.Unproven)
	}
}

func more(w io.Writer, n int) {
	if n > shownTuples {
		fmt.Fprintf(w, "  ... and %s more\n", diag.Number(int64(n-shownTuples)))
	}
}

func tellTuples(w io.Writer, file *modelfile.File, list []covering.Tuple) {
	for _, t := range list[:min(len(list), shownTuples)] {
		fmt.Fprintf(w, "  %s\n", tupleText(file, t))
	}
	more(w, len(list))
}

// tupleText is a combination in readable form.
func tupleText(file *modelfile.File, t covering.Tuple) string {
	var parts []string
	for i, p := range t.Params {
		parts = append(parts, file.Params[p].Name+"="+file.Label(&file.Params[p].Values[t.Values[i]], 0))
	}
	return printable(strings.Join(parts, ", "))
}

// because lists constraints with their places.
func because(file *modelfile.File, conds []int) string {
	var parts []string
	for _, c := range conds {
		parts = append(parts, fmt.Sprintf("line %d: %s", file.Conds[c].Pos.Line, printable(file.Conds[c].Text)))
	}
	if parts == nil {
		return "the other values of its row would have to be invalid"
	}
	return strings.Join(parts, " and ")
}

// verifyRows checks the rows of a file against a model.
func (t stdio) verifyRows(file *modelfile.File, m *covering.Model, f flags) error {
	rows, err := t.readRows(file, f.verify, true)
	if err != nil {
		return err
	}
	for i, row := range rows {
		for p, x := range row {
			if x == solve.Open {
				return diag.Refused("%s: row %d has no value for %q", f.verify, i+1, file.Params[p].Name)
			}
		}
	}
	v, err := verify.Array(m, rows)
	if err != nil {
		return diag.Refused("%s: %w", f.verify, err)
	}
	w := t.out
	for _, b := range v.Broken[:min(len(v.Broken), shownTuples)] {
		if b.Invalids > 1 {
			fmt.Fprintf(w, "row %d holds %d invalid values\n", b.Row+1, b.Invalids)
		}
		if len(b.Conds) > 0 {
			fmt.Fprintf(w, "row %d breaks %s\n", b.Row+1, because(file, b.Conds))
		}
	}
	more(w, len(v.Broken))
	if n := len(v.Missing); n > 0 {
		fmt.Fprintf(w, "%s in no row:\n", diag.Plural(n, "combination"))
		tellTuples(w, file, v.Missing)
	}
	if n := len(v.Undecided); n > 0 {
		fmt.Fprintf(w, "%s in no row, and too hard to say whether possible:\n", diag.Plural(n, "combination"))
		tellTuples(w, file, v.Undecided)
	}
	fmt.Fprintf(w, "%s, strength %d: %s in good rows, %s impossible, %s missing, %s wrong\n", diag.Plural(len(rows), "row"), m.Strength,
		diag.Plural(v.Covered, "combination"), diag.Number(v.Unreachable), diag.Number(int64(len(v.Missing)+len(v.Undecided))),
		diag.Plural(len(v.Broken), "row"))
	if !v.OK() {
		return exitError(diag.ExitFindings)
	}
	return nil
}

// printable replaces control characters, which are dangerous on a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, s)
}
