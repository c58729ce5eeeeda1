package spectest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// page proposes changes that make the transcripts of a page hold. It runs the page twice: output
// that differs between the runs becomes a redaction. Correct lines stay as they are, byte for byte.
func (a *accepting) page(ctx context.Context, x *executor, c *Case, acceptExit bool) error {
	steps, _, f, err := x.runPage(ctx, c)
	if err != nil || f == nil {
		return err
	}
	var again []ran
	if c.unrepeatable == "" {
		if again, _, _, err = x.runPage(ctx, c); err != nil {
			return err
		}
	}
	failed := false
	for i := range steps {
		r := &steps[i]
		if r.holds(c.page.rules) {
			continue
		}
		failed = true
		at := doctree.Pos{Line: r.step.line, Col: 1}
		switch {
		case r.why != "":
			a.skipCase(c, at, fmt.Sprintf("step[%d]", i), r.why)
			continue
		case !r.ended() && !acceptExit:
			a.skipCase(c, at, fmt.Sprintf("step[%d]", i), fmt.Sprintf("exit status %d, the page says %d (--accept-exit accepts it)", r.code, r.step.exit))
			continue
		}
		if r.lacks != "" {
			a.skipCase(c, at, fmt.Sprintf("step[%d]", i), "it does not give "+r.lacks)
		}
		if r.ended() && c.page.rules.matched(r.step.want, r.printed) {
			continue
		}
		printed := r.printed
		if i < len(again) {
			printed = varying(printed, again[i].printed, c.page.rules)
		}
		a.step(c, r, printed)
	}
	if !failed {
		a.skipCase(c, doctree.Pos{Line: max(f.Line, c.From), Col: 1}, f.Path, f.summary())
	}
	return nil
}

// step proposes the output lines of one command.
func (a *accepting) step(c *Case, r *ran, printed []string) {
	text, s := a.c.doc.text, r.step
	end := "\n"
	if s.from > 1 && text[s.from-2] == '\r' {
		end = "\r\n"
	}
	var raw []string // the lines of the page
	for at := s.from; at < s.to; at = lineEnd(text, at) {
		raw = append(raw, string(text[at:lineEnd(text, at)]))
	}
	indent := strings.Repeat(" ", s.indent)
	var b strings.Builder
	mended, _ := c.page.rules.repair(s.want, printed)
	for i, m := range mended {
		if m.keep >= 0 && m.keep < len(raw) {
			b.WriteString(raw[m.keep])
			continue
		}
		line := s.writable(m.text, i == 0, i == len(mended)-1)
		if line != "" {
			line = indent + line
		}
		b.WriteString(line + end)
	}
	to := s.to
	if !r.ended() {
		if to = s.to; s.exitAt > 0 {
			to = s.exitAt + s.exitLength
		}
		if r.code != 0 {
			fmt.Fprintf(&b, "%s[exit %d]%s", indent, r.code, end)
		}
	}
	a.Changes = append(a.Changes, Change{from: s.from, to: to, text: b.String()})
}

// writable is a printed line in a form that a page can hold: a line that would be read as a
// command, a fence, a wildcard or an exit code gets a wildcard, and so does a carriage return,
// which ends a line of Markdown.
func (s *pageStep) writable(l string, first, last bool) string {
	l = strings.ReplaceAll(l, "\r", "[..]")
	_, _, _, fence := fenceOf([]byte(l))
	_, prompt := s.language.command(l)
	if !fence && !isDots(l) && !prompt && !(first && s.language.more != "" && strings.HasPrefix(l, s.language.more)) && !(last && exitLine().MatchString(l)) {
		return l
	}
	return "[..]" + strings.TrimLeft(l, " ")[1:]
}

// varying is the output, with redactions in lines that differed in another run.
func varying(printed, again []string, rules redactions) []string {
	if len(printed) != len(again) {
		return printed
	}
	out := slices.Clone(printed)
	for i, l := range printed {
		if !rules.lineMatcher(l)(again[i]) {
			out[i] = generalised(l, again[i])
		}
	}
	return out
}

// generalised is a line that matches two different lines: words that differ become a redaction that
// fits both, or get a wildcard where they differ.
func generalised(a, b string) string {
	x, y := strings.Split(a, " "), strings.Split(b, " ")
	if len(x) != len(y) {
		return between(a, b)
	}
	for i := range x {
		if x[i] != y[i] {
			x[i] = kindOf(x[i], y[i])
		}
	}
	return strings.Join(x, " ")
}

func kindOf(a, b string) string {
	for _, name := range []string{"number", "version", "date", "time", "uuid", "hex", "path"} {
		if p := regexp.MustCompile(`^(?:` + builtIn[name] + `)$`); p.MatchString(a) && p.MatchString(b) {
			return "<" + name + ">"
		}
	}
	return between(a, b)
}

// between puts a wildcard between the common beginning and the common end of two texts. Numbers,
// and words of letters and digits, are replaced whole: a common beginning is chance.
func between(a, b string) string {
	ra, rb := []rune(a), []rune(b)
	head := 0
	for head < len(ra) && head < len(rb) && ra[head] == rb[head] {
		head++
	}
	tail := 0
	for tail < len(ra)-head && tail < len(rb)-head && ra[len(ra)-1-tail] == rb[len(rb)-1-tail] {
		tail++
	}
	middle := string(ra[head:len(ra)-tail]) + string(rb[head:len(rb)-tail])
	mixed := strings.ContainsFunc(middle, unicode.IsLetter) && strings.ContainsFunc(middle, unicode.IsDigit)
	one := func(r rune) bool { return unicode.IsDigit(r) || mixed && unicode.IsLetter(r) }
	if strings.ContainsFunc(middle, one) {
		for head > 0 && one(ra[head-1]) {
			head--
		}
		for tail > 0 && one(ra[len(ra)-tail]) {
			tail--
		}
	}
	return string(ra[:head]) + "[..]" + string(ra[len(ra)-tail:])
}
