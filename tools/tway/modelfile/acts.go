package modelfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
)

// sections are the sections of an ACTS text file.
var sections = []string{"System", "Parameter", "Relation", "Constraint", "Test Set", "Misc"}

// section returns the name in brackets of the section that a line begins, and whether it begins
// one.
func section(line string) (string, bool) {
	text := strings.TrimSpace(line)
	if len(text) < 3 || text[0] != '[' || text[len(text)-1] != ']' {
		return "", false
	}
	return strings.TrimSpace(text[1 : len(text)-1]), true
}

func hasSections(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		name, ok := section(line)
		return ok && (strings.EqualFold(name, "System") || strings.EqualFold(name, "Parameter"))
	})
}

// acts reads an ACTS model. It reads constraints and relations after all parameters, so that the
// order in the file does not matter.
func (r *reader) acts() {
	type place struct {
		name string
		line int
	}
	var later []place
	now := ""
	for i, line := range r.lines {
		text := strings.TrimSpace(line)
		if name, ok := section(line); ok {
			at := slices.IndexFunc(sections, func(s string) bool { return strings.EqualFold(s, name) })
			if at < 0 {
				r.wrong(r.pos(i, indent(line)), "section", "there is no section ["+name+"]", diag.DidYouMean(name, sections))
				now = "unknown"
				continue
			}
			now = sections[at]
			continue
		}
		if text == "" || strings.HasPrefix(text, "--") {
			continue
		}
		switch now {
		case "":
			r.wrong(r.pos(i, indent(line)), "section", "this stands before the first section", "")
		case "System":
			if key, value, ok := strings.Cut(text, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "Name") {
				r.f.System = strings.TrimSpace(value)
			}
		case "Parameter":
			r.actsParameter(i, line)
		case "Relation", "Constraint", "Test Set":
			later = append(later, place{now, i})
		}
	}
	var header []int
	for _, l := range later {
		line := r.lines[l.line]
		switch l.name {
		case "Relation":
			r.relationLine(l.line, line)
		case "Constraint":
			r.actsConstraint(line, labelled(line), func(at int) diag.Pos { return r.pos(l.line, at) })
		case "Test Set":
			if header == nil {
				header = r.testHeader(l.line, line)
			} else {
				r.testRow(l.line, line, header)
			}
		}
	}
}

// actsParameter reads NAME (TYPE) : VALUE, VALUE
func (r *reader) actsParameter(i int, line string) {
	at := indent(line)
	p := Param{pos: r.pos(i, at)}
	head, values, ok := strings.Cut(line, ":")
	if !ok {
		r.wrong(p.pos, "no-values", quote(strings.TrimSpace(line))+" needs values: NAME (TYPE) : VALUE, VALUE", "")
		return
	}
	open := strings.LastIndexByte(head, '(')
	if open < 0 || !strings.HasSuffix(strings.TrimSpace(head), ")") {
		r.wrong(p.pos, "type", quote(strings.TrimSpace(head))+" needs a type in parentheses: int, enum, boolean or range", "")
		return
	}
	kind := strings.TrimSpace(head[open+1 : strings.LastIndexByte(head, ')')])
	p.Name = strings.TrimSpace(head[:open])
	col := len(head) + 1
	for _, text := range strings.Split(values, ",") {
		r.actsValue(&p, kind, strings.TrimSpace(text), r.pos(i, col+indent(text)))
		col += len(text) + 1
	}
	if r.typed(kind, r.pos(i, open+1)) {
		r.add(p)
	}
}

// types are ACTS's types of parameters.
var types = []string{"int", "enum", "boolean", "bool", "range", "number"}

func (r *reader) typed(kind string, at diag.Pos) bool {
	if slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, kind) }) {
		return true
	}
	r.wrong(at, "type", "there is no type "+quote(kind), diag.DidYouMean(kind, types))
	return false
}

// actsValue reads one value of a parameter.
func (r *reader) actsValue(p *Param, kind, text string, at diag.Pos) {
	text = strings.Trim(text, `"`)
	before := len(r.list)
	defer func() { p.faulty = p.faulty || len(r.list) > before }()
	if text == "" {
		r.wrong(at, "no-values", "a value of "+quote(p.Name)+" is missing", "")
		return
	}
	switch strings.ToLower(kind) {
	case "int", "range", "number":
		if _, ok := number(text); !ok {
			r.wrong(at, "type", "a value of type "+kind+" must be a number, got "+quote(text), "")
			return
		}
	case "boolean", "bool":
		if !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
			r.wrong(at, "type", "a value of type "+kind+" must be true or false, got "+quote(text), "")
			return
		}
	}
	p.Values = append(p.Values, Value{Names: []string{text}, Weight: 1})
}

// relationLine reads NAME : (PARAMETER, PARAMETER, STRENGTH)
func (r *reader) relationLine(i int, line string) {
	at := r.pos(i, indent(line))
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		r.wrong(at, "relation", "a relation must be NAME : (PARAMETER, PARAMETER, STRENGTH)", "")
		return
	}
	words := strings.Split(line[open+1:end], ",")
	col := open + 1
	var params []int
	ok := true
	for _, w := range words[:len(words)-1] {
		p := r.known(strings.TrimSpace(w), r.pos(i, col+indent(w)))
		ok = ok && p >= 0
		if p >= 0 && !insert(&params, p) {
			r.warn(r.pos(i, col+indent(w)), "duplicate", quote(strings.TrimSpace(w))+" is named twice", "")
		}
		col += len(w) + 1
	}
	last := words[len(words)-1]
	n, err := strconv.Atoi(strings.TrimSpace(last))
	if err != nil {
		r.wrong(r.pos(i, col+indent(last)), "relation", "a relation ends with its strength, a number, got "+quote(strings.TrimSpace(last)), "")
		return
	}
	if ok {
		r.relate(params, n, r.pos(i, col+indent(last)))
	}
}

// relate adds a relation. A relation of all parameters sets the file's strength.
func (r *reader) relate(params []int, strength int, at diag.Pos) {
	if most := min(len(params), covering.MaxStrength); strength < 1 || strength > most {
		r.wrong(at, "relation", "the strength of this relation must be from 1 to "+strconv.Itoa(most)+", got "+strconv.Itoa(strength), "")
		return
	}
	if len(params) == len(r.f.Params) {
		r.f.Strength = max(r.f.Strength, strength)
		return
	}
	r.f.Model.Relations = append(r.f.Model.Relations, covering.Relation{Params: params, Strength: strength})
}

// testHeader reads the names above the rows in a file.
func (r *reader) testHeader(i int, line string) []int {
	header := []int{}
	col := 0
	for _, w := range strings.Split(line, ",") {
		header = append(header, r.known(strings.TrimSpace(w), r.pos(i, col+indent(w))))
		col += len(w) + 1
	}
	return header
}

// testRow reads one of those rows; a star is a cell that may hold any value.
func (r *reader) testRow(i int, line string, header []int) {
	cells := strings.Split(line, ",")
	if len(cells) != len(header) {
		r.wrong(r.pos(i, indent(line)), "row", "this row has "+strconv.Itoa(len(cells))+" cells, there are "+strconv.Itoa(len(header))+" names above", "")
		return
	}
	row := slices.Repeat([]int{solve.Open}, len(r.f.Params))
	col := 0
	for j, w := range cells {
		at := r.pos(i, col+indent(w))
		col += len(w) + 1
		text := strings.TrimSpace(w)
		if header[j] < 0 || text == "*" || text == "" {
			continue
		}
		if row[header[j]] = r.valueOf(header[j], text); row[header[j]] < 0 {
			r.wrong(at, "unknown-value", quote(r.f.Params[header[j]].Name)+" has no value "+quote(text), r.nearest(header[j], text))
		}
	}
	r.f.Model.Rows = append(r.f.Model.Rows, row)
}

// valueOf is the index of the value of p with a name or alias, or -1.
func (r *reader) valueOf(p int, name string) int {
	param := &r.f.Params[p]
	n, isNumber := number(name)
	truth := strings.EqualFold(name, "true") || strings.EqualFold(name, "false")
	return slices.IndexFunc(param.Values, func(v Value) bool {
		return slices.ContainsFunc(v.Names, func(s string) bool { return r.equal(s, name) || truth && strings.EqualFold(s, name) }) ||
			param.Numeric && isNumber && v.number == n
	})
}

// labelled is the beginning of a constraint after an optional label: NAME : CONSTRAINT
func labelled(line string) int {
	at := indent(line)
	end := at
	for end < len(line) && isWord(line[end]) {
		end++
	}
	rest := strings.TrimLeft(line[end:], " \t")
	if end > at && strings.HasPrefix(rest, ":") {
		return len(line) - len(rest) + 1
	}
	return at
}
