package spectest

import (
	"strconv"
	"strings"
)

// shellLine is a command line, parsed as a shell would but not run.
type shellLine struct {
	number int // of its first line
	source string
	words  []string // variables are written ${NAME}
	after  string   // pipe or redirection of its output
	wrong  string   // why it is not one simple command
}

// shellLines parses command lines: quotes may span lines, a backslash at the end of a line
// continues it, # begins a comment, and a $ before a command is a prompt.
func shellLines(text string) []shellLine {
	r := &shellReader{text: text, line: 1}
	for r.at < len(text) {
		l := shellLine{number: r.line}
		start := r.at
		r.command(&l)
		l.source = strings.TrimSpace(text[start:r.at])
		if len(l.words) > 0 && l.words[0] == "$" {
			l.words = l.words[1:]
		}
		if len(l.words) > 0 || l.wrong != "" {
			r.list = append(r.list, l)
		}
	}
	return r.list
}

type shellReader struct {
	text     string
	at, line int
	list     []shellLine
}

// next is the next character; 0 at the end.
func (r *shellReader) next() byte {
	if r.at == len(r.text) {
		return 0
	}
	c := r.text[r.at]
	if r.at++; c == '\n' {
		r.line++
	}
	return c
}

func (r *shellReader) peek(text string) bool { return strings.HasPrefix(r.text[r.at:], text) }

// command reads words to the end of a command.
func (r *shellReader) command(l *shellLine) {
	var b strings.Builder
	in := false
	end := func() {
		if in {
			l.words = append(l.words, b.String())
		}
		b.Reset()
		in = false
	}
	for r.at < len(r.text) {
		if !in && len(l.words) == 0 {
			l.number = r.line
		}
		switch c := r.next(); {
		case c == '\n' || c == ';':
			end()
			return
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case c == '#' && !in:
			for r.at < len(r.text) && !r.peek("\n") {
				r.next()
			}
		case c == '&' && r.peek("&"):
			r.next()
			end()
			return
		case strings.IndexByte("|<>&()`", c) >= 0:
			if c == '>' && b.String() == "2" { // its errors are redirected
				b.Reset()
				in = false
			}
			end()
			from := r.at - 1
			for r.at < len(r.text) && !r.peek("\n") {
				r.next()
			}
			if rest := r.text[from:r.at]; c == '>' || c == '|' && !strings.HasPrefix(rest, "||") {
				l.after = strings.TrimSpace(rest)
			} else {
				l.wrong = string(c) + " belongs to the shell"
			}
		case c == '\\' && r.peek("\n"), c == '\\' && r.peek("\r\n"):
			for r.next() != '\n' {
			}
		case c == '\\' && r.at < len(r.text):
			b.WriteByte(r.next())
			in = true
		case c == '$' && r.peek("'"):
			r.next()
			in = true
			r.quoted(&b, l, true)
		case c == '$':
			in = true
			r.variable(&b, l)
		case c == '\'':
			in = true
			r.quoted(&b, l, false)
		case c == '"':
			in = true
			r.double(&b, l)
		default:
			b.WriteByte(c)
			in = true
		}
	}
	end()
}

// openQuote is the message for an unclosed quote.
const openQuote = "a quote is never closed"

// quoted reads up to a single quote; with escapes, as bash reads $'...'.
func (r *shellReader) quoted(b *strings.Builder, l *shellLine, escapes bool) {
	for r.at < len(r.text) {
		c := r.next()
		switch {
		case c == '\'':
			return
		case c != '\\' || !escapes:
			b.WriteByte(c)
		case r.peek("'"), r.peek(`"`), r.peek("?"):
			b.WriteByte(r.next())
		default:
			from := r.at
			char, _, rest, err := strconv.UnquoteChar(r.text[from-1:], '\'')
			if err != nil {
				b.WriteByte(c)
				continue
			}
			b.WriteRune(char)
			r.at = len(r.text) - len(rest)
		}
	}
	l.wrong = openQuote
}

// double reads up to a double quote.
func (r *shellReader) double(b *strings.Builder, l *shellLine) {
	for r.at < len(r.text) {
		switch c := r.next(); {
		case c == '"':
			return
		case c == '\\' && r.peek("\n"):
			r.next()
		case c == '\\' && r.at < len(r.text) && strings.IndexByte("\"\\$`", r.text[r.at]) >= 0:
			b.WriteByte(r.next())
		case c == '$':
			r.variable(b, l)
		case c == '`':
			l.wrong = "it holds a command of the shell"
		default:
			b.WriteByte(c)
		}
	}
	l.wrong = openQuote
}

// variable reads what follows a dollar sign: a shell variable becomes a variable of the document.
func (r *shellReader) variable(b *strings.Builder, l *shellLine) {
	rest, braced := strings.CutPrefix(r.text[r.at:], "{")
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z' || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	name := rest[:n]
	switch {
	case braced && (n == 0 || !strings.HasPrefix(rest[n:], "}")):
		l.wrong = "it uses more of the shell than the name of a variable: ${"
		return
	case n == 0:
		if strings.HasPrefix(rest, "(") {
			l.wrong = "it holds a command of the shell"
		}
		b.WriteByte('$')
		return
	case braced:
		r.at += 2
	}
	r.at += n
	b.WriteString("${" + name + "}")
}
