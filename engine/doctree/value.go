package doctree

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Is checks a value against a type, but not what is in it, and reports what is
// wrong.
func (d *Decoder) Is(n *Node, path string, t *Type) bool {
	form := d.formOf(n, t)
	if form == nil {
		hint := ""
		switch n.Kind {
		case Int, Float, Bool, Date, Time:
			if (t.Form == TextForm || t.Form == WordForm) && !d.JSON {
				hint = "put it in quotes: " + strconv.Quote(n.Raw())
			}
		}
		d.faultLazily(Fault{Code: "type", Node: n, Path: path, Type: t}, diag.Error, n.Pos, func() diag.Diagnostic {
			return d.diagnostic(diag.Error, n.Pos, "type", path, hint, "must be %s, got %s", d.wants(t, path), d.Describe(n))
		})
		return false
	}
	empty := func(what string) bool {
		d.fault(Fault{Code: "empty", Node: n, Path: path, Type: form}, diag.Error, n.Pos, "", "must not be empty%s", what)
		return false
	}
	switch form.Form {
	case TextForm:
		if form.Filled && d.TextOf(n) == "" {
			return empty("")
		}
	case WordForm:
		if word := d.TextOf(n); !slices.Contains(form.Words, word) {
			d.faultLazily(Fault{Code: "unknown-word", Node: n, Path: path, Type: form}, diag.Error, n.Pos, func() diag.Diagnostic {
				return d.diagnostic(diag.Error, n.Pos, "unknown-word", path, diag.DidYouMean(word, form.Words),
					"must be %s, got %s", oneOf(form.Words), d.Describe(n))
			})
			return false
		}
	case IntegerForm, NumberForm:
		if v, _ := n.Float(); !form.holds(v) {
			d.fault(Fault{Code: "range", Node: n, Path: path, Type: form}, diag.Error, n.Pos, "", "must be %s, got %s", form.bounds(), d.Describe(n))
			return false
		}
	case ListForm:
		if form.Filled && len(n.Items()) == 0 {
			return empty("")
		}
	}
	return true
}

func (d *Decoder) wants(t *Type, path string) string {
	if d.JSON && t.Form == ShapeForm && (path == "" || path == "$") {
		return "a JSON object"
	}
	return t.wants(d.JSON)
}

// formOf is the form of a type that a value has, nil if it has none.
func (d *Decoder) formOf(n *Node, t *Type) *Type {
	if d.hasForm(n, t) {
		return t
	}
	for i := range t.Or {
		if d.hasForm(n, &t.Or[i]) {
			return &t.Or[i]
		}
	}
	return nil
}

func (d *Decoder) hasForm(n *Node, t *Type) bool {
	switch t.Form {
	case TextForm, WordForm:
		return d.isText(n)
	case IntegerForm:
		return n.Kind == Int
	case NumberForm:
		v, ok := n.Float()
		return ok && !math.IsNaN(v)
	case TruthForm:
		return n.Kind == Bool
	case ListForm:
		return n.Kind == Seq
	case NamedForm, ShapeForm:
		return n.Kind == Map
	}
	return true
}

// oneOf is what a word may be.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// isText reports whether a value counts as a text.
func (d *Decoder) isText(n *Node) bool {
	switch n.Kind {
	case Int, Float, Bool, Date, Time:
		return d.Written
	}
	return n.Kind == String
}

// TextOf returns a text, for one of another type as it is written.
func (d *Decoder) TextOf(n *Node) string {
	if n.Kind != String {
		return n.Raw()
	}
	return n.Text
}

// Describe returns a value in a message, short enough for one.
func (d *Decoder) Describe(n *Node) string {
	switch n.Kind {
	case String:
		if n.Text == "" {
			return "an empty string"
		}
		return strconv.Quote(diag.Cut(n.Text, 60))
	case Int, Float, Date, Time:
		return diag.Cut(n.Raw(), 40)
	case Bool:
		return n.Raw()
	case Seq:
		text := "a list"
		if d.JSON {
			text = "an array"
		}
		if len(n.Items()) == 0 {
			text = strings.Replace(strings.Replace(text, "a list", "an empty list", 1), "an array", "an empty array", 1)
		}
		return text
	case Map:
		if d.JSON {
			return "an object"
		}
	}
	return n.Kind.String()
}

// Texts returns the strings of a list; of a value that may be one string, that.
func (s *Section) Texts(key string) []string {
	n, f := s.valid(key)
	if n == nil {
		return nil
	}
	if s.isText(n) {
		return []string{s.TextOf(n)}
	}
	list := make([]string, 0, len(n.Items()))
	d, items := s.Decoder, key+"[]"
	if slices.Contains(s.wrong, items) { // and was reported
		silent := *d
		silent.Said = func(Fault) {}
		d = &silent
	}
	s.each(n, s.At(key), func(n *Node, path string) {
		if d.Is(n, path, f.Type.listed().Of) {
			list = append(list, s.TextOf(n))
		}
	})
	if len(list) < len(n.Items()) {
		s.wrong = append(s.wrong, items)
	}
	return list
}

// listed is the form of a type that is a list.
func (t *Type) listed() *Type {
	for i := range t.Or {
		if t.Form != ListForm && t.Or[i].Form == ListForm {
			return &t.Or[i]
		}
	}
	return t
}
