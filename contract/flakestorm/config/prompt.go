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
	s.items("golden_prompts", false, func(n *doctree.Node, path string) {
		p := Prompt{At: n.Pos}
		if n.Kind == doctree.Map {
			d.conversation(n, path, &p)
		} else if v, ok := d.str(n, path); ok {
			p.Text = v
		} else {
			return
		}
		if p.Text != "" && seen[p.Text] && n.Kind == doctree.Map {
			d.fail(n.Pos, "duplicate-prompt", path, "another golden prompt ends with the same words %q: they could not be told apart", p.Text)
		}
		seen[p.Text] = true
		c.Prompts = append(c.Prompts, p)
	})
	if n.Kind == doctree.Seq && len(n.Items) == 0 {
		d.fail(n.Pos, "empty", "golden_prompts", "must hold at least one prompt")
	}
}

// expects reports whether a golden prompt says what is expected of its reply.
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
			v.Turn = turn
			list = append(list, v)
		})
		return list
	}
	p.ID = s.text("id")
	if n := s.opt("prompt"); n != nil {
		p.Text, _ = d.str(n, s.at("prompt"))
	}
	if t := s.get("turns"); t != nil {
		s.items("turns", false, func(n *doctree.Node, path string) {
			x := Said{}
			if n.Kind == doctree.Map {
				turn := d.section(n, path, format().turn)
				x.Say, x.Expect = turn.required("say"), expected(turn, len(p.Turns)+1)
			} else {
				x.Say, _ = d.str(n, path)
			}
			p.Turns = append(p.Turns, x)
		})
		switch {
		case p.Text != "":
			d.fail(t.Pos, "two-prompts", s.at("turns"), "is given beside prompt: one of them says what is asked")
		case len(p.Turns) == 0 && t.Kind == doctree.Seq:
			d.fail(t.Pos, "empty", s.at("turns"), "must hold at least one turn")
		case len(p.Turns) > 0:
			p.Text = p.Turns[len(p.Turns)-1].Say
		}
	} else if p.Text == "" {
		d.report(diag.Error, s.pos(), "missing-key", s.at("turns"), "or prompt: TEXT for a single one", "must be given")
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
