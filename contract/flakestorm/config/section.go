package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// decoder walks a document and collects what is to be said about it.
type decoder struct {
	file string
	opt  Options
	doc  *yamltree.Document
	list diag.List
}

func (d *decoder) report(level diag.Level, at yamltree.Pos, code, path, hint, format string, args ...any) {
	d.list = append(d.list, diag.Diagnostic{
		Code: "flakestorm." + code, Level: level, Pos: at.In(d.file), Path: path,
		Message: fmt.Sprintf(format, args...), Hint: hint, Source: d.doc.Line(at.Line),
	})
}

func (d *decoder) fail(at yamltree.Pos, code, path, format string, args ...any) {
	d.report(diag.Error, at, code, path, "", format, args...)
}

func (d *decoder) warn(at yamltree.Pos, code, path, hint, format string, args ...any) {
	d.report(diag.Warning, at, code, path, hint, format, args...)
}

// doubt is an error if the document is only checked, and a warning if it is
// run: existing tools run it.
func (d *decoder) doubt(at yamltree.Pos, code, path, hint, format string, args ...any) {
	level := diag.Warning
	if d.opt.Check {
		level = diag.Error
	}
	d.report(level, at, code, path, hint, format, args...)
}

// section is a mapping that is being read. Every key that is asked for is
// known; the others are told by end.
type section struct {
	d     *decoder
	n     *yamltree.Node
	path  string
	known []string
}

// section opens a mapping; what is none is told.
func (d *decoder) section(n *yamltree.Node, path string) *section {
	s := &section{d: d, n: n, path: path}
	if n != nil && n.Kind != yamltree.Map {
		d.fail(n.Pos, "type", path, "must be a mapping, got %s", shown(n))
		s.n = nil
	}
	return s
}

func (s *section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// pos is where the section stands.
func (s *section) pos() yamltree.Pos {
	if s.n == nil {
		return yamltree.Pos{Line: 1, Col: 1}
	}
	return s.n.Pos
}

// get is the value of a key, nil if it has none.
func (s *section) get(key string) *yamltree.Node {
	s.known = append(s.known, key)
	return s.n.Get(key)
}

// opt is the value of a key, nil also if it is null.
func (s *section) opt(key string) *yamltree.Node {
	n := s.get(key)
	if n.IsNull() {
		return nil
	}
	return n
}

// end warns of the keys that nobody asked for.
func (s *section) end() {
	if s.n == nil {
		return
	}
	for i := range s.n.Members {
		k := &s.n.Members[i].Key
		if k.Kind == yamltree.String && slices.Contains(s.known, k.Text) {
			continue
		}
		name := k.Text
		hint := diag.DidYouMean(name, s.known)
		if hint == "" {
			known := slices.Clone(s.known)
			slices.Sort(known)
			hint = "known keys: " + strings.Join(slices.Compact(known), ", ")
		}
		s.d.warn(k.Pos, "unknown-key", s.at(name), hint, "the key is not known and has no effect")
	}
}

// missing tells of a required key.
func (s *section) missing(key string) {
	if s.n != nil {
		s.d.fail(s.pos(), "missing-key", s.at(key), "must be given")
	}
}

// required is a string that must be there.
func (s *section) required(key string) string {
	n := s.get(key)
	if n == nil {
		s.missing(key)
		return ""
	}
	v, ok := s.d.str(n, s.at(key))
	if ok && v == "" {
		s.d.fail(n.Pos, "empty", s.at(key), "must not be empty")
	}
	return v
}

// str is a string that has a default and cannot be null.
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

// text is a string that may be null.
func (s *section) text(key string) string {
	v, _ := s.d.str(s.opt(key), s.at(key))
	return v
}

// word is one of some words.
func (s *section) word(key, def string, words ...string) string {
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

// unknown tells of a word that is none of those that may stand here.
func (d *decoder) unknown(n *yamltree.Node, code, path, v string, words []string) {
	d.report(diag.Error, n.Pos, code, path, diag.DidYouMean(v, words), "must be one of %s, got %q", strings.Join(words, ", "), v)
}

func (s *section) texts(key string) []string {
	n := s.opt(key)
	if n == nil {
		return nil
	}
	return s.d.texts(n, s.at(key))
}

// pairs is a mapping of strings to strings.
func (s *section) pairs(key string) []Pair {
	n := s.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yamltree.Map {
		s.d.fail(n.Pos, "type", s.at(key), "must be a mapping, got %s", shown(n))
		return nil
	}
	var list []Pair
	for i := range n.Members {
		m := &n.Members[i]
		if m.Key.Kind != yamltree.String {
			s.d.fail(m.Key.Pos, "type", s.at(key), "a key must be a string, got %s", shown(&m.Key))
			continue
		}
		if v, ok := s.d.str(&m.Value, s.at(key)+"."+m.Key.Text); ok {
			list = append(list, Pair{m.Key.Text, v})
		}
	}
	return list
}

// integer is a whole number between lo and hi.
func (s *section) integer(key string, def, lo, hi int) int {
	n := s.get(key)
	if n == nil {
		return def
	}
	return s.d.integer(n, s.at(key), def, lo, hi)
}

// count is integer for keys that may be null.
func (s *section) count(key string, def, lo, hi int) int {
	n := s.opt(key)
	if n == nil {
		return def
	}
	return s.d.integer(n, s.at(key), def, lo, hi)
}

func (d *decoder) integer(n *yamltree.Node, path string, def, lo, hi int) int {
	v, ok := lax(n)
	switch {
	case !ok:
		d.fail(n.Pos, "type", path, "must be an integer, got %s", shown(n))
	case v != math.Trunc(v) || math.IsInf(v, 0):
		d.fail(n.Pos, "type", path, "must be an integer, got %s", shown(n))
	case v < float64(lo) || v > float64(hi):
		d.fail(n.Pos, "range", path, "must be from %d to %d, got %s", lo, hi, n.Text)
	default:
		return int(v)
	}
	return def
}

// number is a number between lo and hi; a null is the default.
func (s *section) number(key string, def, lo, hi float64) float64 {
	n := s.opt(key)
	if n == nil {
		return def
	}
	v, ok := lax(n)
	switch {
	case !ok || math.IsNaN(v):
		s.d.fail(n.Pos, "type", s.at(key), "must be a number, got %s", shown(n))
	case v < lo || v > hi:
		s.d.fail(n.Pos, "range", s.at(key), "must be from %g to %g, got %s", lo, hi, n.Text)
	default:
		return v
	}
	return def
}

// flag is a boolean in any of the spellings that are taken for one.
func (s *section) flag(key string, def bool) bool {
	n := s.get(key)
	if n == nil {
		return def
	}
	switch n.Kind {
	case yamltree.Bool:
		return n.Bool
	case yamltree.Int, yamltree.Float, yamltree.String:
		switch strings.ToLower(n.Text) {
		case "1", "1.0", "true", "t", "yes", "y", "on":
			return true
		case "0", "0.0", "false", "f", "no", "n", "off":
			return false
		}
	}
	s.d.fail(n.Pos, "type", s.at(key), "must be true or false, got %s", shown(n))
	return def
}

// items calls read for every item of a list, which may be null if so said.
func (s *section) items(key string, null bool, read func(n *yamltree.Node, path string)) {
	n := s.get(key)
	if n == nil || null && n.IsNull() {
		return
	}
	if n.Kind != yamltree.Seq {
		s.d.fail(n.Pos, "type", s.at(key), "must be a list, got %s", shown(n))
		return
	}
	for i := range n.Items {
		read(&n.Items[i], fmt.Sprintf("%s[%d]", s.at(key), i))
	}
}

// str is a string; nil is none and no fault.
func (d *decoder) str(n *yamltree.Node, path string) (string, bool) {
	if n == nil {
		return "", false
	}
	if n.Kind != yamltree.String {
		hint := ""
		switch n.Kind {
		case yamltree.Int, yamltree.Float, yamltree.Bool, yamltree.Date, yamltree.Time:
			hint = "put it in quotes: " + strconv.Quote(n.Raw)
		}
		d.report(diag.Error, n.Pos, "type", path, hint, "must be a string, got %s", shown(n))
		return "", false
	}
	return n.Text, true
}

func (d *decoder) texts(n *yamltree.Node, path string) []string {
	if n.Kind != yamltree.Seq {
		d.fail(n.Pos, "type", path, "must be a list of strings, got %s", shown(n))
		return nil
	}
	list := make([]string, 0, len(n.Items))
	for i := range n.Items {
		if v, ok := d.str(&n.Items[i], fmt.Sprintf("%s[%d]", path, i)); ok {
			list = append(list, v)
		}
	}
	return list
}

// lax is a number in any of the forms that are taken for one.
func lax(n *yamltree.Node) (float64, bool) {
	switch n.Kind {
	case yamltree.Int, yamltree.Float:
		return n.Float()
	case yamltree.Bool:
		if n.Bool {
			return 1, true
		}
		return 0, true
	case yamltree.String:
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(n.Text), "_", ""), 64)
		return v, err == nil
	}
	return 0, false
}

// shown is a value in a message.
func shown(n *yamltree.Node) string {
	switch n.Kind {
	case yamltree.Int, yamltree.Float, yamltree.Date, yamltree.Time:
		return n.Kind.String() + " " + n.Raw
	case yamltree.Bool:
		return "the boolean " + n.Raw
	case yamltree.String:
		text := []rune(n.Text)
		if len(text) > 40 {
			text = append(text[:40], '…')
		}
		return strconv.Quote(string(text))
	}
	return n.Kind.String()
}

// trimmed is a number without digits that mean nothing.
func trimmed(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }
