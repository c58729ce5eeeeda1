package spectest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/xpath"
)

// wholeCase is the target of when: all that a case sees, by the names of targets,
// and as json what $ stands for.
const wholeCase = "case"

// jsonOf is the target that $ stands for, of a type of cases.
var jsonOf = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_json", typeSystem: "value", typeJudge: "trace"}

// when compiles conditions that people write with signs between operands. They
// look at all targets, so that they need none above them.
func (d *decoder) when(n *doctree.Node, path string) *node {
	for i := range n.Members() {
		if key := textOf(&n.Members()[i].Key); key != "when" {
			d.fail(Schema, n.Members()[i].Key.Pos, "group-keys", path, "when stands alone, without "+key, "write another item for it")
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
		text, paths := d.xpaths(v, path)
		if d.set.checking { // what is captured has no value yet
			text = use.ReplaceAllStringFunc(text, func(name string) string { return strings.Repeat("1", len(name)) })
		}
		form, looks, err := speclang.Infix{Names: slices.Concat(targets(d.c.Type), slices.Collect(maps.Keys(paths))), Root: "json"}.Parse(text)
		var e *speclang.InfixError
		if errors.As(err, &e) {
			pos := d.c.pos(v)
			if !v.Block && !strings.Contains(v.Text[:e.At], "\n") {
				if pos.Col += len([]rune(v.Text[:e.At])); v.Quoted {
					pos.Col++
				}
			}
			d.fail(Schema, pos, "expression", path, "when: "+e.Message, e.Hint)
			continue
		}
		p := &node{kind: leaf, target: wholeCase, path: path, at: d.c.pos(v), op: "when", value: v.Text, looks: looks, paths: paths, prog: speclang.Compile(form, speclang.Options{})}
		if len(looks) == 0 {
			d.warn(v, "expression", path, "the condition looks at nothing, so it is the same whatever the case sees", "it has "+oneOf(targets(d.c.Type))+" and $")
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

// whole is the subject of a condition: the targets that it looks at.
func (e *evaluator) whole(n *node) (speclang.Value, *Failure) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range n.looks {
		target := name
		if p := n.paths[name]; p != nil {
			target = markupOf[e.c.Type]
		}
		if name == "json" {
			target = jsonOf[e.c.Type]
		}
		v, f := e.subjects.subject(target)
		if f != nil {
			return v, f
		}
		text, isText := v.Str()
		switch p := n.paths[name]; {
		case p != nil:
			found, err := p.In([]byte(text))
			if err != nil {
				return v, &Failure{Category: Schema, Message: target + ": " + err.Error(), Want: target + " that is XML or HTML"}
			}
			v = found
		case name == "json" && isText:
			parsed, err := speclang.ParseJSON(text)
			if err != nil {
				return v, &Failure{Category: Schema, Message: target + " is not JSON: " + err.Error(), Want: target + " that is JSON", notJSON: true}
			}
			v = parsed
		case name == "status" && isText: // a number, as people write it
			if code, err := strconv.Atoi(text); err == nil {
				v = speclang.IntValue(int64(code))
			}
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

// markupOf is the target that xpath(...) looks at, of a type of cases.
var markupOf = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_text", typeSystem: "output"}

// xpathCall is xpath("...") in a condition.
var xpathCall = regexp.MustCompile(`\bxpath\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\)`)

// xpathName is a name that stands for such a call.
var xpathName = regexp.MustCompile(`\bxpath_\d+\b`)

// xpaths puts names, as long as what they stand for, in place of the calls of xpath
// in a condition: what they come to is looked at as targets are.
func (d *decoder) xpaths(v *doctree.Node, path string) (text string, list map[string]*xpath.Expr) {
	text = xpathCall.ReplaceAllStringFunc(v.Text, func(call string) string {
		quoted := xpathCall.FindStringSubmatch(call)[1]
		p, err := xpath.Compile(strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`).Replace(quoted[1 : len(quoted)-1]))
		if err == nil && markupOf[d.c.Type] == "" {
			err = errors.New(d.c.Type + " has no text that xpath could look at")
		}
		if err != nil {
			d.schema(v, "expression", path, "when: %v", err)
		}
		name := fmt.Sprintf("xpath_%d", len(list)+1)
		if list == nil {
			list = map[string]*xpath.Expr{}
		}
		list[name] = p
		return name + strings.Repeat(" ", max(len(call)-len(name), 0))
	})
	return text, list
}

// asksWhen reports whether a condition in a tree looks at one of some targets.
func (n *node) asksWhen(names ...string) bool {
	return n.op == "when" && slices.ContainsFunc(n.looks, func(l string) bool { return slices.Contains(names, l) })
}

// written is an expression in its list form as a condition says it: $.name for
// ["get", ["get", ["subject"], "json"], "name"].
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
	sign := map[any]string{"eq": "==", "neq": "!=", "add": "+", "sub": "-"}[list[0]]
	switch {
	case sign != "" && len(args) == 2:
		return args[0] + " " + sign + " " + args[1]
	case list[0] != "get" || len(list) != 3:
		return fmt.Sprint(list[0]) + "(" + strings.Join(args, ", ") + ")"
	case args[0] == "subject()" && name == "json":
		return "$"
	case args[0] == "subject()":
		return name
	case isKey && variableName.MatchString(name) && !strings.ContainsAny(name, ".-"):
		return args[0] + "." + name
	}
	return args[0] + "[" + args[1] + "]"
}
