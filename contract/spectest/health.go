package spectest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/seq"
)

// compact is one-line JSON without escapes of non-ASCII text.
var compact = jsontree.Style{}

// symptom is a finding of assertion health at a place of an assertion tree.
type symptom struct {
	code, path, message string
	at                  *doctree.Node
}

// Modes of assertion health.
const (
	healthIgnore = "ignore"
	healthWarn   = "warn"
	healthError  = "error"
)

func healthModes() []string { return []string{healthIgnore, healthWarn, healthError} }

// health examines the assertions in the mode of the case or else of the settings.
func (d *decoder) health(s *doctree.Section) {
	mode, where := d.set.health, "assert_health.mode"
	policy := s.Sub("assert_health")
	if !policy.There() && s.Given("assert_health") {
		return
	}
	at, m := d.c.pos(policy.Raw()), policy.Node("mode")
	given := m != nil
	if given {
		mode, at = strings.ToLower(trimmed(m)), m.Pos
	}
	if !slices.Contains(healthModes(), mode) {
		d.fail(Schema, at, "assert-health", where, "assert_health.mode must be one of: "+oneOf(healthModes()), "")
		return
	}
	if mode == healthIgnore && (given || !d.set.checking) {
		return
	}
	found := diagnose(s.Node("assert"))
	if len(found) == 0 {
		return
	}
	if mode != healthError {
		for _, s := range found {
			d.warn(s.at, s.code, s.path, fmt.Sprintf("ASSERT_HEALTH %s at %s: %s", s.code, s.path, s.message), "")
		}
		return
	}
	list := seq.Map(found, func(s symptom) string { return s.code + "@" + s.path })
	first := found[0]
	d.fail(Assertion, d.c.pos(first.at), first.code, first.path,
		fmt.Sprintf("assertion health check failed (%d issue(s)): %s", len(found), strings.Join(list, "; ")), first.message)
}

// diagnose examines an assertion tree as it is written, depth first. It finds nothing in a tree of
// the wrong shape.
func diagnose(n *doctree.Node) []symptom {
	if n == nil {
		return nil
	}
	var h examiner
	h.node(n, "assert", "")
	return h.found
}

type examiner struct{ found []symptom }

func (h *examiner) report(at *doctree.Node, code, path, format string, args ...any) {
	h.found = append(h.found, symptom{code: code, path: path, message: fmt.Sprintf(format, args...), at: at})
}

// node examines one node; group is its direct parent group.
func (h *examiner) node(n *doctree.Node, path, group string) {
	switch n.Kind {
	case doctree.Seq:
		for i := range n.Items() {
			h.node(&n.Items()[i], fmt.Sprintf("%s[%d]", path, i), group)
		}
	case doctree.Map:
		switch groups := groupsOf(n); len(groups) {
		case 0:
			h.leaf(n, path, group)
		case 1:
			h.group(n.Get(groups[0]), path+"."+groups[0], groups[0])
		}
	}
}

func (h *examiner) group(list *doctree.Node, path, key string) {
	if list.Kind != doctree.Seq {
		return
	}
	seen := make(map[string]bool, len(list.Items()))
	for i := range list.Items() {
		j := list.Items()[i].JSON()
		form := compact.Format(&j) // keys sorted
		if seen[form] {
			h.report(&list.Items()[i], "AH004", path, "redundant sibling assertion branch in '%s'", key)
			break
		}
		seen[form] = true
	}
	for i := range list.Items() {
		h.node(&list.Items()[i], fmt.Sprintf("%s[%d]", path, i), key)
	}
}

func (h *examiner) leaf(n *doctree.Node, path, group string) {
	for _, op := range []string{"contain", "regex"} {
		list := n.Get(op)
		if list == nil || list.Kind != doctree.Seq {
			continue
		}
		at := path + "." + op
		seen := make(map[string]bool, len(list.Items()))
		for i := range list.Items() {
			text := textOf(&list.Items()[i])
			if seen[text] {
				h.report(&list.Items()[i], "AH003", at, "duplicate values in '%s' list can hide intent drift", op)
				break
			}
			seen[text] = true
		}
		if op == "contain" {
			for i := range list.Items() {
				if v := &list.Items()[i]; v.Kind == doctree.String && v.Text == "" {
					h.trivial(v, "AH001", at, group, "contain with empty string is always true", "cannot(contain:'') is always false")
					break
				}
			}
			continue
		}
		for i := range list.Items() {
			v := &list.Items()[i]
			pattern := textOf(v)
			if match.AlwaysTrue(pattern) {
				h.trivial(v, "AH002", at, group, "regex pattern is trivially always true", "cannot(regex always-true) is always false")
			}
			if why := match.NonPortable(pattern); why != "" {
				h.report(v, "AH005", at, "regex uses non-portable construct (%s)", why)
			}
		}
	}
}

func (h *examiner) trivial(at *doctree.Node, code, path, group, plain, inCannot string) {
	if group == "cannot" {
		plain = inCannot
	}
	h.report(at, code, path, "%s", plain)
}
