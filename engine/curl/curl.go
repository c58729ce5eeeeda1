// Package curl writes requests as command lines of curl that send the same. The rules are
// those of curl's manual and of POSIX shells; control characters are written as bash and
// zsh read them. The package must not import a contract. Start at [Request].
package curl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Request is a request to write.
type Request struct {
	Method, URL string
	Follow      bool        // redirects
	Options     string      // further options, each with a blank before it
	Headers     [][2]string // by name
	Form        []string    // parts of a form, as -F takes them
	Body        []byte      // nil: none
	File        string      // with the body; "": none
}

// String returns the command line, without a line feed at its end.
func (r Request) String() string {
	has := r.Body != nil || r.File != "" || r.Form != nil
	line, feed := "curl -i", ""
	if r.Follow {
		line += " -L"
	}
	switch {
	case r.Method == "HEAD":
		line += " -I" // with -X, curl awaits a body
	case !r.Follow || r.Method != "POST" || !has: // else -X would repeat it where it is redirected to
		line += " -X " + r.Method
	}
	if strings.ContainsAny(r.URL, "[]{}") {
		line += " -g"
	}
	if path, _, _ := strings.Cut(r.URL, "?"); strings.Contains(path, "/.") {
		line += " --path-as-is"
	}
	line += " " + Word(Address(r.URL)) + r.Options
	if r.File != "" {
		line += " --data-binary " + Word("@"+r.File)
	}
	for _, part := range r.Form {
		line += next + "-F " + Word(part)
	}
	for _, h := range r.Headers {
		if h[1] == "" {
			line += next + "-H " + Word(h[0]+";")
			continue
		}
		line += next + "-H " + Word(h[0]+": "+h[1])
	}
	if named := func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Type") }; (r.Body != nil || r.File != "") && !slices.ContainsFunc(r.Headers, named) {
		line += next + "-H 'Content-Type:'" // curl would say that it is a form
	}
	switch {
	case r.Body == nil:
	case bytes.IndexByte(r.Body, 0) >= 0: // no argument can hold it
		feed = "printf '" + octal(r.Body) + "' | "
		line += next + "--data-binary @-"
	case bytes.HasPrefix(r.Body, []byte("@")): // which would be a file
		line += next + "--data-raw " + Word(string(r.Body))
	default:
		line += next + "--data-binary " + Word(string(r.Body))
	}
	return feed + line
}

// next begins another line of the command.
const next = " \\\n  "

// Address is a URL without blanks and characters beyond ASCII behind the host, which
// people write and servers and curl refuse.
func Address(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		return url
	}
	at += len(url) - len(rest)
	var b strings.Builder
	b.WriteString(url[:at])
	for _, c := range []byte(url[at:]) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Word is a text as a word of a shell, with escapes where it is not plain text.
func Word(s string) string {
	unseen := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unseen) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "$'" + octal([]byte(s)) + "'"
}

// octal is a text with escapes for all but the plain characters of ASCII.
func octal(s []byte) string {
	var b strings.Builder
	for _, c := range s {
		if c < ' ' || c >= 0x7f || strings.IndexByte(`'\%`, c) >= 0 {
			fmt.Fprintf(&b, `\%03o`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
