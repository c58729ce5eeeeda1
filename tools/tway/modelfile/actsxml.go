package modelfile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// parents are the required parents of the elements that are read.
var parents = map[string]string{
	"Relation": "Relations", "Constraint": "Constraints", "values": "Parameter", "invalidValues": "Parameter",
}

// xmlConstraint is a constraint to read once all parameters are known.
type xmlConstraint struct {
	text string
	pos  diag.Pos
}

// xml reads an ACTS model in XML.
func (r *reader) xml(data []byte) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var path []string
	var constraints []xmlConstraint
	var now *Param
	kind, text := "", ""
	var relation []int
	strength := 0
	var relationPos diag.Pos
	for {
		line, col := d.InputPos()
		at := diag.Pos{File: r.name, Line: line, Col: col}
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, col = d.InputPos()
			message := err.Error()
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				message = syntax.Msg
			}
			r.wrong(diag.Pos{File: r.name, Line: line, Col: col}, "xml", "this is not XML: "+message, "")
			return
		}
		switch t := token.(type) {
		case xml.CharData:
			text += string(t)
		case xml.StartElement:
			name, parent := t.Name.Local, ""
			if len(path) > 0 {
				parent = path[len(path)-1]
			}
			path, text = append(path, name), ""
			if want, ok := parents[name]; ok && want != parent {
				r.wrong(at, "xml", "<"+name+"> cannot stand in <"+parent+">", "it belongs into <"+want+">")
			}
			switch {
			case parent == "" && name != "System":
				r.wrong(at, "xml", "the outermost element must be <System>, not <"+name+">", "")
				return
			case name == "System":
				r.f.System = attribute(t, "name")
			case name == "Parameter" && parent == "Parameters" && len(path) == 3:
				now = &Param{Name: attribute(t, "name"), pos: at}
				kind = r.xmlType(t, at)
			case name == "Relation":
				relation, relationPos = nil, at
				strength, _ = strconv.Atoi(attribute(t, "Strength"))
			case name == "Parameter" && parent == "Relation":
				if p := r.known(attribute(t, "name"), at); p >= 0 {
					insert(&relation, p)
				}
			case name == "Constraint":
				constraints = append(constraints, xmlConstraint{attribute(t, "text"), at})
			}
		case xml.EndElement:
			name := t.Name.Local
			path = path[:len(path)-1]
			parent := ""
			if len(path) > 0 {
				parent = path[len(path)-1]
			}
			switch {
			case name == "value" && now != nil && (parent == "values" || parent == "invalidValues"):
				n := len(now.Values)
				r.actsValue(now, kind, strings.TrimSpace(text), at)
				if len(now.Values) > n {
					now.Values[n].Invalid = parent == "invalidValues"
				}
			case name == "Parameter" && now != nil && len(path) == 2:
				r.add(*now)
				now = nil
			case name == "Relation" && parent == "Relations":
				if len(relation) == 0 { // the default relation: all parameters
					for p := range r.f.Params {
						relation = append(relation, p)
					}
				}
				r.relate(relation, strength, relationPos)
			}
		}
	}
	for _, c := range constraints {
		if strings.TrimSpace(c.text) == "" {
			r.wrong(c.pos, "constraint", "a constraint needs an attribute text", "")
			continue
		}
		r.actsConstraint(c.text, 0, func(int) diag.Pos { return c.pos }) // entities hide the place within the attribute
	}
}

// xmlType is the type of a parameter, from its number in the file.
func (r *reader) xmlType(t xml.StartElement, at diag.Pos) string {
	kinds := []string{"int", "enum", "boolean"}
	n, err := strconv.Atoi(attribute(t, "type"))
	if err != nil || n < 0 || n >= len(kinds) {
		r.wrong(at, "type", "the type of a parameter must be 0 (numbers), 1 (enum) or 2 (boolean), got "+quote(attribute(t, "type")), "")
		return "enum"
	}
	return kinds[n]
}

// attribute is the value of an attribute; case does not matter in its name.
func attribute(t xml.StartElement, name string) string {
	i := slices.IndexFunc(t.Attr, func(a xml.Attr) bool { return strings.EqualFold(a.Name.Local, name) })
	if i < 0 {
		return ""
	}
	return t.Attr[i].Value
}
