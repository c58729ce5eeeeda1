package doctree

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// fits reports whether every known key is allowed with the word of the tag, and
// none is missing.
func (s *Section) fits() bool {
	for i := range s.Shape.Fields {
		f := &s.Shape.Fields[i]
		if there := s.n.Get(f.Name) != nil; there && !f.takes(s.Tag) || !there && f.Need && len(f.For) > 0 && f.takes(s.Tag) {
			return false
		}
	}
	return true
}

// keys reports missing keys, in the order of their declaration, and unknown ones,
// in the order of their names.
func (s *Section) keys() {
	var strange []*Node
	for i := range s.n.Members() {
		key := &s.n.Members()[i].Key
		if f := s.Shape.Field(key.Text); f != nil && s.n.Members()[i].Value.Kind == Null && s.Tag != "" && !f.takes(s.Tag) {
			continue // a key without a value is not misplaced
		} else if f == nil && s.Shape.Open || f != nil && key.Kind == String && (s.Tag == "" || f.takes(s.Tag)) {
			continue
		}
		if s.Shape.Own != "" && regexp.MustCompile(s.Shape.Own).MatchString(key.Text) {
			continue
		}
		strange = append(strange, key)
	}
	for i := range s.Shape.Fields {
		f := &s.Shape.Fields[i]
		if f.Need && (f.takes(s.Tag) || len(f.For) == 0) && s.n.Get(f.Name) == nil {
			s.Missing(f.Name, cmp.Or(likelyKey(f.Name, strange), f.choice()))
		}
	}
	if len(strange) == 0 {
		return
	}
	known := s.Shape.Keys(s.Tag)
	slices.SortStableFunc(strange, func(a, b *Node) int { return strings.Compare(a.Text, b.Text) })
	for _, key := range strange {
		s.misplacedKey(key, known)
	}
}

// misplacedKey reports a key that is not allowed where it is.
func (s *Section) misplacedKey(key *Node, known []string) {
	f := Fault{Code: "unknown-key", Node: s.n, Path: KeyPath(s.Path, key.Text), In: s.Path, Key: key.Text}
	if other := s.Shape.Field(key.Text); other != nil && key.Kind == String {
		if slices.Contains(other.Elsewhere, s.Tag) {
			f.Code = "no-effect"
			s.fault(f, diag.Warning, key.Pos, "it is for "+Either(other.For), "has no effect: %s is %s", s.Shape.Tag, s.Tag)
			return
		}
		s.fault(f, diag.Error, key.Pos, "", "is not a key of %s %s; it belongs to %s", s.Shape.Tag, s.Tag, Either(other.For))
		return
	}
	hint := diag.DidYouMean(key.Text, known)
	if hint == "" {
		hint = "known keys: " + strings.Join(known, ", ")
	}
	if s.Unknown == diag.Error {
		s.fault(f, diag.Error, key.Pos, hint, "is not a known key")
		return
	}
	s.fault(f, s.Unknown, key.Pos, hint, "is not a known key and has no effect")
}
