package markup

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// place is a position in a page. The zero place is text.
type place struct {
	tag   string // the name of the tag that is open; "" in text
	attr  string // the attribute whose quoted value is open; "" elsewhere
	quote byte
	url   urlPart
	raw   string // "style" or "script", whose content is not markup
}

type urlPart int

const (
	urlStart urlPart = iota
	urlPath
	urlQuery
)

// scanner goes through a template once and assigns each action the escaper of its
// place.
type scanner struct {
	tree     *parse.Tree
	escapers map[*parse.ActionNode]func(any) (string, error)
	err      error
}

func (s *scanner) fail(at parse.Node, format string, a ...any) {
	if s.err == nil {
		where, _ := s.tree.ErrorContext(at)
		s.err = fmt.Errorf("template %s: "+format, append([]any{where}, a...)...)
	}
}

func (s *scanner) list(l *parse.ListNode, p place) place {
	if l == nil {
		return p
	}
	for _, n := range l.Nodes {
		p = s.node(n, p)
	}
	return p
}

func (s *scanner) node(n parse.Node, p place) place {
	switch n := n.(type) {
	case *parse.TextNode:
		return s.text(n, p, string(n.Text))
	case *parse.ActionNode:
		s.pipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			return p
		}
		escape := p.escaper()
		if escape == nil {
			s.fail(n, "nothing can be filled in here: %s", n)
		}
		s.escapers[n] = escape
		if p.url == urlStart && p.attr != "" {
			p.url = urlPath
		}
	case *parse.IfNode:
		return s.branch(n, &n.BranchNode, p)
	case *parse.WithNode:
		return s.branch(n, &n.BranchNode, p)
	case *parse.RangeNode:
		return s.branch(n, &n.BranchNode, p)
	case *parse.TemplateNode:
		s.pipe(n.Pipe)
		if p != (place{}) {
			s.fail(n, "a template stands in text alone: %s", n)
		}
	case *parse.CommentNode:
	default:
		s.fail(n, "%s is not supported", n)
	}
	return p
}

func (s *scanner) branch(n parse.Node, b *parse.BranchNode, p place) place {
	s.pipe(b.Pipe)
	one, other := s.list(b.List, p), s.list(b.ElseList, p)
	url := max(one.url, other.url)
	one.url, other.url, p.url = url, url, url
	if one != other || n.Type() == parse.NodeRange && one != p {
		s.fail(n, "its branches end in different places: %s", b.Pipe)
	}
	return one
}

func (s *scanner) pipe(p *parse.PipeNode) {
	if p != nil && len(p.Cmds) != 1 {
		s.fail(p, "pipes are not supported: %s", p)
	}
}

// text follows the markup in a piece of the template.
func (s *scanner) text(n parse.Node, p place, text string) place {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case p.attr != "":
			switch {
			case c == p.quote:
				p.attr, p.quote, p.url = "", 0, urlStart
			case c == '?' || c == '#':
				p.url = urlQuery
			case p.url == urlStart:
				p.url = urlPath
			}
		case p.tag != "" && (c == '"' || c == '\''):
			before := text[:i]
			name, isValue := strings.CutSuffix(before, "=")
			name = name[strings.LastIndexAny(name, " \n\t")+1:]
			if !isValue || name == "" {
				s.fail(n, "a quote without the name of an attribute before it: %.40q", before)
				return p
			}
			p.attr, p.quote = strings.ToLower(name), c
		case p.tag != "" && c == '>':
			if p.tag == "script" || p.tag == "style" {
				p.raw = p.tag
			}
			p.tag = ""
		case p.tag != "":
		case p.raw != "":
			if strings.HasPrefix(text[i:], "</"+p.raw) {
				p.raw, p.tag = "", "/"
			}
		case c == '<' && i+1 < len(text) && text[i+1] != '!':
			name := strings.ToLower(text[i+1:])
			if end := strings.IndexAny(name, " \n\t>"); end >= 0 {
				name = name[:end]
			}
			p.tag = "<" + name
			if name == "script" || name == "style" {
				p.tag = name
			}
		}
	}
	return p
}
