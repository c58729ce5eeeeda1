package spectest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/xpath"
)

// wholeCase is the target of when: all targets of the case by name, and as json what $ stands for.
const wholeCase = "case"

// jsonOf is the target that $ stands for, by type of case.
var jsonOf = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_json", typeSystem: "value", typeJudge: "trace"}

// compileWhen compiles conditions in infix notation. They can use all targets, so they need no
// target above them.
func (d *decoder) compileWhen(n *doctree.Node, path string) *node {
	for i := range n.Members() {
		if key := textOf(&n.Members()[i].Key); key != "when" {
			d.fail(Schema, n.Members()[i].Key.Pos, "group-keys", path, "when cannot be combined with "+key, "write another item for it")
		}
	}
	at := n.Get("when")
	items := at.Items()
	if at.Kind != doctree.Seq {
		items = []doctree.Node{*at}
	}
	g := &node{kind: must, target: wholeCase, path: path, at: d.c.pos(n)}
	for i := range items {
		v := &items[i]
		if v.Kind != doctree.String || strings.TrimSpace(v.Text) == "" {
			d.schema(v, "operand", path, "when must be a condition such as status == 200 and $.name == \"Ada\", or a list of such")
			continue
		}
		text, finds := d.finds(v, path)
		if d.set.checking { // captured variables have no value yet
			text = use().ReplaceAllStringFunc(text, func(name string) string { return strings.Repeat("1", len(name)) })
		}
		form, looks, err := speclang.Infix{Names: slices.Concat(targets(d.c.Type), slices.Collect(maps.Keys(finds))), Root: "json"}.Parse(text)
		var e *speclang.InfixError
		if errors.As(err, &e) {
			pos := d.c.pos(v)
			if !v.Block() && !strings.Contains(v.Text[:e.At], "\n") {
				if pos.Col += len([]rune(v.Text[:e.At])); v.Quoted() {
					pos.Col++
				}
			}
			hint := e.Hint
			if name, ok := strings.CutPrefix(e.Message, "there is no value "); ok && slices.Contains(format().one.Keys(d.c.Type), name) {
				hint = name + " is a key of the case: write it next to assert"
			}
			d.fail(Schema, pos, "expression", path, "when: "+e.Message, hint)
			continue
		}
		p := &node{kind: leaf, target: wholeCase, path: path, at: d.c.pos(v), op: "when", src: v, value: v.Text, looks: looks, finds: finds, prog: speclang.Compile(form, speclang.Options{})}
		if len(looks) == 0 {
			d.warn(v, "expression", path, "the condition reads nothing, so its value never changes", "it has "+oneOf(targets(d.c.Type))+" and $")
		}
		for _, problem := range p.prog.Problems() {
			d.fail(Schema, p.at, "expression", path, "when: "+problem.Message, problem.Advice())
		}
		g.children = append(g.children, p)
	}
	if len(items) == 0 {
		d.schema(at, "operand", path, "when must be a condition such as status == 200 and $.name == \"Ada\", or a list of such")
	}
	if len(g.children) == 1 {
		return g.children[0]
	}
	return g
}

// conditionSubject is the subject of a condition: the targets that it uses.
func (e *evaluator) conditionSubject(n *node) (speclang.Value, *Failure) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range n.looks {
		v, f := e.looked(n, name)
		if f != nil {
			return v, f
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":" + v.JSON())
	}
	b.WriteByte('}')
	v, err := speclang.ParseJSON(b.String())
	if err != nil {
		return v, &Failure{Category: Schema, Message: err.Error()}
	}
	return v, nil
}

// looked is the value of a name in a condition: a target, or what the condition finds in one.
func (e *evaluator) looked(n *node, name string) (speclang.Value, *Failure) {
	find, target := n.finds[name], name
	switch {
	case find.target != "":
		target = find.target
	case name == "json":
		target = jsonOf[e.c.Type]
	}
	v, f := e.subjects.subject(target)
	if f != nil {
		return v, f
	}
	text := textual(v)
	_, isText := v.Str()
	if isValue(target) {
		text, isText = v.JSON(), false
	}
	switch {
	case find.markup != nil:
		found, err := find.markup.In([]byte(textual(v)))
		if err != nil {
			return v, &Failure{Category: Schema, Message: target + ": " + err.Error(), Want: target + " that is XML or HTML"}
		}
		v = found
	case find.json != nil:
		if v, f = searched(find.json, text, target); f != nil {
			return v, f
		}
	case find.header != "":
		v = headerIn(text, find.header)
	case find.cookie != "":
		set, there := v.Get(find.cookie)
		if v = speclang.NullValue(); there {
			v, _ = set.Get(find.attribute)
		}
	case name == "json" && isText:
		parsed, err := speclang.ParseJSON(text)
		if err != nil {
			return v, notJSON(target, text, err)
		}
		v = parsed
	case target == "status" && isText: // a number, as people write it
		if code, err := strconv.Atoi(text); err == nil {
			v = speclang.IntValue(int64(code))
		}
	}
	return filtered(v, find.filters), nil
}

// headerIn is the value of a header in lines of headers: a list if there are several, null if none.
func headerIn(lines, name string) speclang.Value {
	var list []speclang.Value
	for l := range strings.SplitSeq(lines, "\n") {
		if n, value, ok := strings.Cut(l, ": "); ok && strings.EqualFold(n, name) {
			list = append(list, speclang.StringValue(value))
		}
	}
	switch len(list) {
	case 0:
		return speclang.NullValue()
	case 1:
		return list[0]
	}
	return speclang.ListValue(list)
}

// markupOf is the target of xpath(...), by type of case.
var markupOf = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_text", typeSystem: "output"}

// thatIsJSON ends the description of a target that should have been JSON.
const thatIsJSON = " that is JSON"

func notJSON(target, text string, err error) *Failure {
	return &Failure{Category: Schema, Message: target + " is not JSON: " + err.Error(), Want: target + thatIsJSON, notJSON: true, actual: &text}
}

// find is what a condition searches for in a target.
type find struct {
	said              string // as written in the condition
	target            string
	markup            *xpath.Expr
	json              *jsonpath.Expr
	header            string
	cookie, attribute string
	filters           []valueFilter
}

// String returns the find as the condition writes it.
func (f find) String() string { return f.said }

// findCall matches a call xpath("..."), header("...") or cookie("...") at the beginning of a text.
var findCall = lazy.Pattern(`^(xpath|header|cookie)\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(?:,\s*("\w+"|'\w+')\s*)?\)`)

// call reads such a call.
func (d *decoder) call(name, operand, attribute string) (f find, err error) {
	text := unquoted(operand)
	if attribute != "" && name != "cookie" {
		return f, errors.New(name + " takes one text")
	}
	switch f.target = markupOf[d.c.Type]; name {
	case "xpath":
		if f.markup, err = xpath.Compile(text); err == nil && f.target == "" {
			err = errors.New(d.c.Type + " has no text for xpath")
		}
	case "header":
		f.target, f.header = "headers", text
	case "cookie":
		f.target, f.cookie, f.attribute = "cookies", text, "value"
		if attribute != "" {
			f.attribute = attribute[1 : len(attribute)-1]
		}
		if names := cookieAttributes; !slices.Contains(names, f.attribute) {
			err = fmt.Errorf("a cookie has no %s: it has %s", f.attribute, oneOf(names))
		}
	}
	if name != "xpath" && d.c.Type != typeHTTP {
		err = fmt.Errorf("%s has no %ss; api.http has", d.c.Type, name)
	}
	return f, err
}

// findName matches a placeholder for what a condition searches for.
var findName = lazy.Pattern(`\bfind_\d+\b`)

// filteredName matches a name followed by a filter.
var filteredName = lazy.Pattern(`^([a-z_][a-z0-9_]*)\s*\|\s*[A-Za-z_]`)

// plainPath matches a path that conditions support directly, as calls of get.
var plainPath = lazy.Pattern(`^\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[\d+\]|\['[^'\\]+'\]|\["[^"\\]+"\])*$`)

// finds replaces calls of xpath, header and cookie, JSON paths that may match several places, and
// filtered operands with placeholder names, padded to the same length where possible.
func (d *decoder) finds(v *doctree.Node, path string) (text string, list map[string]find) {
	var b strings.Builder
	stand := func(f find, length int) {
		name := fmt.Sprintf("find_%d", len(list)+1)
		if list == nil {
			list = map[string]find{}
		}
		list[name] = f
		b.WriteString(name + strings.Repeat(" ", max(length-len(name), 0)))
	}
	text = v.Text
	word := false // the previous character belongs to a word
	refuse := func(err error) { d.schema(v, "expression", path, "when: %v", err) }
	// found replaces a find and the filters after it.
	found := func(f find, at, length int) int {
		filters, more, err := readFilters(text[at+length:])
		if err != nil {
			refuse(err)
		}
		f.filters, f.said = filters, strings.TrimSpace(text[at:at+length+more])
		stand(f, length+more)
		return at + length + more
	}
	for at := 0; at < len(text); {
		rest := text[at:]
		n := 1
		switch c := text[at]; {
		case c == '"' || c == '\'':
			for n < len(rest) && rest[n] != c {
				if n++; rest[n-1] == '\\' {
					n++
				}
			}
			n = min(n+1, len(rest))
		case !word && findCall().MatchString(rest):
			m := findCall().FindStringSubmatch(rest)
			f, err := d.call(m[1], m[2], m[3])
			if err != nil {
				refuse(err)
			}
			at = found(f, at, len(m[0]))
			continue
		case !word && filteredName().MatchString(rest):
			if name := strings.TrimSpace(filteredName().FindStringSubmatch(rest)[1]); slices.Contains(targets(d.c.Type), name) {
				at = found(find{target: name}, at, len(name))
				word = true
				continue
			}
		case c == '$' && strings.HasPrefix(rest, "${"): // a variable without a known value
		case c == '$':
			p, length, err := jsonpath.Prefix(rest)
			if err == nil && plainPath().MatchString(p.String()) && !oneFilter().MatchString(rest[length:]) {
				n = length
				break
			}
			if err == nil {
				at = found(find{target: jsonOf[d.c.Type], json: p}, at, length)
				continue
			}
			if strings.ContainsAny(rest, "?*:") || strings.Contains(rest, "..") {
				refuse(err)
				b.WriteString("subject")
				return b.String(), list
			}
		}
		last := rest[n-1]
		word = last == '_' || last >= '0' && last <= '9' || last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z'
		b.WriteString(rest[:n])
		at += n
	}
	return b.String(), list
}

// said replaces the placeholders in part of a condition with the document's text.
func (n *node) said(part string) string {
	return findName().ReplaceAllStringFunc(part, func(name string) string {
		if f, ok := n.finds[name]; ok {
			return f.String()
		}
		return name
	})
}

// looked lists the values that a condition examined, by the names in the document.
func (n *node) looked(subject speclang.Value) *string {
	var parts []string
	for _, name := range n.looks {
		v, _ := subject.Get(name)
		shown := n.said(name)
		if name == "json" {
			shown = "$"
		}
		parts = append(parts, shown+" is "+clipped(v.JSON(), 300))
	}
	text := strings.Join(parts, ", ")
	return &text
}

// asksWhen reports whether a condition uses one of some targets.
func (n *node) asksWhen(names ...string) bool {
	return n.op == "when" && slices.ContainsFunc(n.looks, func(l string) bool {
		return slices.Contains(names, cmp.Or(n.finds[l].target, l))
	})
}

// written converts an expression from its list form to a condition: $.name for ["get", ["get",
// ["subject"], "json"], "name"].
func written(form string) string {
	var v any
	if json.Unmarshal([]byte(form), &v) != nil {
		return form
	}
	return writtenValue(v)
}

func writtenValue(v any) string {
	list, call := v.([]any)
	if !call || len(list) == 0 {
		b, _ := json.Marshal(v) // it was read from JSON
		return string(b)
	}
	args := make([]string, len(list)-1)
	for i, a := range list[1:] {
		args[i] = writtenValue(a)
	}
	name, isKey := "", false
	if len(list) == 3 {
		name, isKey = list[2].(string)
	}
	sign := map[any]string{"eq": "==", "neq": "!=", "add": "+", "sub": "-", "in": "in", "contains": "contains",
		"starts_with": "starts_with", "ends_with": "ends_with", "has_key": "has", "and": "and", "or": "or"}[list[0]]
	switch {
	case list[0] == "not" && len(args) == 1:
		if a, b, ok := lessWritten(list[1]); ok {
			return ordered(a, b, " >= ", " <= ")
		}
		if strings.Contains(args[0], " ") {
			args[0] = "(" + args[0] + ")"
		}
		return "not " + args[0]
	case list[0] == "regex_match":
		if a, b, ok := lessWritten(v); ok {
			return ordered(a, b, " < ", " > ")
		}
		return strings.Join(args, " matches ")
	case sign != "" && len(args) > 1:
		return strings.Join(args, " "+sign+" ")
	case list[0] != "get" || len(list) != 3:
		return fmt.Sprint(list[0]) + "(" + strings.Join(args, ", ") + ")"
	case args[0] == "subject()" && name == "json":
		return "$"
	case args[0] == "subject()":
		return name
	case isKey && variableName().MatchString(name) && !strings.ContainsAny(name, ".-"):
		return args[0] + "." + name
	}
	return args[0] + "[" + args[1] + "]"
}

// lessWritten returns the operands of a < b, which the list form expresses by a difference.
func lessWritten(v any) (a, b any, ok bool) {
	match, _ := v.([]any)
	if len(match) != 3 || match[0] != "regex_match" {
		return nil, nil, false
	}
	if pattern, _ := match[2].(string); !speclang.Orders(pattern) {
		return nil, nil, false
	}
	sub, _ := match[1].([]any)
	if len(sub) != 3 || sub[0] != "sub" {
		return nil, nil, false
	}
	return sub[1], sub[2], true
}

// ordered is a comparison with the literal on the right.
func ordered(a, b any, sign, turned string) string {
	if _, looked := a.([]any); !looked {
		return writtenValue(b) + turned + writtenValue(a)
	}
	return writtenValue(a) + sign + writtenValue(b)
}
