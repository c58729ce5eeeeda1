package config

import (
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

func (d *decoder) prompts(s *section, c *Config) {
	n := s.get("golden_prompts")
	if n == nil {
		return
	}
	seen := make(map[string]bool)
	one := func(n *doctree.Node, path string) {
		p := Prompt{At: n.Pos, Path: path}
		if n.Kind == doctree.Map {
			d.conversation(n, path, &p)
		} else if v, ok := d.str(n, path); ok {
			p.Text = v
		} else {
			return
		}
		if p.Text != "" && seen[p.Text] && n.Kind == doctree.Map {
			d.fail(n.Pos, "duplicate-prompt", path, "another golden prompt ends with the same words %q: they could not be distinguished", p.Text)
		}
		seen[p.Text] = true
		c.Prompts = append(c.Prompts, p)
	}
	s.items("golden_prompts", false, func(n *doctree.Node, path string) {
		if n.Kind == doctree.Map && !n.Get("dataset").IsNull() {
			d.dataset(n, path, one)
			return
		}
		if k := n.Get("sample"); n.Kind == doctree.Map && k != nil {
			d.fail(k.Pos, "no-effect", path+".sample", "is for a prompt with a dataset")
		}
		one(n, path)
	})
	if n.Kind == doctree.Seq && len(n.Items()) == 0 {
		d.fail(n.Pos, "empty", "golden_prompts", "must hold at least one prompt")
	}
}

// expects reports whether any golden prompt says what is expected of its reply.
func expects(c *Config) bool {
	return slices.ContainsFunc(c.Prompts, func(p Prompt) bool {
		return len(p.Expect) > 0 || slices.ContainsFunc(p.Turns, func(t Said) bool { return len(t.Expect) > 0 })
	})
}

// conversation reads a golden prompt that is a mapping.
func (d *decoder) conversation(n *doctree.Node, path string, p *Prompt) {
	s := d.section(n, path, format().prompt)
	expected := func(s *section, turn int) (list []Invariant) {
		s.items("expect", true, func(n *doctree.Node, path string) {
			v := d.invariant(n, path, false)
			v.Turn, v.Prompted = turn, true
			list = append(list, v)
		})
		return list
	}
	p.ID = s.id(s.text("id"))
	if n := s.opt("prompt"); n != nil {
		p.Text, _ = d.str(n, s.at("prompt"))
	}
	if t := s.get("turns"); t != nil {
		s.items("turns", false, func(n *doctree.Node, path string) {
			x := Said{Path: path}
			if n.Kind == doctree.Map {
				turn := d.section(n, path, format().turn)
				x.Say, x.Expect = turn.required("say"), expected(turn, len(p.Turns)+1)
				if w := turn.opt("when"); w != nil {
					x.When = d.readCondition(w, turn.at("when"))
					if len(p.Turns) == 0 {
						d.fail(w.Pos, "never-applies", turn.at("when"), "is about the agent's last reply, and there is none before the first turn")
					}
				}
			} else {
				x.Say, _ = d.str(n, path)
			}
			p.Turns = append(p.Turns, x)
		})
		switch {
		case p.Text != "":
			d.fail(t.Pos, "two-prompts", s.at("turns"), "is given together with prompt: keep one of them")
		case len(p.Turns) == 0 && t.Kind == doctree.Seq:
			d.fail(t.Pos, "empty", s.at("turns"), "must hold at least one turn")
		case len(p.Turns) > 0:
			p.Text = p.Turns[len(p.Turns)-1].Say
		}
	} else if p.Text == "" {
		d.report(diag.Error, s.pos(), "missing-key", s.at("turns"), "or prompt: TEXT for a single one", "must be given")
	}
	if n := s.opt("user"); n != nil {
		u := d.section(n, s.at("user"), format().user)
		p.User = &User{Goal: u.required("goal"), System: u.required("system"), Turns: u.integer("turns", 5), At: n.Pos}
	}
	p.Expect = expected(s, 0)
	if s.opt("tags") != nil {
		p.Tags = s.texts("tags")
	}
	if n := s.opt("tools"); n != nil {
		p.Tools = s.texts("tools")
		if p.Tools == nil {
			p.Tools = []string{}
		}
	}
}

// readCondition reads the condition on the agent's last reply under which a turn is said.
func (d *decoder) readCondition(n *doctree.Node, path string) *When {
	s := d.section(n, path, format().condition)
	w := &When{}
	texts := func(key string) []string {
		if n := s.opt(key); n != nil && n.Kind == doctree.Seq {
			return d.texts(n, s.at(key))
		} else if n != nil {
			v, _ := d.str(n, s.at(key))
			return []string{v}
		}
		return nil
	}
	w.Contains, w.Without = texts("contains"), texts("not_contains")
	if text := s.text("matches"); text != "" {
		w.Matches = d.pattern(s.n.Get("matches"), s.at("matches"), text, patternOptions)
	}
	if s.n != nil && len(s.n.Members()) == 0 {
		d.fail(n.Pos, "empty", path, "must have a condition on the reply: contains, not_contains or matches")
	}
	return w
}
