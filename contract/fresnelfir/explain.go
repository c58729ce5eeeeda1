package fresnelfir

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

// explain describes a document in sentences, as Markdown. The diagnostics are those of its
// compilation; if some are errors, there is no description.
func explain(path string, data []byte) (string, diag.List) {
	d, list := load(path, data)
	if d == nil {
		return "", list
	}
	t := teller{d: d}
	t.line("# %s", nameOf(path))
	t.things()
	t.protocols()
	t.actions()
	t.properties()
	t.exploration()
	return t.b.String(), list
}

type teller struct {
	b strings.Builder
	d *ir.Document
}

// line writes one line, whatever the document's names and descriptions contain.
func (t *teller) line(format string, args ...any) {
	for i, x := range args {
		if s, ok := x.(string); ok {
			args[i] = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
		}
	}
	fmt.Fprintf(&t.b, format+"\n", args...)
}

func (t *teller) head(title string) { t.line("\n## %s\n", title) }

func (t *teller) things() {
	t.head("What there is")
	for _, e := range t.d.Entities {
		fields := seq.Map(e.Fields, func(f *ir.Field) string { return f.Name + " (" + fieldWords(f) + ")" })
		t.line("- %s **%s** has %s.", capital(a(e.Name)), e.Name, cmp.Or(join(fields, "and"), "nothing"))
	}
	for _, r := range t.d.Refinements {
		t.line("- %s %s is **%s**%s if %s.", capital(a(r.Base)), r.Base, r.Name, paramWords(r.Params), condition(r.Predicate))
	}
	for _, f := range t.d.Functions {
		if !f.Observer {
			if f.Returns == "bool" {
				t.line("- **%s**%s holds if %s.", f.Name, paramWords(f.Params), condition(f.Body))
			} else {
				t.line("- **%s**%s is %s.", f.Name, paramWords(f.Params), describeExpr(f.Body))
			}
			continue
		}
		model := "; the model cannot say what that should be"
		if p := t.d.Pair(f); p != nil {
			model = ", which must be " + p.Name
		}
		t.line("- **%s**%s is what the module's %s answers%s.", f.Name, paramWords(f.Params), f.Binding, model)
	}
}

// a returns the article of a word.
func a(word string) string {
	if word != "" && strings.ContainsRune("AEIOaeio", rune(word[0])) {
		return "an"
	}
	return "a"
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func fieldWords(f *ir.Field) string {
	words := valueWords(f)
	switch d := f.Default; {
	case d == nil:
	case d.Op == ir.LitBool:
		words += ", " + map[bool]string{true: "yes", false: "no"}[d.Bool] + " at first"
	case d.Op == ir.LitString && f.Type == ir.Enum:
		words += ", " + d.Text + " at first"
	default:
		words += ", " + describeExpr(d) + " at first"
	}
	return words
}

func valueWords(f *ir.Field) string {
	switch f.Type {
	case ir.Enum:
		return join(f.Values, "or")
	case ir.Ref:
		return a(f.Entity) + " " + f.Entity
	case ir.Int:
		switch {
		case f.Min != nil && f.Max != nil:
			return fmt.Sprintf("a number from %d to %d", *f.Min, *f.Max)
		case f.Min != nil:
			return fmt.Sprintf("a number of at least %d", *f.Min)
		case f.Max != nil:
			return fmt.Sprintf("a number of at most %d", *f.Max)
		}
		return "a number"
	case ir.Bool:
		return "yes or no"
	}
	return "a text"
}

func paramWords(params []ir.Param) string {
	list := seq.Map(params, func(p ir.Param) string { return p.Name + ", " + a(p.Entity) + " " + p.Entity })
	if len(list) == 0 {
		return ""
	}
	return " for " + join(list, "and")
}

func (t *teller) protocols() {
	t.head("What happens in which order")
	for i, p := range t.d.Protocols {
		if i > 0 {
			t.line("")
		}
		t.line("**%s**", p.Name)
		t.line("")
		t.node(p.Root, 0, "")
	}
	for i, g := range t.d.Generators {
		steps := seq.Map(g.Steps, func(s ir.GeneratorStep) string { return s.Action })
		post := ""
		if g.Postcondition != nil {
			post = "; then " + condition(g.Postcondition)
		}
		if i == 0 {
			t.line("")
		}
		t.line("- Some walks begin as **%s** says: %s%s.", g.Name, join(steps, "then"), post)
	}
}

func (t *teller) node(n *ir.Node, depth int, lead string) {
	pad := strings.Repeat("  ", depth) + "- " + lead
	switch n.Kind {
	case ir.Call:
		t.line("%s%s", pad, n.Action)
	case ir.RefTo:
		t.line("%sall of %s", pad, n.Protocol)
	case ir.Repeat:
		t.line("%s%d to %d times:", pad, n.Min, n.Max)
		t.node(n.Body, depth+1, "")
	case ir.Seq:
		if len(n.Children) == 0 {
			t.line("%snothing", pad)
			return
		}
		t.line("%sin order:", pad)
		for _, c := range n.Children {
			t.node(c, depth+1, "")
		}
	case ir.Alt:
		t.line("%sone of:", pad)
		total := 0
		for _, b := range n.Branches {
			total += int(b.Weight)
		}
		for _, b := range n.Branches {
			when := ""
			if b.Guard != nil {
				when = ", if " + condition(b.Guard)
			}
			t.node(b.Body, depth+1, fmt.Sprintf("*%s* (%d of %d%s): ", b.ID, b.Weight, total, when))
		}
	}
}

func (t *teller) actions() {
	t.head("What the actions do")
	for _, e := range t.d.Effects {
		var does []string
		if e.Creates != nil {
			does = append(does, fmt.Sprintf("makes %s %s, called %s", a(e.Creates.Entity), e.Creates.Entity, e.Creates.Assign))
		}
		for _, x := range e.Picks {
			which := "any " + x.Entity
			if x.Where != nil {
				which += " for which " + condition(x.Where)
			}
			does = append(does, fmt.Sprintf("takes %s, called %s", which, x.Var))
		}
		for _, s := range e.Sets {
			set := fmt.Sprintf("sets %s of %s to %s", s.Field, s.Var, describeExpr(s.Value))
			for _, u := range s.Under {
				set += map[bool]string{true: ", if ", false: ", unless "}[u.Want] + condition(e.Conds[u.Cond])
			}
			does = append(does, set)
		}
		if len(does) == 0 {
			does = []string{"changes nothing"}
		}
		t.line("- **%s** %s.%s", e.Action, join(does, "and"), t.binding(t.d.Binding(e.Action)))
	}
}

func (t *teller) binding(b *ir.ActionBinding) string {
	if b == nil {
		return ""
	}
	s := fmt.Sprintf(" It calls %s(%s)", b.Function, strings.Join(b.Args, ", "))
	for _, x := range b.Values {
		if x.Value == nil {
			s += fmt.Sprintf(", where %s is %s", x.Name, x.Is)
		} else {
			s += fmt.Sprintf(", where %s is %s", x.Name, describeExpr(x.Value))
		}
	}
	if b.Returns != "" {
		s += ", which returns a value of type " + b.Returns
	}
	if b.Answer != nil {
		s += ": " + describeExpr(b.Answer)
	}
	var claims []string
	if !b.Mutates {
		claims = append(claims, "it changes nothing that can be observed")
	}
	if b.Idempotent {
		claims = append(claims, "calling it twice is calling it once")
	}
	if r := b.Rejects; r != nil {
		var how []string
		if r.Op != "" {
			how = append(how, fmt.Sprintf("by an answer %s %d", r.Op, r.Value))
		}
		if r.Trap {
			how = append(how, "by a trap")
		}
		claims = append(claims, "it refuses "+join(how, "or")+" what the protocol does not allow")
	}
	if len(claims) > 0 {
		s += "; " + join(claims, "and")
	}
	return s + "."
}

func (t *teller) properties() {
	t.head("What must hold")
	for _, p := range t.d.Properties {
		about := ""
		if p.Description != "" {
			about = " " + p.Description
		}
		if p.Predicate != nil {
			t.line("- **%s**: always, %s.%s", p.Name, condition(p.Predicate), about)
		}
		if p.Rule != nil {
			t.line("- **%s**: %s.%s", p.Name, rule(p.Rule), about)
		}
	}
	if len(t.d.Properties) == 0 {
		t.line("Nothing but that the module does as the model.")
	}
}

func (t *teller) exploration() {
	t.head("How it is explored")
	x := &t.d.Exploration
	actors := "one actor walks at a time"
	if x.Threads > 1 {
		actors = fmt.Sprintf("up to %d actors take turns", x.Threads)
	}
	t.line("- %s actions make an epoch; %s.", groupThousands(int64(x.EpochSize)), actors)
	t.line("- %s traversals or more are made, from seed %d.", groupThousands(max(Budget(t.d), leastTraversals)), t.d.Inputs.Seed)
	if x.Vary {
		t.line("- What a traversal has done already is less likely to be done again.")
	}
	for _, in := range t.d.Inputs.Domains {
		t.line("- The input **%s** is %s.", in.Name, domainWords(in))
	}
	for _, c := range t.d.Inputs.Constraints {
		t.line("- Inputs obey **%s**: %s.", c.Name, condition(t.inputs(c.Rule)))
	}
	for _, x := range t.d.Inputs.Targets {
		t.line("- %s.", targetWords(x, t.d.Domain(x.Domain)))
	}
}

// inputs rewrites a rule over inputs so that domains named by texts become inputs, as [constraint]
// reads them.
func (t *teller) inputs(e *ir.Expr) *ir.Expr {
	x := *e
	if x.Op == ir.LitString && t.d.Domain(x.Text) != nil {
		x.Op, x.Input = ir.FieldOf, true
	}
	x.Args = seq.Map(x.Args, t.inputs)
	if len(e.Args) == 2 && x.Args[0].Input && slices.Contains(t.d.Domain(x.Args[0].Text).Values, e.Args[1].Text) {
		x.Args[1] = e.Args[1] // one of the input's values
	}
	return &x
}

// targetWords describes what a target covers. over is the input that it names, or nil.
func targetWords(x ir.Target, over *ir.Domain) string {
	switch x.Kind {
	case ir.AllPairs:
		return "Each pair of values of " + join(x.Over, "and") + " is to be tried"
	case ir.TWay:
		return fmt.Sprintf("Each combination of values of any %d of %s is to be tried", x.Strength, join(x.Over, "and"))
	case ir.EachTransition:
		return "Each call and each branch of " + x.Machine + " is to be reached"
	}
	values := seq.Map(x.Values, describeExpr)
	verb := " are"
	if len(values) == 1 {
		verb = " is"
	}
	all := "Of " + x.Domain + ", " + join(values, "and") + verb + " to be tried"
	if over != nil && over.Type == ir.Int {
		all += ", and the values at its ends"
	}
	return all
}

func groupThousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func domainWords(x *ir.Domain) string {
	if x.Type != ir.String {
		return valueWords(&ir.Field{Type: x.Type, Values: x.Values, Min: &x.Min, Max: &x.Max})
	}
	texts := seq.Map(x.Values, strconv.Quote)
	return "the text " + join(texts, "or") + " or a variant of it"
}
