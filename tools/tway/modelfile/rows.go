package modelfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
)

// RowSet is the JSON form of rows.
type RowSet struct {
	Parameters []string   `json:"parameters"`
	Rows       [][]string `json:"rows"`
}

// ReadRows reads rows for the model: a line of names and lines of values, separated by tabs or
// commas (as PICT, ACTS and thresh write them), or JSON as thresh writes it. Cells without a value,
// or with a star, are solve.Open. Columns and values that the model does not have are dropped with
// a warning, as in PICT; if strict, they are errors.
func (f *File) ReadRows(name string, data []byte, strict bool) ([][]int, diag.List) {
	r := &reader{name: name, lines: strings.Split(string(data), "\n"), f: f}
	level := diag.Warning
	if strict {
		level = diag.Error
	}
	cells, places := r.cells(data)
	if len(cells) == 0 {
		if len(r.list) == 0 {
			r.wrong(diag.Pos{File: name}, "rows", "there are no rows: the first line must name parameters", "")
		}
		return nil, r.list
	}
	about := func(p diag.Pos, code, message, hint string) {
		r.wrong(p, code, message, hint)
		r.list[len(r.list)-1].Level = level
	}
	header := make([]int, len(cells[0]))
	for j, text := range cells[0] {
		text = strings.TrimSpace(text)
		if header[j] = r.param(text); header[j] < 0 {
			about(places(0, j), "unknown-parameter", "there is no parameter "+quote(text)+": this column does not count", diag.DidYouMean(text, f.Names()))
		} else if slices.Contains(header[:j], header[j]) {
			r.wrong(places(0, j), "duplicate", "the column "+quote(text)+" is there already", "")
		}
	}
	var rows [][]int
	for i, line := range cells[1:] {
		if len(line) == 1 && strings.TrimSpace(line[0]) == "" && len(header) > 1 {
			continue
		}
		if len(line) > len(header) {
			r.wrong(places(i+1, len(header)), "row", fmt.Sprintf("this row has %d cells, there are %d names above", len(line), len(header)), "")
			continue
		}
		row := slices.Repeat([]int{solve.Open}, len(f.Params))
		for j, text := range line {
			text = strings.TrimSpace(text)
			p := header[j]
			if p < 0 || text == "*" {
				continue
			}
			if row[p] = r.valueOf(p, strings.TrimPrefix(text, f.dialect.Negative)); row[p] < 0 {
				row[p] = r.valueOf(p, text)
			}
			if row[p] < 0 && text != "" {
				about(places(i+1, j), "unknown-value", quote(f.Params[p].Name)+" has no value "+quote(text), r.nearest(p, text))
			}
		}
		rows = append(rows, row)
	}
	r.list.Sort()
	if r.list.HasErrors() {
		return nil, r.list
	}
	return rows, r.list
}

// cells splits the file into cells; the first row has the names. places returns the position of a
// cell.
func (r *reader) cells(data []byte) (cells [][]string, places func(row, col int) diag.Pos) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		var set RowSet
		if err := json.Unmarshal(data, &set); err != nil {
			r.wrong(diag.Pos{File: r.name}, "rows", "this is not JSON of rows: "+err.Error(), "")
			return nil, nil
		}
		return append([][]string{set.Parameters}, set.Rows...), func(row, _ int) diag.Pos {
			return diag.Pos{File: fmt.Sprintf("%s, row %d", r.name, row)}
		}
	}
	d := csv.NewReader(bytes.NewReader(data))
	d.FieldsPerRecord, d.LazyQuotes = -1, true
	if first, _, _ := bytes.Cut(data, []byte("\n")); bytes.ContainsRune(first, '\t') {
		d.Comma = '\t'
	}
	var at [][]diag.Pos
	for {
		line, err := d.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.wrong(diag.Pos{File: r.name}, "rows", "these rows cannot be read: "+err.Error(), "")
			return nil, nil
		}
		if len(cells) == 0 && d.Comma == ',' && len(line) > 0 && strings.HasPrefix(line[0], "#") {
			continue // ACTS writes a report above its rows
		}
		var where []diag.Pos
		for j := range line {
			l, c := d.FieldPos(j)
			where = append(where, diag.Pos{File: r.name, Line: l, Col: c})
		}
		cells, at = append(cells, line), append(at, where)
	}
	return cells, func(row, col int) diag.Pos { return at[row][col] }
}

// Labels converts rows to the names of their values; a value with several names uses them in turn.
func (f *File) Labels(rows [][]int) [][]string {
	turn := make([][]int, len(f.Params))
	for p := range turn {
		turn[p] = make([]int, len(f.Params[p].Values))
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		for p, x := range row {
			out[i] = append(out[i], f.Label(&f.Params[p].Values[x], turn[p][x]))
			turn[p][x]++
		}
	}
	return out
}
