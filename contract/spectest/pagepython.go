package spectest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

//go:embed pagepython.py
var pythonDriver string

// converse runs a block with Python prompts in the Python session of the page. The first such block
// starts the session.
func (p *pageRun) converse(ctx context.Context, a *act) (over bool, f *Failure, err error) {
	if p.python == nil {
		if err := p.openPython(ctx, a); err != nil {
			return true, nil, err
		}
	}
	env := map[string]string{}
	for _, e := range a.env {
		env[e[0]] = e[1]
	}
	for _, name := range p.vars.names() {
		env[name] = p.vars[name].text()
	}
	for i := range a.steps {
		s := &a.steps[i]
		text, _ := json.Marshal(s.command) // strings
		vars, _ := json.Marshal(env)
		o, err := p.python.Call(ctx, sut.Call{Operation: "step", Named: []sut.Named{{Name: "text", Value: text}, {Name: "env", Value: vars}}, Timeout: a.timeout})
		if err != nil {
			return true, nil, err
		}
		var said struct {
			Text string
			Code int
		}
		r := ran{step: s}
		switch {
		case o.End == sut.Hung:
			r.why = fmt.Sprintf("the statement did not end within %s, and python3 was killed", a.timeout)
		case o.End != sut.Answered || json.Unmarshal(o.Value, &said) != nil:
			r.why = "python3 has ended: " + o.Why
		}
		r.code, r.printed = said.Code, p.captured(s, withoutFrames(s.want, p.lines([]byte(said.Text))))
		if r.why == "" && i+1 == len(a.steps) {
			r.lacks = p.capture(a, validText([]byte(said.Text)))
		}
		if p.done = append(p.done, r); r.why != "" || r.lacks != "" {
			return true, nil, nil
		}
	}
	return false, nil, nil
}

// tracebackHead is the line above the stack frames of a traceback; doctest does not compare frames.
const tracebackHead = "Traceback (most recent call last):"

// withoutFrames removes the frames of a traceback from the output if the page shows none.
func withoutFrames(want, printed []string) []string {
	from, at := slices.Index(printed, tracebackHead)+1, slices.Index(want, tracebackHead)+1
	if from == 0 || at == 0 || at < len(want) && isDots(want[at]) {
		return printed
	}
	to := from
	for to < len(printed) && strings.HasPrefix(printed[to], " ") {
		to++
	}
	return slices.Delete(printed, from, to)
}

// doctestMark matches a doctest directive in a statement.
var doctestMark = lazy.Pattern(`#\s*doctest:\s*(.+)`)

// doctested applies the doctest directives of a statement.
func (d *document) doctested(s *pageStep, faults *diag.List) {
	if at := slices.Index(s.want, tracebackHead) + 1; at > 0 {
		for ; at < len(s.want) && strings.HasPrefix(s.want[at], " "); at++ {
			s.want[at] = "..."
		}
	}
	for _, mark := range doctestMark().FindAllStringSubmatch(s.command, -1) {
		for _, flag := range strings.FieldsFunc(mark[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			w := d.problem(doctree.Pos{Line: s.line, Col: 1}, "console-line", "", "doctest's "+flag+" has no effect", "[..] stands for what varies within a line, ... for lines")
			switch w.Level = diag.Warning; flag {
			case "+ELLIPSIS":
				for i, l := range s.want {
					if !isDots(l) {
						s.want[i] = strings.ReplaceAll(l, "...", "[..]")
					}
				}
				continue
			case "+SKIP":
				s.command, s.unseen = "# "+strings.ReplaceAll(s.command, "\n", "\n# "), true
				w.Message, w.Hint = "the statement is not run: "+flag, ""
			}
			*faults = append(*faults, w)
		}
	}
}

// openPython starts the session in the folder of the page, with the variables of the page and of
// its first block: python3 reads some of them only at its start.
func (p *pageRun) openPython(ctx context.Context, a *act) error {
	open := p.x.c.contract.targets.Systems
	if open == nil {
		return campaign.Fatal("python3 cannot be run: %w", errNoTarget)
	}
	path, err := p.x.programIn("python3", p.env)
	if err != nil {
		return campaign.Fatal("blocks with Python's prompts need python3 (needs=python3 skips them where there is none): %w", err)
	}
	script := "cd " + shellWord(p.dir) + " && exec env -i"
	for _, e := range slices.Concat(p.env, p.own) {
		script += " " + shellWord(e)
	}
	for _, e := range a.env {
		script += " " + shellWord(e[0]+"="+e[1])
	}
	plan := &sut.Plan{Name: "python3", Kind: sut.Driver, Per: sut.PerCase, Command: []string{"sh", "-c", script + " " + shellWord(path) + " -c " + shellWord(pythonDriver)}}
	plan.Limits.Timeout = p.x.c.set.timeout
	p.python, err = open(ctx, plan, sut.Worker{Index: p.x.lane.Index, Of: p.x.lane.Of, Cold: true})
	return err
}
