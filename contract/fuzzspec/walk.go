package fuzzspec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// violation is one broken rule, in both of its forms.
type violation struct {
	line       string // what existing tools print; empty if they accept the document
	unexpected bool   // they fail without having refused the document
	diag.Diagnostic
}

// walk goes through a document once, in the order in which existing tools
// check it, decodes it and collects everything that is wrong. [Validate] takes
// the first violation, [Check] takes them all: one set of rules, two voices.
type walk struct {
	fsys  FS
	file  string
	allow []string
	doc   *jsontree.Document
	spec  Spec
	found []violation
	// reserved holds the reserved fields that are not at their default, in the
	// order in which existing tools name them.
	reserved []place
}

// place is a value in the document with its dotted path.
type place struct {
	path string
	node *jsontree.Node
}

// at completes a diagnostic with the place of a byte offset.
func (w *walk) at(offset int, d diag.Diagnostic) diag.Diagnostic {
	p := w.doc.Position(offset)
	d.Pos = diag.Pos{File: w.file, Line: p.Line, Col: p.Col}
	d.Source = w.doc.Line(p.Line)
	return d
}

// refuse adds a violation whose compatible form is "path: reason".
func (w *walk) refuse(offset int, path, reason, code, message, hint string) {
	w.found = append(w.found, violation{
		line:       path + ": " + reason,
		Diagnostic: w.at(offset, diag.Diagnostic{Code: code, Path: path, Message: message, Hint: hint}),
	})
}

// crash adds a violation that existing tools meet as an exception.
func (w *walk) crash(offset int, path, exception, code, message string) {
	w.found = append(w.found, violation{
		line:       unexpectedLine(exception),
		unexpected: true,
		Diagnostic: w.at(offset, diag.Diagnostic{Code: code, Path: path, Message: message}),
	})
}

func unexpectedLine(exception string) string { return "spec: unexpected error (" + exception + ")" }

// parse reads the text; false means that there is no tree to walk.
func (w *walk) parse(text []byte) bool {
	doc, err := jsontree.Parse(text, jsontree.Python())
	if err == nil {
		w.doc, w.spec.Doc, w.spec.Text = doc, doc, text
		return true
	}
	e := err.(*jsontree.Error) // Parse gives no other
	v := violation{Diagnostic: diag.Diagnostic{
		Pos:     diag.Pos{File: w.file, Line: e.Position.Line, Col: e.Position.Col},
		Message: e.Message(),
		Source:  e.Source,
	}}
	v.unexpected = true
	switch e.Class {
	case jsontree.Encoding:
		v.Code, v.line = codeEncoding, unexpectedLine("UnicodeDecodeError")
	case jsontree.Depth:
		v.Code, v.line = codeDepth, unexpectedLine("RecursionError")
	case jsontree.Digits:
		v.Code, v.line = codeDigits, unexpectedLine("ValueError")
	default:
		v.Code, v.line, v.unexpected = codeSyntax, "spec: invalid json", false
	}
	w.found = append(w.found, v)
	return false
}

// document walks the whole tree.
func (w *walk) document() {
	root := &w.doc.Root
	if root.Kind != jsontree.Object {
		w.found = append(w.found, violation{
			line: "spec: must be a JSON object",
			Diagnostic: w.at(root.Offset, diag.Diagnostic{Code: codeType,
				Message: "must be a JSON object, got " + describe(root)}),
		})
		return
	}
	w.fields(root, "", []string{"schema_version", "campaign_id", "target", "seed", "mutations", "execution", "outputs"}, []string{"description"})
	if v, ok := w.str(root, "", "schema_version"); ok && v != SchemaVersion {
		n := root.Get("schema_version")
		w.refuse(n.Offset, "schema_version", "must equal "+SchemaVersion, codeVersion,
			fmt.Sprintf("must be %q, got %s", SchemaVersion, describe(n)), "")
	}
	w.spec.CampaignID, _ = w.str(root, "", "campaign_id")
	w.spec.Description = w.optional(root, "", "description")
	w.target(root.Get("target"))
	w.seed(root.Get("seed"))
	w.mutations(root.Get("mutations"))
	w.execution(root.Get("execution"))
	w.outputs(root.Get("outputs"))
}

// object reports whether a value is there and is an object.
func (w *walk) object(n *jsontree.Node, path string) bool {
	if n == nil {
		return false // reported as missing where it should have been
	}
	if n.Kind != jsontree.Object {
		w.wrongType(n, path, "an object")
		return false
	}
	return true
}

func (w *walk) wrongType(n *jsontree.Node, path, want string) {
	w.refuse(n.Offset, path, "must be "+want, codeType, "must be "+want+", got "+describe(n), "")
}

// fields checks which keys an object has: first the missing ones, in the order
// given, then the unknown ones, in the order of their names.
func (w *walk) fields(n *jsontree.Node, path string, required, optional []string) {
	for _, key := range required {
		if n.Get(key) == nil {
			w.refuse(n.Offset, join(path, key), "missing required field", codeMissing,
				"must be given, got no such field", w.misspelt(n, key, slices.Concat(required, optional)))
		}
	}
	known := slices.Concat(required, optional)
	var unknown []*jsontree.Member
	for i := range n.Members {
		if !slices.Contains(known, n.Members[i].Key) {
			unknown = append(unknown, &n.Members[i])
		}
	}
	slices.SortFunc(unknown, func(a, b *jsontree.Member) int { return strings.Compare(a.Key, b.Key) })
	for _, m := range unknown {
		hint := diag.DidYouMean(m.Key, known)
		if hint == "" {
			hint = "known fields: " + strings.Join(known, ", ")
		}
		w.refuse(m.KeyOffset, join(path, m.Key), "unknown field", codeUnknown,
			fmt.Sprintf("must be a known field, got %s", quoteShort(m.Key)), hint)
	}
}

// misspelt names a key that is there and was probably meant to be the missing
// one.
func (w *walk) misspelt(n *jsontree.Node, key string, known []string) string {
	var strangers []string
	for i := range n.Members {
		if k := n.Members[i].Key; !slices.Contains(known, k) {
			strangers = append(strangers, k)
		}
	}
	if near := diag.Nearest(key, strangers); near != "" {
		return "is " + quoteShort(near) + " meant to be it?"
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// str returns a field that must be a string if it is there.
func (w *walk) str(obj *jsontree.Node, path, key string) (string, bool) {
	n := obj.Get(key)
	if n == nil {
		return "", false
	}
	if n.Kind != jsontree.String {
		w.wrongType(n, join(path, key), "a string")
		return "", false
	}
	return n.Text, true
}

func (w *walk) optional(obj *jsontree.Node, path, key string) *string {
	if s, ok := w.str(obj, path, key); ok {
		return &s
	}
	return nil
}

// absolute returns a field that must be an absolute path if it is there.
func (w *walk) absolute(obj *jsontree.Node, path, key string) *string {
	s, ok := w.str(obj, path, key)
	if !ok {
		return nil
	}
	if !strings.HasPrefix(s, "/") {
		n := obj.Get(key)
		w.refuse(n.Offset, join(path, key), reasonRelative, codeAbsolute, "must be an absolute path, got "+describe(n), "")
		return nil
	}
	s = NormalizePath(s)
	return &s
}

// integer returns a field that must be an integer, at least least, if it is
// there. A float is never an integer and a boolean never a number.
func (w *walk) integer(obj *jsontree.Node, path, key string, least int64, reason string) *jsontree.Node {
	n := obj.Get(key)
	if n == nil {
		return nil
	}
	if n.Kind != jsontree.Int {
		w.wrongType(n, join(path, key), "an integer")
		return nil
	}
	if v := n.Int(); v.IsInt64() && v.Int64() < least || v.Sign() < 0 && least > math.MinInt64 {
		w.refuse(n.Offset, join(path, key), reason, codeRange,
			fmt.Sprintf("must be an integer of at least %d, got %s", least, describe(n)), "")
		return nil
	}
	return n
}

// describe says what a value is, short enough for a message.
func describe(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.String:
		if n.Text == "" {
			return "an empty string"
		}
		return quoteShort(n.Text)
	case jsontree.Int, jsontree.Float:
		if len(n.Text) > 40 {
			return fmt.Sprintf("%s... (%d characters)", n.Text[:20], len(n.Text))
		}
		return n.Text
	case jsontree.Bool:
		return fmt.Sprint(n.Bool)
	case jsontree.Array:
		if len(n.Items) == 0 {
			return "an empty array"
		}
	}
	return n.Kind.String()
}

// quoteShort is a JSON string literal, cut to what a message can hold.
func quoteShort(s string) string {
	const most = 60
	node := jsontree.Node{Kind: jsontree.String, Text: s}
	if runes := []rune(s); len(runes) > most {
		node.Text = string(runes[:most])
		text := jsontree.Style{}.Format(&node)
		return text[:len(text)-1] + `..."`
	}
	return jsontree.Style{}.Format(&node)
}
