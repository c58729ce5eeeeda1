package lang

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// defaults sets what a model has by default.
func (c *compiler) defaults(at doctree.Pos) {
	x := c.section("exploration")
	kinds := func(key string, words ...string) node {
		n := list(at)
		for _, w := range words {
			o := object(at)
			set(o, at, key, text(at, w))
			n.Add(*o)
		}
		return n
	}
	set(x, at, "directives_allowed", kinds("type", "adjust_weight", "force", "skip", "loop_limit", "swap_observer"))
	set(x, at, "adaptation_signals", kinds("signal", "coverage_delta", "property_violation", "discrepancy", "crash", "timeout", "guard_failure", "coverage_plateau"))
	set(x, at, "vary", truth(at, true))
	set(x, at, "epoch_size", integer(at, 100))
	set(x, at, "coverage_floor_threshold", node{Kind: doctree.Float, Style: doctree.Flow, Pos: at}.As("0.05", "0.05"))
	for _, v := range [][3]string{
		{"weights", "scope", "per_alt_branch_and_model_state"}, {"weights", "initial", "from_protocol"}, {"weights", "decay", "per_epoch"},
		{"strategy", "initial", "pseudo_random_traversal"}, {"strategy", "fallback", "targeted_on_violation"},
		{"concurrency", "mode", "deterministic_interleaving"},
	} {
		set(c.section("exploration", v[0]), at, v[1], text(at, v[2]))
	}
	set(c.section("exploration", "concurrency"), at, "threads", integer(at, 2))
	in := c.section("inputs")
	set(in, at, "domains", *object(at))
	set(in, at, "constraints", list(at))
	cover := c.section("inputs", "coverage")
	set(cover, at, "targets", list(at))
	set(cover, at, "seed", integer(at, 1))
	set(cover, at, "reproducible", truth(at, true))
	b := c.section("bindings")
	set(b, at, "runtime", text(at, "wasm"))
	set(b, at, "entry", text(at, ""))
	set(b, at, "actions", *object(at))
	h := c.section("bindings", "event_hooks")
	set(h, at, "mode", text(at, "function_intercept"))
	set(h, at, "observe", list(at))
	set(h, at, "capture", texts(at, "args", "return_value"))
}

// statement translates a call without a name.
func (c *compiler) statement(x *syntax.CallExpr) {
	at := c.position(x)
	pos, named := c.arguments(x)
	name := x.Fn.(*syntax.Ident).Name
	switch name {
	case "module", "system":
		if len(pos) != 1 {
			c.fail(x, "arity", "", "must be %s(\"FILE\")", name)
			return
		}
		b := c.section("bindings")
		set(b, at, "runtime", text(at, map[string]string{"module": "wasm", "system": "system"}[name]))
		set(b, c.position(pos[0]), "entry", c.literal(pos[0]))
	case "constraint":
		if len(pos) != 2 {
			c.fail(x, "arity", "", "must be constraint(\"NAME\", CONDITION)")
			return
		}
		n := object(at)
		set(n, c.position(pos[0]), "name", c.literal(pos[0]))
		v := c.published(pos[1], scope{inputs: true}, "constraint-operator", "", "a constraint")
		set(n, v.Pos, "rule", v)
		list := c.section("inputs", "constraints")
		list.Add(*n)
	case "hooks":
		c.settings(named, c.section("bindings", "event_hooks"), pos)
	case "explore":
		c.explore(named, pos)
	case "cover":
		c.cover(pos, named)
	case "ir":
		c.patch(x, pos)
	}
}

// settings sets named values.
func (c *compiler) settings(named []argument, into *node, pos []syntax.Expr) {
	for _, e := range pos {
		c.fail(e, "arity", "", "must be given by name")
	}
	for _, a := range named {
		set(into, c.position(a.at), a.name, c.reading(a.value))
	}
}

func (c *compiler) explore(named []argument, pos []syntax.Expr) {
	x := c.section("exploration")
	var rest []argument
	for _, a := range named {
		switch a.name {
		case "threads", "mode", "faults":
			set(c.section("exploration", "concurrency"), c.position(a.at), a.name, c.reading(a.value))
		case "directives", "signals":
			n := c.reading(a.value)
			key := map[string]string{"directives": "type", "signals": "signal"}[a.name]
			for i := range n.Items() {
				o := object(n.Items()[i].Pos)
				set(o, o.Pos, key, n.Items()[i])
				n.Items()[i] = *o
			}
			set(x, c.position(a.at), map[string]string{"directives": "directives_allowed", "signals": "adaptation_signals"}[a.name], n)
		case "epoch", "floor":
			set(x, c.position(a.at), map[string]string{"epoch": "epoch_size", "floor": "coverage_floor_threshold"}[a.name], c.reading(a.value))
		default:
			rest = append(rest, a)
		}
	}
	c.settings(rest, x, pos)
	*x = x.WithMembers(slices.DeleteFunc(x.Members(), func(m doctree.Member) bool { // False means a document without the key
		return m.Key.Text == "vary" && m.Value.Kind == doctree.Bool && !m.Value.Bool
	}))
}

// cover translates what inputs and traversals must cover.
func (c *compiler) cover(pos []syntax.Expr, named []argument) {
	c.posed = true
	cover := c.section("inputs", "coverage")
	targets := cover.Get("targets")
	for _, e := range pos {
		at := c.position(e)
		call, ok := e.(*syntax.CallExpr)
		word := ""
		if ok {
			if fn, is := call.Fn.(*syntax.Ident); is {
				word = fn.Name
			}
		}
		words := []string{"all_pairs", "boundary", "each_transition", "t_way"}
		if !slices.Contains(words, word) {
			c.fail(e, "unknown-word", diag.DidYouMean(word, words), "must be all_pairs(...), boundary(...), each_transition(...) or t_way(...)")
			continue
		}
		args, _ := c.arguments(call)
		over := list(at)
		for _, a := range args {
			over.Add(c.reading(a))
		}
		n := object(at)
		set(n, at, "type", text(at, word))
		switch {
		case word == "all_pairs":
			set(n, at, "over", over)
		case len(over.Items()) == 0:
			c.fail(e, "arity", "", "%s needs arguments", word)
		case word == "each_transition":
			set(n, at, "machine", over.Items()[0])
		case word == "boundary":
			set(n, at, "domain", over.Items()[0])
			set(n, at, "values", list(at, over.Items()[1:]...))
		default:
			set(n, at, "strength", over.Items()[0])
			set(n, at, "over", list(at, over.Items()[1:]...))
		}
		targets.Add(*n)
	}
	c.settings(named, cover, nil)
}

// targets adds the default coverage targets: all calls and branches of all protocols.
func (c *compiler) targets() {
	if c.posed {
		return
	}
	targets := c.section("inputs", "coverage").Get("targets")
	at := targets.Pos
	for i := range c.section("protocols").Members() {
		n := object(at)
		set(n, at, "type", text(at, "each_transition"))
		set(n, at, "machine", text(at, c.section("protocols").Members()[i].Key.Text))
		targets.Add(*n)
	}
	slices.SortFunc(targets.Items(), func(a, b node) int {
		if a.Get("machine").Text < b.Get("machine").Text {
			return -1
		}
		return 1
	})
}

// patch translates ir("section", "key", ..., value), which sets a key of the document directly.
func (c *compiler) patch(x *syntax.CallExpr, pos []syntax.Expr) {
	if len(pos) < 2 {
		c.fail(x, "arity", "", "must be ir(\"SECTION\", \"KEY\", ..., VALUE)")
		return
	}
	n := c.root
	for i, e := range pos[:len(pos)-1] {
		*n = n.WithMembers(slices.Clone(n.Members())) // the members of a kept action must not change
		key := c.literal(e)
		if key.Kind != doctree.String || n.Kind != doctree.Map {
			c.fail(e, "type", "", "must be a key of a mapping")
			return
		}
		if i == len(pos)-2 {
			if key.Text == "targets" {
				c.posed = true
			}
			set(n, key.Pos, key.Text, c.literal(pos[len(pos)-1]))
			return
		}
		if n.Get(key.Text) == nil {
			set(n, key.Pos, key.Text, *object(key.Pos))
		}
		n = n.Get(key.Text)
	}
}

// giveDefaults gives each field that new omits a default, the least value of its type, as people
// expect. default = None leaves the field without a value.
func (c *compiler) giveDefaults() {
	for _, kind := range leftOut(c.root) {
		set(kind, kind.Pos, "default", *zeroOf(kind))
	}
	for i := range c.section("entities").Members() {
		fields := membersOf(c.section("entities").Members()[i].Value.Get("fields"))
		for k := range fields {
			kind := &fields[k].Value
			*kind = kind.WithMembers(slices.DeleteFunc(kind.Members(), func(m doctree.Member) bool {
				return m.Key.Text == "default" && m.Value.Kind == doctree.Null
			}))
		}
	}
}

// leftOut returns the fields without a default that some action omits when it creates an instance.
func leftOut(root *node) (list []*node) {
	effects := membersOf(root.Get("effects"))
	for i := range effects {
		effect := &effects[i].Value
		creates := effect.Get("creates")
		if creates == nil {
			continue
		}
		fields := membersOf(root.Get("entities").Get(textOf(creates, "entity")).Get("fields"))
		for k := range fields {
			name, kind := fields[k].Key.Text, &fields[k].Value
			assigns := func(s node) bool {
				target := itemsOf(s.Get("target"))
				return len(target) == 2 && target[0].Text == textOf(creates, "assign") && target[1].Text == name
			}
			if name != "id" && kind.Get("default") == nil && zeroOf(kind) != nil &&
				!slices.ContainsFunc(slices.Concat(itemsOf(effect.Get("sets")), itemsOf(effect.Get("steps"))), assigns) {
				list = append(list, kind)
			}
		}
	}
	return list
}

func membersOf(n *node) []doctree.Member {
	if n == nil {
		return nil
	}
	return n.Members()
}
