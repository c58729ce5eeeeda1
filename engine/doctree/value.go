package doctree

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Is checks a value against a type, but not its content, and reports what is wrong.
func (d *Decoder) Is(n *Node, path string, t *Type) bool {
	form, code := d.amiss(n, t)
	switch code {
	case "type":
		hint := ""
		switch n.Kind {
		case Int, Float, Bool, Date, Time:
			if (t.Form == TextForm || t.Form == WordForm) && !d.JSON {
				hint = "put it in quotes: " + strconv.Quote(n.Raw())
			}
		}
		d.faultLazily(Fault{Code: code, Node: n, Path: path, Type: t}, diag.Error, n.Pos, func() diag.Diagnostic {
			return d.diagnostic(diag.Error, n.Pos, code, path, hint, "must be %s, got %s", d.wants(t, path), d.Describe(n))
		})
	case "unknown-word":
		d.faultLazily(Fault{Code: code, Node: n, Path: path, Type: form}, diag.Error, n.Pos, func() diag.Diagnostic {
			return d.diagnostic(diag.Error, n.Pos, code, path, diag.DidYouMean(d.TextOf(n), form.Words), "must be %s, got %s", oneOf(form.Words), d.Describe(n))
		})
	case "range":
		d.fault(Fault{Code: code, Node: n, Path: path, Type: form}, diag.Error, n.Pos, "", "must be %s, got %s", form.bounds(), d.Describe(n))
	case "empty":
		d.fault(Fault{Code: code, Node: n, Path: path, Type: form}, diag.Error, n.Pos, "", "must not be empty")
	}
	return code == ""
}

// amiss returns the form of a type that a value has, and the code of what is wrong with
// the value, if anything. It needs no path, which would be most of the work.
func (d *Decoder) amiss(n *Node, t *Type) (form *Type, code string) {
	if form = d.formOf(n, t); form == nil {
		return nil, "type"
	}
	switch form.Form {
	case TextForm:
		if form.Filled && d.TextOf(n) == "" {
			code = "empty"
		}
	case WordForm:
		if !slices.Contains(form.Words, d.TextOf(n)) {
			code = "unknown-word"
		}
	case IntegerForm, NumberForm:
		if v, _ := n.Float(); !form.holds(v) {
			code = "range"
		}
	case ListForm:
		if form.Filled && len(n.Items()) == 0 {
			code = "empty"
		}
	}
	return form, code
}

func (d *Decoder) wants(t *Type, path string) string {
	if d.JSON && t.Form == ShapeForm && (path == "" || path == "$") {
		return "a JSON object"
	}
	return t.wants(d.JSON)
}

// formOf returns the form of a type that a value has; nil if it has none.
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

// oneOf lists the words that are allowed.
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

// TextOf returns a text; for a value of another type, as it is written.
func (d *Decoder) TextOf(n *Node) string {
	if n.Kind != String {
		return n.Raw()
	}
	return n.Text
}

// Describe returns a value for a message, shortened if necessary.
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

// Texts returns the strings of a list, or a single string if the value may be one.
func (s *Section) Texts(key string) []string {
	n, f := s.valid(key)
	if n == nil {
		return nil
	}
	if s.isText(n) {
		return []string{s.TextOf(n)}
	}
	list := make([]string, 0, len(n.Items()))
	d := s.Decoder
	if slices.Contains(s.wrong, key+"[]") { // already reported
		silent := *d
		silent.Said = func(Fault) {}
		d = &silent
	}
	of, at := f.Type.listed().Of, ""
	for i := range n.Items() {
		item := &n.Items()[i]
		if _, code := d.amiss(item, of); code == "" {
			list = append(list, s.TextOf(item))
			continue
		}
		if at == "" {
			at = s.At(key)
		}
		d.Is(item, ItemPath(at, i), of)
	}
	if len(list) < len(n.Items()) {
		s.wrong = append(s.wrong, key+"[]")
	}
	return list
}

// listed returns the form of a type that is a list.
func (t *Type) listed() *Type {
	for i := range t.Or {
		if t.Form != ListForm && t.Or[i].Form == ListForm {
			return &t.Or[i]
		}
	}
	return t
}
