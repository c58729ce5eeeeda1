package spectest

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// cramMark is how cram says that a line of output is no plain one.
var cramMark = lazy.Pattern(` \((re|glob|esc|no-eol)\)$`)

// cramState is a command that leaves something in the shell which only that shell
// has: aliases, functions, variables that are not exported, files that are read.
var cramState = lazy.Pattern(`(?m)^  [$>] (?:alias |\. |source |set |[A-Za-z_][A-Za-z0-9_]*=|(?:function )?[A-Za-z_][A-Za-z0-9_]*\(\))`)

// cramNeeds is how files of cram skip themselves without a program: exit code 80.
var (
	cramNeeds = lazy.Pattern(`(?m)^  \$ (?:command -v|which|type) ([A-Za-z0-9_.+-]+)[^|]*\|\| exit 80$`)
	cramSkip  = lazy.Pattern(`^\$ .*\bexit 80\b`)
)

// cramVariables are variables that cram sets, with what they are on a page.
var cramVariables = [][2]string{
	{"TESTDIR", `"${PAGE%/*}"`}, {"TESTFILE", `"${PAGE##*/}"`}, {"CRAMTMP", `"$` + tempVariable + `"`}, {"TESTSHELL", "/bin/sh"},
	{"LANG", "C"}, {"LC_ALL", "C"}, {"LANGUAGE", "C"}, {"TZ", "GMT"}, {"GREP_OPTIONS", ""},
}

// fromCram makes transcripts of a .t file: what is indented by two blanks are
// commands and what they print, all else is text. Cram has one shell for a file, a
// page one for a block: where that matters the file becomes one block, and the text
// in it comments.
func fromCram(m *imported, text string) {
	open, exported, one := false, false, cramState().MatchString(text)
	opening := "```console run"
	for i, needs := range cramNeeds().FindAllStringSubmatch(text, -1) {
		opening += [2]string{" needs=", ","}[min(i, 1)] + needs[1]
	}
	number := 0
	for l := range strings.Lines(text) {
		number++
		l = strings.TrimRight(l, "\n")
		body, indented := strings.CutPrefix(l, "  ")
		if !indented {
			switch {
			case open && one:
				if strings.TrimSpace(l) != "" {
					l = "$ # " + l
				}
			case open:
				m.WriteString("```\n")
				open = false
			}
			m.WriteString(l + "\n")
			continue
		}
		command := strings.HasPrefix(body, "$ ")
		if !open {
			if !command {
				if strings.TrimSpace(body) != "" {
					m.report(diag.Error, number, l, "output before the first command")
				}
				m.WriteString(l + "\n")
				continue
			}
			m.WriteString(opening + "\n")
			for _, v := range cramVariables {
				if !exported && (strings.Contains(text, v[0]) || one) {
					m.WriteString("$ export " + v[0] + "=" + v[1] + "\n")
				}
			}
			open, exported = true, true
		}
		if cramSkip().MatchString(body) && !cramNeeds().MatchString(l) {
			m.report(diag.Warning, number, l, "in cram, exit code 80 skips a file; here it is an ordinary exit code: needs= and skip= skip blocks")
		}
		if command || strings.HasPrefix(body, "> ") || body == ">" {
			m.WriteString(body + "\n")
			continue
		}
		m.WriteString(m.printed(body, number) + "\n")
	}
	if open {
		m.WriteString("```\n")
	}
}

// printed is a line of output as a transcript says it.
func (m *imported) printed(l string, number int) string {
	mark := cramMark().FindStringSubmatch(l)
	if mark == nil {
		return m.plainLine(l, number)
	}
	plain := strings.TrimSuffix(l, mark[0])
	switch mark[1] {
	case "glob":
		return strings.NewReplacer("*", "[..]", "?", "[..]", `\*`, "*", `\?`, "?", `\\`, `\`).Replace(plain)
	case "re":
		if regexp.QuoteMeta(plain) == plain {
			return plain + "[..]" // cram takes the line as it is written, too
		}
		pattern, err := syntax.Parse(plain, syntax.Perl)
		if err != nil {
			m.report(diag.Warning, number, l, "the pattern is not valid in RE2: [..] replaces the whole line")
			return "[..]"
		}
		loose := false
		text := regexp.MustCompile(`(?:\[\.\.\])+`).ReplaceAllLiteralString(wildcards(pattern, &loose), "[..]")
		if loose {
			m.report(diag.Warning, number, l, "the pattern becomes %s, which matches more", text)
		}
		return text
	case "esc": // cram takes the line as it is written, too
		text := escapeRun().ReplaceAllLiteralString(plain, "[..]") + "[..]"
		m.report(diag.Warning, number, l, "[..] replaces what (esc) escapes")
		return text
	}
	return m.plainLine(plain, number) // the end of the line is not compared
}

func (m *imported) plainLine(l string, number int) string {
	if _, _, _, fence := fenceOf([]byte(l)); fence || isDots(l) || hole().MatchString(l) {
		m.report(diag.Warning, number, l, "the line would be read as a fence or a wildcard; [..] replaces its first character")
		return "[..]" + strings.TrimLeft(l, " ")[1:]
	}
	return l
}

// escapeRun are escaped characters in a line that is marked so.
var escapeRun = lazy.Pattern(`(?:\\(?:x[0-9a-fA-F]{2}|[0-7]{1,3}|.))+`)

// wildcards is a pattern with [..] for all that is no plain text. Loose is set if
// that matches lines which the pattern does not.
func wildcards(p *syntax.Regexp, loose *bool) string {
	switch p.Op {
	case syntax.OpLiteral:
		if p.Flags&syntax.FoldCase == 0 {
			return string(p.Rune)
		}
	case syntax.OpConcat, syntax.OpCapture:
		var b strings.Builder
		for _, s := range p.Sub {
			b.WriteString(wildcards(s, loose))
		}
		return b.String()
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return ""
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		*loose = true
		return ""
	case syntax.OpStar:
		if any := p.Sub[0].Op; any == syntax.OpAnyCharNotNL || any == syntax.OpAnyChar {
			return "[..]"
		}
	}
	*loose = true
	return "[..]"
}
