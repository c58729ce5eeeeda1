package spectest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// Proposal lists the changes that would make the cases of a document hold.
type Proposal struct {
	Changes []Change
	// Left lists the failures that a person has to resolve, each with its place.
	Left diag.List
	size int // of the document, without its byte order mark
}

// Change replaces one expected value.
type Change struct {
	from, to int // offsets in the document without its byte order mark
	text     string
}

// Apply applies the changes to the document, which must be the one they were proposed for.
func (p *Proposal) Apply(data []byte) ([]byte, error) {
	mark := len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data)-mark != p.size {
		return nil, errors.New("the document has changed since it was run")
	}
	var out bytes.Buffer
	at := 0
	for _, c := range p.Changes {
		out.Write(data[at : c.from+mark])
		out.WriteString(c.text)
		at = c.to + mark
	}
	out.Write(data[at:])
	return out.Bytes(), nil
}

// accepting collects changes for one document.
type accepting struct {
	Proposal
	c *Campaign
	e *evaluator
}

// Accept runs the cases of the document and proposes new expected values for leaves that fail and
// name exactly one value. A value of contain or regex becomes the line most like it. The literal of
// evaluate: [eq, …] or of a condition EXPRESSION == VALUE becomes the result of the other side.
// Leaves of can and cannot, and cases that are expected to fail, are left to a person.
//
// Transcripts are proposed line by line. If exits is set, Accept also proposes the exit code of a
// command that ends with another one than the page or the case says.
func (c *Campaign) Accept(ctx context.Context, exits bool) (Proposal, error) {
	session := c.open(nil)
	defer session.Close()
	x, err := session.executor(campaign.Lane{Of: 1})
	if err != nil {
		return Proposal{}, err
	}
	defer x.Close()
	a := accepting{c: c, e: x.eval, Proposal: Proposal{size: len(c.doc.text)}}
	if err := x.setUp(ctx); err != nil {
		return Proposal{}, err
	}
	set := *x.set
	set.source = true
	x.set = &set
	judged := false
	x.eval.watch = func(tree *node) { judged = true; a.node(tree) }
	unit, cases := int32(-1), []decoded(nil)
	for i := range c.slots {
		s := &c.slots[i]
		if ch := c.chains[*s]; ch != nil {
			x.slot, x.mended = *s, a.steps(exits)
			if _, _, err := x.attempt(ctx, ch.c); err != nil {
				return Proposal{}, err
			}
			continue
		}
		if s.unit != unit {
			unit, cases = s.unit, c.doc.decodeUnit(int(s.unit), &set)
		}
		cs := cases[s.item].c
		if cs.expect != nil && cs.expect.Status != "pass" {
			continue
		}
		if cs.page != nil {
			if err := a.page(ctx, x, cs, exits); err != nil {
				return Proposal{}, err
			}
			continue
		}
		judged = false
		f, _, err := x.attempt(ctx, cs)
		if err != nil {
			return Proposal{}, err
		}
		if f != nil && f.Op == "exit_code" && exits && a.exitCode(cs, f.exit) {
			cs.cli.exit = f.exit // its output is judged as well
			if f, _, err = x.attempt(ctx, cs); err != nil {
				return Proposal{}, err
			}
		}
		if f != nil && !judged {
			a.skipCase(cs, doctree.Pos{Line: max(f.Line, cs.From), Col: 1}, f.Path, f.summary())
		}
	}
	slices.SortStableFunc(a.Changes, func(p, q Change) int { return cmp.Compare(p.from, q.from) })
	a.Changes = slices.CompactFunc(a.Changes, func(p, q Change) bool { return p.from == q.from && p.to == q.to })
	a.Left.Sort()
	return a.Proposal, nil
}

func (a *accepting) skipCase(c *Case, at doctree.Pos, path, why string) {
	p := a.c.doc.problem(at, "not-proposed", path, fmt.Sprintf("%s: %s; no change is proposed", c.label(), why), "")
	p.Level = diag.Warning
	a.Left = append(a.Left, p)
}

// steps returns a function that reports whether a failed case of a chain would hold with the
// proposed changes, so that the chain can continue.
func (a *accepting) steps(exits bool) func(*Case, *Failure) bool {
	changes, left := len(a.Changes), len(a.Left)
	return func(c *Case, f *Failure) bool {
		if exit := f.Op == "exit_code" && exits && a.exitCode(c, f.exit); !exit && len(a.Changes) == changes && len(a.Left) == left {
			a.skipCase(c, doctree.Pos{Line: max(f.Line, c.From), Col: 1}, f.Path, f.summary())
		}
		all := len(a.Left) == left
		changes, left = len(a.Changes), len(a.Left)
		return all
	}
}

// node collects the leaves that must hold and do not.
func (a *accepting) node(n *node) {
	if n.kind == must {
		for _, child := range n.children {
			a.node(child)
		}
		return
	}
	f := a.e.node(n)
	switch {
	case f == nil:
	case n.kind != leaf:
		a.skipCase(a.e.c, n.at, n.path, n.kind.String()+" can be made to hold in several ways")
	case f.Category != Assertion || f.actual == nil:
		a.skipCase(a.e.c, n.at, n.path, f.summary())
	default:
		a.leaf(n, *f.actual)
	}
}

// exitCode proposes the code that a command ended with, if the case states one.
func (a *accepting) exitCode(c *Case, code int64) bool {
	at := doctree.Node{Kind: doctree.Int, Pos: c.cli.exitAt}.As("", c.cli.exitRaw)
	var change Change
	change.from, change.to, change.text = a.c.doc.rewrite(&at, speclang.IntValue(code))
	if change.to > change.from {
		a.Changes = append(a.Changes, change)
	}
	return change.to > change.from
}

func (a *accepting) leaf(n *node, actual string) {
	at, value, why := n.src, speclang.Value{}, ""
	switch {
	case n.op == "contain" && n.plain:
		text := likeliest(n.value, actual)
		if text == "" {
			why = "nothing in " + n.target + " is like " + quoteClipped(n.value)
		}
		value = speclang.StringValue(text)
	case n.op == "regex" && n.plain:
		text := likeliestPattern(n.value, actual)
		if text == "" {
			why = "nothing in " + n.target + " is like " + quoteClipped(n.value)
		}
		value = speclang.StringValue(text)
	case n.op == "evaluate":
		at, value, why = a.equation(n)
	case n.op == "when":
		value, why = a.condition(n)
	default:
		why = "what a " + n.op + " leaf should say is unknown"
	}
	if why == "" {
		var c Change
		if c.from, c.to, c.text = a.c.doc.rewrite(at, value); c.to > c.from {
			if text := value.Text(); n.op == "when" && plainYAML(at.Raw()) && plainYAML(text) && string(a.c.doc.text[c.from:c.to]) == at.Raw() {
				c.text = text // as it was written, without quotes
			}
			a.Changes = append(a.Changes, c)
			return
		}
		why = "the value is written in a form that accept does not rewrite"
	}
	a.skipCase(a.e.c, n.at, n.path, why)
}

// equation returns the literal of an eq and the value it should have.
func (a *accepting) equation(n *node) (*doctree.Node, speclang.Value, string) {
	none := speclang.Value{}
	v := n.src
	if len(v.Items()) != 3 || v.Items()[0].Kind != doctree.String || v.Items()[0].Text != "eq" {
		return nil, none, "only evaluate leaves of the form [eq, EXPRESSION, VALUE] are proposed"
	}
	side, literal := &v.Items()[1], &v.Items()[2]
	if side.Kind != doctree.Seq {
		side, literal = literal, side
	}
	if side.Kind != doctree.Seq || literal.Kind == doctree.Seq {
		return nil, none, "eq does not compare an expression with a value"
	}
	subject, f := a.e.subjects.subject(n.target)
	if f != nil {
		return nil, none, f.Message
	}
	r := a.e.eval(speclang.Compile(speclang.FormOfYAML(side), speclang.Options{}), subject)
	switch {
	case r.Err != nil:
		return nil, none, r.Err.Message
	case r.Value.Kind() == speclang.List, r.Value.Kind() == speclang.Dict, r.Value.Kind() == speclang.Closure:
		return nil, none, "the language has no literal for " + r.Value.TypeName()
	}
	return literal, r.Value, ""
}

// comparesWith matches one part of a condition that compares with a literal value.
var comparesWith = lazy.Pattern(`^(.*\S)(\s*==\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|true|false|null)(\s*)$`)

// condition returns the condition with its literals replaced by the actual values.
func (a *accepting) condition(n *node) (speclang.Value, string) {
	parts, none := conjuncts(n.src.Text), speclang.Value{}
	for i, part := range parts {
		if a.holds(part) {
			continue
		}
		m := comparesWith().FindStringSubmatch(part)
		if m == nil {
			return none, "only conditions of the form EXPRESSION == VALUE are proposed"
		}
		v, ok := a.evaluated(m[1])
		said := v.JSON()
		switch s, isText := v.Str(); {
		case !ok || v.Kind() == speclang.List || v.Kind() == speclang.Dict || v.Kind() == speclang.Closure:
			return none, "the condition does not compare with a plain value"
		case isText:
			said = infixText(s)
		}
		if parts[i] = m[1] + m[2] + said + m[4]; !a.holds(parts[i]) {
			return none, "the condition can be made to hold in several ways"
		}
	}
	return speclang.StringValue(strings.Join(parts, "and")), ""
}

func (a *accepting) holds(condition string) bool {
	v, ok := a.evaluated(condition)
	return ok && v.Truthy()
}

// evaluated returns the value of an expression over the observation of the case.
func (a *accepting) evaluated(text string) (speclang.Value, bool) {
	c := *a.e.c
	d := newDecoder(a.c.doc, a.c.set, &c)
	one := (&doctree.Node{Kind: doctree.Map}).WithMembers([]doctree.Member{{
		Key: doctree.Node{Kind: doctree.String, Text: "when"}, Value: doctree.Node{Kind: doctree.String, Text: text}}})
	p := d.compileWhen(&one, "when")
	if len(d.faults) > 0 || p.prog == nil {
		return speclang.Value{}, false
	}
	subject, f := a.e.conditionSubject(p)
	if f != nil {
		return speclang.Value{}, false
	}
	r := a.e.eval(p.prog, subject)
	return r.Value, r.Err == nil
}

// conjuncts splits a condition at each "and" outside quotes and brackets.
func conjuncts(text string) (parts []string) {
	depth, quote, from := 0, byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([", c) >= 0:
			depth++
		case strings.IndexByte(")]", c) >= 0:
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], " and "):
			parts, from = append(parts, text[from:i+1]), i+4
		}
	}
	return append(parts, text[from:])
}

// plainYAML reports whether a text needs no quotes in any YAML context.
func plainYAML(s string) bool {
	return s != "" && !strings.ContainsAny(s, "#{}[],:&*!|>'%@`\\\n") && s[0] != '"' && s[0] != '-' && s[0] != '?'
}
