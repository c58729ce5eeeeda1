package spectest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// exitLine matches the last output line of a command that does not end with 0.
var exitLine = lazy.Pattern(`^(?:exit status (-?\d{1,10})|\[exit (-?\d{1,10})\]|\[(\d{1,3})\])$`)

// steps reads the commands of a block.
func (d *document) steps(f block, a *act, faults *diag.List) []pageStep {
	var list []pageStep
	wrong := func(line int, message, hint string) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: line, Col: 1}, "console-line", "", message, hint))
	}
	number := a.line
	early := 0 // a line before the first command
	continues := false
	hint := fmt.Sprintf("commands begin with %q, what they print follows", a.language.prompt)
	if a.language.names != nil && a.language.names[0] == "console" {
		hint = `commands begin with "$ " for sh, "PS> " for PowerShell or "C:\> " for cmd, what they print follows`
	}
	for at := f.start; at < f.end; at = lineEnd(d.text, at) {
		number++
		l := strings.TrimSuffix(body(line(d.text, at), f.indent), "\n")
		next := lineEnd(d.text, at)
		command, prompt := a.language.command(l)
		switch {
		case prompt:
			list = append(list, pageStep{command: command, language: a.language, indent: f.indent, line: number, from: next, to: next})
			continues = true
		case len(list) == 0:
			if strings.TrimSpace(l) != "" && early == 0 {
				early = number
			}
		case continues && (strings.HasPrefix(l, a.language.more+" ") || l == a.language.more || strings.HasSuffix(list[len(list)-1].command, a.language.joins())):
			s := &list[len(list)-1]
			s.command += "\n" + strings.TrimPrefix(strings.TrimPrefix(l, a.language.more), " ")
			s.from, s.to = next, next
		default:
			continues = false
			d.printed(&list[len(list)-1], f.indent, at)
		}
	}
	switch {
	case len(list) == 0:
		wrong(a.line, "the block has no command", hint)
	case early > 0:
		wrong(early, "a line before the first command", hint)
	}
	for i := range list {
		if a.language == pythonSession {
			d.doctested(&list[i], faults)
		}
		if s := &list[i]; a.loose && s.exitAt == 0 {
			s.unseen, s.anyExit = len(s.want) == 0, len(s.want) > 0
		}
		if i == 0 && a.background && len(a.captures) > 0 {
			wrong(a.line, "a background block captures nothing", "")
		}
		if a.background && (len(list[i].want) > 0 || list[i].exitAt > 0) {
			wrong(list[i].line, "the output of a background command is not compared", "remove it, or check its effects in another block")
		}
	}
	return list
}

// printed reads the line at an offset as output of a step, or as its exit code.
func (d *document) printed(s *pageStep, indent, at int) {
	l := strings.TrimSuffix(body(line(d.text, at), indent), "\n")
	next := lineEnd(d.text, at)
	if strings.TrimSpace(l) == "" {
		s.blank++ // trailing blank lines are not compared
		return
	}
	if s.exitAt > 0 {
		s.want = append(s.want, body(line(d.text, s.exitAt), indent)) // it was not the last line
		s.exit, s.exitAt = 0, 0
	}
	if m := exitLine().FindStringSubmatch(l); m != nil {
		s.exit, _ = strconv.Atoi(m[1] + m[2] + m[3])
		s.exitAt, s.exitLength = at, next-at
		return
	}
	for ; s.blank > 0; s.blank-- {
		s.want = append(s.want, "")
	}
	s.want = append(s.want, strings.TrimRight(l, " \t\r"))
	s.to = next
}
