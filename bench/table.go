package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// titles are the titles of the table's columns.
var titles = []string{"target: contender", "workers", "cases/s", "min", "max", "× base", "set-up s", "beyond it", "× base", "CPU µs", "others"}

// table shows all rows, as Markdown that is also aligned in a terminal.
func (t *tally) table() string {
	lines := [][]string{titles}
	var failures []string
	for _, r := range t.rows {
		lines = append(lines, r.cells())
		if r.failed != nil {
			failures = append(failures, fmt.Sprintf("%s: %s, %d workers: failed: %v\n", r.contest, r.name, r.workers, r.failed))
		}
	}
	width := make([]int, len(titles))
	for _, l := range lines {
		for i, cell := range l {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for n, l := range lines {
		writeLine(&b, l, width)
		if n == 0 {
			rule := make([]string, len(titles))
			for i := range rule {
				if rule[i] = strings.Repeat("-", width[i]); i > 0 {
					rule[i] = strings.Repeat("-", width[i]-1) + ":"
				}
			}
			writeLine(&b, rule, width)
		}
	}
	for _, f := range failures {
		b.WriteString(f)
	}
	return b.String()
}

// writeLine writes cells in columns: the first left-aligned, all others right-aligned.
func writeLine(b *strings.Builder, cells []string, width []int) {
	for i, cell := range cells {
		pad := strings.Repeat(" ", width[i]-len([]rune(cell)))
		if i == 0 {
			cell += pad
		} else {
			cell = pad + cell
		}
		b.WriteString("| " + cell + " ")
	}
	b.WriteString("|\n")
}

func (r *row) cells() []string {
	name := r.contest + ": " + r.name
	if isThresh(r.name) {
		name = r.contest + ": **" + r.name + "**"
	}
	show := func(list []float64, format func(float64) string) string {
		if len(list) == 0 {
			return "–"
		}
		return format(median(list))
	}
	low, high := "–", "–"
	if len(r.rates) > 0 {
		low, high = whole(slices.Min(r.rates)), whole(slices.Max(r.rates))
	}
	ratio := show(r.ratios, hundredths)
	if r.base == nil && len(r.rates) > 0 {
		ratio = "1"
	}
	return []string{
		name, strconv.Itoa(r.workers), show(r.rates, whole), low, high, ratio,
		show(r.setups, hundredths), show(r.steadies, whole), show(r.steadyRatios, hundredths),
		show(r.cpu, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }),
		show(r.foreign, func(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }),
	}
}

func isThresh(name string) bool { return strings.HasPrefix(name, "thresh ") }

func hundredths(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// whole is a number without a fraction, with thousands separated by commas.
func whole(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
