package speclang

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// FormKind is the kind of an expression before it is compiled.
type FormKind uint8

// The kinds of forms.
const (
	Scalar  FormKind = iota // a value that evaluates to itself
	Call                    // a list
	Foreign                 // a mapping, a date, ...: an error when it is reached
)

// Form is an expression before it is compiled, with its position.
type Form struct {
	Kind      FormKind
	Value     Value  // of a Scalar
	Items     []Form // of a Call
	What      string // of a Foreign: "a mapping"
	Bytes     int    // of a Foreign: its size as a literal, in bytes
	Line, Col int    // 1-based; 0: unknown
}

// ScalarForm returns a form that evaluates to v.
func ScalarForm(v Value) Form { return Form{Kind: Scalar, Value: v} }

// CallForm returns the list of a symbol and its operands.
func CallForm(symbol string, operands ...Form) Form {
	return Form{Kind: Call, Items: append([]Form{ScalarForm(StringValue(symbol))}, operands...)}
}

// FormOfYAML makes a form from a YAML value, with positions.
func FormOfYAML(n *doctree.Node) Form {
	f := Form{Line: n.Pos.Line, Col: n.Pos.Col}
	switch n.Kind {
	case doctree.Null:
	case doctree.Bool:
		f.Value = BoolValue(n.Bool)
	case doctree.Int:
		f.Value = BigValue(n.Int())
	case doctree.Float:
		v, _ := n.Float()
		f.Value = FloatValue(v)
	case doctree.String:
		f.Value = StringValue(n.Text)
	case doctree.Seq:
		f.Kind = Call
		f.Items = make([]Form, len(n.Items()))
		for i := range n.Items() {
			f.Items[i] = FormOfYAML(&n.Items()[i])
		}
	default:
		f.Kind, f.What = Foreign, n.Kind.String()
		if n.Kind == doctree.Binary {
			f.Bytes = len(n.Text)
		}
	}
	return f
}

// FormOfJSON makes a form from a JSON value; place, which may be nil, returns the
// position of an offset.
func FormOfJSON(n *jsontree.Node, place func(offset int) jsontree.Position) Form {
	var f Form
	if place != nil {
		p := place(n.Offset)
		f.Line, f.Col = p.Line, p.Col
	}
	switch n.Kind {
	case jsontree.Array:
		f.Kind = Call
		f.Items = make([]Form, len(n.Items))
		for i := range n.Items {
			f.Items[i] = FormOfJSON(&n.Items[i], place)
		}
	case jsontree.Object:
		f.Kind, f.What = Foreign, "a mapping"
	default:
		f.Value = OfJSON(n)
	}
	return f
}

// String returns the form as compact JSON, except for what is foreign to the language.
func (f *Form) String() string {
	switch f.Kind {
	case Scalar:
		return f.Value.JSON()
	case Foreign:
		return "<" + f.What + ">"
	}
	parts := make([]string, len(f.Items))
	for i := range f.Items {
		parts[i] = f.Items[i].String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// equal compares the contents of two forms, not their positions.
func (f *Form) equal(o *Form) bool {
	return f.Kind == o.Kind && f.Kind != Foreign && f.Value.Equal(o.Value) &&
		slices.EqualFunc(f.Items, o.Items, func(a, b Form) bool { return a.equal(&b) })
}

// literalBytes returns the size of one form as a literal, without the forms in it.
func (f *Form) literalBytes() int {
	if f.Kind == Foreign {
		return f.Bytes
	}
	return len(f.Value.text)
}

// measure counts the nodes and literal bytes of a form.
func (f *Form) measure() (nodes, bytes int) {
	nodes, bytes = 1, f.literalBytes()
	for i := range f.Items {
		n, b := f.Items[i].measure()
		nodes, bytes = nodes+n, bytes+b
	}
	return nodes, bytes
}

// firstExceeded returns which budget a form that exceeds both breaks first. The walk
// takes the last form that it has found, and counts a node before its bytes.
func (f *Form) firstExceeded(l Limits) string {
	stack := []*Form{f}
	nodes, bytes := 0, 0
	for {
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if nodes++; nodes > l.Nodes {
			return "nodes"
		}
		if bytes += last.literalBytes(); bytes > l.LiteralBytes {
			return "literal_size"
		}
		for i := range last.Items {
			stack = append(stack, &last.Items[i])
		}
	}
}

// Asks reports whether the program depends on its subject or on the world. Otherwise its
// value is the same for everything.
func (p *Program) Asks() bool { return p.form.asks() }

// MatchesAll reports whether the program is a regex_match whose pattern surely matches
// any text.
func (p *Program) MatchesAll() bool { return p.root.pattern != nil && p.root.pattern.Vacuous() }

func (f *Form) asks() bool {
	if f.Kind != Call || len(f.Items) == 0 {
		return false
	}
	symbol, _ := f.Items[0].Value.Str()
	i := slices.IndexFunc(builtins[:], func(b builtin) bool { return b.symbol == symbol })
	return symbol == "subject" || symbol == "path_exists" || i >= 0 && builtins[i].subject && len(f.Items) == builtins[i].operands ||
		slices.ContainsFunc(f.Items, func(x Form) bool { return x.asks() })
}
