package doctree

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Shape declares a mapping: its possible keys and their values. It is the
// source of decoding with diagnostics ([Section]), of the JSON Schema
// ([Schema]) and of the tables in the documentation ([Shape.Table]).
type Shape struct {
	Name string // in a schema's $defs and in the documentation: "invariant"
	Doc  string
	// Tag is the field whose word says what the mapping is; other fields may be
	// limited to some of its words. Without the field the word is TagDefault.
	Tag, TagDefault string
	Fields          []Field
	Open            bool   // other keys are up to the writer
	Own             string // a regular expression of keys that are up to the writer
	Outer           bool   // Tag is a field of the mapping around this one
}

// Field declares one key.
type Field struct {
	Name string
	Type Type
	Need bool     // must be given
	For  []string // the words of the shape's tag that allow it; none: all
	// Elsewhere are further words with which published documents write the
	// field, without effect. With these it is a warning, with all others an
	// error.
	Elsewhere []string
	Default   string // the value if it is not given, as JSON
	Since     string // the version of Thresh or of the format that introduced it; "": the first
	Doc       string // one sentence for people, without a full stop
}

// Form is the form of a value of a [Type].
type Form uint8

// The forms.
const (
	AnyForm Form = iota
	TextForm
	WordForm
	IntegerForm
	NumberForm
	TruthForm
	ListForm
	NamedForm // a mapping whose keys are names
	ShapeForm
)

// Type declares a value.
type Type struct {
	Form      Form
	Words     []string // of a WordForm
	Low, High float64  // of numbers; infinite: no bound
	Above     bool     // the value must be more than Low
	Filled    bool     // a text or list must not be empty
	Null      bool     // null means the same as no value
	Pattern   string   // of a text: a regular expression for editors, which decoding does not check
	Most      int      // of a text: characters, of a list: items; for editors; 0: no limit
	Least     int      // of a list: items; for editors
	Of        *Type    // of the items of a list, or of named values
	Shape     *Shape
	Or        []Type // other forms that are allowed
	Loose     bool   // values of other forms count as it, as Python or a shell has it; for editors: reading does not look at it
	Raw       string // keywords of JSON Schema, for editors, added to those of the form; its $defs go to the document
}

var none = math.Inf(1)

// Any is any value.
func Any() Type { return Type{Low: -none, High: none} }

// Text is a string.
func Text() Type { return Type{Form: TextForm, Low: -none, High: none} }

// Word is one of some strings.
func Word(words ...string) Type { return Type{Form: WordForm, Words: words, Low: -none, High: none} }

// Integer is a whole number within bounds.
func Integer(low, high float64) Type { return Type{Form: IntegerForm, Low: low, High: high} }

// AnyInteger is a whole number.
func AnyInteger() Type { return Integer(-none, none) }

// Number is a number within bounds.
func Number(low, high float64) Type { return Type{Form: NumberForm, Low: low, High: high} }

// Truth is true or false.
func Truth() Type { return Type{Form: TruthForm, Low: -none, High: none} }

// List is a list of values.
func List(of Type) Type { return Type{Form: ListForm, Of: &of, Low: -none, High: none} }

// Named is a mapping from names to values.
func Named(of Type) Type { return Type{Form: NamedForm, Of: &of, Low: -none, High: none} }

// Object is a mapping of declared keys.
func Object(s *Shape) Type { return Type{Form: ShapeForm, Shape: s, Low: -none, High: none} }

// Must is the type without the empty text or list.
func (t Type) Must() Type { t.Filled = true; return t }

// OrNull is the type with null, which means the same as no value.
func (t Type) OrNull() Type { t.Null = true; return t }

// OrElse is the type with other forms that are allowed.
func (t Type) OrElse(other ...Type) Type { t.Or = slices.Concat(t.Or, other); return t }

// Like is a text with a form that editors check.
func (t Type) Like(pattern string) Type { t.Pattern = pattern; return t }

// As is the type with keywords of JSON Schema for editors, as a JSON object.
func (t Type) As(raw string) Type { t.Raw = raw; return t }

// UpTo is a text or list with a maximum length that editors check.
func (t Type) UpTo(most int) Type { t.Most = most; return t }

// Loosely is the number or truth with texts that say one and each other, and the text with scalars
// as they are written.
func (t Type) Loosely() Type { t.Loose = true; return t }

// Exactly is a list with a length that editors check.
func (t Type) Exactly(n int) Type { t.Least, t.Most = n, n; return t }

// MoreThan is the number with a bound that it must exceed.
func (t Type) MoreThan(low float64) Type { t.Low, t.Above = low, true; return t }

// Field returns the field of that name, or nil.
func (s *Shape) Field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// Keys returns the names of the fields that a word of the tag allows; all of
// them for "".
func (s *Shape) Keys(word string) []string {
	var list []string
	for i := range s.Fields {
		if f := &s.Fields[i]; word == "" || f.takes(word) {
			list = append(list, f.Name)
		}
	}
	return list
}

func (f *Field) takes(word string) bool { return len(f.For) == 0 || slices.Contains(f.For, word) }

// words returns the words of the tag.
func (s *Shape) words() []string {
	if f := s.Field(s.Tag); s.Tag != "" && f != nil {
		return f.Type.Words
	}
	return nil
}

// wants returns the type for a message: "a string", "an integer".
func (t *Type) wants(json bool) string {
	text := ""
	switch t.Form {
	case TextForm, WordForm:
		text = "a string"
	case IntegerForm:
		text = "an integer"
	case NumberForm:
		text = "a number"
	case TruthForm:
		text = "true or false"
	case ListForm:
		if text = "a list"; json {
			text = "an array"
		}
		switch {
		case t.Of.Form == TextForm:
			text += " of strings"
		case t.Of.Form == ShapeForm && !json:
			text += " of mappings"
		}
	case NamedForm, ShapeForm:
		if text = "a mapping"; json {
			text = "an object"
		}
	default:
		text = "a value"
	}
	for i := range t.Or {
		text += " or " + t.Or[i].wants(json)
	}
	return text
}

// bounds says which values a number may have.
func (t *Type) bounds() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch {
	case t.High == math.MaxFloat64 && t.Low > -none:
		return "at least " + number(t.Low) + " and finite"
	case t.High == math.MaxFloat64:
		return "finite"
	case t.Above && t.High < none:
		return "above " + number(t.Low) + ", at most " + number(t.High)
	case t.Above:
		return "greater than " + number(t.Low)
	case t.Low > -none && t.High < none:
		return "from " + number(t.Low) + " to " + number(t.High)
	case t.Low > -none:
		return "at least " + number(t.Low)
	case t.High < none:
		return "at most " + number(t.High)
	}
	return ""
}

// holds reports whether a number is within the bounds.
func (t *Type) holds(v float64) bool {
	return v >= t.Low && v <= t.High && (!t.Above || v > t.Low)
}

// Either joins words in prose: "a, b or c".
func Either(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
