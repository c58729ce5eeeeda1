package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/seq"
)

// modeWords returns the modes of a layer as words.
func modeWords(layer fault.Layer) []string {
	modes := fault.Modes(layer)
	return seq.Map(modes, func(m fault.Mode) string { return string(m) })
}

// CheckNames returns the ids of the checks that need no invariant.
func CheckNames() []string {
	var names []string
	for _, k := range judge.Checks() {
		names = append(names, k.ID)
	}
	return names
}

// checks reads which built-in checks are off: a mapping from ids to on or off, or false for all.
func (d *decoder) checks(s *section) (off []string) {
	n := s.opt("checks")
	names := CheckNames()
	switch {
	case n == nil:
		return nil
	case n.Kind != doctree.Map:
		if s.flag("checks", true) {
			return nil
		}
		return names
	}
	for i := range n.Members() {
		k := &n.Members()[i].Key
		if !slices.Contains(names, k.Text) {
			d.unknown(k, "unknown-word", "checks", k.Text, names)
		} else if !d.flag(&n.Members()[i].Value, doctree.KeyPath("checks", k.Text), true) {
			off = append(off, k.Text)
		}
	}
	return off
}

// effects reads for which tools the document declares whether their calls change something.
func (d *decoder) effects(s *section) judge.Effects {
	n := s.opt("effects")
	if n == nil {
		return nil
	}
	if n.Kind != doctree.Map {
		d.fail(n.Pos, "type", "effects", "must be a mapping of tools to true or false, got %s", describeValue(n))
		return nil
	}
	effects := make(judge.Effects, len(n.Members()))
	for i := range n.Members() {
		k := n.Members()[i].Key.Text
		effects.Declare(k, d.flag(&n.Members()[i].Value, doctree.KeyPath("effects", k), false))
	}
	return effects
}

// noteTool notes that the document names a tool.
func (d *decoder) noteTool(s *section, tool string) {
	if tool == "" || strings.ContainsAny(tool, "*?[") || slices.ContainsFunc(d.tools, func(x mentioned) bool { return x.name == tool }) {
		return
	}
	d.tools = append(d.tools, mentioned{tool, s.n.Get("tool").Pos, s.at("tool")})
}

type mentioned struct {
	name string
	at   doctree.Pos
	path string
}

// classified adds a note that says which of the tools that the document names are taken to change
// something. It does so only if this is decided by their names and a check depends on it.
func (d *decoder) classified(c *Config) {
	if !d.opt.Check || d.list.HasErrors() || slices.Contains(c.ChecksOff, "repeated-effect") && slices.Contains(c.ChecksOff, "false-success") {
		return
	}
	var changing, open, other []string
	var first *mentioned
	for i, x := range d.tools {
		if _, declared := c.Effects.Of(x.name); declared {
			continue
		}
		if first == nil {
			first = &d.tools[i]
		}
		switch {
		case judge.ChangesByName(x.name):
			changing = append(changing, x.name)
		case judge.HarmlessByName(x.name):
			other = append(other, x.name)
		default:
			open = append(open, x.name)
		}
	}
	if first == nil {
		return
	}
	var text []string
	say := func(names []string, what string) {
		if len(names) > 0 {
			text = append(text, "calls of "+strings.Join(names, ", ")+" "+what)
		}
	}
	say(changing, "change something, unless their method is GET, HEAD, OPTIONS, PUT or DELETE")
	say(open, "change nothing, unless one is answered with status 201")
	say(other, "change nothing")
	d.report(diag.Note, first.at, "read-as", first.path, fmt.Sprintf("effects: {%s: %t} declares the opposite", first.name, !judge.ChangesByName(first.name)),
		"decided by the names of tools: %s", strings.Join(text, "; "))
}
