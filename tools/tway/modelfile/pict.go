package modelfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/tools/tway/covering"
)

// pict reads a PICT model: parameters, then sub-models, then constraints.
func (r *reader) pict() {
	i := 0
	for ; i < len(r.lines); i++ {
		line := r.lines[i]
		if skip(line) {
			continue
		}
		if beginsConstraint(line) {
			break
		}
		if at := indent(line); line[at] == '{' && strings.Contains(line, "}") {
			r.submodel(i, line)
			continue
		}
		if len(r.f.Model.Relations) > 0 {
			r.wrong(r.pos(i, indent(line)), "order", "a parameter must stand before all sub-models and constraints", "")
		}
		r.parameter(i, line)
	}
	r.constraints(i)
}

func skip(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// beginsConstraint reports whether a line is the first of the constraints. A parameter may also be
// called IF, so the rest of the line decides.
func beginsConstraint(line string) bool {
	text := strings.ToUpper(strings.TrimSpace(line))
	switch {
	case text == "IF" || text[0] == '[':
		return true
	case text[0] == '(':
		return strings.ContainsAny(text, "[(")
	}
	for _, word := range []string{"IF", "NOT", "ISNEGATIVE", "ISPOSITIVE"} {
		rest, ok := strings.CutPrefix(text, word)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "(") {
			return true
		}
		if word == "IF" && len(rest) < len(text)-len(word) && !strings.HasPrefix(rest, ":") {
			before, _, _ := strings.Cut(rest, ":")
			if strings.Contains(before, "[") || strings.Contains(before, "(") || before == rest && rest == "NOT" {
				return true
			}
		}
	}
	return false
}

// parameter reads NAME [@ ORDER] : VALUE, VALUE | ALIAS (WEIGHT), ~VALUE, <NAME>
func (r *reader) parameter(i int, line string) {
	at := indent(line)
	sep := strings.IndexByte(line, ':')
	if sep < 0 {
		sep = strings.Index(line, r.f.dialect.Separator)
	}
	p := Param{pos: r.pos(i, at)}
	if sep < 0 {
		hint := ""
		if strings.Contains(line, "[") {
			hint = "a constraint begins with IF or with a parameter in brackets"
		}
		r.wrong(p.pos, "no-values", quote(strings.TrimSpace(line))+" needs values: a colon, and names with commas between", hint)
		return
	}
	order := 0
	p.Name = strings.TrimSpace(line[:sep])
	if name, text, ok := strings.Cut(p.Name, "@"); ok {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > covering.MaxStrength {
			r.wrong(r.pos(i, strings.IndexByte(line, '@')), "order", "the order of a parameter must be a number from 1 to 6, got "+quote(strings.TrimSpace(text)), "")
		} else {
			order = n
		}
		p.Name = strings.TrimSpace(name)
	}
	if strings.TrimSpace(line[sep+1:]) == "" {
		r.wrong(r.pos(i, sep), "no-values", "the parameter "+quote(p.Name)+" needs values after its name", "")
		return
	}
	between := r.f.dialect.Separator
	for from := min(sep+1, len(line)); from <= len(line); {
		to := strings.Index(line[from:], between)
		if to < 0 {
			to = len(line) - from
		}
		if text := line[from : from+to]; !r.f.dialect.blank() || strings.TrimSpace(text) != "" {
			r.value(&p, i, from, text)
		}
		from += to + len(between)
	}
	before := len(r.f.Params)
	r.add(p)
	if len(r.f.Params) > before {
		m := &r.f.Model
		m.Orders = append(m.Orders, order)
		m.Outcome = append(m.Outcome, strings.HasPrefix(p.Name, "$"))
	}
}

// value reads one value of a parameter.
func (r *reader) value(p *Param, i, col int, text string) {
	col += indent(text)
	text = strings.TrimSpace(text)
	if len(text) > 2 && text[0] == '<' && text[len(text)-1] == '>' {
		name := strings.TrimSpace(text[1 : len(text)-1])
		if from := r.param(name); from >= 0 {
			p.Values = append(p.Values, r.f.Params[from].Values...)
			return
		}
		r.warn(r.pos(i, col), "reference", "there is no parameter "+quote(name)+" before this one: "+text+" is taken for a value", diag.DidYouMean(name, r.f.Names()))
	}
	v := Value{Weight: 1}
	if open := strings.LastIndexByte(text, '('); open >= 0 && strings.HasSuffix(text, ")") {
		if w, err := strconv.Atoi(strings.TrimSpace(text[open+1 : len(text)-1])); err == nil && w > 0 {
			v.Weight, text = min(w, 1<<20), strings.TrimSpace(text[:open])
		}
	}
	for _, name := range strings.Split(text, r.f.dialect.Alias) {
		name = strings.TrimSpace(name)
		if len(v.Names) == 0 && strings.HasPrefix(name, r.f.dialect.Negative) {
			v.Invalid, name = true, strings.TrimSpace(name[len(r.f.dialect.Negative):])
		}
		v.Names = append(v.Names, name)
	}
	p.Values = append(p.Values, v)
}

// submodel reads { NAME, NAME } @ ORDER
func (r *reader) submodel(i int, line string) {
	open, end := strings.IndexByte(line, '{'), strings.IndexByte(line, '}')
	if end < open {
		r.wrong(r.pos(i, end), "submodel", "a sub-model must be { PARAMETER, ... } @ ORDER", "")
		return
	}
	var rel covering.Relation
	ok := true
	between := r.separates(line[open+1 : end])
	for from := open + 1; from <= end; {
		to := strings.Index(line[from:end], between)
		if to < 0 {
			to = end - from
		}
		text := line[from : from+to]
		at := r.pos(i, from+indent(text))
		name := strings.TrimSpace(text)
		from += to + len(between)
		p := r.known(name, at)
		if p < 0 {
			ok = false
			continue
		}
		if !insert(&rel.Params, p) {
			r.warn(at, "duplicate", quote(name)+" is named twice", "")
		}
	}
	rest := strings.TrimSpace(line[end+1:])
	if rest != "" {
		text, found := strings.CutPrefix(rest, "@")
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if !found || err != nil || n < 1 {
			r.wrong(r.pos(i, end+1+indent(line[end+1:])), "submodel", "what follows a sub-model must be @ and its order, a number from 1, got "+quote(rest), "")
			return
		}
		rel.Strength = n
	}
	if !ok {
		return
	}
	if most := min(len(rel.Params), covering.MaxStrength); rel.Strength > most {
		r.wrong(r.pos(i, strings.LastIndexByte(line, '@')), "submodel", "the order of this sub-model must be at most "+strconv.Itoa(most)+", got "+strconv.Itoa(rel.Strength), "")
		return
	}
	r.f.Model.Relations = append(r.f.Model.Relations, rel)
}

// separates is the separator of a sub-model's parameters: a comma, or the separator of values if
// only that gives known names.
func (r *reader) separates(names string) string {
	for _, s := range []string{",", r.f.dialect.Separator} {
		if !slices.ContainsFunc(strings.Split(names, s), func(name string) bool { return r.param(strings.TrimSpace(name)) < 0 }) {
			return s
		}
	}
	return ","
}

// insert adds p to an ascending list, and reports whether it was missing.
func insert(list *[]int, p int) bool {
	at := 0
	for at < len(*list) && (*list)[at] < p {
		at++
	}
	if at < len(*list) && (*list)[at] == p {
		return false
	}
	*list = append(*list, 0)
	copy((*list)[at+1:], (*list)[at:])
	(*list)[at] = p
	return true
}
