package textop

import "strings"

// Each of these appends a text so that it is one value of a format.

func escapeMarkup(dst []byte, text string) []byte {
	from := 0
	for i := range len(text) {
		var e string
		switch text[i] {
		case '&':
			e = "&amp;"
		case '<':
			e = "&lt;"
		case '>':
			e = "&gt;"
		case '"':
			e = "&quot;"
		default:
			continue
		}
		dst = append(append(dst, text[from:i]...), e...)
		from = i + 1
	}
	return append(dst, text[from:]...)
}

// escapeJSON appends the inside of a JSON or YAML string in double quotes.
func escapeJSON(dst []byte, text string) []byte {
	n := len(dst)
	dst = AppendString(dst, text)
	return append(dst[:n], dst[n+1:len(dst)-1]...)
}

// escapeCSV appends the inside of a CSV field in double quotes.
func escapeCSV(dst []byte, text string) []byte {
	return append(dst, strings.ReplaceAll(text, `"`, `""`)...)
}

// escapeQuoted appends the text with "> " before every line but the first.
func escapeQuoted(dst []byte, text string) []byte {
	return append(dst, strings.ReplaceAll(text, "\n", "\n> ")...)
}

// escapeLine appends the text on one line.
func escapeLine(dst []byte, text string) []byte {
	return append(dst, strings.ReplaceAll(text, "\n", " ")...)
}
