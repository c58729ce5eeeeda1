package crash

import "strings"

// timeLen recognizes a date with or without a time of day, or a time of day,
// perhaps with names of weekday and month before it.
func timeLen(s string) int {
	n := 0
	if k := nameOf(s, "SunMonTueWedThuFriSat"); k > 0 && len(s) > k+1 {
		n = k
		for n < len(s) && (s[n] == ' ' || s[n] == ',') {
			n++
		}
	}
	if k := nameOf(s[n:], "JanFebMarAprMayJunJulAugSepOctNovDec"); k > 0 {
		m := n + k
		for m < len(s) && s[m] == ' ' {
			m++
		}
		d := m
		for d < len(s) && isDigit(s[d]) {
			d++
		}
		if d > m && d-m <= 2 && d < len(s) && s[d] == ' ' {
			if k := clockLen(s[d+1:]); k > 0 {
				return zoneLen(s, d+1+k)
			}
		}
		return 0
	}
	if n > 0 {
		return 0
	}
	if k := dateLen(s); k > 0 {
		if k < len(s) && (s[k] == 'T' || s[k] == ' ' || s[k] == '_') {
			if c := clockLen(s[k+1:]); c > 0 {
				return zoneLen(s, k+1+c)
			}
		}
		return k
	}
	if k := clockLen(s); k > 0 {
		return zoneLen(s, k)
	}
	return 0
}

// nameOf returns 3 if s begins with one of the three-letter names.
func nameOf(s, names string) int {
	if len(s) < 4 || s[3] != ' ' && s[3] != ',' {
		return 0
	}
	if i := strings.Index(names, s[:3]); i >= 0 && i%3 == 0 {
		return 3
	}
	return 0
}

// dateLen recognizes 2026-01-31 and 2026/01/31.
func dateLen(s string) int {
	if len(s) < 10 || s[4] != '-' && s[4] != '/' || s[7] != s[4] ||
		!allDigits(s[:4]) || !allDigits(s[5:7]) || !allDigits(s[8:10]) || len(s) > 10 && isDigit(s[10]) {
		return 0
	}
	return 10
}

// clockLen recognizes 12:00:00 with an optional fraction.
func clockLen(s string) int {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' || !allDigits(s[:2]) || !allDigits(s[3:5]) || !allDigits(s[6:8]) {
		return 0
	}
	n := 8
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]); {
			n++
		}
	}
	return n
}

// zoneLen extends a time that ends at n by its zone and year.
func zoneLen(s string, n int) int {
	switch {
	case n < len(s) && s[n] == 'Z':
		return n + 1
	case n+5 <= len(s) && (s[n] == '+' || s[n] == '-') && allDigits(s[n+1:n+3]):
		n += 3
		if n < len(s) && s[n] == ':' {
			n++
		}
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		return n
	}
	if strings.HasPrefix(s[n:], " UTC") || strings.HasPrefix(s[n:], " GMT") {
		n += 4
	}
	if n+5 <= len(s) && s[n] == ' ' && allDigits(s[n+1:n+5]) && (n+5 == len(s) || !isWord(s[n+5])) {
		n += 5
	}
	return n
}
