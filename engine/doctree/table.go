package doctree

import "strings"

// Tables returns the reference tables of types and of all the types that they
// contain, each below a heading, in Markdown.
func Tables(roots ...Type) string {
	var b strings.Builder
	seen := map[*Shape]bool{}
	var visit func(t *Type)
	visit = func(t *Type) {
		for i := range t.Or {
			visit(&t.Or[i])
		}
		if t.Of != nil {
			visit(t.Of)
		}
		if t.Shape == nil || seen[t.Shape] {
			return
		}
		seen[t.Shape] = true
		doc := t.Shape.Doc
		b.WriteString("#### " + t.Shape.Name + "\n\n" + strings.ToUpper(doc[:1]) + doc[1:] + ".\n\n" + t.Shape.Table() + "\n")
		for i := range t.Shape.Fields {
			visit(&t.Shape.Fields[i].Type)
		}
	}
	for i := range roots {
		visit(&roots[i])
	}
	return b.String()
}

// Table returns the reference table of a shape in Markdown: key, value, default,
// meaning.
func (s *Shape) Table() string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	cell := func(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
	for i := range s.Fields {
		f := &s.Fields[i]
		def := ""
		switch {
		case f.Need:
			def = "required"
		case f.Default != "":
			def = "`" + strings.Trim(f.Default, `"`) + "`"
		}
		doc := f.Doc
		if len(f.For) > 0 {
			doc += " (" + s.Tag + " " + Either(f.For) + ")"
		}
		if f.Since != "" {
			doc += " (since " + f.Since + ")"
		}
		b.WriteString("| `" + f.Name + "` | " + cell(f.Type.text()) + " | " + cell(def) + " | " + cell(doc) + " |\n")
	}
	return b.String()
}

// text returns the type for a table.
func (t *Type) text() string {
	out := ""
	switch t.Form {
	case WordForm:
		out = "`" + strings.Join(t.Words, "`, `") + "`"
	case ListForm:
		out = "list of: " + t.Of.text()
	case NamedForm:
		out = "mapping to: " + t.Of.text()
	case ShapeForm:
		out = "a mapping: " + t.Shape.Name
	case AnyForm:
		out = "any value"
	case TextForm:
		out = "text"
	case TruthForm:
		out = "true or false"
	default:
		one := *t
		one.Or = nil
		out = strings.TrimPrefix(strings.TrimPrefix(one.wants(false), "an "), "a ")
		if bounds := t.bounds(); bounds != "" {
			out += " " + bounds
		}
	}
	for i := range t.Or {
		out += ", or " + t.Or[i].text()
	}
	return out
}
