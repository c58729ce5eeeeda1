package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// count formats a number with separators between thousands: 1,234,567.
func count[N int | int64](n N) string { return diag.Number(n) }

// plural returns "1 case", "2 cases".
func plural[N int | int64](n N, word string) string { return diag.Plural(n, word) }

// size formats a number of bytes.
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

// duration formats a number of seconds.
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

// rate formats a number of cases per second.
func rate(r float64) string {
	switch {
	case !(r > 0) || math.IsInf(r, 0):
		return "0/s"
	case r < 10:
		return fmt.Sprintf("%.1f/s", r)
	}
	return count(int64(math.Round(r))) + "/s"
}

// percent formats a rate from 0 to 1. It shows 100 % only for exactly 1 and 0 % only for exactly 0.
func percent(p float64) string { return strings.Replace(Score(p), ".0%", "%", 1) }

// number formats a float with at most four significant digits.
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

// moment formats a time in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// finite returns f, or 0 for NaN and infinities.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
