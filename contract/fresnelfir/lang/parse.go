package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/starbox"
)

// mostSyntax limits how many syntax errors are listed.
const mostSyntax = 20

// parse reads a source. It leaves out declarations with syntax errors, so that all others are
// checked too, and returns the names of those it left out.
func parse(by *starbox.Parser, file string, src []byte, lines []string) (f *starbox.Source, broken map[string]bool, list diag.List) {
	broken = map[string]bool{}
	rest := slices.Clone(lines)
	for range mostSyntax {
		f, found := by.Parse(file, src)
		if f != nil {
			return f, broken, list
		}
		for _, d := range found {
			d.Code = "fresnelfir.syntax"
			if n := d.Pos.Line; n <= len(lines) {
				d.Source = lines[n-1]
				if w := reservedWord(d.Message, lines[n-1], d.Pos.Col); w != "" {
					d.Hint = fmt.Sprintf("%s is a reserved word of Starlark; if it is meant as a name, write another one", w)
				}
			}
			list = append(list, d)
		}
		from, to := statement(rest, found[0].Pos.Line-1)
		if from == to {
			break
		}
		if m := named.FindStringSubmatch(rest[from]); m != nil {
			broken[m[1]] = true
		}
		for i := from; i < to; i++ {
			rest[i] = ""
		}
		src = []byte(strings.Join(rest, "\n"))
	}
	return nil, nil, list
}

var (
	begins = regexp.MustCompile(`^[A-Za-z_]`)
	named  = regexp.MustCompile(`^(?:def\s+)?(\w+)`)
	// reserved are the words of Starlark that are likely to be meant as names. A statement can begin
	// with load.
	reserved = regexp.MustCompile(`\b(as|assert|async|await|break|class|continue|del|except|finally|from|global|import|is|load|nonlocal|pass|raise|try|while|with|yield)$`)
	unwanted = regexp.MustCompile(`^got (\w+), want primary expression$`)
)

// reservedWord returns the reserved word because of which a line is no Starlark at a column; "": none.
func reservedWord(message, line string, col int) string {
	before := ""
	switch m := unwanted.FindStringSubmatch(message); {
	case m != nil:
		before = m[1]
	case message == "not an identifier", message == "got '=', want '('": // the column is that of what follows
		before = strings.TrimRight(line[:min(col-1, len(line))], " =")
	}
	return reserved.FindString(before)
}

// statement returns the lines of the statement to blame for an error in a line: the one that
// contains the line, or the last one above it that is unclosed.
func statement(lines []string, at int) (from, to int) {
	from = min(at, len(lines)-1)
	for from > 0 && !begins.MatchString(lines[from]) {
		from--
	}
	opened := 0
	for above := from - 1; above >= 0; above-- {
		if opened += brackets(lines[above]); opened > 0 && begins.MatchString(lines[above]) {
			from, opened = above, 0
		}
	}
	if !begins.MatchString(lines[from]) {
		return 0, 0
	}
	for to = from + 1; to < len(lines) && !begins.MatchString(lines[to]); to++ {
	}
	return from, to
}

// brackets returns how many more brackets a line opens than it closes.
func brackets(line string) int {
	opened, quote := 0, rune(0)
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '#':
			return opened
		case c == '"' || c == '\'':
			quote = c
		case strings.ContainsRune("([{", c):
			opened++
		case strings.ContainsRune(")]}", c):
			opened--
		}
	}
	return opened
}
