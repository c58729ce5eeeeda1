package spectest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Find returns the cases with an id, in the order they run.
func (c *Campaign) Find(id string) []int64 {
	var list []int64
	for i := range c.slots {
		cs := c.Case(int64(i))
		if cs.ID == id || slices.ContainsFunc(cs.steps, func(s *Case) bool { return s.ID == id }) {
			list = append(list, int64(i))
		}
	}
	return list
}

// IDs returns the ids of all cases, in the order they run.
func (c *Campaign) IDs() []string {
	list := make([]string, len(c.slots))
	for i := range list {
		list[i] = c.Case(int64(i)).ID
	}
	return list
}

// explanation is a case with the results of running it.
type explanation struct {
	strings.Builder
	c     *Case
	found map[*node]*Failure // nil for a node that holds
	steps map[*node]int
	ran   bool // the tree was judged
}

// Explain writes the meaning of a case: the tree of predicates that its assertions compile to, each
// with its place, its inherited target and its expression. If run is set, Explain runs the case and
// adds whether each node holds and which leaves decide. An error means that the environment failed.
func (c *Campaign) Explain(ctx context.Context, i int64, run bool) (string, error) {
	x := explanation{c: c.Case(i), found: make(map[*node]*Failure), steps: make(map[*node]int)}
	verdict := "not run"
	var failure *Failure
	if run {
		var err error
		if failure, err = x.run(ctx, c, i); err != nil {
			return "", err
		}
		switch {
		case x.c.skip != "":
			verdict = "skipped: " + x.c.skip
		case failure == nil:
			verdict = "holds"
		default:
			verdict = "fails"
		}
	} else if x.c.fault != nil {
		verdict, failure = "cannot be run", x.c.fault
	}
	fmt.Fprintf(&x, "%s:%d %s  %s, %s\n", c.name, x.c.From, x.c.label(), x.c.Type, verdict)
	x.subject()
	if failure != nil && !x.ran {
		fmt.Fprintf(&x, "  %s: %s\n", failure.Category, strings.ReplaceAll(failure.detail(), "\n", "\n  "))
	}
	if p := x.c.page; p != nil {
		steps := 0
		for i := range p.acts {
			steps += len(p.acts[i].steps)
		}
		fmt.Fprintf(&x, "  runs %s in %s of the console, lines %d to %d\n", diag.Plural(steps, "command"), diag.Plural(p.blocks(), "block"), x.c.From, x.c.To)
		return x.String(), nil
	}
	for _, step := range x.c.steps {
		fmt.Fprintf(&x, "  line %d  %s  %s", step.From, step.label(), step.Type)
		for i, at := range step.captures {
			fmt.Fprintf(&x, "%s ${%s}", [2]string{"  captures", ","}[min(i, 1)], at.name)
		}
		x.WriteByte('\n')
	}
	if x.c.tree == nil {
		if x.c.steps != nil {
			return x.String(), nil
		}
		if x.c.fault == nil && x.c.skip == "" {
			x.WriteString("  nothing is asserted\n")
		}
		return x.String(), nil
	}
	l, limit := x.c.limits, "any time"
	if x.c.timeout > 0 {
		limit = x.c.timeout.String()
	}
	fmt.Fprintf(&x, "  each predicate may take %d steps, %d nodes, %d literal bytes, %s\n", l.Steps, l.Nodes, l.LiteralBytes, limit)
	x.node(x.c.tree, 1, true, x.ran)
	return x.String(), nil
}

// run runs the case and judges every node of its tree separately.
func (x *explanation) run(ctx context.Context, c *Campaign, i int64) (*Failure, error) {
	session := c.open(nil)
	defer session.Close()
	e, err := session.executor(campaign.Lane{Of: 1})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var judge func(n *node)
	judge = func(n *node) {
		x.found[n] = e.eval.node(n)
		if n.kind == leaf {
			x.steps[n] = e.eval.steps
		}
		for _, child := range n.children {
			judge(child)
		}
	}
	e.eval.watch = func(tree *node) { x.ran = true; judge(tree) }
	if err := e.setUp(ctx); err != nil {
		return nil, err
	}
	x.c = e.caseAt(i)
	f, _, err := e.attempt(ctx, x.c)
	return f, err
}

// subject describes what the case examines.
func (x *explanation) subject() {
	switch c := x.c; {
	case c.text != nil && c.text.self:
		x.WriteString("  checks its own document\n")
	case c.text != nil:
		fmt.Fprintf(x, "  checks the file %s\n", quoteClipped(c.text.path))
	case c.cli != nil:
		fmt.Fprintf(x, "  runs %s", c.cli.entry)
		for _, a := range c.cli.argv {
			fmt.Fprintf(x, " %s", quoteClipped(a))
		}
		fmt.Fprintf(x, ", which must exit with %d\n", c.cli.exit)
	case c.http != nil:
		fmt.Fprintf(x, "  requests %s %s\n", c.http.method, quoteClipped(c.http.url))
	case c.system != nil:
		fmt.Fprintf(x, "  calls %s\n", c.system)
	}
}

// node writes a node and its children. decides: the node may decide the case; reached: judging got
// this far.
func (x *explanation) node(n *node, level int, decides, reached bool) {
	indent := strings.Repeat("  ", level)
	head := fmt.Sprintf("%s%s  line %d  ", indent, n.path, n.at.Line)
	if n.kind != leaf {
		fmt.Fprintf(x, "%s%s\n", head, strings.TrimSpace(n.kind.String()+"  "+x.state(n, reached)))
		over := false
		for _, child := range n.children {
			x.node(child, level+1, decides && x.decides(n, child), reached && !over)
			over = over || x.ends(n, child)
		}
		return
	}
	what := fmt.Sprintf("%s %s", n.target, n.op)
	if n.plain || n.op == "when" {
		what += " " + quoteClipped(n.value)
	}
	state := x.state(n, reached)
	if reached && decides && state != "" {
		state += "  <- decides"
	}
	fmt.Fprintf(x, "%s%s\n", head, strings.TrimSpace(what+"  "+state))
	if n.prog == nil {
		return
	}
	fmt.Fprintf(x, "%s  %s  (%s", indent, clipped(n.prog.String(), 400), diag.Plural(n.prog.Nodes, "node"))
	if x.ran && reached {
		fmt.Fprintf(x, ", %s", diag.Plural(x.steps[n], "step"))
	}
	x.WriteString(")\n")
	for _, name := range slices.Sorted(maps.Keys(n.finds)) {
		fmt.Fprintf(x, "%s  %s is %s\n", indent, name, n.finds[name])
	}
	if f := x.found[n]; f != nil && reached {
		if f.Want == "" {
			fmt.Fprintf(x, "%s  %s: %s\n", indent, f.Category, f.detail())
		}
		if f.actual != nil && decides && x.found[x.c.tree] != nil {
			fmt.Fprintf(x, "%s  %s is %s\n", indent, n.target, quoteClipped(*f.actual))
		}
	}
}

// state describes the result of a node.
func (x *explanation) state(n *node, reached bool) string {
	switch f := x.found[n]; {
	case !x.ran:
		return ""
	case !reached:
		return "not reached"
	case f == nil:
		return "holds"
	case f.Category == Assertion:
		return "fails"
	default:
		return f.Category + " failure"
	}
}

// ends reports whether a group is decided once this child is judged.
func (x *explanation) ends(n, child *node) bool {
	f := x.found[child]
	if f != nil && f.Category != Assertion {
		return true
	}
	return n.kind == must && f != nil || n.kind == can && f == nil
}

// decides reports whether a child is the reason for the result of its group.
func (x *explanation) decides(n, child *node) bool {
	f, group := x.found[child], x.found[n]
	switch {
	case f != nil && f.Category != Assertion:
		return true
	case group != nil && group.Category != Assertion:
		return false // another child ended it
	}
	return ((f == nil) == (group == nil)) == (n.kind != cannot) // cannot fails because of a child that holds
}

func (k *Contract) explainCommand() campaign.Command {
	var still bool
	c := campaign.Command{
		Use:     "explain ID PATH...",
		Summary: "Explain a case, and which of its assertions decide it",
		Long: `Explain prints the predicates that the assertions of a case compile to: each with
its place, the target that it inherits, its expression and what that costs. The
case is run, and every node is marked as holding, failing or not reached, with the
leaves that decide; --no-run only prints the tree.

Exit codes: 0 the case was found, whatever its verdict, 2 there is no such case,
3 the environment failed.`,
		Example: `  thresh spectest explain NOTES-001 examples/spectest`,
		Least:   2, Most: -1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			camps, err := k.campaigns(ctx, d, args[1:])
			if err != nil {
				return err
			}
			return explain(ctx, d, args[0], camps, !still)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.BoolVar(&still, "no-run", false, "do not run the case")
	}
	c.Options = true
	return c
}

func explain(ctx context.Context, d campaign.Desk, id string, camps []*Campaign, run bool) error {
	var ids []string
	found := false
	for _, x := range camps {
		for _, i := range x.Find(id) {
			text, err := x.Explain(ctx, i, run)
			if err != nil {
				return err
			}
			found = true
			if _, err := fmt.Fprint(d.Out(), diag.Printable(text)); err != nil {
				return diag.Environment("writing to standard output: %w", err)
			}
		}
		ids = append(ids, x.IDs()...)
	}
	if found {
		return nil
	}
	err := diag.Refused("there is no case %s among the %d of these documents", id, len(ids))
	if hint := diag.DidYouMean(id, ids); hint != "" {
		err = diag.WithHint(err, hint)
	}
	return err
}
