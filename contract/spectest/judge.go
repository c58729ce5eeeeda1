package spectest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// subjects returns the values of a case's targets. A failure of another category than Assertion
// ends the case.
type subjects interface {
	subject(target string) (speclang.Value, *Failure)
}

// evaluator judges cases on one lane.
type evaluator struct {
	host     speclang.Host
	deadline time.Time     // of the running predicate; zero: none
	overtime time.Duration // the thread's processor time at which the predicate ends; 0: the deadline has not passed
	c        *Case
	subjects subjects
	steps    int         // of the last predicate
	quiet    bool        // the caller needs only the verdict, not a description
	watch    func(*node) // receives a tree before it is judged; may be nil
}

// unsaid is the failure of an assertion whose description nobody needs.
var unsaid = &Failure{Category: Assertion}

// expired reports whether a predicate has used up its time. Wall-clock time means little on a busy
// machine, so once the deadline has passed, the predicate gets its time again, measured as
// processor time.
func (e *evaluator) expired() bool {
	if e.deadline.IsZero() || time.Now().Before(e.deadline) {
		return false
	}
	used, known := threadTime()
	if !known {
		return true
	}
	if e.overtime == 0 {
		e.overtime = used + e.c.timeout
	}
	return used >= e.overtime
}

// judge evaluates the assertion tree of a case; nil means that it holds.
func (e *evaluator) judge(c *Case, s subjects) *Failure {
	if e.c, e.subjects = c, s; c.tree == nil {
		return nil
	}
	if e.watch != nil {
		e.watch(c.tree)
	}
	return firstOf(e.failures(c.tree, nil))
}

// beside judges the tree of a case that has already failed, so that the reader learns about every
// check that does not hold.
func (e *evaluator) beside(f *Failure, c *Case, s subjects) *Failure {
	if c.tree != nil {
		e.c, e.subjects = c, s
		f.more = e.failures(c.tree, nil)
	}
	return f
}

// failures appends the failures of a tree in the order of the document. It stops at a node that
// cannot be evaluated.
func (e *evaluator) failures(n *node, list []*Failure) []*Failure {
	broken := func() bool { return len(list) > 0 && list[len(list)-1].Category != Assertion }
	if n.kind != must {
		if f := e.node(n); f != nil {
			list = append(list, f)
		}
		return list
	}
	for i := 0; i < len(n.children) && !broken(); i++ {
		list = e.failures(n.children[i], list)
	}
	return list
}

// firstOf returns the first failure with the others attached; nil if there is none.
func firstOf(all []*Failure) *Failure {
	if len(all) == 0 {
		return nil
	}
	all[0].more = all[1:]
	return all[0]
}

// node evaluates one node. A failure of another category than Assertion means that the case is
// broken: it ends the case, wherever it occurs.
func (e *evaluator) node(n *node) *Failure {
	switch n.kind {
	case leaf:
		return e.leaf(n)
	case must:
		for _, child := range n.children {
			if f := e.node(child); f != nil {
				return f
			}
		}
		return nil
	case can:
		quiet := e.quiet
		failed, f := e.branches(n, true)
		if f == nil && len(failed) == len(n.children) && !quiet {
			failed, f = e.branches(n, false)
		}
		switch {
		case f != nil || len(failed) < len(n.children):
			return f
		case quiet:
			return failed[0]
		}
		return e.noneHeld(n, failed)
	}
	quiet := e.quiet
	e.quiet = true
	defer func() { e.quiet = quiet }()
	passed, first := 0, (*node)(nil)
	for _, child := range n.children {
		f := e.node(child)
		if f == nil {
			if passed++; first == nil {
				first = child
			}
		} else if f.Category != Assertion {
			return f
		}
	}
	if passed == 0 {
		return nil
	}
	f := e.group(n, fmt.Sprintf("'cannot' failed: %d branch(es) passed", passed))
	f.Want = "no branch of " + f.Path + " to hold, but " + first.path + " does" + first.describe()
	if l := first.singleLeaf(); l != nil {
		f.Want = l.want("not ")
		f.Target, f.Op, f.Text = l.target, "cannot "+l.op, l.value
		f.Line, f.Col = l.at.Line, l.at.Col
		f.actual = e.actual(l)
	} else if all := first.leaves(); len(all) > 0 {
		f.Target, f.actual = all[0].target, e.actual(all[0])
	}
	return f
}

// branches returns the failures of a can group up to a branch that holds; f is a failure that ends
// the case.
func (e *evaluator) branches(n *node, quiet bool) (failed []*Failure, f *Failure) {
	defer func(was bool) { e.quiet = was }(e.quiet)
	e.quiet = quiet
	for _, child := range n.children {
		if f = e.node(child); f == nil || f.Category != Assertion {
			return failed, f
		}
		failed = append(failed, f)
	}
	return failed, nil
}

// shownBranches limits the failed branches of a can group in a message.
const shownBranches = 5

func (e *evaluator) noneHeld(n *node, failed []*Failure) *Failure {
	var b strings.Builder
	b.WriteString("all 'can' branches failed:")
	for _, f := range failed[:min(len(failed), shownBranches)] {
		b.WriteString("\n- " + f.Message)
	}
	f := e.group(n, b.String())
	wants := make([]string, 0, len(failed))
	for _, x := range failed[:min(len(failed), shownBranches)] {
		wants = append(wants, x.Want)
	}
	f.Want = "one of these to hold: " + strings.Join(wants, "; or ")
	if more := len(failed) - shownBranches; more > 0 {
		f.Want += fmt.Sprintf("; or %d more", more)
	}
	if first := failed[0]; first.Op == "when" { // its actual value is that of one operand
		f.Target, f.Op = first.Target, first.Op
		for _, x := range failed[:min(len(failed), shownBranches)] {
			if !strings.Contains(f.Saw, x.Saw) {
				f.Saw = strings.TrimPrefix(f.Saw+"; "+x.Saw, "; ")
			}
		}
	} else if first.actual != nil {
		f.Target, f.Op, f.Text, f.actual = first.Target, first.Op, first.Text, first.actual
	}
	return f
}

// group is the failure of a whole group.
func (e *evaluator) group(n *node, message string) *Failure {
	path := n.path + "." + n.kind.String()
	return &Failure{
		Category: Assertion, Path: path, Target: n.target, Op: n.kind.String(), Line: n.at.Line, Col: n.at.Col,
		Message: fmt.Sprintf("[case_id=%s assert_path=%s] %s", e.c.ID, path, message),
	}
}

func (e *evaluator) leaf(n *node) *Failure {
	look := e.subjects.subject
	if n.op == "when" {
		look = func(string) (speclang.Value, *Failure) { return e.conditionSubject(n) }
	}
	v, f := look(n.target)
	if f != nil {
		if f.notJSON && (n.op == "json_type" || n.op == "when") {
			g := e.leafFailure(n, Assertion, f.Message, f.Want, nil)
			g.Saw, g.actual = f.Message, f.actual
			return g
		}
		return e.leafFailure(n, f.Category, f.Message, f.Want, nil)
	}
	if n.prog == nil {
		return e.leafFailure(n, Schema, fmt.Sprintf("unsupported op for %s: %s", n.target, n.op), "", nil)
	}
	r := e.eval(n.prog, v)
	switch {
	case r.Err != nil && n.op == "json_type" && r.Err.Category == speclang.Schema:
		// Text that is not JSON has no JSON type. That fails the assertion only, so that a can group can
		// try the next branch.
		f := e.leafFailure(n, Assertion, "the text is not JSON", n.want(""), &v)
		f.Saw = "the text is not JSON"
		return f
	case r.Err != nil && n.op == "when" && r.Err.Category == speclang.Schema:
		// A subject of an unexpected shape fails the condition only.
		why := strings.Replace(r.Err.Message, "spec_lang sub expects numeric args", "<, > and - take numbers", 1)
		f := e.leafFailure(n, Assertion, why, n.want(""), nil)
		f.Saw, f.actual = why, n.looked(v)
		return f
	case r.Err != nil:
		return e.leafFailure(n, string(r.Err.Category), r.Err.Message, "", nil)
	case r.Truthy():
		return nil
	case e.quiet:
		return unsaid
	}
	f = e.leafFailure(n, Assertion, "expected "+n.want(""), n.want(""), &v)
	switch n.op {
	case "when":
		f.actual = n.looked(v)
		e.showOperands(f, n, v)
		if f.actual != nil && *f.actual == f.Saw {
			f.actual = nil
		}
	case "evaluate":
		e.showOperands(f, n, v)
	case "json_type":
		f.Saw = "it is JSON of type " + jsonType(v)
	}
	return f
}

// jsonType is the JSON type of a value, or of a text known to be JSON.
func jsonType(v speclang.Value) string {
	if s, ok := v.Str(); ok {
		if parsed, err := speclang.ParseJSON(s); err == nil {
			v = parsed
		}
	}
	return v.TypeName()
}

// showOperands adds the part of an expression that does not hold and the values of its operands.
// Two texts that should be equal are set up for comparison.
func (e *evaluator) showOperands(f *Failure, n *node, subject speclang.Value) {
	e.deadline, e.overtime = time.Time{}, 0
	if e.c.timeout > 0 {
		e.deadline = time.Now().Add(e.c.timeout)
	}
	d, ok := n.prog.Decide(subject, e.c.limits, e.host)
	if !ok {
		return
	}
	said := func(form string) string { return form }
	if n.op == "when" {
		said = func(form string) string { return n.said(written(form)) }
	}
	var saw []string
	for _, o := range d.Operands {
		if !o.Literal && o.Form != `["subject"]` {
			saw = append(saw, clipped(said(o.Form), 120)+" is "+clipped(o.Value.JSON(), 120))
		}
	}
	f.Saw = strings.Join(saw, ", ")
	if d.Part != n.prog.String() {
		f.Saw = strings.TrimPrefix(f.Saw+" in "+clipped(said(d.Part), 160)+", which does not hold", " in ")
	}
	if d.Symbol != "eq" {
		return
	}
	for i, o := range d.Operands {
		if strings.Contains(o.Form, `["subject"]`) || len(d.Operands) != 2 {
			continue
		}
		want, text := o.Value.Str()
		have, also := d.Operands[1-i].Value.Str()
		switch {
		case o.Literal && text && also:
			f.Text, f.actual = want, &have
		case n.op == "evaluate" && text != also: // their JSON may look the same
			other := d.Operands[1-i].Value
			f.Saw = fmt.Sprintf("the actual value is the %s %s, the expected one the %s %s", other.TypeName(), clipped(other.JSON(), 120),
				o.Value.TypeName(), clipped(o.Value.JSON(), 120))
			return
		case !text || !also:
			want, have = o.Value.JSON(), d.Operands[1-i].Value.JSON()
		}
		f.expected, f.actual = &want, &have
		return
	}
}

// eval evaluates a predicate of the case against a subject.
func (e *evaluator) eval(p *speclang.Program, subject speclang.Value) speclang.Result {
	e.deadline, e.overtime = time.Time{}, 0
	if e.c.timeout > 0 {
		e.deadline = time.Now().Add(e.c.timeout)
	}
	runtime.LockOSThread() // the deadline uses the thread's processor time
	defer runtime.UnlockOSThread()
	r := p.Eval(subject, e.c.limits, e.host)
	e.steps = r.Steps
	return r
}

// leafFailure is a failure at a leaf, with its location in the message.
func (e *evaluator) leafFailure(n *node, category, detail, want string, v *speclang.Value) *Failure {
	f := &Failure{
		Category: category, Path: n.path, Target: n.target, Op: n.op, Want: want, Line: n.at.Line, Col: n.at.Col,
		Message: fmt.Sprintf("[case_id=%s assert_path=%s target=%s op=%s] %s", e.c.ID, n.path, n.target, n.op, detail),
	}
	if n.plain && n.op != "json_type" && n.op != "exists" {
		f.Text = n.value
	}
	if v != nil {
		text := textual(*v)
		if n.op == "contain" || n.op == "regex" {
			text = v.Text() // the text that these operators examine
		}
		f.actual = &text
	}
	return f
}

func (e *evaluator) actual(n *node) *string {
	if n.op == "when" {
		v, f := e.conditionSubject(n)
		if f != nil {
			return nil
		}
		return n.looked(v)
	}
	v, f := e.subjects.subject(n.target)
	if f != nil {
		return nil
	}
	text := textual(v)
	return &text
}

// textual is a subject as a reader sees it.
func textual(v speclang.Value) string {
	if s, ok := v.Str(); ok {
		return s
	}
	return v.JSON()
}

// singleLeaf returns the only leaf of a node; nil if there are several.
func (n *node) singleLeaf() *node {
	for n.kind == must && len(n.children) == 1 {
		n = n.children[0]
	}
	if n.kind != leaf {
		return nil
	}
	return n
}

// leaves returns the leaves of a node that is written as one leaf, possibly with several values;
// nil for any other node.
func (n *node) leaves() []*node {
	if l := n.singleLeaf(); l != nil {
		return []*node{l}
	}
	if n.kind != must || slices.ContainsFunc(n.children, func(c *node) bool { return c.kind != leaf }) {
		return nil
	}
	return n.children
}

func (n *node) describe() string {
	wants := seq.Map(n.leaves(), func(l *node) string { return l.want("") })
	if len(wants) == 0 {
		return ""
	}
	return ": " + strings.Join(wants, " and ")
}

// want describes what a leaf expects; not is "not " for a leaf of a cannot group.
func (n *node) want(not string) string {
	switch n.op {
	case "contain":
		return n.target + " " + not + "to contain " + quoteClipped(n.value)
	case "regex":
		return n.target + " " + not + "to match " + pattern(n.value)
	case "json_type":
		return n.target + " " + not + "to be JSON of type " + n.value
	case "exists":
		return "the path that " + n.target + " names " + not + "to exist"
	case "when":
		return not + clipped(n.value, 200)
	}
	return n.target + " " + not + "to satisfy " + clipped(n.value, 200)
}

// quoteClipped quotes a text, cut to one line of moderate length.
func quoteClipped(s string) string { return fmt.Sprintf("%q", clipped(s, 200)) }

// pattern is a regular expression in quotes, with its backslashes as written.
func pattern(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(quoteClipped(s))
}

// clipped cuts a text to about n bytes at the end of a character.
func clipped(s string, n int) string { return diag.Cut(s, n) }

// newEvaluator returns an evaluator that answers expressions from this machine.
func newEvaluator() *evaluator {
	e := &evaluator{}
	e.host.PathExists, e.host.Expired = pathExists, e.expired
	return e
}
