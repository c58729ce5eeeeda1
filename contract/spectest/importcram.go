package spectest

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// cramMark matches cram's mark for a line of output that is not literal.
var cramMark = lazy.Pattern(` \((re|glob|esc|no-eol)\)$`)

// cramState matches commands that change the state of one shell only: aliases, functions,
// unexported variables, sourced files.
var cramState = lazy.Pattern(`(?m)^  [$>] (?:alias |\. |source |set |[A-Za-z_][A-Za-z0-9_]*=|(?:function )?[A-Za-z_][A-Za-z0-9_]*\(\))`)

// cramNeeds matches how cram files skip themselves if a program is missing: exit code 80.
var (
	cramNeeds = lazy.Pattern(`(?m)^  \$ (?:command -v|which|type) ([A-Za-z0-9_.+][A-Za-z0-9_.+-]*)[^|]*\|\| exit 80$`)
	cramSkip  = lazy.Pattern(`^\$ .*\bexit 80\b`)
)

// cramCall matches a command that may run cram.
var cramCall = lazy.Pattern(`(?m)^  [$>].*\bcram\b`)

// cramVariables are the variables that cram sets, with their counterparts on a page.
var cramVariables = [][2]string{
	{"TESTDIR", `"${PAGE%/*}"`}, {"TESTFILE", `"${PAGE##*/}"`}, {"CRAMTMP", `"$` + tempVariable + `"`}, {"TESTSHELL", "/bin/sh"},
	{"LANG", "C"}, {"LC_ALL", "C"}, {"LANGUAGE", "C"}, {"TZ", "GMT"}, {"GREP_OPTIONS", ""},
}

// fromCram converts a .t file to transcripts: lines indented by two blanks are commands and their
// output, all others are text. Cram uses one shell for a file, a page uses one for a block. Where
// that matters, the file becomes one block and its text becomes comments.
func fromCram(m *imported, text string) {
	open, exported, one := false, false, cramState().MatchString(text)
	opening := "```console run"
	for i, needs := range cramNeeds().FindAllStringSubmatch(text, -1) {
		opening += [2]string{" needs=", ","}[min(i, 1)] + needs[1]
	}
	number, first := 0, false // the next line is the first that a command prints
	rest := ""
	if cramCall().MatchString(text) {
		rest = "[..]" // cram prints lines with their marks
	}
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
			first = true
			continue
		}
		m.WriteString(m.printed(body, rest, number, first) + "\n")
		first = false
	}
	if open {
		m.WriteString("```\n")
	}
}

// printed converts a line of output to a transcript. rest matches a mark that may itself be
// printed.
func (m *imported) printed(l, rest string, number int, first bool) string {
	mark := cramMark().FindStringSubmatch(l)
	exit, text := mark == nil && cramExit().MatchString(l), l
	if mark != nil {
		text = m.marked(strings.TrimSuffix(l, mark[0]), mark[1], rest, l, number)
	}
	shown := (&pageStep{language: &languages[0]}).writable(text, first, !exit)
	if text == l && shown == l && hole().MatchString(l) {
		shown = "[..]" + strings.TrimLeft(l, " ")[1:]
	}
	if shown != text {
		m.report(diag.Warning, number, l, "the line would be read as a command, a fence, a wildcard or an exit code; [..] replaces its first character")
	}
	return shown
}

// cramExit matches cram's line for an exit code other than 0.
var cramExit = lazy.Pattern(`^\[\d+\]$`)

// marked converts a line of output that has a cram mark.
func (m *imported) marked(plain, mark, rest, l string, number int) string {
	switch mark {
	case "glob":
		if strings.Contains(strings.ReplaceAll(plain, `\?`, ""), "?") {
			m.report(diag.Warning, number, l, "? becomes [..], which matches more than one character")
		}
		return strings.NewReplacer("*", "[..]", "?", "[..]", `\*`, "*", `\?`, "?", `\\`, `\`).Replace(plain)
	case "re":
		if regexp.QuoteMeta(plain) == plain {
			return plain + rest
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
	case "esc":
		said, err := strconv.Unquote(`"` + strings.ReplaceAll(plain, `"`, `\"`) + `"`)
		unseen := func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }
		if rest == "" && err == nil && utf8.ValidString(said) && !strings.ContainsFunc(said, unseen) {
			return said
		}
		m.report(diag.Warning, number, l, "[..] replaces what (esc) escapes")
		return escapeRun().ReplaceAllLiteralString(plain, "[..]") + rest
	}
	return plain // (no-eol): line ends are not compared
}

// escapeRun matches escaped characters in a line marked (esc).
var escapeRun = lazy.Pattern(`(?:\\(?:x[0-9a-fA-F]{2}|[0-7]{1,3}|.))+`)

// wildcards replaces every non-literal part of a pattern with [..]. It sets loose if the result
// matches lines that the pattern does not.
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
	case syntax.OpPlus, syntax.OpRepeat:
		*loose = true
		switch class := p.Sub[0]; {
		case p.Op == syntax.OpRepeat && p.Min == 0 || class.Op != syntax.OpCharClass:
		case classWithin(class.Rune, "0123456789"):
			return "<number>"
		case classWithin(class.Rune, "0123456789abcdef") && p.Min >= 6:
			return "<hex>"
		}
	case syntax.OpStar:
		if any := p.Sub[0].Op; any == syntax.OpAnyCharNotNL || any == syntax.OpAnyChar {
			return "[..]"
		}
	}
	*loose = true
	return "[..]"
}

// classWithin reports whether a class contains only characters of a text.
func classWithin(class []rune, text string) bool {
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= class[i+1]; r++ {
			if !strings.ContainsRune(text, r) {
				return false
			}
		}
	}
	return true
}

// imported is a document converted from another tool's, with diagnostics for what could not be
// converted.
type imported struct {
	strings.Builder
	file string
	list diag.List
}

func (m *imported) report(level diag.Level, line int, source, format string, args ...any) {
	m.list = append(m.list, diag.Diagnostic{Code: "spectest.syntax", Level: level, Pos: diag.Pos{File: m.file, Line: line, Col: 1}, Message: fmt.Sprintf(format, args...), Source: source})
}

func importCommand() campaign.Command {
	return campaign.Command{
		Use:     "import FORMAT FILE",
		Summary: "Convert cram tests, Hurl files or curl commands to a document",
		Long: `Import reads tests of another tool and prints a Markdown document. FORMAT is cram
(a .t file, which becomes transcripts), hurl (a .hurl file, whose entries become cases
of type api.http that run one after the other) or curl (command lines, which become
such cases); FILE may be - for standard input. What has no counterpart is
reported with its line: an error if the document would say something else.

Exit codes: 0 all of it was imported, perhaps with warnings, 2 it was refused.`,
		Example: `  thresh spectest import cram tests/list.t > list.md
  thresh spectest import hurl shop.hurl > shop.spec.md
  echo "curl http://localhost/orders" | thresh spectest import curl - > o.md`,
		Least: 2, Most: 2,
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			read := map[string]func(*imported, string){"cram": fromCram, "hurl": fromHurl, "curl": fromCurl}[args[0]]
			if read == nil {
				err := diag.Refused("cannot import from %s: the formats are cram, curl and hurl", args[0])
				if hint := diag.DidYouMean(args[0], []string{"cram", "curl", "hurl"}); hint != "" {
					err = diag.WithHint(err, hint)
				}
				return err
			}
			in := io.NopCloser(d.In())
			if args[1] != "-" {
				f, err := d.Open(args[1])
				if err != nil {
					return diag.Refused("%s: %s", args[1], diag.Reason(err))
				}
				in = f
			}
			defer in.Close()
			text, err := io.ReadAll(io.LimitReader(in, campaign.MaxDocument))
			if err != nil {
				return diag.Environment("%s: %s", args[1], diag.Reason(err))
			}
			m := &imported{file: args[1]}
			read(m, strings.ReplaceAll(string(text), "\r\n", "\n"))
			if m.Len() == 0 && !m.list.HasErrors() {
				m.report(diag.Error, 1, "", "there is nothing to import")
			}
			if m.list.HasErrors() {
				return m.list
			}
			d.Warn(m.list)
			_, err = io.WriteString(d.Out(), m.String())
			return err
		},
	}
}
