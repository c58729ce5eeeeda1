package config

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// modeWords are the modes of a layer as words.
func modeWords(layer fault.Layer) []string {
	modes := fault.Modes(layer)
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = string(m)
	}
	return words
}

// CheckNames are the ids of the checks that need no invariant.
func CheckNames() []string {
	var names []string
	for _, k := range judge.Checks() {
		names = append(names, k.ID)
	}
	return names
}

// checks reads which built-in checks are off: a mapping of ids to on or off, or
// false for all.
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
	for i := range n.Members {
		k := &n.Members[i].Key
		if !slices.Contains(names, k.Text) {
			d.unknown(k, "unknown-word", "checks", k.Text, names)
		} else if !d.flag(&n.Members[i].Value, doctree.KeyPath("checks", k.Text), true) {
			off = append(off, k.Text)
		}
	}
	return off
}
