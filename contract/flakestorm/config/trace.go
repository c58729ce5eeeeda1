package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/match"
)

// eventKinds lists the keys that say what kind of event is meant.
var eventKinds = []string{"tool", "model", "fault", "reply", "said"}

// trace reads the rule of an invariant of type trace. It returns nil for other types.
func (d *decoder) trace(s *section, v *Invariant) *judge.Rule {
	r := &judge.Rule{Arguments: v.Arguments}
	limit := func(key string) *int {
		n := s.opt(key)
		if n == nil {
			return nil
		}
		i := d.integer(n, s.at(key), 0, 0, math.MaxInt32)
		return &i
	}
	other := func(key string) *judge.Pattern {
		n := s.opt(key)
		if n == nil || v.Type != "trace" {
			return nil
		}
		p := d.event(n, s.at(key))
		return &p
	}
	r.AtMost, r.AtLeast, r.Exactly, r.Per = limit("at_most"), limit("at_least"), limit("exactly"), s.text("per")
	if p := other("event"); p != nil {
		r.Event = *p
	}
	r.Before, r.After, r.NeverAfter = other("before"), other("after"), other("never_after")
	if n := s.opt("within"); n != nil && v.Type == "trace" {
		r.Within = d.duration(n, s.at("within"))
		if r.AtMost == nil && r.Before == nil && r.After == nil && r.NeverAfter == nil {
			d.report(diag.Error, n.Pos, "no-effect", s.at("within"), "add one of them", "limits the time of at_most, before, after or never_after, and the rule has none of them")
		}
	}
	if n := s.n.Get("per"); r.Per != "" && n != nil && v.Type == "trace" && r.AtMost == nil && r.AtLeast == nil && r.Exactly == nil {
		d.report(diag.Error, n.Pos, "no-effect", s.at("per"), "add one of them", "groups what at_most, at_least or exactly count, and the rule has none of them")
	}
	if r.Exactly != nil && (r.AtMost != nil || r.AtLeast != nil) || r.AtMost != nil && r.AtLeast != nil && *r.AtLeast > *r.AtMost {
		d.fail(s.pos(), "contradiction", s.path, "the counts at_least, at_most and exactly cannot all hold, or repeat each other")
	}
	if v.Type != "trace" {
		return nil
	}
	// Next to counts and order, arguments say which events are meant.
	if r.Arguments.Kind == jsontree.Object && (r.AtMost != nil || r.AtLeast != nil || r.Exactly != nil || r.Before != nil || r.After != nil || r.NeverAfter != nil) && r.Event.Arguments.Kind != jsontree.Object {
		r.Event.Arguments, r.Arguments = r.Arguments, jsontree.Node{}
	}
	return r
}

// duration reads milliseconds, or a text such as 5s.
func (d *decoder) duration(n *doctree.Node, path string) time.Duration {
	if n.Kind == doctree.String {
		if v, err := time.ParseDuration(n.Text); err == nil && v > 0 {
			return v
		}
	}
	v, ok := looseNumber(n)
	if !ok || !(v > 0) || v > longest {
		d.report(diag.Error, n.Pos, "type", path, "such as 5s, or 5000", "must be a time, or milliseconds above 0, got %s", describeValue(n))
		return 0
	}
	return time.Duration(v * float64(time.Millisecond))
}

// event reads which events are meant.
func (d *decoder) event(n *doctree.Node, path string) judge.Pattern {
	var p judge.Pattern
	if n.Kind == doctree.String { // a tool, by name
		p.Kind, p.Name = judge.Tool, n.Text
		return p
	}
	s := d.section(n, path, format().event)
	var kinds []string
	for _, kind := range eventKinds {
		x := s.opt(kind)
		if x == nil {
			continue
		}
		kinds = append(kinds, kind)
		p.Kind = judge.Kind(kind)
		switch {
		case (kind == "reply" || kind == "said") && x.Kind == doctree.Bool && x.Bool:
		case kind == "reply" || kind == "said":
			text, ok := d.str(x, s.at(kind))
			if ok {
				p.Text = d.pattern(x, s.at(kind), text, match.Options{DotAll: true})
			}
		default:
			p.Name, _ = d.str(x, s.at(kind))
		}
	}
	if len(kinds) != 1 && s.n != nil {
		d.report(diag.Error, s.pos(), "missing-key", s.path, "such as {tool: charge}", "must name exactly one of %s, got %d", strings.Join(eventKinds, ", "), len(kinds))
	}
	if x := s.opt("status"); x != nil {
		list := []doctree.Node{*x}
		if x.Kind == doctree.Seq {
			list = x.Items()
		}
		for i := range list {
			p.Status = append(p.Status, d.status(&list[i], s.at("status")))
		}
	}
	if s.opt("failed") != nil {
		failed := s.flag("failed", true)
		p.Failed = &failed
	}
	if x := s.opt("text"); x != nil {
		if text, ok := d.str(x, s.at("text")); ok {
			p.Text = d.pattern(x, s.at("text"), text, match.Options{DotAll: true})
		}
	}
	if x := s.opt("arguments"); x != nil {
		if x.Kind != doctree.Map {
			d.fail(x.Pos, "type", s.at("arguments"), "must be a mapping, got %s", describeValue(x))
		} else {
			p.Arguments = x.JSON()
			d.wanted(x, s.at("arguments"))
		}
	}
	if p.Kind != judge.Tool && p.Kind != judge.Model {
		for _, key := range []string{"status", "failed", "arguments"} {
			if x := s.n.Get(key); x != nil {
				d.report(diag.Error, x.Pos, "unknown-key", s.at(key), "events of a tool or a model take it", "does not belong to an event of kind %s", p.Kind)
			}
		}
	}
	return p
}

// status reads an HTTP status, or a class of them such as 4xx.
func (d *decoder) status(n *doctree.Node, path string) int {
	if n.Kind == doctree.String && len(n.Text) == 3 && strings.HasSuffix(strings.ToLower(n.Text), "xx") && slices.Contains([]byte("12345"), n.Text[0]) {
		return int(n.Text[0] - '0')
	}
	return d.integer(n, path, 0, 100, 599)
}
