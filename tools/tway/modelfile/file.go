package modelfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
)

// File is a model with the names from its file.
type File struct {
	Format   string // "pict", "acts" or "acts-xml"
	System   string // ACTS: the name of the system
	Params   []Param
	Conds    []Cond // as in Model.Conds
	Strength int    // strength in the file; 0: none
	Model    covering.Model
	dialect  Dialect
}

// Param is a parameter.
type Param struct {
	Name    string
	Values  []Value
	Numeric bool // all values are numbers and are compared as numbers
	pos     diag.Pos
	faulty  bool // a value was rejected
}

// Value is a value of a parameter.
type Value struct {
	Names   []string // at least one; the others are aliases, used in turn in rows
	Invalid bool
	Weight  int // 1 unless the file sets it
	number  float64
}

// Name returns the name of a value in constraints.
func (v *Value) Name() string { return v.Names[0] }

// Label returns the name of a value as rows show it: an invalid value has a tilde, or the model's
// own sign, before it.
func (f *File) Label(v *Value, alias int) string {
	if v.Invalid {
		return f.dialect.Negative + v.Names[alias%len(v.Names)]
	}
	return v.Names[alias%len(v.Names)]
}

// Cond is a constraint as written.
type Cond struct {
	Text string // on one line
	Pos  diag.Pos
}

// Read reads a model. It detects the format: XML, text with ACTS's sections, otherwise PICT. The
// file is nil if the list has errors. The model is complete except for a strength that the file
// does not give.
func Read(name string, data []byte) (*File, diag.List) { return Dialect{}.Read(name, data) }

// Read reads a model in this dialect, as the function Read does.
func (d Dialect) Read(name string, data []byte) (*File, diag.List) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := &reader{name: name, lines: strings.Split(string(data), "\n"), f: &File{dialect: d.filled()}}
	for i := range r.lines {
		r.lines[i] = strings.TrimSuffix(r.lines[i], "\r")
	}
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")):
		r.f.Format, r.f.dialect.CaseSensitive = "acts-xml", true
		r.xml(data)
	case hasSections(r.lines):
		r.f.Format, r.f.dialect.CaseSensitive = "acts", true
		r.acts()
	default:
		r.f.Format = "pict"
		r.pict()
	}
	r.finish()
	r.list.Sort()
	if r.list.HasErrors() {
		return nil, r.list
	}
	return r.f, r.list
}

// reader is the state of reading a file.
type reader struct {
	name  string
	lines []string
	f     *File
	list  diag.List
}

// pos is the position of a line and a byte, both from 0.
func (r *reader) pos(line, col int) diag.Pos {
	return diag.Pos{File: r.name, Line: line + 1, Col: col + 1}
}

func (r *reader) source(p diag.Pos) string {
	if p.Line < 1 || p.Line > len(r.lines) {
		return ""
	}
	return r.lines[p.Line-1]
}

func (r *reader) wrong(p diag.Pos, code, message, hint string) {
	r.list = append(r.list, diag.Diagnostic{Code: "tway." + code, Pos: p, Message: message, Hint: hint, Source: r.source(p)})
}

func (r *reader) warn(p diag.Pos, code, message, hint string) {
	r.wrong(p, code, message, hint)
	r.list[len(r.list)-1].Level = diag.Warning
}

// equal compares names.
func (r *reader) equal(a, b string) bool {
	if r.f.dialect.CaseSensitive {
		return a == b
	}
	return strings.EqualFold(a, b)
}

// param is the index of a parameter, or -1.
func (r *reader) param(name string) int {
	return slices.IndexFunc(r.f.Params, func(p Param) bool { return r.equal(p.Name, name) })
}

// known is param with a diagnostic for an unknown name.
func (r *reader) known(name string, at diag.Pos) int {
	p := r.param(name)
	if p < 0 {
		r.wrong(at, "unknown-parameter", "there is no parameter "+quote(name), diag.DidYouMean(name, r.f.Names()))
	}
	return p
}

// At returns the model with a strength, which also applies to sub-models without their own.
func (f *File) At(strength int) *covering.Model {
	m := f.Model
	m.Strength = strength
	m.Relations = slices.Clone(m.Relations)
	for i, rel := range m.Relations {
		if rel.Strength == 0 {
			m.Relations[i].Strength = min(strength, len(rel.Params))
		}
	}
	return &m
}

// Names returns the names of the parameters.
func (f *File) Names() []string {
	names := make([]string, len(f.Params))
	for i, p := range f.Params {
		names[i] = p.Name
	}
	return names
}

// add adds a parameter to the model.
func (r *reader) add(p Param) {
	switch {
	case p.Name == "":
		r.wrong(p.pos, "no-name", "a parameter needs a name before its values", "")
	case r.param(p.Name) >= 0:
		r.wrong(p.pos, "duplicate", "the parameter "+quote(p.Name)+" is there already", "")
		return
	}
	if len(p.Values) > maxValues {
		r.wrong(p.pos, "values", "a parameter can have 65,536 values at most", "")
		return
	}
	p.Numeric = len(p.Values) > 0
	for i := range p.Values {
		n, ok := number(p.Values[i].Name())
		p.Values[i].number = n
		p.Numeric = p.Numeric && ok
	}
	r.f.Params = append(r.f.Params, p)
}

const maxValues = 1 << 16

// constrain adds a constraint to the model.
func (r *reader) constrain(text string, pos diag.Pos, c solve.Cond) {
	r.f.Conds = append(r.f.Conds, Cond{strings.Join(strings.Fields(text), " "), pos})
	r.f.Model.Conds = append(r.f.Model.Conds, c)
}

// finish completes the model.
func (r *reader) finish() {
	m := &r.f.Model
	if len(r.f.Params) == 0 && !r.list.HasErrors() {
		r.wrong(diag.Pos{File: r.name}, "empty", "the model has no parameters", "a line such as Size: small, large makes one")
	}
	invalid, weighted := false, false
	for _, p := range r.f.Params {
		valid := 0
		for _, v := range p.Values {
			if !v.Invalid {
				valid++
			}
			invalid, weighted = invalid || v.Invalid, weighted || v.Weight != 1
		}
		if valid == 0 && !p.faulty {
			r.wrong(p.pos, "no-value", "the parameter "+quote(p.Name)+" needs a valid value", "")
		}
		m.Levels = append(m.Levels, len(p.Values))
	}
	for _, p := range r.f.Params {
		var bad []bool
		var weights []int
		for _, v := range p.Values {
			bad, weights = append(bad, v.Invalid), append(weights, v.Weight)
		}
		if invalid {
			m.Invalid = append(m.Invalid, bad)
		}
		if weighted {
			m.Weights = append(m.Weights, weights)
		}
	}
}

func quote(s string) string { return `"` + s + `"` }
