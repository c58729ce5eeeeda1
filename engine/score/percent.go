package score

import (
	"math"
	"strconv"
)

// Percent is a share from 0 to 1 for people, with one decimal: the one form of
// scores and rates in pages, reports and commands. What is not all of something
// is never 100.0%, and what is not nothing never 0.0%.
func Percent(p float64) string {
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "–"
	case p > 0 && p < 0.001:
		return "<0.1%"
	case p < 1 && p > 0.999:
		return ">99.9%"
	}
	return strconv.FormatFloat(p*100, 'f', 1, 64) + "%"
}

// Percents is an interval of shares for people.
func Percents(low, high float64) string { return Percent(low) + " to " + Percent(high) }
