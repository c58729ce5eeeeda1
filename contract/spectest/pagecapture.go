package spectest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// capture takes the values that a block passes on from the output of its last command, and says
// which one is missing.
func (p *pageRun) capture(a *act, out string) (lacks string) {
	for i := range a.captures {
		g, f := a.captures[i].lookUp(typePage, printed(strings.TrimRight(out, "\n")))
		if f != nil {
			return f.Want
		}
		if p.vars == nil {
			p.vars = variables{}
		}
		p.vars[a.captures[i].name] = g
	}
	return ""
}

// printed is the output of a command as the subject of captures.
type printed string

func (p printed) subject(string) (speclang.Value, *Failure) {
	return speclang.StringValue(string(p)), nil
}

// captured returns the output with ${NAME} in place of captured values where the page writes it so:
// a line that matches a line of the page becomes that line; in others, values that stand as words
// are replaced.
func (p *pageRun) captured(s *pageStep, lines []string) []string {
	marked, is := []string(nil), []func(string) bool(nil)
	for _, w := range s.want {
		if filled := p.vars.expand(w); filled != w {
			marked, is = append(marked, w), append(is, p.c.page.rules.lineMatcher(filled))
		}
	}
	for i, l := range lines {
		if k := slices.IndexFunc(is, func(matches func(string) bool) bool { return matches(l) }); k >= 0 {
			lines[i] = marked[k]
			continue
		}
		for _, name := range p.vars.names() {
			mark, value := "${"+name+"}", p.vars[name].text()
			if value != "" && slices.ContainsFunc(marked, func(w string) bool { return strings.Contains(w, mark) }) {
				lines[i] = asWord(value).ReplaceAllLiteralString(lines[i], mark)
			}
		}
	}
	return lines
}

// asWord matches a value that is not part of a longer word or number.
func asWord(value string) *regexp.Regexp {
	bound := func(c byte) string {
		if letterOrDigit().MatchString(string(c)) {
			return `\b`
		}
		return ""
	}
	return regexp.MustCompile(bound(value[0]) + regexp.QuoteMeta(value) + bound(value[len(value)-1])) // of quoted text
}

var letterOrDigit = lazy.Pattern(`[0-9A-Za-z_]`)
