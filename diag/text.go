package diag

import "strings"

// FirstLine is a text as far as its first line end.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}
