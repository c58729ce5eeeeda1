package ir

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// RuleKind is the form of a temporal rule.
type RuleKind uint8

// The forms of rules.
const (
	Before RuleKind = iota // ["before", trigger, condition]
	After                  // ["after", trigger, rule or condition]
	Never                  // ["never", trigger, scope?]
)

// Rule is a temporal rule over the actions of a traversal:
//
//	rule        = ["before", trigger, expr]        expr holds in the state before each such action
//	            | ["after", trigger, consequence]  once such an action has taken place, the consequence holds
//	            | ["never", trigger, scope?]       no such action takes place
//	consequence = ["never", trigger, scope?]       no such later action, within the scope
//	            | expr                             holds in the state that the action leaves and in every later one, with the variables as they were then
//	trigger     = action | {"action": a} | {"tag": "mutating" | "readonly" | "idempotent"} | {"writes": Entity} | {"reads": Entity}
//	scope       = {} | {"same": "entity" | "actor" | variable}
//
// A later action excludes the triggering one: ["after", a, ["never", a]] allows one a.
type Rule struct {
	Place
	Kind    RuleKind
	Trigger Trigger
	Expr    *Expr // the condition, or an expression as consequence
	Then    *Rule // a never rule as consequence
	Same    string
}

// Trigger says which actions a rule is about. Exactly one field is set.
type Trigger struct {
	Place
	Action, Tag, Writes, Reads string
}

// Tags returns the words that a trigger may name. Each corresponds to a property of a binding.
func Tags() []string { return []string{"idempotent", "mutating", "readonly"} }

var ruleWords = []string{"before", "after", "never"}

// rule reads a temporal rule; nil if nothing useful can be read.
func (d *decoder) rule(n *doctree.Node, path string) *Rule {
	r := &Rule{Place: place(n, path)}
	word := ruleWord(n)
	i := slices.Index(ruleWords, word)
	if i < 0 {
		d.failHint(r.Place, "temporal-rule", diag.DidYouMean(word, ruleWords), "must be an array that starts with before, after or never, got %s", d.describeHead(n))
		return nil
	}
	r.Kind = RuleKind(i)
	parts := len(n.Items()) - 1
	if r.Kind == Never {
		if parts < 1 || parts > 2 {
			d.fail(r.Place, "temporal-rule", "never takes a trigger and perhaps a scope, got %s", diag.Plural(parts, "part"))
			return nil
		}
	} else if parts != 2 {
		d.fail(r.Place, "temporal-rule", "%s takes a trigger and what must hold, got %s", word, diag.Plural(parts, "part"))
		return nil
	}
	r.Trigger = d.trigger(&n.Items()[1], doctree.ItemPath(path, 1))
	if parts == 2 {
		v, at := &n.Items()[2], doctree.ItemPath(path, 2)
		switch {
		case r.Kind == Never:
			r.Same = d.scope(v, at)
		case r.Kind == After && ruleWord(v) == "never":
			r.Then = d.rule(v, at)
		case r.Kind == After && slices.Contains(ruleWords, ruleWord(v)):
			d.fail(place(v, at), "temporal-rule", "what follows an action must be a never rule or an expression, got %s", d.describeHead(v))
		default:
			r.Expr = d.expr(v, at)
		}
	}
	return r
}

func ruleWord(n *doctree.Node) string {
	if n.Kind == doctree.Seq && len(n.Items()) > 0 {
		s, _ := n.Items()[0].Str()
		return s
	}
	return ""
}

func (d *decoder) describeHead(n *doctree.Node) string {
	if w := ruleWord(n); w != "" {
		return "one that starts with " + strconv.Quote(w)
	}
	return d.Describe(n)
}

func (d *decoder) trigger(n *doctree.Node, path string) Trigger {
	t := Trigger{Place: place(n, path)}
	if s, ok := n.Str(); ok {
		t.Action = s
		return t
	}
	forms := map[string]*string{"action": &t.Action, "tag": &t.Tag, "writes": &t.Writes, "reads": &t.Reads}
	if n.Kind != doctree.Map || len(n.Members()) != 1 || forms[n.Members()[0].Key.Text] == nil {
		d.fail(t.Place, "temporal-rule", `a trigger must be an action or an object with one of the keys action, tag, writes, reads, got %s`, d.Describe(n))
		return t
	}
	m := &n.Members()[0]
	s, ok := m.Value.Str()
	at := place(&m.Value, doctree.KeyPath(path, m.Key.Text))
	if !ok {
		d.fail(at, "type", "must be a string, got %s", d.Describe(&m.Value))
	} else if m.Key.Text == "tag" && !slices.Contains(Tags(), s) {
		d.failHint(at, "temporal-rule", diag.DidYouMean(s, Tags()), "must be one of %s, got %q", doctree.Either(Tags()), s)
	}
	*forms[m.Key.Text] = s
	return t
}

func (d *decoder) scope(n *doctree.Node, path string) string {
	if n.Kind == doctree.Map && len(n.Members()) == 0 {
		return ""
	}
	if n.Kind == doctree.Map && len(n.Members()) == 1 && n.Members()[0].Key.Text == "same" {
		if s, ok := n.Members()[0].Value.Str(); ok && s != "" {
			return s
		}
	}
	d.fail(place(n, path), "temporal-rule", `a scope must be {} or {"same": "entity", "actor" or a variable}, got %s`, d.Describe(n))
	return ""
}

// comparison reads "<0", ">= 10" and the like.
func comparison(text string) (op string, value int64, ok bool) {
	for _, op := range []string{"<=", ">=", "==", "!=", "<", ">"} {
		if rest, found := strings.CutPrefix(text, op); found {
			v, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return op, v, err == nil
		}
	}
	return "", 0, false
}

// Waits reports whether a field exists only to count how long an instance has waited, for a
// property of the language.
func (d *Document) Waits(f *Field) bool {
	of, ok := strings.CutSuffix(f.Name, ".wait")
	return ok && slices.ContainsFunc(d.Properties, func(p *Property) bool { return p.Name == of })
}
