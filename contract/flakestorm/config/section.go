package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// decoder walks a document and collects the diagnostics.
type decoder struct {
	file string
	opt  Options
	doc  *doctree.Document
	list diag.List
	seed int64

	tools []mentioned // that the document names
}

func (d *decoder) report(level diag.Level, at doctree.Pos, code, path, hint, format string, args ...any) {
	d.list.Add(level, func() diag.Diagnostic {
		return diag.Diagnostic{
			Code: "flakestorm." + code, Level: level, Pos: at.In(d.file), Path: path,
			Message: fmt.Sprintf(format, args...), Hint: hint, Source: d.doc.Line(at.Line),
		}
	})
}

func (d *decoder) fail(at doctree.Pos, code, path, format string, args ...any) {
	d.report(diag.Error, at, code, path, "", format, args...)
}

func (d *decoder) warn(at doctree.Pos, code, path, hint, format string, args ...any) {
	d.report(diag.Warning, at, code, path, hint, format, args...)
}

// doubt reports an error if the document is only checked, and a warning if it is run: existing
// tools run it.
func (d *decoder) doubt(at doctree.Pos, code, path, hint, format string, args ...any) {
	level := diag.Warning
	if d.opt.Check {
		level = diag.Error
	}
	d.report(level, at, code, path, hint, format, args...)
}

// section is a mapping that is being read. Its shape declares the keys that it may have.
type section struct {
	d     *decoder
	n     *doctree.Node
	path  string
	shape *doctree.Shape
}

// section opens a mapping. It reports anything that is not a mapping.
func (d *decoder) section(n *doctree.Node, path string, shape *doctree.Shape) *section {
	return &section{d: d, n: d.keys(n, path, shape), path: path, shape: shape}
}

// keys checks the keys of a mapping. It returns nil if there is no mapping.
func (d *decoder) keys(n *doctree.Node, path string, shape *doctree.Shape) *doctree.Node {
	k := doctree.Decoder{Format: "flakestorm", File: d.file, Line: d.doc.Line, Unknown: diag.Warning, List: d.list}
	s := k.Section(n, path, shape)
	for i := len(d.list); i < len(k.List); i++ {
		if x := &k.List[i]; strings.HasSuffix(x.Code, ".unknown-key") && x.Level == diag.Warning && slices.Contains(published, x.Path) {
			x.Level, x.Hint = diag.Note, "published examples of the format have it, and existing tools ignore it too"
		}
	}
	d.list = k.List
	return s.Raw()
}

// published lists keys of the format's published examples that have no effect in existing tools
// either.
var published = []string{"llm", "mutations.templates", "advanced.output_dir", "advanced.min_score", "advanced.skip_rules"}

// field returns the declaration of a key.
func (s *section) field(key string) *doctree.Field {
	f := s.shape.Field(key)
	if f == nil {
		panic("flakestorm: " + s.shape.Name + " declares no key " + key)
	}
	return f
}

func (s *section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// pos returns the position of the section.
func (s *section) pos() doctree.Pos {
	if s.n == nil {
		return doctree.Pos{Line: 1, Col: 1}
	}
	return s.n.Pos
}

// get returns the value of a key; nil: it is missing.
func (s *section) get(key string) *doctree.Node {
	s.field(key)
	return s.n.Get(key)
}

// opt returns the value of a key; nil: it is missing or null.
func (s *section) opt(key string) *doctree.Node {
	n := s.get(key)
	if n.IsNull() {
		return nil
	}
	return n
}

// missing reports that a required key is missing.
func (s *section) missing(key string) {
	if s.n != nil {
		s.d.fail(s.pos(), "missing-key", s.at(key), "must be given")
	}
}

// required reads a string that must be given.
func (s *section) required(key string) string {
	n := s.get(key)
	if n == nil {
		if !s.field(key).Need { // otherwise it was already reported
			s.missing(key)
		}
		return ""
	}
	v, ok := s.d.str(n, s.at(key))
	if ok && v == "" {
		s.d.fail(n.Pos, "empty", s.at(key), "must not be empty")
	}
	return v
}

// str reads a string that has a default and must not be null.
func (s *section) str(key, def string) string {
	n := s.get(key)
	if n == nil {
		return def
	}
	v, ok := s.d.str(n, s.at(key))
	if !ok {
		return def
	}
	return v
}

// text reads a string that may be null.
func (s *section) text(key string) string {
	v, _ := s.d.str(s.opt(key), s.at(key))
	return v
}

// id refuses a name that reports cannot show on one line.
func (s *section) id(v string) string {
	if !diag.OneLine(v) {
		s.d.fail(s.n.Get("id").Pos, "id", s.at("id"), "must be one line without control characters, got %q", diag.Cut(v, 60))
	}
	return v
}

// word reads one of the declared words.
func (s *section) word(key, def string) string {
	words := s.field(key).Type.Words
	n := s.get(key)
	if n == nil {
		return def
	}
	v, ok := s.d.str(n, s.at(key))
	if !ok || slices.Contains(words, v) {
		return v
	}
	s.d.unknown(n, "unknown-word", s.at(key), v, words)
	return def
}

// unknown reports a word that is not one of those allowed here.
func (d *decoder) unknown(n *doctree.Node, code, path, v string, words []string) {
	d.report(diag.Error, n.Pos, code, path, diag.DidYouMean(v, words), "must be one of %s, got %q", strings.Join(words, ", "), v)
}

func (s *section) texts(key string) []string {
	n := s.opt(key)
	if n == nil {
		return nil
	}
	return s.d.texts(n, s.at(key))
}

// pairs reads a mapping from strings to strings.
func (s *section) pairs(key string) []Pair {
	n := s.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != doctree.Map {
		s.d.fail(n.Pos, "type", s.at(key), "must be a mapping, got %s", describeValue(n))
		return nil
	}
	var list []Pair
	for i := range n.Members() {
		m := &n.Members()[i]
		if m.Key.Kind != doctree.String {
			s.d.fail(m.Key.Pos, "type", s.at(key), "a key must be a string, got %s", describeValue(&m.Key))
			continue
		}
		if v, ok := s.d.str(&m.Value, s.at(key)+"."+m.Key.Text); ok {
			list = append(list, Pair{m.Key.Text, v})
		}
	}
	return list
}

// integer reads a whole number within the declared limits.
func (s *section) integer(key string, def int) int {
	n := s.get(key)
	if n == nil {
		return def
	}
	t := s.field(key).Type
	return s.d.integer(n, s.at(key), def, int(t.Low), int(t.High))
}

// count is like integer, for keys that may be null.
func (s *section) count(key string, def int) int {
	if s.opt(key) == nil {
		return def
	}
	return s.integer(key, def)
}

func (d *decoder) integer(n *doctree.Node, path string, def, lo, hi int) int {
	v, ok := looseNumber(n)
	switch {
	case !ok:
		d.fail(n.Pos, "type", path, "must be an integer, got %s", describeValue(n))
	case v != math.Trunc(v) || math.IsInf(v, 0):
		d.fail(n.Pos, "type", path, "must be an integer, got %s", describeValue(n))
	case v < float64(lo) || v > float64(hi):
		d.fail(n.Pos, "range", path, "must be from %d to %d, got %s", lo, hi, n.Text)
	default:
		return int(v)
	}
	return def
}

// number reads a number within the declared limits. Null means the default.
func (s *section) number(key string, def float64) float64 {
	n := s.opt(key)
	if n == nil {
		return def
	}
	v, ok := looseNumber(n)
	lo, hi := s.field(key).Type.Low, s.field(key).Type.High
	switch {
	case !ok || math.IsNaN(v):
		s.d.fail(n.Pos, "type", s.at(key), "must be a number, got %s", describeValue(n))
	case v < lo || v > hi:
		s.d.fail(n.Pos, "range", s.at(key), "must be from %g to %g, got %s", lo, hi, n.Text)
	default:
		return v
	}
	return def
}

// flag reads a boolean in any of the accepted spellings.
func (s *section) flag(key string, def bool) bool {
	n := s.get(key)
	if n == nil {
		return def
	}
	return s.d.flag(n, s.at(key), def)
}

func (d *decoder) flag(n *doctree.Node, path string, def bool) bool {
	switch n.Kind {
	case doctree.Bool:
		return n.Bool
	case doctree.Int, doctree.Float, doctree.String:
		switch strings.ToLower(n.Text) {
		case "1", "1.0", "true", "t", "yes", "y", "on":
			return true
		case "0", "0.0", "false", "f", "no", "n", "off":
			return false
		}
	}
	d.fail(n.Pos, "type", path, "must be true or false, got %s", describeValue(n))
	return def
}

// items calls read for every item of a list. If null is set, the list may be null.
func (s *section) items(key string, null bool, read func(n *doctree.Node, path string)) {
	n := s.get(key)
	if n == nil || null && n.IsNull() {
		return
	}
	if n.Kind != doctree.Seq {
		s.d.fail(n.Pos, "type", s.at(key), "must be a list, got %s", describeValue(n))
		return
	}
	for i := range n.Items() {
		read(&n.Items()[i], fmt.Sprintf("%s[%d]", s.at(key), i))
	}
}

// str reads a string. nil has no string and is not reported.
func (d *decoder) str(n *doctree.Node, path string) (string, bool) {
	if n == nil {
		return "", false
	}
	if n.Kind != doctree.String {
		hint := ""
		switch n.Kind {
		case doctree.Int, doctree.Float, doctree.Bool, doctree.Date, doctree.Time:
			hint = "put it in quotes: " + strconv.Quote(n.Raw())
		}
		d.report(diag.Error, n.Pos, "type", path, hint, "must be a string, got %s", describeValue(n))
		return "", false
	}
	return n.Text, true
}

func (d *decoder) texts(n *doctree.Node, path string) []string {
	if n.Kind != doctree.Seq {
		d.fail(n.Pos, "type", path, "must be a list of strings, got %s", describeValue(n))
		return nil
	}
	list := make([]string, 0, len(n.Items()))
	for i := range n.Items() {
		if v, ok := d.str(&n.Items()[i], fmt.Sprintf("%s[%d]", path, i)); ok {
			list = append(list, v)
		}
	}
	return list
}

// looseNumber returns a number in any of the accepted forms.
func looseNumber(n *doctree.Node) (float64, bool) {
	switch n.Kind {
	case doctree.Int, doctree.Float:
		return n.Float()
	case doctree.Bool:
		if n.Bool {
			return 1, true
		}
		return 0, true
	case doctree.String:
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(n.Text), "_", ""), 64)
		return v, err == nil
	}
	return 0, false
}

// describeValue describes a value in a message.
func describeValue(n *doctree.Node) string {
	switch n.Kind {
	case doctree.Int, doctree.Float, doctree.Date, doctree.Time:
		return n.Kind.String() + " " + n.Raw()
	case doctree.Bool:
		return "the boolean " + n.Raw()
	case doctree.String:
		text := []rune(n.Text)
		if len(text) > 40 {
			text = append(text[:40], '…')
		}
		return strconv.Quote(string(text))
	}
	return n.Kind.String()
}

// trimmed returns a number without insignificant digits.
func trimmed(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }

// Checks reads invariants that are part of another document, at the given paths.
func Checks(file string, doc *doctree.Document, nodes []*doctree.Node, paths []string) (list []Invariant, found diag.List) {
	d := &decoder{file: file, doc: doc}
	for i, n := range nodes {
		list = append(list, d.invariant(n, paths[i], false))
	}
	d.list.Sort()
	return list, d.list
}

// words splits a command line into words the way a shell does, with quotes and backslashes only:
// nothing is expanded. ok is false if a quote is not closed.
func words(line string) (list []string, ok bool) {
	var b strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inWord {
				list = append(list, b.String())
				b.Reset()
				inWord = false
			}
		default:
			b.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		list = append(list, b.String())
	}
	return list, quote == 0 && !escaped
}
