package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// count is a number with its thousands apart: 1,234,567.
func count[N int | int64](n N) string { return diag.Number(n) }

// plural is "1 case", "2 cases".
func plural[N int | int64](n N, word string) string { return diag.Plural(n, word) }

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		f /= 1024
		if f < 1023.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
	}
	return fmt.Sprintf("%.1f TiB", f/1024)
}

// duration is a number of seconds for people.
func duration(s float64) string {
	switch {
	case !(s > 0) || math.IsInf(s, 0):
		return "0 s"
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 59.95:
		return fmt.Sprintf("%.1f s", s)
	}
	t := int64(math.Round(s))
	if t < 3600 {
		return fmt.Sprintf("%d min %02d s", t/60, t%60)
	}
	return fmt.Sprintf("%d h %02d min", t/3600, t%3600/60)
}

// rate is cases a second for people.
func rate(r float64) string {
	switch {
	case !(r > 0) || math.IsInf(r, 0):
		return "0/s"
	case r < 10:
		return fmt.Sprintf("%.1f/s", r)
	}
	return count(int64(math.Round(r))) + "/s"
}

// percent is a rate from 0 to 1 for people; what is not all is never shown as
// 100 %, and what is not nothing never as 0 %.
func percent(p float64) string { return strings.Replace(Score(p), ".0%", "%", 1) }

// number is a float for people: at most four significant digits.
func number(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	if f == 0 {
		return "0" // not -0
	}
	if a := math.Abs(f); a >= 1000 && a < 1e15 {
		return count(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// moment is a time for people, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// finite is f, or 0 where there is no such number.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
