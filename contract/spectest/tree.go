package spectest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// nodeKind is what a node of an assertion tree requires.
type nodeKind uint8

const (
	must   nodeKind = iota // every child holds
	can                    // some child holds
	cannot                 // no child holds
	leaf                   // the predicate holds
)

func (k nodeKind) String() string { return [...]string{"must", "can", "cannot", "leaf"}[k] }

// node is one node of an assertion tree. Lists are must groups, and so is a leaf with several
// values, whose predicates share its path.
type node struct {
	kind     nodeKind
	target   string
	path     string
	at       doctree.Pos
	children []*node

	op    string
	value string // the operand as text, for display
	plain bool   // the operand is one scalar
	prog  *speclang.Program
	looks []string        // targets of a when condition
	finds map[string]find // what a condition searches for, by placeholder name
	src   *doctree.Node   // the operand as written; only for authoring tools
}

// groupKeys are the keys that make a mapping a group.
var groupKeys = []string{"must", "can", "cannot"}

// operators are all operators of leaves.
func operators() []string { return []string{"contain", "regex", "evaluate", "json_type", "exists"} }

// textOperators are the operators for any text, pathOperators those for a path. A text that may be
// JSON has one more.
var textOperators, pathOperators = operators()[:3], operators()[4:]

// targets are the targets of a type of case.
func targets(kind string) []string {
	switch kind {
	case typeTextFile:
		return []string{"text"}
	case typeCLI:
		return []string{"stdout", "stderr", "stdout_path", "stdout_path_text"}
	case typeHTTP:
		return []string{"status", "headers", "body_text", "body_json", "size", "sha256", "duration", "redirects", "url", "cookies"}
	case typeJudge:
		return JudgeTargets()
	case typeSystem:
		return []string{"status", "end", "value", "output", "events"}
	}
	return nil
}

// isValue reports whether a target is a value already: a text in it is no JSON to parse.
func isValue(target string) bool {
	return slices.Contains([]string{"body_json", "value", "events", "trace"}, target)
}

// allowed are the operators that a target accepts. An unknown target accepts all: it fails only
// when it is reached.
func allowed(kind, target string) []string {
	switch {
	case kind == typeTextFile, kind == typeHTTP && target != "body_text" && target != "body_json" && slices.Contains(targets(kind), target),
		kind == typeSystem && (target == "status" || target == "end"):
		return textOperators
	case kind == typeCLI && target == "stdout_path":
		return pathOperators
	case slices.Contains(targets(kind), target):
		return operators()[:4]
	}
	return operators()
}

// assertions compiles the case's assertion tree. Without a tree nothing is asserted: the case
// passes if it can run and all its captures find a value.
func (d *decoder) assertions(n *doctree.Node) {
	if n == nil || !n.Truthy() {
		if d.c.captures == nil && d.c.Type != typeCLI && d.c.Type != typeSystem { // those types always check how it ends
			d.warn(n, "asserts-nothing", "assert", "the case asserts nothing", "")
		}
		return
	}
	switch n.Kind {
	case doctree.Seq, doctree.Map:
		d.c.tree = d.tree(n, "", "assert")
	default:
		d.schema(n, "assert", "assert", "assert node must be a mapping or a list")
	}
}

// tree compiles one node; nil if it is faulty.
func (d *decoder) tree(n *doctree.Node, target, path string) *node {
	switch {
	case n.IsNull(), n.Kind == doctree.Seq && len(n.Items()) == 0:
		d.warn(n, "empty-branch", path, "the branch is empty: it holds whatever the target is", "remove it, or write what must hold")
		return &node{kind: must, target: target, path: path, at: d.c.pos(n)}
	case n.Kind == doctree.Seq:
		g := &node{kind: must, target: target, path: path, at: d.c.pos(n)}
		for i := range n.Items() {
			if child := d.tree(&n.Items()[i], target, doctree.ItemPath(path, i)); child != nil {
				g.children = append(g.children, child)
			}
		}
		return g
	case n.Kind != doctree.Map:
		d.schema(n, "assert", path, "assert node must be a mapping or a list")
		return nil
	}
	switch groups := groupsOf(n); len(groups) {
	case 0:
		if n.Get("when") != nil {
			return d.compileWhen(n, path)
		}
		return d.leaf(n, target, path)
	case 1:
		return d.group(n, groups[0], target, path)
	default:
		d.schema(&n.Member(groups[1]).Key, "group-keys", path, "assert group must include exactly one key (must/can/cannot), got: %s", strings.Join(groups, ", "))
		target = d.inherited(n, target, path)
		for _, key := range groups { // to report their faults
			for i := range n.Get(key).Items() {
				d.tree(&n.Get(key).Items()[i], target, doctree.ItemPath(path+"."+key, i))
			}
		}
		return nil
	}
}

// groupsOf returns the group keys of a mapping.
func groupsOf(n *doctree.Node) (groups []string) {
	for _, k := range groupKeys {
		if n.Get(k) != nil {
			groups = append(groups, k)
		}
	}
	return groups
}

// inherited is the target of a group's items: the group's own, or that of the enclosing group.
func (d *decoder) inherited(n *doctree.Node, target, path string) string {
	t := n.Get("target")
	if t == nil {
		return target
	}
	if name := trimmed(t); name != "" {
		target = name
	}
	if known := targets(d.c.Type); known != nil && !slices.Contains(known, target) && target != "" {
		d.warn(t, "unknown-target", path, fmt.Sprintf("%s has no target %q: its assertions fail", d.c.Type, target), diag.DidYouMean(target, known))
	}
	return target
}

func (d *decoder) group(n *doctree.Node, key, target, path string) *node {
	var unknown []string
	for i := range n.Members() {
		if k := textOf(&n.Members()[i].Key); k != key && k != "target" {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		hint := diag.DidYouMean(unknown[0], []string{"target"})
		if slices.Contains(operators(), unknown[0]) {
			hint = "write operators into the items of the group's list"
		}
		d.fail(Schema, d.c.pos(n), "group-keys", path, "unknown key in assert group: "+unknown[0], hint)
	}
	target = d.inherited(n, target, path)
	list := n.Get(key)
	at := path + "." + key
	switch {
	case list.Kind != doctree.Seq:
		d.schema(list, "group-list", at, "assert.%s must be a list", key)
		return nil
	case len(list.Items()) == 0:
		d.schema(list, "group-list", at, "assert.%s must not be empty", key)
		return nil
	}
	g := &node{kind: nodeKind(slices.Index(groupKeys, key)), target: target, path: path, at: d.c.pos(n)}
	for i := range list.Items() {
		item := &list.Items()[i]
		child := d.tree(item, target, doctree.ItemPath(at, i))
		if child == nil {
			continue
		}
		g.children = append(g.children, child)
		if g.kind == cannot && child.kind == must && item.Kind == doctree.Map && len(child.children) > 1 {
			d.warn(item, "cannot-several", child.path, "a leaf with several values in cannot means: not all of them at once", "write one item per value to refuse each")
		}
	}
	return g
}

func (d *decoder) leaf(n *doctree.Node, target, path string) *node {
	if t := n.Member("target"); t != nil {
		d.schema(&t.Key, "leaf-target", path, "leaf assertion must not include key: target; move target to a parent group")
		target = cmp.Or(target, trimmed(&t.Value))
	}
	if target == "" {
		d.schema(n, "leaf-target", path, "assertion leaf requires inherited target from a parent group")
		return nil
	}
	var all []*node
	total := 0
	for i := range n.Members() {
		op, list := textOf(&n.Members()[i].Key), &n.Members()[i].Value
		at := &n.Members()[i].Key
		if op == "target" {
			total++ // the leaf is not empty
			continue
		}
		if list.Kind != doctree.Seq {
			hint := "write it as [" + strings.TrimSpace(list.Raw()) + "]"
			if list.Raw() == "" || list.Kind == doctree.Map {
				hint = diag.DidYouMean(op, operators())
			}
			total++ // the leaf is not empty
			d.fail(Schema, at.Pos, "operator-list", path, fmt.Sprintf("assertion op '%s' must be a list", op), hint)
			continue
		}
		if total += len(list.Items()); op == "evaluate" && len(list.Items()) > 0 && list.Items()[0].Kind == doctree.String && slices.Contains(speclang.Symbols(), speclang.Alias(list.Items()[0].Text)) {
			d.fail(Schema, list.Pos, "operand", path, "evaluate value must be list-based s-expr",
				"evaluate takes a list of expressions, and this is one: put it in another pair of brackets, [["+list.Items()[0].Text+", ...]]")
			continue
		}
		if len(list.Items()) > 0 && !slices.Contains(allowed(d.c.Type, target), op) {
			hint := diag.DidYouMean(op, operators())
			if hint == "" {
				hint = target + " takes " + oneOf(allowed(d.c.Type, target))
			}
			d.fail(Schema, at.Pos, "operator", path, fmt.Sprintf("unsupported op for %s.%s: %s", d.c.Type, target, op), hint)
			continue
		}
		for j := range list.Items() {
			if p := d.predicate(op, &list.Items()[j], target, path); p != nil {
				all = append(all, p)
			}
		}
	}
	if total == 0 {
		d.schema(n, "leaf-empty", path, "assertion missing an op key (e.g. contain:, regex:, ...)")
		return nil
	}
	if len(all) == 1 {
		return all[0]
	}
	return &node{kind: must, target: target, path: path, at: d.c.pos(n), children: all}
}

// predicate compiles one value of an operator to a spec-lang program.
func (d *decoder) predicate(op string, v *doctree.Node, target, path string) *node {
	p := &node{kind: leaf, target: target, path: path, at: d.c.pos(v), op: op, value: textOf(v)}
	if d.set.source {
		p.src = v
	}
	if op == "contain" && target == "body_json" && strings.Contains(p.value, `"`) {
		d.warn(v, "operand", path, "body_json is checked as Python prints it, with quotes such as 'these'", "use body_text, or evaluate an expression")
	}
	share := (op == "contain" || op == "regex") && v.Kind == doctree.String
	if share {
		p.plain = true
		if p.prog = d.set.shared.get(op, p.value); p.prog != nil {
			return p
		}
	}
	subject := speclang.CallForm("subject")
	var form speclang.Form
	switch op {
	case "contain", "regex":
		if v.Kind == doctree.Map || v.Kind == doctree.Set || v.Kind == doctree.Pairs || v.Kind == doctree.Date || v.Kind == doctree.Time {
			d.schema(v, "operand", path, "a value of %s must be text, not %s: a spec_lang expression must be list-based s-expr or scalar literal", op, v.Kind)
			return nil
		}
		p.plain = v.Kind != doctree.Seq
		if !p.plain {
			d.warn(v, "operand", path, "a list as value of "+op+" is evaluated as a spec-lang expression", "write it under evaluate, or quote it")
		} else if v.Kind != doctree.String && v.Kind != doctree.Int {
			d.warn(v, "operand", path, fmt.Sprintf("%s is searched for as the text %s", v.Kind, p.value), "quote the text that you mean")
		}
		symbol := "contains"
		if op == "regex" {
			symbol = "regex_match"
		}
		form = speclang.CallForm(symbol, subject, speclang.FormOfYAML(v))
	case "json_type":
		kind := strings.ToLower(trimmed(v))
		if kind != "dict" && kind != "list" {
			d.schema(v, "operand", path, "unsupported json_type: %s; it must be dict or list", p.value)
			return nil
		}
		p.value, p.plain = kind, true
		if !isValue(target) {
			subject = speclang.CallForm("json_parse", subject)
		}
		form = speclang.CallForm("json_type", subject, speclang.ScalarForm(speclang.StringValue(kind)))
	case "exists":
		one := v.Kind == doctree.Int && v.Text == "1"
		if !v.IsNull() && !(v.Kind == doctree.Bool && v.Bool) && !one {
			d.schema(v, "operand", path, "stdout_path.exists only supports value: true (or null)")
			return nil
		}
		p.value, p.plain = "true", true
		form = speclang.CallForm("path_exists", subject)
	case "evaluate":
		if v.Kind != doctree.Seq {
			d.fail(Schema, d.c.pos(v), "operand", path, "evaluate value must be list-based s-expr",
				"a value of evaluate is an expression such as [eq, [len, [subject]], 3]; write a condition such as status == 200 under when")
			return nil
		}
		j := v.JSON()
		p.value = compact.Format(&j)
		form = speclang.FormOfYAML(v)
	default: // the operator needs a target that does not exist
		return p
	}
	p.prog = speclang.Compile(form, speclang.Options{})
	if share && len(p.prog.Problems()) == 0 {
		d.set.shared.add(op, p.value, p.prog)
	}
	for _, problem := range p.prog.Problems() {
		at := doctree.Pos{Line: problem.Line, Col: problem.Col}
		if at.Line == 0 {
			at = p.at
		}
		d.warn(&doctree.Node{Pos: at}, "expression", path, "fails when it is reached: "+problem.Message, problem.Advice())
	}
	return p
}
